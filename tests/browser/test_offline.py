"""The course without a network after a visit, and a new build published while a page is open."""

import json
import os
import shutil
import threading

import nbformat
import pytest
from served_site import PREFIX
from playwright.sync_api import expect
from publish import paths
from publish.notebook_exporter import ZeroLessonExporter
from publish.serve import make_server

READY_MS = 90_000

class OwnSite:
    """A copy of dist/ of its own, served below PREFIX; `url` is where, with a slash."""

    def __init__(self, folder):
        self.folder = folder
        shutil.copytree(paths.DIST, folder, copy_function=os.link)
        self.server = make_server(folder, 0, PREFIX)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}{PREFIX}"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def republish(self, changed):
        """What a later build would publish: another version, another folder of bundles, `changed` (old, new) in the pages."""
        version = json.loads((self.folder / "version.json").read_text())["version"]
        bundles = next((self.folder / "static").glob("zero-*"))
        newer = bundles.with_name("zero-" + "f" * 10)
        bundles.rename(newer)
        for pattern in ("*.html", "version.json", "offline.json", "static/zero/*"):
            for file in self.folder.rglob(pattern):
                old = file.read_text(encoding="utf-8")
                text = old.replace(bundles.name, newer.name).replace(version, "e" * 10).replace(*changed)
                if text != old:
                    file.unlink()  # a link to dist/
                    file.write_text(text, encoding="utf-8")


@pytest.fixture
def own_site(tmp_path):
    site = OwnSite(tmp_path / "site")
    yield site
    site.stop()


@pytest.fixture
def reader(browser):
    """A page in a context of its own; console errors are not judged, since files go missing on purpose."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(READY_MS)
    yield page
    context.close()


WAIT_FOR_KEPT = """
window.keptReport = new Promise((found) => navigator.serviceWorker.addEventListener('message', (event) => found(event.data)));
navigator.serviceWorker.startMessages();
"""
LATER = "performance.now = ((now) => () => now() + 6 * 60_000)(performance.now.bind(performance)); document.dispatchEvent(new Event('visibilitychange'))"


def run_first_cell(page):
    page.locator("zero-cell").first.get_by_role("button", name="Run").click()
    page.wait_for_function("document.querySelector('zero-cell').shadowRoot.querySelector('.status').textContent.startsWith('Done')", timeout=READY_MS)


@pytest.mark.long
def test_a_visited_course_works_without_network_and_a_new_build_is_offered(own_site, reader):
    page = reader
    page.goto(own_site.url + "en/ledger/")
    page.evaluate(WAIT_FOR_KEPT)
    page.wait_for_function("keptReport", timeout=READY_MS)
    assert page.evaluate("keptReport") == {"kept": json.loads((own_site.folder / "version.json").read_text())["version"]}

    page.context.set_offline(True)
    page.goto(own_site.url + "en/stages/?again#stage-2")  # not visited before
    run_first_cell(page)
    page.goto(own_site.url + "en/quiz/")
    page.get_by_role("button", name="Solution").first.click()
    expect(page.locator("[data-part=solution]").first).to_be_visible()

    page.context.set_offline(False)
    page.goto(own_site.url + "en/ledger/")
    draft = page.locator("zero-predict input[name=reason]").first
    draft.fill("sixteen bytes each")
    own_site.republish(("<h1>", "<h1>Newly "))
    page.evaluate(LATER)
    expect(page.locator(".zl-update")).to_contain_text("newer version")
    assert draft.input_value() == "sixteen bytes each"  # nothing reloads by itself
    page.locator(".zl-update").get_by_role("button", name="Reload").click()
    expect(page.locator("h1")).to_contain_text("Newly")
    expect(page.locator("zero-predict input[name=reason]").first).to_have_value("sixteen bytes each")
    page.evaluate(LATER)
    expect(page.locator(".zl-update")).to_have_count(0)


def test_a_page_of_a_build_that_is_gone_offers_to_reload(own_site, reader):
    page = reader
    page.goto(own_site.url + "zh/quiz/")
    page.wait_for_function("!!customElements.get('zero-question')")
    own_site.republish(("<h1>", "<h1>新"))
    page.get_by_role("button", name="解答").first.click()
    expect(page.locator(".zl-update")).to_contain_text("课程有过更新")
    page.get_by_role("button", name="以后再说").click()
    expect(page.locator(".zl-update")).to_have_count(0)


def test_an_old_page_out_of_a_cache_is_fetched_again(own_site, reader):
    page = reader
    old = (own_site.folder / "en/ledger/index.html").read_text(encoding="utf-8")
    own_site.republish(("<h1>", "<h1>Newly "))
    page.route("**/en/ledger/", lambda route: route.fulfill(body=old, content_type="text/html"), times=1)
    page.goto(own_site.url + "en/ledger/")
    expect(page.locator("h1")).to_contain_text("Newly")
    expect(page.locator("zero-cell").first).to_be_visible()


def test_a_converted_notebook_runs_a_live_cell_beside_the_lessons(own_site, reader):
    cells = [nbformat.v4.new_markdown_cell("# My own"), nbformat.v4.new_code_cell("print(6 * 7)", metadata={"tags": ["live"]})]
    html, _ = ZeroLessonExporter().from_notebook_node(nbformat.v4.new_notebook(cells=cells), {"metadata": {"name": "my-own"}})
    page_file = own_site.folder / "en/my-own/index.html"
    page_file.parent.mkdir()
    page_file.write_text(html, encoding="utf-8")
    page = reader
    page.goto(own_site.url + "en/my-own/")
    run_first_cell(page)
    assert page.evaluate("document.querySelector('zero-cell').shadowRoot.querySelector('.output').textContent").strip() == "42"


REGISTER = """async (site) => {
  const { active, waiting, installing } = await navigator.serviceWorker.register(`${site}offline.js`, { scope: `${site}zh/` });
  const worker = active ?? waiting ?? installing;
  if (worker.state !== 'activated') {
    await new Promise((done) => worker.addEventListener('statechange', () => worker.state === 'activated' && done()));
  }
}"""


@pytest.mark.long
def test_the_chinese_lab_gets_its_answers_below_our_service_worker(own_site, reader):
    page = reader
    page.goto(own_site.url + "zh/ledger/")
    page.evaluate(REGISTER, own_site.url)
    page.goto(own_site.url + "zh/notebooks/index.html?path=zh/01-ledger.ipynb")
    assert page.evaluate("navigator.serviceWorker.controller.scriptURL").endswith("/offline.js")
    assert page.evaluate("fetch('/api/service-worker-heartbeat').then((answer) => answer.text())") == "ok"
    expect(page.locator(".jp-Notebook")).to_be_visible()
