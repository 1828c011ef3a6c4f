"""The snapshot of Python's memory that a first visit leaves for later ones."""

from runner_page import go, leave_snapshot, visit

DAMAGE = """async () => {
    const cache = await caches.open('zero-python');
    const [request] = await cache.keys();
    await cache.put(request, new Response(new Uint8Array(1 << 20)));
}"""
# Resolves when what is kept says that this browser cannot start from a snapshot.
REFUSED = """async () => {
    for (;;) {
        const [kept] = await (await caches.open('zero-python')).matchAll();
        if (kept && (await kept.arrayBuffer()).byteLength === 0) return;
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
}"""
PROGRAM = "import random, time, colorsys, zeroledger.planner\ntime.sleep(0.01)\n[random.random(), zeroledger.GIB]"


def test_a_later_visit_starts_from_the_snapshot_and_a_damaged_one_is_not_tried_again(browser, site):
    context = browser.new_context()
    leave_snapshot(context, site)
    seen = set()
    for _ in range(2):
        page = visit(context, site)
        result = go(page, PROGRAM, result="json")
        assert page.evaluate("runner.startedFrom") == "snapshot"
        seen.add(result["value"][0])
        assert result["value"][1] == 2**30
        page.close()
    assert len(seen) == 2  # not the random numbers of the day it was made

    page = visit(context, site)
    page.evaluate(DAMAGE)
    assert go(page, PROGRAM, result="json")["value"][1] == 2**30
    assert page.evaluate("runner.startedFrom") == "files"
    page.evaluate(REFUSED)
    page.close()
    page = visit(context, site)
    assert go(page, "1 + 1")["value"] == "2"
    assert page.evaluate("runner.startedFrom") == "files"
    context.close()


def test_without_storage_python_starts_from_its_files(open_page, site):
    page = open_page("delete window.caches; Object.defineProperty(window, 'caches', { get() { throw new DOMException('blocked', 'SecurityError'); } })")
    result = go(visit(page.context, site), "1 + 1")
    assert result["value"] == "2"
