"""Every page as it is read: languages, links, scripts off, narrow screens, accessibility, weight."""

import gzip
import re
from urllib.parse import urljoin, urlsplit

import pytest
from playwright.sync_api import expect

from publish import paths
from publish.lessons import load_lessons

LANGUAGES = {"en": "en", "zh": "zh-CN"}
OTHER_PAGES = ("quiz/", "calibration/", "timeline/")
PAGES = [f"{folder}/{page}" for folder in LANGUAGES for page in ("", *(f"{lesson.slug}/" for lesson in load_lessons()), *OTHER_PAGES)]
LESSONS = [("en", "112 GB", "Predict first"), ("zh", "112 GB", "先预测")]
AXE = (paths.NODE_MODULES / "axe-core/axe.min.js").as_posix()
LARGEST_PAGE_BYTES = 100_000  # compressed, before Python and the editor


def violations(page):
    """What axe-core finds on the page: `rule: first element` lines."""
    page.add_script_tag(path=AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then(result => result.violations)")
    return [f"{one['id']}: {one['nodes'][0]['html'][:150]} {one['nodes'][0].get('failureSummary', '')}" for one in found]


@pytest.mark.parametrize("locale, folder", [("zh-CN", "zh/"), ("zh-TW", "zh/"), ("en-GB", "en/"), ("fr-FR", "en/")])
def test_the_root_goes_on_to_the_readers_language(open_page, site, locale, folder):
    page = open_page(locale=locale)
    page.goto(site.url)
    page.wait_for_url(site.url + folder)
    assert page.locator("html").get_attribute("lang") == LANGUAGES[folder[:2]]


def test_a_chosen_language_is_remembered(open_page, site):
    page = open_page(locale="en-GB")
    page.goto(site.url + "en/")
    page.get_by_role("link", name="中文").click()
    page.wait_for_url(site.url + "zh/")
    page.goto(site.url)
    page.wait_for_url(site.url + "zh/")


def test_the_language_switch_keeps_the_place(page, site):
    page.goto(site.url + "en/ledger/")
    page.locator("#redundancy").evaluate("section => section.scrollIntoView({behavior: 'instant'})")
    # Not .click(): Playwright would first scroll to where the bar lay before it stuck to the top.
    page.locator("[data-language='zh-CN']").evaluate("link => link.click()")
    page.wait_for_url(site.url + "zh/ledger/#redundancy")
    expect(page.locator("#redundancy")).to_be_in_viewport()
    page.wait_for_function("Math.abs(document.querySelector('#redundancy').getBoundingClientRect().y) < 200")


@pytest.mark.parametrize("lang, figure, question", LESSONS)
def test_without_javascript_the_lesson_is_all_there(open_page, site, lang, figure, question):
    page = open_page(java_script_enabled=False)
    page.goto(f"{site.url}{lang}/ledger/")
    expect(page.locator("h1")).to_be_visible()
    expect(page.get_by_text(figure, exact=True).first).to_be_visible()
    expect(page.locator("svg.zl-chart").first).to_be_visible()
    expect(page.locator("svg.zl-chart text", has_text="38.5 GB").first).to_be_visible()
    expect(page.locator("table.zl-ledger")).to_contain_text("38,500,000,000 B")
    expect(page.locator("#live-rows pre.zl-code")).to_contain_text("print(ledger(num_params=7e9))")
    expect(page.locator("#live-rows .zl-stdout")).to_contain_text("112")
    expect(page.get_by_text(question, exact=True).first).to_be_visible()
    for dead in (".zl-predict-form", ".zl-controls", ".zl-theme"):
        expect(page.locator(dead).first).to_be_hidden()
    other = "zh" if lang == "en" else "en"
    page.locator(f"[data-language='{LANGUAGES[other]}']").click()
    page.wait_for_url(f"{site.url}{other}/ledger/")


def test_without_javascript_the_root_offers_both_languages(open_page, site):
    page = open_page(java_script_enabled=False)
    page.goto(site.url)
    expect(page.get_by_role("link", name="中文")).to_be_visible()
    page.get_by_role("link", name="English").click()
    page.wait_for_url(site.url + "en/")


@pytest.mark.parametrize("path", PAGES)
def test_every_link_leads_somewhere(page, site, path):
    page.goto(site.url + path)
    addresses = page.eval_on_selector_all("a[href], link[href]", "links => links.map(link => link.getAttribute('href'))")
    assert len(addresses) >= 5
    for address in set(addresses):
        if address.startswith("data:"):
            continue
        url = urljoin(site.url + path, address)
        assert url.startswith(site.url), f"{address} leaves the site"
        fragment = urlsplit(url).fragment
        if address.startswith("#"):
            assert page.locator(f"[id='{fragment}']").count() == 1, f"{address} is nowhere on the page"
        else:
            assert page.request.get(url).ok, f"{address} is not there"


@pytest.mark.parametrize("path", PAGES)
def test_nothing_is_wider_than_a_narrow_screen(page, site, path):
    page.goto(site.url + path)
    for width in (768, 360, 320):
        page.set_viewport_size({"width": width, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("path", [pytest.param(path, marks=() if path in ("zh/", "en/ledger/") else pytest.mark.long) for path in PAGES])
def test_axe_finds_nothing(open_page, site, path):
    page = open_page(reduced_motion="reduce")
    page.goto(site.url + path)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == [], scheme


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.long), "dark"])
def test_axe_finds_nothing_after_a_prediction(open_page, site, scheme):
    page = open_page(color_scheme=scheme, reduced_motion="reduce", viewport={"width": 360, "height": 740})
    page.goto(site.url + "zh/ledger/")
    question = page.locator("zero-predict").first
    question.locator("[name=number]").fill("14 GB")
    question.locator("[name=number]").press("Enter")
    expect(question.locator("zero-cell")).to_contain_text("320.00 GB", timeout=60_000)
    question.locator("summary").click()
    page.locator("zero-explorer select").select_option("custom")
    assert violations(page) == []


