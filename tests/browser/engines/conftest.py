"""The site in three engines, and with what some readers' browsers withhold.

- `engine`: Chromium, Firefox and WebKit in turn, each with `open`, `run`, `size`, `screenshot` and `version`.
  One that is not installed is skipped, and the reason says how to get it.
- `served(withheld)`: the address of the site, with a script put first in every page that takes something away.

What a test does, it does by script inside the page: WebKit's driver knows no real mouse in menus, Firefox has no
driver program. What only real input can show is tested in Chromium, one folder up.
"""

import functools
import io
import threading
from http import HTTPStatus
from pathlib import Path

import pytest
from chromium_engine import Chromium
from firefox import Firefox
from webkit import WebKit

from publish import paths
from publish.serve import HOST, SiteHandler, SiteServer

PREFIX = "/courses/zero/"
SCREENSHOTS = paths.BUILD / "engines"
WITHHELD = {
    "nothing": "",
    # As with "block all cookies": the very name throws.
    "storage": """for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches'])
        Object.defineProperty(globalThis, name, { get() { throw new DOMException('storage is blocked', 'SecurityError'); } });""",
    # As in a private window of Firefox.
    "service worker": """if (globalThis.ServiceWorkerContainer)
        ServiceWorkerContainer.prototype.register = () => Promise.reject(new DOMException('not here', 'SecurityError'));""",
}


class WithholdingHandler(SiteHandler):
    """Puts a script first in every page."""

    def __init__(self, *args, script: str, **kwargs):
        self.script = script
        super().__init__(*args, **kwargs)

    def send_head(self):
        path = Path(self.translate_path(self.path.partition("?")[0]))
        page = path / "index.html" if path.is_dir() else path
        if not (self.script and self.path.startswith(self.prefix) and page.suffix == ".html" and page.exists()):
            return super().send_head()
        html = page.read_text(encoding="utf-8").replace("<head>", f"<head><script>{self.script}</script>", 1).encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(html)))
        self.end_headers()
        return io.BytesIO(html)


@pytest.fixture(scope="module")
def served():
    """served(name in WITHHELD) gives the address of the site, with a slash at the end."""
    servers = {}

    def address(withheld: str = "nothing") -> str:
        if withheld not in servers:
            handler = functools.partial(WithholdingHandler, directory=str(paths.DIST), prefix=PREFIX, script=WITHHELD[withheld])
            servers[withheld] = SiteServer((HOST, 0), handler)
            threading.Thread(target=servers[withheld].serve_forever, daemon=True).start()
        return f"http://{HOST}:{servers[withheld].server_port}{PREFIX}"

    yield address
    for server in servers.values():
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module", params=["chromium", "firefox", "webkit"])
def engine(request):
    """One engine after the other."""
    if request.param == "chromium":
        engine = Chromium(request.getfixturevalue("browser"))
    else:
        kind = {"firefox": Firefox, "webkit": WebKit}[request.param]
        if kind.missing():
            pytest.skip(kind.missing())
        engine = kind()
    engine.size(1280, 900)
    yield engine
    engine.close()


@pytest.fixture
def keep(engine):
    """keep(name) writes a screenshot to .build/engines/<engine>-<name>.png, to be looked at."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return lambda name: engine.screenshot(SCREENSHOTS / f"{engine.name}-{name}.png")
