"""What the guard costs on pure-Python loops: processor time of the same loop in the sandbox and in a bare worker, in turn.

The time is what the browser's processes used, as Chromium counts it in steps of 10 ms; it is summed over the rounds, in
which nothing else of the browser is at work.
"""

from bench_runner import BARE
from processor import Processor
from rows import Row
from runner_page import visit

ROUNDS = 5
TARGET = 1.08
LOOPS = {
    "for over a range": "x = 0\nfor i in range(12_000_000): x += i & 3",
    "while": "i = 0\nwhile i < 12_000_000: i += 1",
    "calls of a function": "def f(x): return x\nfor i in range(8_000_000): f(i)",
    "appends to a list": "for i in range(8):\n    x = []\n    for i in range(1_500_000): x.append(i)",
    "a comprehension": "for i in range(8): x = [i * i for i in range(1_500_000)]",
}
BARE_RUN = "(source) => new Promise((resolve) => { bareWorker.onmessage = () => resolve(); bareWorker.postMessage(source); })"
SANDBOX_RUN = "(source) => go(source).then(({ status }) => { if (status !== 'ok') throw new Error(status); })"


def measure(bench):
    context = bench.browser.new_context()
    page = visit(context, bench)
    page.evaluate(SANDBOX_RUN, "1")
    page.evaluate(BARE, "1")
    processor = Processor(bench.browser)
    for name, loop in LOOPS.items():
        source = f"def main():\n    {loop.replace(chr(10), chr(10) + '    ')}\nmain()"
        guarded = bare = 0.0
        processor.wait_until_quiet(page)  # the spare starts, and a loop's first run has the browser compile more
        for number in range(1 + bench.rounds(ROUNDS)):
            took = [processor.seconds_of(lambda: page.evaluate(run, source)) for run in (SANDBOX_RUN, BARE_RUN)]
            if number:  # not the first
                guarded, bare = guarded + took[0], bare + took[1]
        yield Row(f"guard: {name}", guarded, "CPU s", "in a bare worker", bare, TARGET)
    context.close()
