"""A static server for the built site: 127.0.0.1 only, right MIME types, any path prefix."""

import errno
import functools
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from publish.errors import BuildError

HOST = "127.0.0.1"
DEFAULT_PORT = 8000
MIME_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".ipynb": "application/json",
    ".webmanifest": "application/manifest+json",
    ".wasm": "application/wasm",
    ".whl": "application/zip",
    ".zip": "application/zip",
    ".svg": "image/svg+xml",
    ".ttf": "font/ttf",
    ".woff2": "font/woff2",
}


class SiteHandler(SimpleHTTPRequestHandler):
    """Serves the files of one folder below a path prefix; lists no folders; logs nothing."""

    protocol_version = "HTTP/1.1"
    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, **MIME_TYPES}

    def __init__(self, *args, prefix: str = "/", **kwargs):
        self.prefix = prefix
        super().__init__(*args, **kwargs)

    def send_head(self):
        if not self.path.startswith(self.prefix):
            self.send_error(HTTPStatus.NOT_FOUND, f"The site lies below {self.prefix}")
            return None
        return super().send_head()

    def translate_path(self, path: str) -> str:
        return super().translate_path("/" + path.removeprefix(self.prefix))

    def list_directory(self, path):
        self.send_error(HTTPStatus.NOT_FOUND, "No index.html here")

    def end_headers(self):
        # A rebuilt site is seen at once; unchanged files still answer 304.
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, *args):
        pass

    def handle(self):
        try:
            super().handle()
        except (ConnectionError, TimeoutError):
            pass  # the browser went away


class SiteServer(ThreadingHTTPServer):
    """Threads end with the program, and a taken port is an error."""

    daemon_threads = True
    allow_reuse_address = True  # only past connections; a listening program still holds the port


def parse_port(word: str) -> int:
    """The port as a number. Raises BuildError unless it is one from 1 to 65535."""
    if not (word.isascii() and word.isdigit() and 1 <= int(word) <= 65535):
        raise BuildError(f"PORT is {word!r}", "give a whole number from 1 to 65535, e.g. ./build.sh serve 8080")
    return int(word)


def make_server(folder: Path, port: int, prefix: str = "/") -> SiteServer:
    """A server that holds its port and waits for `serve_forever`. Raises BuildError if it cannot."""
    handler = functools.partial(SiteHandler, directory=str(folder), prefix=prefix)
    try:
        return SiteServer((HOST, port), handler)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise BuildError(f"port {port} is taken by another program", f"stop that program or choose another port: ./build.sh serve {port % 65535 + 1}") from error
        raise BuildError(f"port {port} cannot be used: {error.strerror}", "choose a port above 1023: ./build.sh serve 8000") from error


def serve_until_stopped(server: SiteServer) -> None:
    """Serves until Ctrl+C."""
    print(f"serving dist/ at http://{HOST}:{server.server_port}/ (Ctrl+C stops)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print("\nstopped")
    finally:
        server.server_close()
