"""The first lesson, used: predicting before running, the explorer, a model of one's own, live cells."""

import json
import re

import pytest
from playwright.sync_api import expect

from publish import paths
from zeroledger import ledger

PYTHON_TIMEOUT_MS = 60_000
QUESTION = "zero-predict[exercise='zero2-20b-10']"  # 20B, 10 ranks, stage 2: 68 GB
RESULT = re.compile(r"\b68 GB|63\.3|68,?000,?000,?000")
WORDS = {
    "en": {"mistake": "that is stage 3", "certain": "certain", "skipped": "Skipped", "unit": "needs a unit",
           "computed": "computed when the site was built", "no_answer": "Your prediction is kept"},
    "zh": {"mistake": "那是阶段 3", "certain": "很确定", "skipped": "已跳过", "unit": "请写上单位",
           "computed": "构建网站时算好的", "no_answer": "你的预测已保留"},
}
CONFIGS = json.loads((paths.TESTS / "data/hf_configs.json").read_text(encoding="utf-8"))


@pytest.fixture(params=[pytest.param("en", marks=pytest.mark.long), "zh"])
def lang(request):
    """What is shown in words is tested in Chinese at every commit, in English too with --long; the rest of the file is in English."""
    return request.param


def open_lesson(page, site, lang="en"):
    page.goto(f"{site.url}{lang}/ledger/")
    page.wait_for_function("['zero-predict', 'zero-explorer', 'zero-cell'].every(name => Boolean(customElements.get(name)))")
    return page


def predict(question, number):
    question.locator("[name=number]").fill(number)
    question.locator("[name=number]").press("Enter")


# Predict, then run


def test_the_result_is_not_there_before_the_prediction(page, site, lang):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    question = open_lesson(page, site, lang).locator(QUESTION)
    question.scroll_into_view_if_needed()
    question.locator("[name=number]").fill("32 GB")
    html = question.evaluate("element => element.outerHTML + [...element.querySelectorAll('*')].map(one => one.shadowRoot?.innerHTML ?? '').join('')")
    assert not RESULT.search(html)
    assert not RESULT.search(question.aria_snapshot())
    assert not [url for url in asked if "/exercises/" in url]


def test_a_prediction_is_compared_and_its_mistake_named(page, site, lang):
    words = WORDS[lang]
    question = open_lesson(page, site, lang).locator(QUESTION)
    question.locator("[name=reason]").fill("16P/N <i>")
    question.get_by_role("radio", name=words["certain"]).check()
    predict(question, "３２ＧＢ")  # from a Chinese keyboard
    compared = question.locator(".zl-compare")
    for shown in ("32 GB", "29.8 GiB", "68 GB", "63.33 GiB", "−52.9%"):
        expect(compared).to_contain_text(shown)
    expect(question).to_contain_text(words["mistake"])
    expect(question).to_contain_text(words["certain"])
    expect(question).to_contain_text("16P/N <i>")
    expect(question.locator(".zl-scale")).to_have_attribute("aria-label", re.compile(r"0\.47"))
    expect(question.locator("form").first).to_be_hidden()
    expect(question.locator("[data-part=result]")).to_be_focused()


def test_the_exercise_runs_in_a_cell_that_can_be_changed(page, site):
    question = open_lesson(page, site).locator(QUESTION)
    predict(question, "68 GB")
    expect(question.locator(".zl-verdict-line")).to_contain_text("Right")
    cell = question.locator("zero-cell")
    expect(cell).to_contain_text("68.00 GB", timeout=PYTHON_TIMEOUT_MS)
    editor = cell.locator(".cm-content")
    editor.click()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("print(6 * 7)")
    page.keyboard.press("ControlOrMeta+Enter")
    expect(cell.locator(".output")).to_contain_text("42", timeout=PYTHON_TIMEOUT_MS)


