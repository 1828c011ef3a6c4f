"""A page of another site with 20 live cells, each an iframe of /cell/ and run once: Python is fetched once for all of them."""

import tempfile
import time
from pathlib import Path

from hosts import serve_host
from rows import Row

CELLS, QUICK_CELLS = 20, 4
WAIT_MS = 120_000
ICON = '<link rel="icon" href="data:,">'


def measure(bench):
    cells = QUICK_CELLS if bench.quick else CELLS
    frames = "".join(f'<iframe id="c{number}" src="{bench.url}cell/?id=code&lang=en" width="100%" height="300"></iframe>' for number in range(cells))
    with tempfile.TemporaryDirectory(prefix="zero-embeds-") as folder, serve_host(Path(folder)) as host:
        address = host.put("index.html", f"<!doctype html><title>Host</title>{ICON}{frames}")
        context = bench.browser.new_context()
        pythons = []
        page = context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.on("request", lambda request: pythons.append(request.url) if "pyodide.asm.wasm" in request.url else None)
        page.goto(address)
        seconds = [run_cell(page, number) for number in range(cells)]
        context.close()
    yield Row(f"{cells} cells: Python fetched", len(pythons), "", "times at best", 1, 1)
    yield Row(f"{cells} cells: the last one's run", seconds[-1], "s", "the first one's, with Python's start", seconds[0])


def run_cell(page, number: int) -> float:
    """Seconds from the click to the end of the run."""
    page.locator(f"#c{number}").scroll_into_view_if_needed()
    frame = page.frame_locator(f"#c{number}")
    started = time.monotonic()
    frame.locator("button.run").first.click()
    frame.locator(".status", has_text="Done").first.wait_for()
    return time.monotonic() - started
