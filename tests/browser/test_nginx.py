"""The site below a path of Debian's nginx: with the headers that it sends by itself, and with the settings that we ship."""

import re
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from nginx_site import MISSING, find_nginx, nginx_site  # noqa: E402

pytestmark = [pytest.mark.long, pytest.mark.skipif(not find_nginx(), reason=MISSING)]
READY_MS = 90_000


@pytest.fixture(params=[False, True], ids=["as it comes", "as shipped"])
def course(request, tmp_path):
    """(address, whether with the shipped settings)."""
    tmp_path.chmod(0o755)
    with nginx_site(tmp_path, shipped=request.param) as url:
        yield url, request.param


def test_a_lesson_runs_a_live_cell(course, browser):
    url, shipped = course
    context = browser.new_context()
    try:
        page, bad, headers = context.new_page(), [], {}
        page.on("response", lambda answer: headers.update({answer.url.removeprefix(url): answer.headers}))
        page.on("response", lambda answer: answer.status >= 400 and bad.append(f"{answer.status} {answer.url}"))
        page.on("request", lambda asked: not asked.url.startswith((url, "blob:", "data:")) and bad.append(asked.url))
        page.goto(url + "zh/ledger/")
        cell = page.locator("zero-cell").first
        cell.get_by_role("button", name="运行").click()
        expect(cell.locator(".status")).to_contain_text("完成", timeout=READY_MS)
        assert bad == []
        bundled = next(value for name, value in headers.items() if re.match(r"static/zero-\w+/page\.js", name))
        pyodide = next(value for name, value in headers.items() if "pyodide.asm.wasm" in name)
        assert pyodide["content-type"] == "application/wasm"
        if shipped:
            assert "immutable" in bundled["cache-control"] and bundled["content-encoding"] == "gzip"
            assert headers["zh/ledger/"]["cache-control"] == "no-cache" and "text/html" in headers["zh/ledger/"]["content-type"]
            assert pyodide["content-encoding"] == "gzip"
            answer = context.request.get(url + "static/pyodide/pyodide.mjs")
            assert answer.headers["content-type"].startswith("text/javascript")
    finally:
        context.close()
