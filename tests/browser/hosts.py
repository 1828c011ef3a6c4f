"""Other people's pages, on another origin than the site: a folder served on a port of its own.

`127.0.0.1` and `localhost` are different sites to a browser, so a host at `localhost` embeds the site as a stranger.
"""

import contextlib
import threading
from dataclasses import dataclass
from pathlib import Path

from publish.serve import SiteHandler, SiteServer


@dataclass
class Host:
    """A served folder; `url` by name (another site), `near_url` by number (another origin of the same site)."""

    folder: Path
    url: str
    near_url: str

    def put(self, name: str, html: str) -> str:
        """Writes a page; its address comes back."""
        (self.folder / name).write_text(html, encoding="utf-8")
        return self.url + name


@contextlib.contextmanager
def serve_host(folder: Path, headers: dict[str, str] | None = None):
    """Serves `folder` with these headers on every answer, until the block ends."""

    class Handler(SiteHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(folder))

        def end_headers(self):
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            super().end_headers()

    server = SiteServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield Host(folder, f"http://localhost:{server.server_port}/", f"http://127.0.0.1:{server.server_port}/")
    finally:
        server.shutdown()
        server.server_close()
