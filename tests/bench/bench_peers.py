"""The first output of `print(6 * 7)`: a lesson's cell beside JupyterLite's REPL, this site's own and a plain one, and PyScript.

All with an empty cache and the same Pyodide. In two ways, alike for each: used as soon as it can be, timed from the
navigation; and on a page that has been open for five seconds, timed from the click or the key. Each peer is started by its
page as the page opens, so that it may use the five seconds too; the lesson is scrolled to the cell, as for a reader who sees it.
This site's own REPL loads our byte code and is no stranger: it is shown, and the best of the others is the baseline.
PyScript comes from npm and runs in a worker.
thebe-lite (0.5.0) is not here: its kernel wants ssl and sqlite3 compiled for Pyodide 0.27.0, which no package client carries.
"""

import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from plain_lab import plain_site
from rows import Row, interleaved

from publish import paths
from publish.serve import make_server

PACKAGES = paths.TESTS / "bench" / "peers"
INSTALLED = paths.BUILD / "bench-peers"
WAIT_MS = 90_000
OUTPUT = "42"
PROGRAM = "print(6 * 7)"
TARGET = 0.3
ROUNDS = 3
OPEN_MS = 5000
PYSCRIPT_PAGE = """<!doctype html><meta charset="utf-8"><title>PyScript</title><link rel="icon" href="data:,"><p id="result"></p>
<script type="module" src="pyscript/core.js"></script>
<script type="py" worker config='{{"interpreter": "{site}static/pyodide/pyodide.mjs"}}'>
from js import BroadcastChannel
from pyodide.ffi import create_proxy
channel = BroadcastChannel.new("clicks")
channel.onmessage = create_proxy(lambda event: channel.postMessage(str(6 * 7)))
{program}
</script>"""
CLICK = """async (program) => {
    await customElements.whenDefined('zero-cell');
    const cell = document.querySelector('zero-cell');
    cell.source = program;
    cell.shadowRoot.querySelector('.run').click();
}"""
# A worker that is not there yet does not hear a click: it is given again until the answer comes.
PYSCRIPT_USE = """() => new Promise((resolve) => {
    const channel = new BroadcastChannel('clicks');
    const click = () => channel.postMessage('click');
    const clicks = setInterval(click, 20);
    channel.onmessage = ({ data }) => {
        clearInterval(clicks);
        document.querySelector('#result').textContent = data;
        resolve();
    };
    click();
})"""


def measure(bench):
    with tempfile.TemporaryDirectory(prefix="zero-peers-") as folder:
        url = serve_together(Path(folder))
        peers = {name: use for name, (_, use) in PEERS.items()}
        at_once = interleaved(bench.rounds(ROUNDS), **{name: lambda use=use: timed(bench.browser, url, use, 0) for name, use in peers.items()})
        opened = interleaved(bench.rounds(ROUNDS), **{name: lambda use=use: timed(bench.browser, url, use, OPEN_MS) for name, use in peers.items()})
    yield from rows("used at once: navigation → output", at_once)
    yield from rows("page open for 5 s: click → output", opened)


def rows(what, found):
    """The cell beside the best of the peers, then each other."""
    best = min(("plain", "pyscript"), key=found.get)
    yield Row(what, found["cell"], "ms", f"best: {PEERS[best][0]}", found[best], TARGET)
    for name, took in found.items():
        if name != "cell":
            yield Row(f"  {PEERS[name][0]}", took, "ms", "the cell", found["cell"])


def serve_together(folder: Path) -> str:
    """Serves the site, a plain JupyterLite and PyScript side by side; the address comes back."""
    (folder / "site").symlink_to(paths.DIST)
    (folder / "plain").symlink_to(plain_site())
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
            shutil.copy2(PACKAGES / name, INSTALLED)
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=INSTALLED, check=True, stdout=subprocess.DEVNULL)
    return INSTALLED


def timed(browser, url, use, open_ms) -> float:
    """Milliseconds of a first visit: from the navigation, or from its use after the page has been open so long."""
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    started = time.monotonic()
    act = use(page, url, open_ms == 0)
    if open_ms:
        page.wait_for_timeout(open_ms)
        started = time.monotonic()
    act()
    took_ms = 1000 * (time.monotonic() - started)
    context.close()
    return took_ms


def lesson_cell(page, url, at_once):
    page.goto(f"{url}site/en/ledger/", wait_until="commit")
    page.wait_for_selector("zero-cell", state="attached")
    if not at_once:
        page.locator("zero-cell").first.scroll_into_view_if_needed()

    def act():
        page.evaluate(CLICK, PROGRAM)
        page.wait_for_function(f"document.querySelector('zero-cell').shadowRoot.querySelector('.output').textContent.includes('{OUTPUT}')")
    return act


def repl(site):
    def use(page, url, at_once):
        page.goto(f"{url}{site}/repl/index.html?kernel=python" + (f"&code={PROGRAM}" if at_once else ""), wait_until="commit")

        def act():
            if not at_once:
                page.locator(".jp-CodeConsole-input .cm-content").click()
                page.keyboard.insert_text(PROGRAM)
                page.keyboard.press("Shift+Enter")
            page.wait_for_function(f"[...document.querySelectorAll('.jp-OutputArea-output')].some((one) => one.textContent.includes('{OUTPUT}'))")
        return act
    return use


def pyscript(page, url, at_once):
    if at_once:
        def printed():
            with page.expect_console_message(lambda message: OUTPUT in message.text, timeout=WAIT_MS):
                page.goto(f"{url}pyscript.html", wait_until="commit")
        return printed
    page.goto(f"{url}pyscript.html", wait_until="commit")

    def clicked():
        page.evaluate(PYSCRIPT_USE)
        page.wait_for_function(f"document.querySelector('#result').textContent === '{OUTPUT}'")
    return clicked


PEERS = {
    "cell": ("a lesson's cell", lesson_cell),
    "own": ("this site's REPL", repl("site")),
    "plain": ("a plain JupyterLite's REPL", repl("plain")),
    "pyscript": ("PyScript in a worker", pyscript),
}