VERDICTS = {
    "68 GB": "right", "63.33 GiB": "right", "68 000 000 000 B": "right", "6.75e10": "right", "71.2 GB": "near", "32 GB": "mistake",
    "104 GB": "mistake", "320 GB": "mistake", "63.33 GB": "mistake", "68 GiB": "mistake", "150 GB": "wrong",
}


def test_verdicts(page, site):
    question = open_lesson(page, site).locator(QUESTION)
    for number, verdict in VERDICTS.items():
        predict(question, number)
        expect(question, number).to_have_attribute("data-verdict", verdict)
        question.locator("[data-part=result] > .zl-link").click()
        expect(question.locator("[name=number]"), number).to_have_value("")


def test_what_is_no_quantity_is_not_committed(page, site):
    question = open_lesson(page, site).locator(QUESTION)
    field = question.locator("[name=number]")
    for number in ("", "68", "lots", "-3 GB", "68 G"):
        predict(question, number)
        expect(question.locator("[role=alert]").first, number).not_to_be_empty()
        expect(field, number).to_be_focused()
        expect(field, number).to_have_attribute("aria-invalid", "true")
        expect(question.locator("[data-part=result]"), number).to_be_hidden()
        predict(question, "68 GB")  # so that the next complaint is a new one
        question.locator("[data-part=result] > .zl-link").click()
        expect(field, number).to_have_attribute("aria-invalid", "false")


def test_a_bare_number_is_asked_for_its_unit(page, site, lang):
    question = open_lesson(page, site, lang).locator(QUESTION)
    predict(question, "68")
    expect(question.locator("[role=alert]")).to_contain_text(WORDS[lang]["unit"])


def test_skipping_shows_the_result(page, site, lang):
    question = open_lesson(page, site, lang).locator(QUESTION)
    question.locator("[data-action=skip]").click()
    expect(question).to_contain_text(WORDS[lang]["skipped"])
    expect(question.locator(".zl-compare")).to_contain_text("68 GB")


def test_a_prediction_survives_a_reload_in_either_language(page, site):
    question = open_lesson(page, site).locator(QUESTION)
    question.locator("[name=reason]").fill("all five rows")
    predict(question, "32 GB")
    expect(question.locator(".zl-compare")).to_be_visible()
    open_lesson(page, site, "zh")
    expect(question.locator(".zl-compare")).to_contain_text("32 GB")
    expect(question).to_contain_text("all five rows")
    expect(question).to_contain_text("那是阶段 3")
    question.locator(".zl-link").click()
    expect(question.locator("[name=number]")).to_be_focused()
    page.reload()
    expect(question.locator("form").first).to_be_visible()


def test_half_a_prediction_survives_a_reload(page, site):
    question = open_lesson(page, site).locator(QUESTION)
    question.locator("[name=number]").fill("12")
    question.locator("[name=reason]").fill("because")
    page.reload()
    expect(question.locator("[name=number]")).to_have_value("12")
    expect(question.locator("[name=reason]")).to_have_value("because")


def test_without_python_the_computed_answer_is_shown_and_said_to_be(page, site, watch, lang):
    watch.allow(r"(failed request|console error|status 404): .*")
    page.route("**/static/pyodide/**", lambda route: route.abort())
    question = open_lesson(page, site, lang).locator(QUESTION)
    predict(question, "32 GB")
    expect(question.locator(".zl-compare")).to_contain_text("68 GB")
    expect(question).to_contain_text(WORDS[lang]["computed"], timeout=PYTHON_TIMEOUT_MS)


def test_an_answer_that_does_not_come_loses_nothing(page, site, watch, lang):
    watch.allow(r"(failed request|console error): .*")
    page.route("**/exercises/*.json", lambda route: route.abort())
    question = open_lesson(page, site, lang).locator(QUESTION)
    predict(question, "32 GB")
    expect(question).to_contain_text(WORDS[lang]["no_answer"])
    page.unroute("**/exercises/*.json")
    page.reload()
    expect(question.locator(".zl-compare")).to_contain_text("32 GB")