def test_the_chosen_theme_stays(open_page, site):
    page = open_page(color_scheme="light")
    page.goto(site.url + "en/")
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    toggle = page.locator("[data-theme-toggle]")
    toggle.click()
    assert page.evaluate(background) == light
    toggle.click()
    dark = page.evaluate(background)
    assert dark != light
    expect(toggle).to_have_accessible_name("Light or dark: Dark")
    page.goto(site.url + "zh/ledger/")
    assert page.evaluate(background) == dark


def test_a_lesson_is_light_before_python(page, site):
    sizes = {}
    page.on("response", lambda response: sizes.update({response.url: len(gzip.compress(response.body()))}))
    page.goto(site.url + "zh/ledger/")
    page.wait_for_load_state("networkidle")
    assert not [url for url in sizes if "pyodide" in url or url.endswith(".zip")]
    assert len(sizes) >= 3
    assert sum(sizes.values()) < LARGEST_PAGE_BYTES, sizes


def test_nothing_jumps_when_the_scripts_arrive(page, site):
    page.add_init_script(
        "window.shift = 0; new PerformanceObserver(list => { for (const entry of list.getEntries()) "
        "if (!entry.hadRecentInput) window.shift += entry.value }).observe({type: 'layout-shift', buffered: true})"
    )
    page.goto(site.url + "en/ledger/")
    page.wait_for_function("customElements.get('zero-cell') !== undefined")
    page.locator("#live-rows").scroll_into_view_if_needed()
    expect(page.locator("#live-rows .cm-editor")).to_be_visible()
    assert page.evaluate("window.shift") < 0.02


def test_print_leaves_out_what_cannot_be_used_on_paper(page, site):
    page.goto(site.url + "en/ledger/")
    page.emulate_media(media="print", color_scheme="light")
    for gone in (".zl-bar", ".zl-toc", ".zl-controls", ".zl-predict-form", ".zl-actions"):
        expect(page.locator(gone).first).to_be_hidden()
    expect(page.locator("svg.zl-chart").first).to_be_visible()
    expect(page.locator("#live-rows .zl-stdout")).to_be_visible()
    expect(page.locator(".zl-on-paper").first).to_be_visible()
    hatched = page.locator("svg.zl-chart rect.zl-grads").first.evaluate("one => getComputedStyle(one).fill")
    assert "zl-paper-grads" in hatched and page.locator("pattern#zl-paper-grads").count() == 1


@pytest.mark.parametrize("query, solutions", [("", False), ("?seed=autumn&sheet=1", True)])
def test_a_printed_self_test_shows_its_answers_on_the_sheet_only(page, site, query, solutions):
    page.goto(f"{site.url}en/quiz/{query}")
    page.wait_for_function("Boolean(customElements.get('zero-question'))")
    question = page.locator("zero-question[exercise=peak-by-eight]")
    if not solutions:
        question.locator("[data-action=solution]").click()
    expect(question.locator("[data-part=solution]")).to_be_visible()
    page.emulate_media(media="print")
    expect(question.locator("[data-part=solution]")).to_be_visible(visible=solutions)
    for gone in (".zl-actions", ".zl-sureness", ".zl-moves", ".zl-review-section"):
        expect(page.locator(gone).first).to_be_hidden()


def test_the_keyboard_reaches_everything_in_order(page, site):
    page.goto(site.url + "en/ledger/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the text")).to_be_focused()
    expect(page.get_by_role("link", name="Skip to the text")).to_be_in_viewport()
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.name || document.activeElement.className || document.activeElement.tagName"))
    assert {"number", "reason", "confidence", "zl-button", "zl-theme"} <= reached


def test_chinese_pages_are_chinese_and_english_ones_english(page, site):
    for path in PAGES:
        page.goto(site.url + path)
        text = page.locator("main").inner_text()
        chinese = re.findall(r"[\u4e00-\u9fff]", text)
        if path.startswith("en"):
            assert not chinese, f"{path}: {''.join(chinese[:20])}"
        else:
            assert len(chinese) > 50
