"""Python is never on the path of a lesson's text, chart and sliders: the page with Python blocked is the baseline.

"Usable" is when the explorer answers a move of its slider. Bytes are what travels compressed, as a host with gzip sends it.
"""

import gzip
from urllib.parse import urlsplit

from rows import Row, interleaved

from publish import paths

USABLE = """async () => {
    await customElements.whenDefined('zero-explorer');
    const explorer = document.querySelector('zero-explorer');
    const chart = () => explorer.querySelector('svg').outerHTML;
    const before = chart();
    const slider = explorer.querySelector('input[type=range]');
    slider.value = slider.value === slider.max ? slider.min : slider.max;
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    while (chart() === before) await new Promise(requestAnimationFrame);
    return performance.now();
}"""
PYTHON = "**/static/pyodide/**"
MAX_BYTES = 100_000


def measure(bench):
    def navigation(blocked):
        context = bench.browser.new_context()
        page = context.new_page()
        if blocked:
            page.route(PYTHON, lambda route: route.abort())
        page.goto(f"{bench.url}en/ledger/", wait_until="commit")
        page.wait_for_selector("zero-explorer svg")
        usable_ms = page.evaluate(USABLE)
        context.close()
        return usable_ms

    found = interleaved(bench.rounds(9), page=lambda: navigation(False), blocked=lambda: navigation(True))
    yield Row("lesson page: navigation → usable", found["page"], "ms", "the same, Python blocked", found["blocked"], 1.05)
    yield Row("bytes before Python, compressed", bytes_before_python(bench), "B", "the limit", MAX_BYTES, 1.0)


def bytes_before_python(bench) -> int:
    """The compressed bytes of all that the lesson page asks for when Python is blocked."""
    context = bench.browser.new_context()
    page = context.new_page()
    asked = []
    page.route(PYTHON, lambda route: route.abort())
    page.on("requestfinished", lambda request: asked.append(urlsplit(request.url).path))
    page.goto(f"{bench.url}en/ledger/", wait_until="load")
    page.evaluate(USABLE)
    context.close()
    return sum(compressed_size(path) for path in set(asked))


def compressed_size(path: str) -> int:
    """Of a file of the site by its address; fonts and pictures that are compressed already travel as they are."""
    file = paths.DIST / path.removeprefix("/courses/zero/")
    return gzipped_bytes((file / "index.html" if file.is_dir() else file).read_bytes())


def gzipped_bytes(content: bytes) -> int:
    """Its length on the wire."""
    return min(len(content), len(gzip.compress(content, 6)))