def test_again_with_other_numbers(page, site):
    question = open_lesson(page, site).locator(QUESTION)
    question.locator("[data-action=skip]").click()
    question.locator(".zl-again summary").click()
    again = question.locator(".zl-again")
    again.locator("[name=input-num_params]").fill("13B")
    again.locator("[name=input-dp_size]").fill("64")
    again.locator("[name=number]").fill(f"{ledger(13e9, 64, 3).model_states_bytes_per_rank} B")
    again.locator("[name=number]").press("Enter")
    expect(again.locator(".zl-compare")).to_contain_text("28.84 GB", timeout=PYTHON_TIMEOUT_MS)
    expect(again).to_contain_text("that is stage 3")
    again.locator("[name=input-dp_size]").fill("none")
    again.locator("[name=number]").press("Enter")
    expect(again.locator("[role=alert]")).to_contain_text("dp_size")


# The explorer


def table_rows(explorer):
    """The table's exact bytes, rows then total."""
    return [int(text.removesuffix(" B").replace(",", "")) for text in explorer.locator(".zl-exact").all_inner_texts()]


def expected_rows(num_params, dp_size, stage):
    one = ledger(num_params, dp_size, stage)
    return [*(row.bytes_per_rank for row in one.rows), one.model_states_bytes_per_rank]


def test_the_slider_moves_chart_and_table_without_python(page, site, watch, lang):
    watch.allow(r"(failed request|console error): .*")
    page.route("**/static/pyodide/**", lambda route: route.abort())
    explorer = open_lesson(page, site, lang).locator("zero-explorer")
    slider = explorer.get_by_role("slider")
    slider.focus()
    page.keyboard.press("Home")
    seen = []
    for power in range(11):
        assert table_rows(explorer) == expected_rows(7e9, 2**power, 1)
        expect(slider).to_have_attribute("aria-valuetext", f"N = {2**power}")
        seen.append(explorer.locator(".zl-chart-wide svg").inner_html())
        page.keyboard.press("ArrowRight")
    assert len(set(seen)) == 11


def test_stage_model_and_unit(page, site):
    explorer = open_lesson(page, site).locator("zero-explorer")
    for stage in range(4):
        explorer.get_by_role("radio", name=str(stage), exact=True).check()
        assert table_rows(explorer) == expected_rows(7e9, 8, stage)
    explorer.get_by_role("combobox").select_option("llama-2-7b")
    assert table_rows(explorer) == expected_rows(6_738_415_616, 8, 3)
    expect(explorer.locator("[data-part=formula]")).to_contain_text("16 × 6,738,415,616 / 8")
    explorer.get_by_role("radio", name="GiB", exact=True).check()
    expect(explorer.locator("tfoot b").first).to_have_text("12.6 GiB")
    expect(explorer.locator(".zl-chart-wide svg desc")).to_contain_text("Stage 3: 12.6 GiB")


def test_the_verdict_follows(page, site):
    explorer = open_lesson(page, site).locator("zero-explorer")
    explorer.get_by_role("radio", name="0", exact=True).check()
    expect(explorer.locator(".zl-too-big")).to_have_count(4)
    explorer.get_by_role("radio", name="3", exact=True).check()
    expect(explorer.locator(".zl-fits")).to_have_count(4)
    expect(explorer).to_contain_text("lower bound")


def test_the_explorer_remembers_its_settings(page, site):
    explorer = open_lesson(page, site).locator("zero-explorer")
    explorer.get_by_role("combobox").select_option("llama-3.1-70b")
    explorer.get_by_role("slider").fill("7")
    explorer.get_by_role("radio", name="2", exact=True).check()
    rows = table_rows(explorer)
    open_lesson(page, site, "zh")
    assert table_rows(explorer) == rows
    expect(explorer.get_by_role("slider")).to_have_value("7")
    expect(explorer.get_by_role("radio", name="2", exact=True)).to_be_checked()


