"""A bare page of the site with the runner on it, for tests that drive the runner itself."""

import contextlib

PAGE_NAME = "runner-under-test.html"
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>runner</title><link rel="icon" href="data:,">
<body><script type="module">
import { runnerFor } from './static/zero/runner.js';
const runner = runnerFor('./');
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
</script></body></html>"""


@contextlib.contextmanager
def runner_page(browser, site, **options):
    """Open the page; `page.evaluate("go(source, options)")` there runs Python and gives RunResult with out, err."""
    context = browser.new_context(**options)
    page = context.new_page()
    page.route(site.url + PAGE_NAME, lambda route: route.fulfill(body=PAGE, content_type="text/html"))
    page.goto(site.url + PAGE_NAME)
    page.wait_for_function("window.go")
    yield page
    context.close()


def go(page, source, **options):
    """Run `source` there and return {status, value, error, errorType, elapsedMs, stateKept, truncated, out, err}."""
    return page.evaluate("([source, options]) => go(source, options)", [source, options])
