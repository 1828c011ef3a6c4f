"""The first lesson as a notebook: Run All to the slider and the first plot, beside a plain JupyterLite; and a drag of it.

Each visit has an empty cache. Run All is clicked as soon as the notebook is there, when the kernel still starts; the plain
notebook has one cell more, which installs what it needs. A drag is one step of the slider by its keyboard, to the picture that follows, beside an `interact`
that draws the same chart anew with pyplot in the same kernel.
"""

import statistics
import threading
import time

from lab_notebook import RUN_TIMEOUT_MS, TALL, Notebook
from plain_lab import plain_site
from publish.serve import make_server
from rows import Row
from served_site import Site

ROUNDS = 3
TURNS, DRAGS = 5, 4
DRAWN = "() => document.querySelector('.jp-Notebook .noUi-handle') && document.querySelector('.jp-Notebook img.widget-image')?.naturalWidth >= 600"
NAIVE = """
import matplotlib.pyplot as plt
from ipywidgets import SelectionSlider, interact
from lessonkit.chart_text import category_name
from zeroledger import CARDS, format_bytes
def redraw(ranks):
    figure, axes = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
    ledgers = [ledger(7e9, ranks, stage) for stage in range(4)]
    bottoms = [0] * 4
    for at, row in enumerate(ledgers[0].rows):
        heights = [one.rows[at].bytes_per_rank / 1e9 for one in ledgers]
        axes.bar(range(4), heights, 0.62, bottom=bottoms, label=category_name(row.category, "en"))
        bottoms = [low + high for low, high in zip(bottoms, heights)]
    for place, one in enumerate(ledgers):
        axes.text(place, bottoms[place], format_bytes(one.model_states_bytes_per_rank), ha="center", va="bottom", fontsize=9)
    axes.set_ylim(0, 1.14 * max(bottoms))
    for card in CARDS:
        if card.memory_bytes / 1e9 < 1.14 * max(bottoms):
            axes.axhline(card.memory_bytes / 1e9, linestyle="--", linewidth=0.9)
            axes.text(3.4, card.memory_bytes / 1e9, card.name, va="bottom", fontsize=8)
    axes.set_xticks(range(4), [f"stage {stage}" for stage in range(4)])
    axes.set_ylabel("GB per rank"); axes.set_title("7B parameters")
    figure.legend(loc="outside lower center", ncols=len(ledgers[0].rows), frameon=False, fontsize=9)
    plt.show()
interact(redraw, ranks=SelectionSlider(options=[2**n for n in range(11)], value=8));
""".strip()
# One step of the slider in the last cell that has one, there and back; ms from the key to the frame that has the new picture.
STEPS = """async ([picture, steps]) => {
    const cell = [...document.querySelectorAll('.jp-Notebook .jp-CodeCell')].findLast((cell) => cell.querySelector('.noUi-handle') && cell.querySelector(picture));
    const handle = cell.querySelector('.noUi-handle');
    const frame = () => new Promise(requestAnimationFrame);
    const shown = () => cell.querySelector(picture)?.src;
    const idle = () => document.querySelector('.jp-Notebook-ExecutionIndicator[data-status=idle]');
    const took = [];
    for (let step = 0; step < steps; step += 1) {
        while (!idle()) await frame();
        const before = shown();
        const started = performance.now();
        handle.dispatchEvent(new KeyboardEvent('keydown', { key: step % 2 ? 'ArrowLeft' : 'ArrowRight', bubbles: true, cancelable: true }));
        while (!shown() || shown() === before || !cell.querySelector(picture).complete) await frame();
        took.push(performance.now() - started);
    }
    return took;
}"""
KIT, PYPLOT = "img.widget-image", ".jp-OutputArea-output img"


def measure(bench):
    plain = make_server(plain_site(), 0)
    threading.Thread(target=plain.serve_forever, daemon=True).start()
    ours, theirs, drags, redraws = [], [], [], []
    for _ in range(bench.rounds(ROUNDS)):
        ours.append(visit(bench, bench.url, drags, redraws))
        theirs.append(visit(bench, f"http://127.0.0.1:{plain.server_port}/"))
    plain.shutdown()
    for at, (what, target) in enumerate((("Run All → slider and first plot", 0.6), ("  navigation → notebook shown", None), ("  navigation → first plot", None))):
        mine, other = (statistics.median(times[at] for times in visits) for visits in (ours, theirs))
        yield Row(f"notebook: {what}" if target else what, mine, "s", "plain JupyterLite", other, target)
    yield Row("notebook: slider drag → new chart", statistics.median(drags), "ms", "pyplot anew each time", statistics.median(redraws), 0.5)


def visit(bench, url, drags=None, redraws=None) -> tuple[float, float, float]:
    """Seconds from Run All to the plot, from navigation to the notebook, and from navigation to the plot."""
    context = bench.browser.new_context(viewport=TALL)
    page = context.new_page()
    started = time.monotonic()
    notebook = Notebook(page, Site(origin=url, url=url), "en")
    page.set_default_timeout(RUN_TIMEOUT_MS)
    idle = time.monotonic()
    notebook.start_all()
    page.wait_for_function(DRAWN)
    drawn = time.monotonic()
    if drags is not None:
        notebook.wait_until_run()
        notebook.add_cell(NAIVE)
        page.wait_for_function(f"() => [...document.querySelectorAll('.jp-Notebook .jp-CodeCell')].at(-1).querySelector('{PYPLOT}')?.naturalWidth > 0")
        for _ in range(TURNS):
            drags += page.evaluate(STEPS, [KIT, DRAGS])
            redraws += page.evaluate(STEPS, [PYPLOT, DRAGS])
    context.close()
    return drawn - idle, idle - started, drawn - started
