"""Chromium against dist/, served from a sub-path as a project site would be.

- `page`: a fresh page. `open_page(**options)`: more of them, with Playwright's context options
  (`viewport`, `java_script_enabled=False`, `color_scheme`, `locale` …).
- `site.url`: where the site lies, with a slash at the end.
- Any request that leaves the site, any console error, uncaught error, failed request or status
  ≥ 400 fails the test. A test that expects one says so: `watch.allow(r"console error: .*oops")`.
- Of a failed test, .build/failures/<test>/ keeps the screenshot, the page and what `watch` saw.

Tests wait for states (`expect(...)`, `page.wait_for_function`), they never sleep.
"""

import os
import re
import shutil
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "content"))

from chromium_flags import CHROMIUM_FLAGS  # noqa: E402
from publish import paths  # noqa: E402
from publish.chromium import find_chromium  # noqa: E402
from publish.serve import make_server  # noqa: E402
from served_site import PREFIX, Site  # noqa: E402

FAILURES = paths.BUILD / "failures"
DEFAULT_TIMEOUT_MS = 30_000
expect.set_options(timeout=DEFAULT_TIMEOUT_MS)  # Playwright's own 5 s are too few for Python on a busy machine
LOCAL_SCHEMES = ("blob:", "data:", "about:")
# JupyterLite asks its own service worker whether it lives; the worker answers, nothing leaves.
HEARTBEAT = "/api/service-worker-heartbeat"


@dataclass
class Watch:
    """What went wrong on the pages of one test, as lines `kind: text`."""

    site: Site
    problems: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)
    allowed: list[re.Pattern] = field(default_factory=list)

    def allow(self, pattern: str) -> None:
        """Problems whose line the regular expression matches (from the start) are expected."""
        self.allowed.append(re.compile(pattern, re.DOTALL))

    def unexpected(self) -> list[str]:
        """The problems that no `allow` covers."""
        return [line for line in self.problems if not any(pattern.match(line) for pattern in self.allowed)]

    def follow(self, context: BrowserContext) -> None:
        """Records what happens in every page of the context, popups included."""
        context.on("request", self._request)
        context.on("requestfailed", self._failed)
        context.on("response", self._response)
        context.on("console", self._console)
        context.on("weberror", lambda error: self.problems.append(f"page error: {error.error}"))
        context.on("page", self._page)

    def _page(self, page) -> None:
        self.pages.append(page)

    def _request(self, request) -> None:
        url = request.url
        if url.startswith((self.site.url, *LOCAL_SCHEMES)) or url.startswith(self.site.origin + HEARTBEAT):
            return
        kind = "request outside the site" if url.startswith(self.site.origin) else "request to another origin"
        self.problems.append(f"{kind}: {url}")

    def _failed(self, request) -> None:
        # ERR_ABORTED is what a navigation does to requests under way. A blob URL of the sandbox (whose origin is
        # null) that is gone is how a busy interpreter is told to stop: content/web/src/runner/stop-flag.js.
        if "ERR_ABORTED" not in (request.failure or "") and not request.url.startswith("blob:null/"):
            self.problems.append(f"failed request: {request.url} {request.failure}")

    def _response(self, response) -> None:
        if response.status >= 400:
            self.problems.append(f"status {response.status}: {response.url}")

    def _console(self, message) -> None:
        self.console.append(f"{message.type}: {message.text}")
        if message.type == "error":
            self.problems.append(f"console error: {message.text} ({message.location.get('url', '')})")


WATCH = pytest.StashKey[Watch]()


@pytest.fixture(scope="session")
def site():
    """dist/, served below PREFIX on a free port."""
    if not (paths.DIST / "index.html").exists():
        pytest.exit("dist/ is not built: run ./build.sh first", returncode=1)
    server = make_server(paths.DIST, 0, PREFIX)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}"
    yield Site(origin, origin + PREFIX)
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def browser():
    """Chromium: CHROMIUM, an installed one, or Playwright's own."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def watch(request, site):
    """The test's record of problems; judged when the test function has returned."""
    request.node.stash[WATCH] = Watch(site)
    return request.node.stash[WATCH]


@pytest.fixture
def open_page(browser, watch, request):
    """Opens pages, each in a context of its own (own storage, own cache); closes them at the end."""
    contexts = []

    def open_one(init_script: str | None = None, **options) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        watch.follow(context)
        if init_script:
            context.add_init_script(init_script)
        page = context.new_page()
        page.set_default_timeout(DEFAULT_TIMEOUT_MS)
        return page

    yield open_one
    if request.node.stash.get(FAILED, False):
        keep_evidence(request.node.name, watch)
    for context in contexts:
        context.close()


@pytest.fixture
def page(open_page):
    """One page at 1280 × 900."""
    return open_page()


FAILED = pytest.StashKey[bool]()


def pytest_collection_modifyitems(items):
    """A browser test that fails runs once more, for a machine so busy that a wait ran out; the summary lists it."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Runs the test, then judges what `watch` saw, so that a problem fails the test itself."""
    item.stash[FAILED] = False
    try:
        result = yield
        watch = item.stash.get(WATCH, None)
        if watch and watch.unexpected():
            pytest.fail("the browser reported problems:\n" + "\n".join(watch.unexpected()), pytrace=False)
        return result
    except BaseException:
        item.stash[FAILED] = True
        raise


def keep_evidence(test_name: str, watch: Watch) -> None:
    """Writes screenshot, page and messages of each open page to .build/failures/<test>/."""
    folder = FAILURES / re.sub(r"[^\w.-]+", "_", test_name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "messages.txt").write_text("\n".join([*watch.problems, "--", *watch.console]), encoding="utf-8")
    for number, page in enumerate(page for page in watch.pages if not page.is_closed()):
        try:
            (folder / f"{number}.html").write_text(page.content(), encoding="utf-8")
            page.screenshot(path=folder / f"{number}.png", full_page=True, timeout=5000)
        except Exception as error:  # a page that hangs must not hide the test's own failure
            (folder / f"{number}.error.txt").write_text(str(error))
    print(f"evidence kept in {os.path.relpath(folder, paths.ROOT)}")
