"""500 runs, 50 kills and 20 language switches in one tab: memory and workers stay where they were.

The baseline is the tab after its first tenth, when every part has been loaded. Memory is the page's script heap after a
collection; workers are those Chromium counts.
"""

from rows import Row

RUNS, KILLS, SWITCHES = 500, 50, 20
BATCHES = 10
SETUP = """async () => {
    await customElements.whenDefined('zero-cell');
    const site = new URL('../../', location.href);
    const { runnerFor } = await import(new URL('static/zero/runner.js', site));
    window.benchRunner = runnerFor(site);
}"""
BATCH = """async ([runs, kills]) => {
    let wrong = 0;
    for (let run = 0; run < runs; run += 1) {
        const { value } = await benchRunner.run(`print('x' * 100)\\n${run} + 1`);
        if (value !== String(run + 1)) wrong += 1;
    }
    for (let kill = 0; kill < kills; kill += 1) {
        const { status } = await benchRunner.run('sum(range(10**12))', { limitMs: 50 });
        if (status !== 'killed') wrong += 1;
    }
    const { value } = await benchRunner.run('1 + 1');
    return wrong + (value === '2' ? 0 : 1);
}"""


def measure(bench):
    context = bench.browser.new_context()
    page = context.new_page()
    protocol = context.new_cdp_session(page)
    scale = 10 if bench.quick else 1
    runs, kills, switches = (max(1, total // scale // BATCHES) for total in (RUNS, KILLS, SWITCHES))
    figures, wrong = [], 0
    for _ in range(BATCHES):
        for _ in range(switches):
            for lang in ("zh", "en"):
                page.goto(f"{bench.url}{lang}/ledger/")
        page.evaluate(SETUP)
        wrong += page.evaluate(BATCH, [runs, kills])
        figures.append(tab(page, protocol))
    context.close()
    if wrong:
        raise RuntimeError(f"{wrong} of the runs gave a wrong result")
    first, last = figures[0], figures[-1]
    yield Row(f"script heap after {runs * BATCHES} runs", last["heap_mib"], "MiB", f"after {runs}", first["heap_mib"], 1.25)
    yield Row(f"frames and workers after {kills * BATCHES} kills", last["targets"], "", f"after {kills}", first["targets"], 1.0)


def tab(page, protocol) -> dict:
    """The page's script heap after a collection, and how many frames and workers live."""
    protocol.send("HeapProfiler.collectGarbage")
    heap = protocol.send("Runtime.getHeapUsage")["usedSize"]
    return {"heap_mib": heap / 2**20, "targets": len(page.frames) + len(page.workers)}
