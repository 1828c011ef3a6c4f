"""The runner beside a bare loadPyodide() in a worker: how soon the first output comes.

"First visit" is a new profile (empty cache), "later visit" a new page of the same profile, after the reader stayed on the
first until its snapshot was kept. Times are milliseconds from the click (the call of run, or of loadPyodide) to the value of
`1 + 1`; rounds are interleaved.
"""

import statistics

from rows import Row
from runner_page import SNAPSHOTS_KEPT, visit

ROUNDS = 5
READS_MS = 4000  # the reader reads, and the spare starts; after a kill, the killed thread burns on for about two seconds
OPEN_MS = 5000
FIRST, LATER = "loadPyodide, first visit", "loadPyodide, later visit"
# What issue 9 asks: at most this share of the bare start.
CASES = {
    "first visit, clicked at once": (FIRST, 0.5),
    "later visit, clicked at once": (LATER, 0.25),
    "first visit, page open for 5 s": (FIRST, 0.03),
    "later visit, another run": (LATER, 0.03),
    "after a kill, with a spare": (LATER, 0.02),
    "after a kill, without a spare": (LATER, 0.25),
}

BARE = """(source) => new Promise((resolve, reject) => {
    const started = performance.now();
    const pyodide = new URL('../pyodide/', location.href);
    const script = `import { loadPyodide } from '${pyodide}pyodide.mjs';
        const py = await loadPyodide({ indexURL: '${pyodide}' });
        onmessage = (event) => postMessage(py.runPython(event.data));
        postMessage(py.runPython(${JSON.stringify(source)}));`;
    const worker = new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })), { type: 'module' });
    window.bareWorker = worker;
    worker.onmessage = () => resolve(performance.now() - started);
    worker.onerror = (event) => reject(new Error(event.message));
})"""
TIMED_RUN = """async (options) => {
    const started = performance.now();
    const result = await runner.run('1 + 1', options);
    if (result.value !== '2') throw new Error(JSON.stringify(result));
    return performance.now() - started;
}"""
KILL = "() => runner.run('sum(range(10**12))', { limitMs: 50 }).then((result) => result.status)"


def measure(bench):
    """Rows of the cases above."""
    times = {name: [] for name in (*CASES, FIRST, LATER)}
    for _ in range(bench.rounds(ROUNDS)):
        measure_once(bench, times)
    for name, (base, target) in CASES.items():
        yield Row(name, statistics.median(times[name]), "ms", base, statistics.median(times[base]), target)


def measure_once(bench, times):
    """Measure each case once; append to `times`."""
    context = bench.browser.new_context()
    page = visit(context, bench)
    times["first visit, clicked at once"].append(page.evaluate(TIMED_RUN, {}))
    page.evaluate(SNAPSHOTS_KEPT, 1)
    page.close()
    measure_later_visit(context, bench, times)
    context.close()
    context = bench.browser.new_context()
    page = visit(context, bench)
    page.evaluate("runner.start()")  # as a page does when a cell is near
    page.wait_for_timeout(OPEN_MS)
    times["first visit, page open for 5 s"].append(page.evaluate(TIMED_RUN, {}))
    context.close()
    context = bench.browser.new_context()
    for name in (FIRST, LATER):
        page = visit(context, bench)
        times[name].append(page.evaluate(BARE, "1 + 1"))
        page.close()
    context.close()


def measure_later_visit(context, bench, times):
    page = visit(context, bench)
    times["later visit, clicked at once"].append(page.evaluate(TIMED_RUN, {}))
    page.wait_for_timeout(READS_MS)
    times["later visit, another run"].append(page.evaluate(TIMED_RUN, {}))
    assert page.evaluate(KILL) == "killed"
    times["after a kill, with a spare"].append(page.evaluate(TIMED_RUN, {}))
    page.wait_for_timeout(READS_MS)
    page.evaluate(TIMED_RUN, {"fresh": True})  # uses up the spare
    times["after a kill, without a spare"].append(page.evaluate(TIMED_RUN, {"fresh": True}))
    page.close()
