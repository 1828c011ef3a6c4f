"""The self-test, used: each kind answered wrong and right, hints, the solution after three misses, reload, keyboard, axe."""

import pytest
from playwright.sync_api import expect

from lessonkit import bank, questions
from publish import paths

WORDS = {"en": {"right": "Right", "wrong": "Not this", "check": "Check", "hint": "Hint", "solution": "Show the solution"},
         "zh": {"right": "正确", "wrong": "不对", "check": "检查", "hint": "提示", "solution": "查看解答"}}
AXE = paths.NODE_MODULES / "axe-core/axe.min.js"


@pytest.fixture(params=[pytest.param("en", marks=pytest.mark.long), "zh"])
def lang(request):
    """What is shown in words is tested in Chinese at every commit, in English too with --long; the rest of the file is in English."""
    return request.param


def open_quiz(page, site, lang="en"):
    page.goto(f"{site.url}{lang}/quiz/")
    page.wait_for_function("Boolean(customElements.get('zero-question'))")
    return page


def item(page, name):
    return page.locator(f"zero-question[exercise='{name}']")


def check(question, lang="en"):
    question.get_by_role("button", name=WORDS[lang]["check"], exact=True).click()


def test_every_choice_and_order_is_right_with_its_key(page, site, lang):
    open_quiz(page, site, lang)
    for name in questions.ids():
        question, answer = item(page, name), questions.load(name).answer
        if question.get_attribute("kind") == "ordering":
            for at, option in enumerate(answer):
                row = question.locator(f"[data-option='{option}']")
                while row.evaluate("one => [...one.parentElement.children].indexOf(one)") > at:
                    row.locator("[data-move='-1']").press("Enter")
                    expect(row.locator("[data-move='-1']")).to_be_focused()
        else:
            for option in answer:
                question.locator(f"[value='{option}']").check()
        check(question, lang)
        expect(question.locator("[data-part=feedback]")).to_contain_text(WORDS[lang]["right"])
    solved = page.locator("[data-part=quiz-progress]")
    expect(solved).to_contain_text(str(len(questions.ids())))
    page.reload()
    expect(solved).to_contain_text(str(len(questions.ids())))
    expect(page.locator("zero-question[data-verdict=right]")).to_have_count(len(questions.ids()))


def test_a_number_right_and_with_a_known_mistake(page, site, lang):
    question = item(open_quiz(page, site, lang), "zero2-20b-10")
    values = bank.load("zero2-20b-10").evaluate()
    mistake = values["mistakes"][0]
    question.locator("[name=number]").fill(f"{mistake['value']} B")
    question.locator("[name=number]").press("Enter")
    expect(question.locator("[data-part=feedback]")).to_contain_text(mistake["text"]["en" if lang == "en" else "zh-CN"])
    question.locator("[name=number]").fill(f"{values['answer']} B")
    question.locator("[name=number]").press("Enter")
    expect(question).to_have_attribute("data-verdict", "right")
    page.reload()
    expect(question.locator("[name=number]")).to_have_value(f"{values['answer']} B")
    expect(question.locator("[data-part=feedback]")).to_contain_text(WORDS[lang]["right"])


def test_hints_come_in_steps_and_the_solution_after_three_misses(page, site, lang):
    question = item(open_quiz(page, site, lang), "peak-by-eight")
    hint = question.get_by_role("button", name=WORDS[lang]["hint"], exact=True)
    for count in (1, 2):
        hint.click()
        expect(question.locator("[data-part=hints] p")).to_have_count(count)
    expect(hint).to_be_disabled()
    question.locator("[value=always]").check()
    for misses in range(1, 4):
        expect(question.locator("[data-part=solution]")).to_be_hidden()
        check(question, lang)
        expect(question.locator("[data-part=feedback]")).to_contain_text(WORDS[lang]["wrong"])
        page.wait_for_function("n => JSON.parse(localStorage['zero:quiz:peak-by-eight']).misses === n", arg=misses)
    expect(question.locator("[data-part=solution]")).to_contain_text("15.6 GB")
    page.reload()
    expect(question.locator("[data-part=solution]")).to_contain_text("15.6 GB")


def test_nothing_is_fetched_or_judged_before_an_answer(page, site, lang):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    question = item(open_quiz(page, site, lang), "stage-one-rows")
    check(question, lang)
    expect(question.locator("[role=alert]")).not_to_be_empty()
    number = item(page, "zero2-20b-10")
    number.locator("[name=number]").fill("68")
    number.locator("[name=number]").press("Enter")
    expect(number.locator("[role=alert]")).not_to_be_empty()
    assert not [url for url in asked if "/exercises/" in url or "/questions/" in url]
    assert "15.6 GB" not in page.content()


