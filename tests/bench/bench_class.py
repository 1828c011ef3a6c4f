"""A class of 200 readers opening the first lesson of a cold site, served by one small nginx; and the same reader again.

What a reader fetches is learnt from Chromium, which opens the lesson and runs a cell; the class then fetches the same with
one connection a reader, nothing cached. The files are compressed beforehand, as the shipped settings advise. Needs nginx;
says so and measures nothing where there is none.
"""

import gzip
import http.client
import os
import re
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from lesson_visit import run_first_cell
from publish import paths
from rows import Row

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from nginx_site import MISSING, find_nginx, nginx_site  # noqa: E402

READERS, QUICK_READERS = 200, 20
COMPRESSED = {".html", ".js", ".mjs", ".css", ".json", ".ipynb", ".wasm", ".svg"}
SENT = re.compile(r'"GET (\S+) HTTP/1.1" 200 ')  # not "304 not modified", which sends no file
CHUNK_BYTES = 1 << 18


def measure(bench):
    if not find_nginx():
        print(MISSING)
        return
    readers = QUICK_READERS if bench.quick else READERS
    with tempfile.TemporaryDirectory(prefix="zero-class-") as folder:
        folder = Path(folder)
        folder.chmod(0o755)
        with nginx_site(folder, shipped=False) as url:
            plain_bytes = fetch_all(visits(bench.browser, url, folder / "access.log")[0])
        with nginx_site(folder, compressed_site(folder / "site"), shipped=True) as url:
            first, again = visits(bench.browser, url, folder / "access.log")
            alone_s, alone_bytes = timed(lambda: fetch_all(first))
            class_s, class_bytes = timed(lambda: fetch_by(readers, first))
    yield Row("files sent to a first visit that ran a cell", len(first), "", "different addresses among them", len(set(first)), 1)
    yield Row("files sent to a second visit", len(again), "", "first visit", len(first), 0.2)
    yield Row("download of one reader", alone_bytes / 1e6, "MB", "nginx as Debian ships it", plain_bytes / 1e6, 0.6)
    yield Row(f"{readers} readers at once: bytes sent", class_bytes / 1e6, "MB", f"{readers} × one reader", readers * alone_bytes / 1e6, 1)
    yield Row(f"{readers} readers at once: time", class_s, "s", f"{readers} × one reader alone", readers * alone_s, 1.5)


def compressed_site(folder):
    """A copy of dist/ with a .gz beside each file that gains by it."""
    shutil.copytree(paths.DIST, folder, copy_function=os.link)
    for file in [file for file in folder.rglob("*") if file.suffix in COMPRESSED and file.stat().st_size > 1000]:
        file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes(), 6))
    return folder


def visits(browser, url, log):
    """Addresses that the server sends to a first visit that runs a cell, and to a second one in the same browser."""
    context = browser.new_context()
    page, found = context.new_page(), []
    for _ in range(2):
        log.write_text("")
        run_first_cell(page, url)
        page.goto("about:blank")  # ends what the page still fetches
        found.append([urljoin(url, place) for place in SENT.findall(log.read_text())])
    context.close()
    return found


def fetch_by(readers: int, urls) -> int:
    """Bytes that all readers together receive, all beginning at once."""
    with ThreadPoolExecutor(readers) as pool:
        return sum(pool.map(lambda _: fetch_all(urls), range(readers)))


def fetch_all(urls) -> int:
    """Bytes of the bodies of one reader. RuntimeError for an answer that is none."""
    connection, received = http.client.HTTPConnection(urlsplit(urls[0]).netloc, timeout=300), 0
    for url in urls:
        parts = urlsplit(url)
        connection.request("GET", f"{parts.path}?{parts.query}" if parts.query else parts.path, headers={"Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        if answer.status != 200:
            raise RuntimeError(f"{answer.status}: {url}")
        while chunk := answer.read(CHUNK_BYTES):
            received += len(chunk)
    connection.close()
    return received


def timed(work):
    started = time.monotonic()
    result = work()
    return time.monotonic() - started, result
