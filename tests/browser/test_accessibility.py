"""Readers with little motion, large letters, a narrow screen, or a keyboard alone get through every page."""

import json

import pytest
from lessonkit import bank
from playwright.sync_api import expect
from test_pages_static import PAGES as MAIN_PAGES
from test_pages_static import violations

PAGES = [*MAIN_PAGES, "en/api/", "zh/api/"]
EVERY_COMMIT = ("zh/stages/", "en/timeline/")
PYTHON_TIMEOUT_MS = 90_000


def long_but(paths, kept=EVERY_COMMIT):
    return [pytest.param(path, marks=() if path in kept else pytest.mark.long) for path in paths]


# The reader's own answers to everything, so that results are there to be seen.
ALL_PREDICTED = "if (globalThis.origin !== 'null') for (const [id, value] of Object.entries(ANSWERS)) localStorage.setItem(`zero:predict:${id}`, JSON.stringify({value, text: '', reason: '', confidence: 3, skipped: false}));".replace(
    "ANSWERS", json.dumps({name: bank.load(name).evaluate()["answer"] for name in bank.ids()}))
# Elements of the page and of the cells' shadow trees.
ALL_ELEMENTS = """() => {
  const found = [];
  const visit = (root) => { for (const one of root.querySelectorAll('*')) { found.push(one); if (one.shadowRoot) visit(one.shadowRoot); } };
  visit(document);
  return found;
}"""
MOVING = f"""() => {{
  const long = (times) => times.split(',').some((time) => parseFloat(time) > 0.01);
  const styled = ({ALL_ELEMENTS})().flatMap((one) => [null, '::before', '::after'].map((part) => [one, getComputedStyle(one, part)]));
  const moving = styled.filter(([, style]) => (style.animationName !== 'none' && long(style.animationDuration))
      || (style.transitionProperty !== 'none' && long(style.transitionDuration)) || style.scrollBehavior === 'smooth');
  return [...moving.map(([one]) => one.outerHTML.slice(0, 120)), ...document.getAnimations().map((one) => String(one.animationName))];
}}"""
# What sticks out of the screen or is cut off by a box that cannot be scrolled.
CUT = f"""() => {{
  const width = document.documentElement.clientWidth;
  const mayScroll = (one) => ['auto', 'scroll'].includes(getComputedStyle(one).overflowX) && !one.matches('.zl-table:has(.zl-ledger)');
  const scrolls = (one) => {{ for (let at = one; at; at = at.parentElement ?? at.getRootNode().host) if (mayScroll(at)) return true; return false; }};
  const shown = ({ALL_ELEMENTS})().filter((one) => !one.closest('.zl-skip, .zl-sr, .visually-hidden, svg, head, option') && one.checkVisibility({{visibilityProperty: true, opacityProperty: true}}));
  const out = shown.filter((one) => {{
    const box = one.getBoundingClientRect();
    const hides = ['hidden', 'clip'].includes(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth + 1;
    return box.width > 1 && box.height > 1 && !scrolls(one) && (hides || box.right > width + 1 || box.left < -1);
  }});
  return out.map((one) => one.outerHTML.slice(0, 160));
}}"""
FOCUSED = """() => { let one = document.activeElement; while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement; return one; }"""
# An outline, a ring, or another look than without focus, on the element, what it labels, or the box around it.
FOCUS_SHOWS = f"""() => {{
  const one = ({FOCUSED})();
  const near = [one, one.nextElementSibling, one.closest('.code')].filter(Boolean);
  const box = one.getBoundingClientRect();
  return box.bottom > 0 && box.top < innerHeight && near.some((part) => {{
    const style = getComputedStyle(part);
    return (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none' || part.matches('.zl-buffers button');
  }});
}}"""


@pytest.mark.parametrize("path", long_but(PAGES))
def test_nothing_moves_for_who_wants_no_motion(open_page, site, path):
    page = open_page(reduced_motion="reduce")
    page.goto(site.url + path)
    page.wait_for_load_state("networkidle")
    page.keyboard.press("Tab")  # what is used on the page scrolls smoothly
    assert page.evaluate(MOVING) == []
    assert page.locator("[data-playing]").count() == 0


def test_motion_is_found_where_it_is(open_page, site):
    """Otherwise an empty list would prove nothing."""
    page = open_page(reduced_motion="no-preference")
    page.goto(site.url + "en/")
    page.keyboard.press("Tab")
    assert page.evaluate(MOVING) != []


@pytest.mark.parametrize("path", long_but(PAGES))
def test_nothing_is_cut_at_360_pixels_and_at_200_percent(open_page, site, path):
    for name, options in {"360 px": {"viewport": {"width": 360, "height": 740}}, "200 %": {"viewport": {"width": 640, "height": 450}, "device_scale_factor": 2}}.items():
        page = open_page(ALL_PREDICTED, **options)
        page.goto(site.url + path)
        page.wait_for_load_state("networkidle")
        for summary in page.locator("main details > summary").all():
            summary.evaluate("one => { one.parentElement.open = true; }")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        assert page.evaluate(CUT) == [], name


@pytest.mark.long
@pytest.mark.parametrize("path", ["en/api/", "zh/api/"])
def test_axe_finds_nothing_in_the_reference(page, site, path):
    page.goto(site.url + path)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == [], scheme


