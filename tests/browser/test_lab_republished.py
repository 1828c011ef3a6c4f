"""A republished lesson in the lab: the reader sees the new text, and their edited copy lies beside it."""

import json
import os
import re
import shutil
import threading

import pytest
from chromium_flags import NO_SERVICE_WORKER
from lab_notebook import READY_TIMEOUT_MS
from served_site import PREFIX, Site
from playwright.sync_api import expect
from publish import paths
from publish.fingerprint import mark_published
from publish.serve import make_server

APPS = {"en": "lab/index.html?path=en/01-ledger.ipynb", "zh": "zh/lab/index.html?path=zh/01-ledger.ipynb"}
COPY = {"en": re.compile(r"01-ledger \(my copy \d{4}-\d\d-\d\d\)\.ipynb"), "zh": re.compile(r"01-ledger（我的副本 \d{4}-\d\d-\d\d）\.ipynb")}
OPEN_COPY = {"en": "Open my copy", "zh": "打开我的副本"}
MINE, NEW = "this line is mine", "this text is new"


@pytest.fixture(autouse=True)
def expected_noise(watch):
    """A page that is left while its kernel still loads."""
    watch.allow(r"failed request: .*/(static/pyodide|extensions)/.*ERR_FAILED")


class Publisher:
    """A site of its own, which can publish another version of a lesson."""

    def __init__(self, folder):
        self.folder = folder
        shutil.copytree(paths.DIST, folder, copy_function=os.link)

    def republish(self, name, text):
        """The notebook `name` with `text` in its second cell, as the next build would write it."""
        file = self.folder / "files" / name
        notebook = json.loads(file.read_text(encoding="utf-8"))
        notebook["cells"][1]["source"] = text
        file.unlink()  # a hard link: dist/ keeps its own
        file.write_text(json.dumps(mark_published(notebook)), encoding="utf-8")


@pytest.fixture
def publisher(tmp_path):
    return Publisher(tmp_path / "site")


@pytest.fixture
def site(publisher):
    server = make_server(publisher.folder, 0, PREFIX)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}"
    yield Site(origin, origin + PREFIX)
    server.shutdown()
    server.server_close()


def open_lesson(page, site, lang):
    """The lesson's notebook, shown, and its second cell."""
    page.set_default_timeout(READY_TIMEOUT_MS)
    page.goto(site.url + APPS[lang])
    cell = panel(page).locator(".jp-Cell").nth(1)
    expect(cell).to_be_visible(timeout=READY_TIMEOUT_MS)
    return cell


def panel(page):
    return page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")


def edit_and_save(page, words):
    """Writes `words` into a new cell below the first, saves, and waits until the tab says that it is saved."""
    panel(page).locator(".jp-Cell").first.click(position={"x": 5, "y": 5})
    page.keyboard.press("Escape")
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    page.keyboard.insert_text(words)
    expect(page.locator(".lm-TabBar-tab.jp-mod-dirty")).not_to_have_count(0)
    page.keyboard.press("Control+s")
    expect(page.locator(".lm-TabBar-tab.jp-mod-dirty")).to_have_count(0)


def check_republished(page, site, lang):
    """The new text, a notice, and behind its button the reader's own copy."""
    expect(open_lesson(page, site, lang)).to_contain_text(NEW)
    expect(panel(page)).not_to_contain_text(MINE)
    notice = page.locator(".Toastify__toast")
    expect(notice).to_contain_text(COPY[lang])
    notice.get_by_role("button", name=OPEN_COPY[lang]).click()
    expect(page.locator(".lm-TabBar-tab.lm-mod-current", has_text=COPY[lang])).to_be_visible()
    expect(panel(page)).to_contain_text(MINE)
    expect(panel(page)).not_to_contain_text(NEW)


def test_the_new_text_is_seen_and_the_edited_copy_kept(page, site, publisher):
    open_lesson(page, site, "en")
    edit_and_save(page, MINE)
    open_lesson(page, site, "en")
    expect(panel(page)).to_contain_text(MINE)  # nothing was published: the copy is what opens
    publisher.republish("en/01-ledger.ipynb", NEW)
    check_republished(page, site, "en")


@pytest.mark.long
def test_in_chinese_and_without_a_service_worker(open_page, site, publisher, watch):
    watch.allow("page error: undefined")  # JupyterLite's own promise for the worker, rejected without a reason
    page = open_page(NO_SERVICE_WORKER)
    open_lesson(page, site, "zh")
    edit_and_save(page, MINE)
    publisher.republish("zh/01-ledger.ipynb", NEW)
    check_republished(page, site, "zh")


@pytest.mark.long
def test_a_second_tab_with_the_old_text_loses_nothing(page, site, publisher):
    open_lesson(page, site, "en")
    edit_and_save(page, "first words")
    publisher.republish("en/01-ledger.ipynb", NEW)
    other = page.context.new_page()
    expect(open_lesson(other, site, "en")).to_contain_text(NEW)
    edit_and_save(page, MINE)  # the tab that has been open all the time
    other.close()
    expect(open_lesson(page, site, "en")).to_contain_text(NEW)
    expect(page.locator(".Toastify__toast")).to_contain_text(re.compile(r"my copy \d{4}-\d\d-\d\d 2"))
