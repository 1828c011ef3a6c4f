"""What a first live run brings over the wire, beside the core of a plain Pyodide; both gzipped, as a host sends them.

Counted is what the browser asks for from the navigation to a lesson until the run of its first cell is done.
"""

from urllib.parse import urlsplit

from bench_page import compressed_size, gzipped_bytes
from lesson_visit import run_first_cell
from publish.compiled_wheels import PYODIDE_PACKAGE
from publish.pyodide_dist import CORE_FILES
from rows import Row

# Everything else that the page fetches is text, charts and the editor.
RUNNER = ("static/pyodide/", "stdlib.zip.gz", "zeroledger.zip.gz", "sandbox.html")
LOCK = "pyodide-lock.json"
TARGET = 1.1


def measure(bench):
    sizes = {path: compressed_size(path) for path in asked_for(bench)}
    runner = sum(size for path, size in sizes.items() if any(part in path for part in RUNNER))
    plain = sum(gzipped_bytes((PYODIDE_PACKAGE / name).read_bytes()) for name in (*CORE_FILES, LOCK))
    yield Row("first live run: Python's parts, compressed", runner / 1e6, "MB", "Pyodide's core, compressed", plain / 1e6, TARGET)
    yield Row("  with the page, its charts and the editor", sum(sizes.values()) / 1e6, "MB", "Pyodide's core, compressed", plain / 1e6, TARGET)


def asked_for(bench) -> set[str]:
    """Paths of all that the browser fetched."""
    context = bench.browser.new_context()
    page, asked = context.new_page(), []
    context.on("requestfinished", lambda request: asked.append(request.url))
    run_first_cell(page, bench.url)
    context.close()
    return {urlsplit(url).path for url in asked if url.startswith(bench.url)}
