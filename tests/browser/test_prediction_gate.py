"""What tells an answer is not in the page before the prediction, and is there after a skip, in every lesson."""

import pytest
from playwright.sync_api import expect

from lessonkit import bank
from publish.gate import tells
from publish.lessons import FOLDER_OF_LANGUAGE, load_lessons

LESSONS = load_lessons()
# Each question, and the text of every prose cell and recorded output that comes after it.
AFTER_EACH = """() => [...document.querySelectorAll('zero-predict')].map((question) => [question.getAttribute('exercise'),
    [...document.querySelectorAll('.zl-prose, [data-output-of] .zl-stdout, zero-explorer, zero-parallel, zero-timeline')]
        .filter((part) => question.compareDocumentPosition(part) & Node.DOCUMENT_POSITION_FOLLOWING)
        .map((part) => { const copy = part.cloneNode(true); copy.querySelectorAll('code, script').forEach((code) => code.replaceWith(' '));
                         copy.querySelectorAll('*').forEach((one) => one.after(' '));
                         return copy.textContent; })])"""


def told(page):
    """The exercises of the page whose answer its text tells after the question."""
    return {exercise for exercise, texts in page.evaluate(AFTER_EACH)
            if any(tells(text, bank.load(exercise).evaluate()) for text in texts)}


# Two at every commit; what is held back in the others, tests/test_gate.py tests without a browser.
PAGES = [pytest.param(lesson.slug, folder, marks=() if (lesson.slug, folder) in (("stages", "zh"), ("gather", "en")) else pytest.mark.long)
         for lesson in LESSONS for folder in FOLDER_OF_LANGUAGE.values()]


@pytest.mark.parametrize("slug, folder", PAGES)
def test_no_answer_is_in_the_page_before_and_all_are_after(page, site, slug, folder):
    page.goto(f"{site.url}{folder}/{slug}/")
    page.wait_for_function("Boolean(customElements.get('zero-predict'))")
    assert told(page) == set()
    waiting = {name for names in page.locator("[data-after]").evaluate_all("all => all.map(one => one.dataset.after)") for name in names.split()}
    # As if all had been skipped on an earlier visit: nothing runs.
    page.evaluate("""ids => ids.forEach(id => localStorage.setItem(`zero:predict:${id}`,
        JSON.stringify({value: null, text: '', reason: '', confidence: null, skipped: true})))""", sorted(waiting))
    page.reload()
    expect(page.locator("[data-gate=closed]")).to_have_count(0)
    assert told(page) == waiting


def test_a_skip_from_the_gap_shows_the_text_and_keeps_the_place(page, site, watch):
    watch.allow(r"(failed request|console error): .*")
    held, released = [], []  # Python is on its way until the reader has forgotten the prediction, and fails only then
    page.route("**/static/pyodide/**", lambda route: route.abort() if released else held.append(route))
    page.goto(f"{site.url}en/stages/#bucket-why")
    gap = page.locator("#bucket-why")
    expect(gap).to_have_attribute("data-gate", "closed")
    gap.get_by_role("button").press("Enter")
    expect(gap).to_have_attribute("data-gate", "open")
    expect(gap).to_be_focused()
    expect(gap).to_contain_text("700 MB")
    question = page.locator("zero-predict[exercise=stages-bucket-bytes]")
    expect(question).to_have_attribute("data-verdict", "skipped")
    question.locator("[data-part=result] > .zl-link").click()
    expect(gap).to_have_attribute("data-gate", "closed")
    released.append(True)
    for route in held:
        route.abort()
    question.get_by_role("button", name="Skip").press("Enter")
    expect(question.locator(".zl-computed")).to_be_visible()


def test_a_chart_that_tells_answers_comes_alive_after_them(page, site):
    page.goto(f"{site.url}zh/tensor-parallel/")
    page.wait_for_function("Boolean(customElements.get('zero-predict'))")
    chart = page.locator("#parallel")
    expect(chart).to_have_attribute("data-gate", "closed")
    expect(page.locator("zero-parallel")).to_have_count(0)
    page.route("**/static/pyodide/**", lambda route: route.fulfill(status=204))
    page.evaluate("""ids => { ids.split(' ').forEach(id => localStorage.setItem(`zero:predict:${id}`, JSON.stringify(
        {value: null, text: '', reason: '', confidence: null, skipped: true}))); document.dispatchEvent(new CustomEvent('zero-predict')); }""",
                  chart.get_attribute("data-after"))
    page.wait_for_function("Boolean(customElements.get('zero-parallel'))")
    total = chart.locator(".zl-chosen td").last
    before = total.inner_text()
    chart.locator("[data-control=stage] input[value='3']").check()
    expect(total).not_to_have_text(before)
    chart.locator("[data-control=sequence_parallel]").check()
    after = total.inner_text()
    page.reload()
    expect(total).to_have_text(after)


def test_without_scripts_the_lesson_is_whole(open_page, site):
    page = open_page(java_script_enabled=False)
    page.goto(f"{site.url}zh/stages/")
    expect(page.locator("#bucket-why")).to_contain_text("700 MB")
    expect(page.locator("#bucket-why")).to_be_visible()


def test_when_the_script_does_not_arrive_the_lesson_is_whole(page, site, watch):
    watch.allow(r"(failed request|console error): .*")
    page.route("**/page.js*", lambda route: route.abort())
    page.goto(f"{site.url}en/stages/")
    expect(page.locator("#bucket-why p").first).to_be_visible()
    assert page.locator("#bucket-why").evaluate("one => getComputedStyle(one).visibility") == "visible"
