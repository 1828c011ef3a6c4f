"""A drag of the explorer's slider to its new chart, against one frame of the same page."""

from rows import Row

DRAG = """async (steps) => {
    await customElements.whenDefined('zero-explorer');
    const explorer = document.querySelector('zero-explorer');
    const slider = explorer.querySelector('input[type=range]');
    const frame = () => new Promise(requestAnimationFrame);
    const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
    explorer.scrollIntoView();
    const frames = [], drags = [];
    for (let step = 0; step < steps; step += 1) {
        await frame();
        const started = performance.now();
        await frame();
        frames.push(performance.now() - started);
        const before = explorer.querySelector('svg').outerHTML;
        const at = performance.now();
        slider.value = slider.value === slider.max ? slider.min : slider.max;
        slider.dispatchEvent(new Event('input', { bubbles: true }));
        while (explorer.querySelector('svg').outerHTML === before) await frame();
        drags.push(performance.now() - at);
    }
    return { frame: median(frames), drag: median(drags) };
}"""


def measure(bench):
    context = bench.browser.new_context()
    page = context.new_page()
    page.goto(f"{bench.url}en/ledger/")
    found = page.evaluate(DRAG, 8 if bench.quick else 60)
    context.close()
    yield Row("slider drag → new chart", found["drag"], "ms", "one frame", found["frame"], 2.0)
