"""A bare page of the site with the runner on it, for tests that drive the runner itself."""

import contextlib

# Resolves when the number of snapshots that the browser keeps for the site is the argument.
SNAPSHOTS_KEPT = """async (wanted) => {
  const count = async () => (await caches.has('zero-python')) ? (await (await caches.open('zero-python')).keys()).length : 0;
  while (await count() !== wanted) await new Promise((resolve) => setTimeout(resolve, 100));
}"""
# Any document that the server really sends will do; one made up by Playwright would count as a public address, from
# which Chromium refuses requests to this machine, and then no test could tell what the sandbox refuses.
DOCUMENT = "static/zero/runner.js"
SCRIPT = """
const site = new URL('../../', location.href);
const { runnerFor } = await import(new URL('static/zero/runner.js', site));
const runner = runnerFor(site);
window.runner = runner;
window.longestPause = 0;
let last = performance.now();
setInterval(() => {
  const now = performance.now();
  window.longestPause = Math.max(window.longestPause, now - last);
  last = now;
}, 50);
window.go = async (source, options = {}) => {
  const printed = { out: '', err: '' };
  window.longestPause = 0;
  const result = await runner.run(source, { ...options, onOutput: (kind, text) => { printed[kind] += text; } });
  return { ...result, out: printed.out, err: printed.err, longestPause: window.longestPause };
};
"""


@contextlib.contextmanager
def runner_page(browser, site, **options):
    """Open the page; `page.evaluate("go(source, options)")` there runs Python and gives RunResult with out, err."""
    context = browser.new_context(**options)
    yield visit(context, site)
    context.close()


@contextlib.contextmanager
def later_visit(browser, site):
    """The same page on a later visit, when a snapshot of Python's memory lies in the browser's cache."""
    context = browser.new_context()
    leave_snapshot(context, site)
    yield visit(context, site)
    context.close()


def visit(context, site):
    """A new page of the context with the runner on it, not started."""
    page = context.new_page()
    page.goto(site.url + DOCUMENT)
    page.add_script_tag(content=SCRIPT, type="module")
    page.wait_for_function("!!window.go")
    return page


def leave_snapshot(context, site):
    """A first visit that lasts until the snapshot is kept."""
    page = visit(context, site)
    assert go(page, "1 + 1")["value"] == "2"
    assert page.evaluate("runner.startedFrom") == "files"
    page.evaluate(SNAPSHOTS_KEPT, 1)
    page.close()


def go(page, source, **options):
    """Run `source` there and return {status, value, error, errorType, elapsedMs, stateKept, truncated, out, err}."""
    return page.evaluate("([source, options]) => go(source, options)", [source, options])
