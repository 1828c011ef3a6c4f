"""What a lesson and the course home say is done, and the way back to where the reader stopped."""

import json

import pytest
from playwright.sync_api import expect

PREDICTED = {"value": 510_000_000, "text": "510 MB", "reason": "", "confidence": 2, "skipped": False}


def read_on(page, cell):
    """Scrolls to the cell as a reader does, with the wheel, and waits until the place is kept."""
    page.mouse.move(600, 400)
    page.mouse.wheel(0, 10)
    page.locator(f"#{cell}").evaluate("one => one.scrollIntoView({behavior: 'instant'})")
    page.wait_for_function("cell => JSON.parse(localStorage['zero:place:stages'] ?? '{}').cell === cell", arg=cell)


@pytest.mark.parametrize("lang, made, go_on", [("en", "1 of 4 predictions made", "Continue there"), ("zh", "预测 1/4", "接着读")])
def test_a_reader_finds_the_place_again(page, site, lang, made, go_on):
    page.goto(f"{site.url}{lang}/stages/")
    page.evaluate("one => localStorage.setItem('zero:predict:stages-grad-saving', JSON.stringify(one))", PREDICTED)
    page.reload()
    expect(page.locator("[data-part=progress]")).to_contain_text(made)
    read_on(page, "guess-max")
    share = json.loads(page.evaluate("localStorage['zero:place:stages']"))["share"]
    assert 0.2 < share < 0.9

    page.goto(f"{site.url}{lang}/")
    lesson = page.locator("[data-progress-of=stages]")
    expect(lesson.locator("[data-part=lesson-progress]")).to_contain_text(made)
    expect(page.locator("[data-part=continue]")).to_have_attribute("href", "stages/#guess-max")
    expect(page.locator("[data-progress-of=gather] [data-part=lesson-progress]")).to_be_hidden()
    lesson.locator("[data-part=start]").click()
    expect(page.locator("#guess-max")).to_be_in_viewport()
    expect(page.locator(".zl-resume")).to_have_count(0)  # the link's place counts

    page.goto(f"{site.url}{lang}/gather/")
    page.goto(f"{site.url}{lang}/stages/")
    page.get_by_role("button", name=go_on).press("Enter")
    expect(page.locator("#guess-max")).to_be_focused()
    expect(page.locator("#guess-max")).to_be_in_viewport()
    expect(page.locator(".zl-resume")).to_have_count(0)


def test_the_place_on_offer_is_not_lost_by_looking_around(page, site):
    page.goto(f"{site.url}en/stages/")
    read_on(page, "bucket-why")
    page.goto(f"{site.url}en/gather/")
    page.goto(f"{site.url}en/stages/")
    offer = page.locator(".zl-resume")
    expect(offer).to_be_visible()
    before = page.evaluate("JSON.parse(localStorage['zero:place:stages']).at")
    page.mouse.move(600, 400)
    page.mouse.wheel(0, 600)
    page.wait_for_function("before => JSON.parse(localStorage['zero:place:stages']).at > before", arg=before)
    assert page.evaluate("JSON.parse(localStorage['zero:place:stages']).cell") == "bucket-why"
    offer.locator("[data-action=stay]").click()
    expect(offer).to_have_count(0)
    page.mouse.wheel(0, 300)
    page.wait_for_function("JSON.parse(localStorage['zero:place:stages']).cell !== 'bucket-why'")


def test_without_storage_the_pages_work_and_say_so_where_it_matters(open_page, site):
    page = open_page(init_script="Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError'); }})")
    page.goto(f"{site.url}en/stages/")
    page.wait_for_function("Boolean(customElements.get('zero-predict'))")
    expect(page.locator("[data-part=progress]")).to_have_text("4 predictions")
    gap = page.locator("#bucket-why")
    gap.get_by_role("button").press("Enter")
    expect(gap).to_contain_text("700 MB")
    expect(page.locator("[data-part=progress]")).to_contain_text("skipped")
    page.goto(f"{site.url}en/calibration/")
    expect(page.get_by_text("does not let the page store")).to_be_visible()
    page.goto(f"{site.url}en/")
    expect(page.locator("[data-part=continue]")).to_be_hidden()
