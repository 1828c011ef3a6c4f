"""Navigation to the first output of `print(6 * 7)`: a lesson's cell clicked at once, beside JupyterLite's REPL and PyScript.

All from the same server, with an empty cache, and the REPL and PyScript with this site's own Pyodide. PyScript comes from
npm and runs in a worker. thebe-lite is not here: its kernel wants wheels of Pyodide 0.27 that no package client carries.
"""

import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from rows import Row, interleaved

from publish import paths
from publish.serve import make_server

PEERS = paths.TESTS / "bench" / "peers"
INSTALLED = paths.BUILD / "bench-peers"
WAIT_MS = 180_000
OUTPUT = "42"
PROGRAM = "print(6 * 7)"
TARGET = 0.3
PYSCRIPT_PAGE = """<!doctype html><meta charset="utf-8"><title>PyScript</title><link rel="icon" href="data:,">
<script type="module" src="pyscript/core.js"></script>
<script type="py" worker config='{{"interpreter": "{site}static/pyodide/pyodide.mjs"}}'>{program}</script>"""
CLICK = """async (program) => {
    await customElements.whenDefined('zero-cell');
    const cell = document.querySelector('zero-cell');
    cell.source = program;
    cell.shadowRoot.querySelector('.run').click();
}"""


def measure(bench):
    with tempfile.TemporaryDirectory(prefix="zero-peers-") as folder:
        url = serve_together(Path(folder))
        found = interleaved(
            bench.rounds(5),
            cell=lambda: timed(bench.browser, lambda page: lesson_cell(page, url)),
            repl=lambda: timed(bench.browser, lambda page: jupyterlite_repl(page, url)),
            pyscript=lambda: timed(bench.browser, lambda page: pyscript(page, url)),
        )
    best = min(("repl", "pyscript"), key=found.get)
    yield Row("first visit: navigation → output of a cell", found["cell"], "ms", f"best peer ({best})", found[best], TARGET)
    yield Row("  JupyterLite's REPL", found["repl"], "ms", "the cell", found["cell"])
    yield Row("  PyScript in a worker", found["pyscript"], "ms", "the cell", found["cell"])


def serve_together(folder: Path) -> str:
    """Serves the site and PyScript side by side; the address comes back."""
    (folder / "site").symlink_to(paths.DIST)
    (folder / "pyscript").symlink_to(installed() / "node_modules/@pyscript/core/dist")
    server = make_server(folder, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    (folder / "pyscript.html").write_text(PYSCRIPT_PAGE.format(site=f"{url}site/", program=PROGRAM), encoding="utf-8")
    return url


def installed() -> Path:
    """The peers' packages, installed once."""
    if not (INSTALLED / "node_modules/@pyscript/core").is_dir():
        INSTALLED.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy2(PEERS / name, INSTALLED)
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=INSTALLED, check=True, stdout=subprocess.DEVNULL)
    return INSTALLED


def timed(browser, visit) -> float:
    """Milliseconds of a visit with an empty cache."""
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    started = time.monotonic()
    visit(page)
    took_ms = 1000 * (time.monotonic() - started)
    context.close()
    return took_ms


def lesson_cell(page, url):
    page.goto(f"{url}site/en/ledger/", wait_until="commit")
    page.wait_for_selector("zero-cell", state="attached")
    page.evaluate(CLICK, PROGRAM)
    page.wait_for_function(f"document.querySelector('zero-cell').shadowRoot.querySelector('.output').textContent.includes('{OUTPUT}')")


def jupyterlite_repl(page, url):
    page.goto(f"{url}site/repl/index.html?kernel=python&code={PROGRAM}", wait_until="commit")
    page.wait_for_function(f"[...document.querySelectorAll('.jp-OutputArea-output')].some((one) => one.textContent.includes('{OUTPUT}'))")


def pyscript(page, url):
    with page.expect_console_message(lambda message: OUTPUT in message.text, timeout=WAIT_MS):
        page.goto(f"{url}pyscript.html", wait_until="commit")