def test_axe_finds_nothing_on_the_page_that_chooses_the_language(page, site, watch):
    watch.allow(r"(failed request|console error): .*")
    page.route(f"{site.url}??/", lambda route: route.abort())  # or it would go on at once
    page.goto(site.url)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == [], scheme


class Keyboard:
    """A reader without a mouse: only keys are pressed, and at each step the focus must be seen."""

    def __init__(self, page):
        self.page = page

    def press(self, key):
        self.page.keyboard.press(key)

    def focused(self, question):
        return self.page.evaluate(f"(question) => {{ const one = ({FOCUSED})(); return Boolean(one?.matches?.(question)); }}", question)

    def tab_to(self, selector, at_most=80):
        """Presses Tab until the focus is on `selector`; fails when it is not seen on the way, or does not come."""
        for _ in range(at_most):
            self.press("Tab")
            assert self.page.evaluate(FOCUS_SHOWS), "the focus is not seen on " + self.page.evaluate(f"({FOCUSED})().outerHTML.slice(0, 200)")
            if self.focused(selector):
                return
            if self.focused(".cm-content"):
                self.press("Escape")  # then Tab leaves the editor, as its label says
        raise AssertionError(f"no {selector} within {at_most} steps; the focus is on " + self.page.evaluate(f"({FOCUSED})().outerHTML.slice(0, 200)"))


def test_a_lesson_with_the_keyboard_alone(open_page, site):
    """Skip link, prediction, run, the loop stopped, the controls of the chart moved, the next lesson."""
    page = open_page(reduced_motion="reduce")
    keys = Keyboard(page)
    page.goto(f"{site.url}en/ledger/")
    page.wait_for_function("Boolean(customElements.get('zero-cell') && customElements.get('zero-predict'))")
    keys.tab_to(".zl-skip", at_most=1)
    keys.press("Enter")
    keys.tab_to("[name=number]")
    page.keyboard.type("14 GB")
    keys.tab_to("[name=reason]", at_most=1)
    page.keyboard.type("2P")
    keys.tab_to("[name=confidence]", at_most=1)
    keys.press("ArrowRight")
    assert keys.focused(":checked")
    keys.tab_to("[type=submit]", at_most=1)
    keys.press("Enter")
    question = page.locator("zero-predict").first
    expect(question.locator("[data-part=result]")).to_be_focused()
    expect(question.locator("zero-cell .output")).to_contain_text("320.00 GB", timeout=PYTHON_TIMEOUT_MS)

    keys.tab_to(".cm-content")
    keys.press("Control+a")
    page.keyboard.insert_text("while True: pass")
    keys.press("Control+Enter")
    expect(question.locator("zero-cell .status")).to_contain_text("Running", timeout=PYTHON_TIMEOUT_MS)
    keys.press("Escape")
    keys.tab_to(".stop", at_most=1)
    keys.press("Enter")
    expect(question.locator("zero-cell .notice")).to_contain_text("Stopped")
    assert keys.focused(".run"), "the focus goes from Stop to Run"

    keys.tab_to("input[type=range]")
    explorer = page.locator("zero-explorer")
    before = explorer.locator("tfoot .zl-exact").inner_text()
    keys.press("ArrowRight")
    expect(explorer.locator("tfoot .zl-exact")).not_to_have_text(before)
    keys.tab_to("[rel=next]")
    keys.press("Enter")
    page.wait_for_url(f"{site.url}en/stages/")


@pytest.mark.long
def test_the_simulated_step_with_the_keyboard_alone(open_page, site):
    page = open_page(reduced_motion="reduce")
    keys = Keyboard(page)
    page.goto(f"{site.url}zh/timeline/")
    page.wait_for_function("Boolean(document.querySelector('zero-timeline')?.layouts)")
    keys.tab_to("[data-control=stage] input")
    keys.press("ArrowLeft")
    page.wait_for_function("Number(document.querySelector('zero-timeline').dataset.runs ?? 0) > 0", timeout=PYTHON_TIMEOUT_MS)
    assert keys.focused("[data-control=stage] input[value='2']"), "the focus stays where it was"
    for selector in ("input[data-control=prefetch_depth]", "[data-action=play]", "[data-action=forward]", "[data-control=cursor]", "[data-buffer]", "summary"):
        keys.tab_to(selector)
    keys.press("Enter")
    expect(page.locator("zero-timeline details").first).to_have_attribute("open", "")


@pytest.mark.long
def test_the_self_test_with_the_keyboard_alone(open_page, site):
    page = open_page(reduced_motion="reduce")
    keys = Keyboard(page)
    page.goto(f"{site.url}en/quiz/")
    page.wait_for_function("Boolean(customElements.get('zero-question'))")
    keys.tab_to("zero-question[kind=number] [name=number]")
    page.keyboard.type("1 GB")
    keys.press("Enter")
    expect(page.locator("zero-question[kind=number] [data-part=feedback]").first).not_to_be_empty()
    keys.tab_to("[data-action=hint]")
    keys.press("Enter")
    expect(page.locator("[data-part=hints]").first).to_be_focused()
    keys.tab_to("[name=option]", at_most=200)
    keys.press("Space")
    assert keys.focused(":checked")
