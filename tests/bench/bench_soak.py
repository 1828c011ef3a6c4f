"""500 runs, 50 kills and 20 language switches in one tab: memory and workers stay where they were.

First all runs and kills on one page, then the switches, a run on each page. The baseline is the tab after its first tenth,
when every part has been loaded. Memory is the page's script heap after a
collection, and what the browser's renderers hold of the machine's (Linux only), in which Python's own memory counts too;
workers are those Chromium counts.
"""

from pathlib import Path

from processor import Processor
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
    processor = Processor(bench.browser)
    scale = 10 if bench.quick else 1
    runs, kills, switches = (max(1, total // scale // BATCHES) for total in (RUNS, KILLS, SWITCHES))
    figures, wrong = [], 0

    def keep_figures(done):
        processor.wait_until_quiet(page)  # a killed interpreter burns on for a moment, and a spare starts
        figures.append(tab(page, protocol) | {"resident_mib": resident_mib(processor.pids())})
        print(f"  {done}: " + ", ".join(f"{name} {value:.1f}" for name, value in figures[-1].items()), flush=True)

    open_lesson(page, bench, "en")
    for batch in range(1, BATCHES + 1):
        wrong += page.evaluate(BATCH, [runs, kills])
        keep_figures(f"{batch * runs} runs, {batch * kills} kills")
    for switch in range(1, switches * BATCHES + 1):
        open_lesson(page, bench, ("en", "zh")[switch % 2])
        wrong += page.evaluate(BATCH, [1, 0])
    keep_figures(f"{switches * BATCHES} switches")
    context.close()
    if wrong:
        raise RuntimeError(f"{wrong} of the runs gave a wrong result")
    first, after_runs, last = figures[0], figures[-2], figures[-1]
    for state, found in ((f"{runs * BATCHES} runs, {kills * BATCHES} kills", after_runs), (f"{switches * BATCHES} switches more", last)):
        yield Row(f"script heap after {state}", found["heap_mib"], "MiB", f"after {runs} runs", first["heap_mib"], 1.25)
        if first["resident_mib"]:
            yield Row(f"renderers' memory after {state}", found["resident_mib"], "MiB", f"after {runs} runs", first["resident_mib"], 1.25)
        yield Row(f"frames, workers after {state}", found["targets"], "", f"after {runs} runs", first["targets"], 1.0)


def open_lesson(page, bench, lang) -> None:
    """The first lesson, with the runner's own object at hand."""
    page.goto(f"{bench.url}{lang}/ledger/")
    page.evaluate(SETUP)


def tab(page, protocol) -> dict:
    """The page's script heap after a collection, and how many frames and workers live."""
    protocol.send("HeapProfiler.collectGarbage")
    heap = protocol.send("Runtime.getHeapUsage")["usedSize"]
    return {"heap_mib": heap / 2**20, "targets": len(page.frames) + len(page.workers)}


def resident_mib(pids) -> float:
    """What these processes hold of the machine's memory; 0 where /proc does not say."""
    files = [Path(f"/proc/{pid}/status") for pid in pids]
    texts = [file.read_text() for file in files if file.is_file()]
    return sum(int(line.split()[1]) / 1024 for text in texts for line in text.splitlines() if line.startswith("VmRSS:"))