def test_the_announcement_says_the_result(page, site, lang):
    explorer = open_lesson(page, site, lang).locator("zero-explorer")
    explorer.get_by_role("radio", name="2", exact=True).check()
    expect(explorer.locator("[aria-live]")).to_contain_text("26.3 GB")


def test_a_pasted_config_is_counted(page, site, lang):
    explorer = open_lesson(page, site, lang).locator("zero-explorer")
    explorer.get_by_role("combobox").select_option("custom")
    config = CONFIGS["llama-3.2-1b"]
    page.evaluate("""text => {
        const area = document.querySelector('zero-explorer textarea');
        area.value = text;
        area.dispatchEvent(new ClipboardEvent('paste', {bubbles: true}));
    }""", json.dumps(config["config"]))
    expect(explorer.get_by_role("status")).to_contain_text(f"{config['num_params']:,}", timeout=PYTHON_TIMEOUT_MS)
    assert table_rows(explorer) == expected_rows(config["num_params"], 8, 1)
    page.reload()
    expect(explorer.locator("caption")).to_contain_text(f"{config['num_params']:,}")


def test_a_dropped_config_is_counted(page, site):
    explorer = open_lesson(page, site).locator("zero-explorer")
    config = CONFIGS["gpt2"]
    page.evaluate("""text => {
        const files = new DataTransfer();
        files.items.add(new File([text], 'config.json', {type: 'application/json'}));
        document.querySelector('zero-explorer').dispatchEvent(new DragEvent('drop', {dataTransfer: files, bubbles: true, cancelable: true}));
    }""", json.dumps(config["config"]))
    expect(explorer.get_by_role("status")).to_contain_text(f"{config['num_params']:,}", timeout=PYTHON_TIMEOUT_MS)
    assert table_rows(explorer) == expected_rows(config["num_params"], 8, 1)


def test_a_typed_count_and_what_cannot_be_read(page, site):
    explorer = open_lesson(page, site).locator("zero-explorer")
    explorer.get_by_role("combobox").select_option("custom")
    area = explorer.get_by_role("textbox")
    expect(area).to_be_focused()
    for written, says in (("", "first"), ("a few", "P"), ('{"model_type": "llama", "hidden_size": 8}', "num_attention_heads"), ("{", "JSON")):
        area.fill(written)
        explorer.get_by_role("button", name="Count the parameters").click()
        expect(explorer.get_by_role("status")).to_contain_text(says, timeout=PYTHON_TIMEOUT_MS)
        expect(area).to_have_attribute("aria-invalid", "true")
        assert table_rows(explorer) == expected_rows(7e9, 8, 1)
    area.fill("70亿")
    area.press("Enter")
    expect(explorer.get_by_role("status")).to_contain_text("7,000,000,000 parameters.", timeout=PYTHON_TIMEOUT_MS)


# Live cells


def test_a_live_cell_runs_and_takes_the_place_of_the_recorded_output(page, site, lang):
    open_lesson(page, site, lang)
    recorded = page.locator("[data-output-of='live-by-hand']")
    expect(recorded).to_be_visible()
    cell = page.locator("#live-by-hand zero-cell")
    cell.get_by_role("button", name={"en": "Run", "zh": "运行"}[lang], exact=True).click()
    expect(cell.locator(".output")).to_contain_text("26.25 GB", timeout=PYTHON_TIMEOUT_MS)
    expect(recorded).to_be_hidden()


def test_every_live_cell_of_the_lesson_prints_what_the_page_shows(page, site):
    open_lesson(page, site)
    for section in page.locator(".zl-cell:has(> zero-cell)").all():
        recorded = section.locator(".zl-stdout").inner_text()
        section.get_by_role("button", name="Run", exact=True).click()
        output = section.locator("zero-cell .output")
        expect(output).to_have_text(re.compile(re.escape(recorded.strip().splitlines()[-1])), timeout=PYTHON_TIMEOUT_MS)
        assert output.inner_text().split() == recorded.split()
