"""Python's start when the sandbox hangs: once more, in a new one, before the reader is told."""

import itertools

import pytest
from runner_page import go, visit

# The sandboxes that will hang are given a second, the one that will not all that a busy machine needs.
HURRY = "(times) => { runner.stalledMs = { fetching: 60_000, get starting() { return runner.hasTriedAgain >= times ? 60_000 : 1_000; } } }"


@pytest.fixture
def hanging(browser, site):
    """hanging(n): a page on which the first n sandboxes are empty documents, which never answer."""
    context = browser.new_context()

    def page_with(times):
        number = itertools.count()
        context.route("**/sandbox.html", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html") if next(number) < times else route.continue_())
        page = visit(context, site)
        page.evaluate(HURRY, times)
        return page

    yield page_with
    context.close()


def test_one_that_hangs_is_replaced(hanging):
    page = hanging(1)
    result = go(page, "1 + 1")
    assert (result["status"], result["value"]) == ("ok", "2")
    assert page.evaluate("document.querySelectorAll('iframe').length") == 1


def test_a_second_one_that_hangs_is_told_and_the_next_run_tries_again(hanging):
    page = hanging(2)
    result = go(page, "1 + 1")
    assert (result["status"], result["errorType"]) == ("crashed", "LoadError") and "second try" in result["error"]
    page.evaluate("runner.stalledMs = { fetching: 60_000, starting: 60_000 }")
    assert go(page, "1 + 1")["value"] == "2"
