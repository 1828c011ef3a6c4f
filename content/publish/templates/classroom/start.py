"""Serves the course in the folder `site` beside this file: python3 start.py [PORT]. Python 3.8 or newer, no internet.

Readers on other machines of the room open http://<name or address of this machine>:<port>/. Ctrl+C stops.
"""

import functools
import http.server
import os
import socket
import sys

SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "site")
# Named here, since the machine's own table may know none of them or give another.
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css",
         ".json": "application/json", ".ipynb": "application/json", ".wasm": "application/wasm", ".zip": "application/zip",
         ".whl": "application/zip", ".svg": "image/svg+xml", ".ttf": "font/ttf", ".woff2": "font/woff2"}


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, **TYPES}

    def end_headers(self):
        # What lies in a folder named by its content never changes; of everything else a newer copy is asked for.
        self.send_header("Cache-Control", "max-age=31536000, immutable" if "/static/zero-" in self.path else "no-cache")
        super().end_headers()

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # a whole class begins at once


def main(words):
    port = int(words[0]) if words and words[0].isdigit() else 8000
    try:
        server = Server(("", port), functools.partial(Handler, directory=SITE))
    except OSError as error:
        print("port %d cannot be used (%s); try another: python3 start.py %d" % (port, error.strerror, port + 1))
        return 1
    print("The course is at http://127.0.0.1:%d/" % server.server_port)
    print("From other machines in this network: http://%s:%d/   (Ctrl+C stops)" % (socket.gethostname(), server.server_port), flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print("\nstopped")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
