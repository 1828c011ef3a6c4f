"""A small device: 1 GB of memory for the whole browser and a sixth of the processors, beside the same without limits.

The lesson reads, its slider moves, a live cell runs; one that asks for more memory than there may be is told so, and
the next one runs. How long the parts take has no target of its own.
"""

from bench_page import USABLE
from bench_slider import DRAG
from rows import Row
from small_device import MISSING, small_browser

MEMORY_BYTES, SLOWDOWN = 1_000_000_000, 6
WAIT_MS = 120_000
DRAGS = 20
HUNGRY = "kept = [bytearray(50_000_000) for _ in range(20)]"  # 1 GB
RUN = """async (source) => {
    const cell = document.querySelector('zero-cell');
    cell.source = source;
    const started = performance.now();
    const done = new Promise((resolve) => cell.addEventListener('zero-run', resolve, { once: true }));
    cell.shadowRoot.querySelector('.run').click();
    const { detail } = await done;
    const notice = cell.shadowRoot.querySelector('.notice');
    return { seconds: (performance.now() - started) / 1000, status: detail.status, value: detail.value, notice: notice.hidden ? '' : notice.textContent };
}"""


def measure(bench):
    with small_browser(bench.browser.browser_type, bench.flags, MEMORY_BYTES, SLOWDOWN) as small:
        if not small:
            print(MISSING)
            return
        browser, device = small
        limited, usual = visit(browser, bench.url), visit(bench.browser, bench.url)
        peak, kills = device.peak_bytes(), device.kills()
    yield Row("small device: memory of the browser, at most", peak / 1e6, "MB", "the limit", MEMORY_BYTES / 1e6, 1.0)
    yield Row("small device: processes that the system ended", kills, "", "one", 1, 0.0)
    yield Row("small device: slider drag → new chart", limited["drag"], "ms", "one frame", limited["frame"], 2.0)
    for name in ("lesson usable", "first live cell", "next live cell", "cell out of memory"):
        yield Row(f"small device: {name}", limited[name], "s", "without limits", usual[name])


def visit(browser, url) -> dict[str, float]:
    """Seconds and milliseconds of what a reader does. RuntimeError where a cell neither runs nor says why."""
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    page.goto(f"{url}en/ledger/", wait_until="commit")
    page.wait_for_selector("zero-explorer svg")
    found = {"lesson usable": page.evaluate(USABLE) / 1000, **page.evaluate(DRAG, DRAGS)}
    found["first live cell"] = expect(page.evaluate(RUN, "1 + 1"), value="2")["seconds"]
    found["next live cell"] = expect(page.evaluate(RUN, "1 + 1"), value="2")["seconds"]
    found["cell out of memory"] = expect(page.evaluate(RUN, HUNGRY), notice="memory")["seconds"]
    expect(page.evaluate(RUN, "1 + 1"), value="2")
    page.evaluate(DRAG, 2)
    context.close()
    return found


def expect(result, value=None, notice=""):
    if (value is not None and result["value"] != value) or notice not in result["notice"]:
        raise RuntimeError(f"the cell said {result}")
    return result
