"""A bare page of the site with the runner on it, for tests that drive the runner itself."""

import contextlib

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
    page = context.new_page()
    page.goto(site.url + DOCUMENT)
    page.add_script_tag(content=SCRIPT, type="module")
    page.wait_for_function("!!window.go")
    yield page
    context.close()


def go(page, source, **options):
    """Run `source` there and return {status, value, error, errorType, elapsedMs, stateKept, truncated, out, err}."""
    return page.evaluate("([source, options]) => go(source, options)", [source, options])