def test_a_solution_is_shown_on_request(page, site, lang):
    question = item(open_quiz(page, site, lang), "zero2-20b-10")
    question.get_by_role("button", name=WORDS[lang]["solution"]).press("Enter")
    expect(question.locator("[data-part=solution]")).to_be_focused()
    expect(question.locator("[data-part=solution]")).to_contain_text("68 GB")


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_axe_finds_nothing(open_page, site, lang, scheme):
    page = open_quiz(open_page(color_scheme=scheme), site, lang)
    question = item(page, "peak-by-eight")
    question.get_by_role("button", name=WORDS[lang]["hint"], exact=True).click()
    question.get_by_role("button", name=WORDS[lang]["solution"]).click()
    expect(question.locator("[data-part=solution]")).to_be_visible()
    page.add_script_tag(path=AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then(result => result.violations.map(one => [one.id, one.nodes.slice(0, 2).map(node => node.html)]))")
    assert found == []


def test_a_seed_draws_other_numbers_and_its_sheet_has_their_answers(page, site, lang):
    page.goto(f"{site.url}{lang}/quiz/?seed=autumn&sheet=1")
    page.wait_for_function("Boolean(customElements.get('zero-question'))")
    question = item(page, "zero1-20b-4")
    prompt = question.locator("legend.zl-predict-prompt").inner_text()
    variant = next(one for one in bank.load("zero1-20b-4").variants() if one.prompt("en" if lang == "en" else "zh-CN") == prompt)
    answer = variant.evaluate()["answer"]
    expect(question.locator("[data-part=solution]")).to_contain_text(f"{answer / 1e9:.2f}".rstrip("0").rstrip(".") + " GB")
    expect(page.locator("[data-part=solution]:visible")).to_have_count(page.locator("zero-question").count())
    page.set_viewport_size({"width": 360, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")  # the code of a variant is one long expression
    expect(page.locator("[data-part=quiz-seed]")).to_contain_text("autumn")
    expect(page.get_by_role("button", name=WORDS[lang]["check"], exact=True)).to_have_count(0)
    page.goto(f"{site.url}{lang}/quiz/?seed=autumn")
    page.wait_for_function("Boolean(customElements.get('zero-question'))")
    expect(question.locator("legend.zl-predict-prompt")).to_have_text(prompt)
    question.locator("[name=number]").fill(f"{answer} B")
    question.locator("[name=number]").press("Enter")
    expect(question).to_have_attribute("data-verdict", "right")
    open_quiz(page, site, lang)
    expect(question.locator("[name=number]")).to_have_value("")


def test_seeds_differ(page, site):
    prompts = set()
    for seed in ("autumn", "winter", "7"):
        page.goto(f"{site.url}en/quiz/?seed={seed}")
        page.wait_for_function("Boolean(customElements.get('zero-question'))")
        prompts.add(" ".join(page.locator("[data-variants] legend.zl-predict-prompt").all_inner_texts()))
    assert len(prompts) == 3


def test_confident_errors_lead_the_review_and_reach_the_calibration_page(page, site, lang):
    open_quiz(page, site, lang)
    for name, option, step in (("peak-by-eight", "always", 1), ("stage-three-row", None, 3)):
        question = item(page, name)
        wrong = option or next(one.id for one in questions.load(name).options if one.id not in questions.load(name).answer)
        question.locator(f"[value='{wrong}']").check()
        question.locator(f"[name=confidence][value='{step}']").check()
        check(question, lang)
        expect(question.locator("[data-part=feedback] a")).to_have_attribute("href", question.get_attribute("data-section-url"))
    rows = page.locator("[data-part=quiz-review] li")
    hrefs = rows.locator("> a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    assert hrefs == ["#q-stage-three-row", "#q-peak-by-eight"]
    number = item(page, "zero2-20b-10")
    number.locator("[name=number]").fill("12 G")
    number.locator("[name=confidence][value='2']").check()
    page.reload()
    expect(number.locator("[name=number]")).to_have_value("12 G")
    expect(number.locator("[name=confidence][value='2']")).to_be_checked()
    expect(rows).to_have_count(2)
    target = page.locator("[data-part=quiz-review] li p a").first.get_attribute("href")
    page.goto(f"{site.url}{lang}/calibration/")
    expect(page.locator("tr[data-verdict=wrong] th a").first).to_have_attribute("href", "../quiz/#q-stage-three-row")
    page.goto(f"{site.url}{lang}/quiz/{target}")
    expect(page.locator(f"[id='{target.partition('#')[2]}']")).to_be_in_viewport()
