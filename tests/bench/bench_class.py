"""A class of 200 readers opening the first lesson of a cold site, served by one small nginx; and the same reader again.

What a reader fetches is learnt from Chromium, which opens the lesson and runs a cell; the class then fetches the same with
one connection a reader, nothing cached. Needs nginx; says so and measures nothing where there is none.
"""

import http.client
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

from rows import Row

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from nginx_site import MISSING, find_nginx, nginx_site  # noqa: E402

READERS, QUICK_READERS = 200, 20
CHUNK_BYTES = 1 << 18
DONE = "document.querySelector('zero-cell').shadowRoot.querySelector('.status').textContent.startsWith('Done')"


def measure(bench):
    if not find_nginx():
        print(MISSING)
        return
    readers = QUICK_READERS if bench.quick else READERS
    with tempfile.TemporaryDirectory(prefix="zero-class-") as folder:
        Path(folder).chmod(0o755)
        with nginx_site(Path(folder), shipped=False) as url:
            plain_bytes = fetch_all(addresses(bench.browser, url)[0])
        with nginx_site(Path(folder), shipped=True) as url:
            first, again = addresses(bench.browser, url)
            alone_s, alone_bytes = timed(lambda: fetch_all(first))
            class_s, class_bytes = timed(lambda: fetch_by(readers, first))
    yield Row("requests of a first visit that ran a cell", len(first), "", "different addresses among them", len(set(first)), 1)
    yield Row("requests of a second visit", len(again), "", "first visit", len(first), 0.2)
    yield Row("download of one reader", alone_bytes / 1e6, "MB", "nginx as Debian ships it", plain_bytes / 1e6, 0.6)
    yield Row(f"{readers} readers at once: bytes sent", class_bytes / 1e6, "MB", f"{readers} × one reader", readers * alone_bytes / 1e6, 1)
    yield Row(f"{readers} readers at once: time", class_s, "s", f"{readers} × one reader alone", readers * alone_s, 1)


def addresses(browser, url):
    """What the server is asked for by a first visit that runs a cell, and by a second one in the same browser."""
    context = browser.new_context()
    page, asked = context.new_page(), []
    page.on("response", lambda answer: answer.url.startswith(url) and asked.append(answer))
    visits = []
    for _ in range(2):
        asked.clear()
        page.goto(url + "en/ledger/")
        page.locator("zero-cell").first.get_by_role("button", name="Run").click()
        page.wait_for_function(DONE, timeout=120_000)
        visits.append([answer.url for answer in asked if answer.status == 304 or not from_cache(answer)])
    context.close()
    return visits


def from_cache(answer) -> bool:
    """Whether the browser had it: such answers took no byte from the network."""
    timing = answer.request.timing
    return timing["responseStart"] < 0 or answer.request.sizes()["responseHeadersSize"] == 0


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
