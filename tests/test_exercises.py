"""The exercise bank: every item is well formed and computable, and what is wrong with an item is said with file, line and field."""

import json
import re
from pathlib import Path

import pytest

import zeroledger
from lessonkit import bank
from lessonkit.expressions import ExpressionError, evaluate
from lessonkit.i18n import LANGUAGES
from lessonkit.running import output_of
from lessonkit.toml_lines import line_of

JUDGE = json.loads(Path(__file__).with_name("data").joinpath("judge_cases.json").read_text(encoding="utf-8"))

ITEM = '''\
lesson = "ledger"
kind = "number"
inputs = { num_params = 7_000_000_000, dp_size = 8 }
answer = "ledger(num_params, dp_size, stage=2).model_states_bytes_per_rank"
unit = "bytes"
tolerance = 0.02
[prompt]
en = "{num_params} on {dp_size}?"
zh-CN = "{num_params}，{dp_size} 个？"
[run]
code = "print(ledger(num_params=7e9, dp_size=8, stage=2))"
[[mistake]]
id = "divided-params"
value = "ledger(num_params, dp_size, stage=3).model_states_bytes_per_rank"
en = "Stage 3."
zh-CN = "阶段 3。"
[[mistake]]
id = "gb-as-gib"
value = "answer * GIB // GB"
en = "Unit."
zh-CN = "单位。"
'''


@pytest.mark.parametrize("exercise_id", bank.ids())
class TestEveryItem:
    def test_answer_and_mistakes_are_computed_and_lie_apart(self, exercise_id):
        values = bank.load(exercise_id).evaluate()
        assert json.loads(json.dumps(values)) == values
        assert values["answer"] > 0 and values["mistakes"]

    def test_each_value_is_judged_as_what_it_is(self, exercise_id):
        exercise = bank.load(exercise_id)
        values = exercise.evaluate()
        assert bank.judge(exercise, values["answer"]).verdict == "right"
        for mistake in values["mistakes"]:
            feedback = bank.judge(exercise, mistake["value"])
            assert (feedback.verdict, feedback.mistake_id) == ("mistake", mistake["id"])

    def test_prompts_have_their_inputs_filled_in(self, exercise_id):
        for wording in bank.load(exercise_id).public()["prompt"].values():
            assert wording and not re.search(r"[{}]", wording)

    def test_the_code_shown_yields_the_answer(self, exercise_id):
        exercise = bank.load(exercise_id)
        printed = output_of(exercise.code)
        answer = exercise.evaluate()["answer"]
        shown = f"{answer:,}" if exercise.unit == "count" else f"{answer / zeroledger.GB:,.2f} GB"
        assert re.search(rf"\b{re.escape(shown)}", printed), printed


def test_there_are_items():
    assert bank.ids()


def test_what_a_page_may_hold_beforehand_gives_nothing_away():
    exercise = bank.parse("item", ITEM)
    public = json.dumps(exercise.public())
    assert "26250000000" not in public and "stage" not in public and "divided" not in public
    assert exercise.public()["prompt"]["en"] == "7B on 8?"


@pytest.mark.parametrize("prediction, verdict, mistake", [
    ("26.25 GB", "right", None),
    ("24.447 GiB", "right", None),
    ("14GB", "mistake", "divided-params"),
    ("26.25 GiB", "mistake", "gb-as-gib"),
    ("27.5 GB", "near", None),
    ("112 GB", "wrong", None),
])
def test_judged(prediction, verdict, mistake):
    feedback = bank.judge(bank.parse("item", ITEM), zeroledger.parse_bytes(prediction))
    assert (feedback.verdict, feedback.mistake_id) == (verdict, mistake)
    assert feedback.relative_error == pytest.approx(zeroledger.parse_bytes(prediction) / 26.25e9 - 1)


@pytest.mark.parametrize("case", JUDGE["cases"], ids=lambda case: str(case["prediction"]))
def test_judged_as_the_page_does(case):
    feedback = bank.judge_values(JUDGE["values"], case["prediction"])
    assert (feedback.verdict, feedback.mistake_id) == (case["verdict"], case["mistake"])
    assert feedback.relative_error == pytest.approx(case["relative_error"])


@pytest.mark.parametrize("old, new, says", [
    ('unit = "bytes"', 'unit = "litres"', "item.toml, line 5, unit: found 'litres'; accepted: one of bytes, count"),
    ('unit = "bytes"\n', '', "item.toml, unit: missing"),
    ('kind = "number"', 'kind = 3', "item.toml, line 2, kind: found 3"),
    ('tolerance = 0.02', 'tolerance = 0', "item.toml, line 6, tolerance: found 0; accepted: a relative error above 0"),
    ('tolerance = 0.02', 'tolerance = true', "item.toml, line 6, tolerance: found True"),
    ('tolerance = 0.02', 'tolerence = 0.02', "item.toml, line 6, tolerence: unknown field; accepted: lesson, kind"),
    ('zh-CN = "{num_params}，{dp_size} 个？"\n', '', "item.toml, line 7, prompt.zh-CN: missing; accepted: a text in this language"),
    ('zh-CN = "阶段 3。"\n', '', "item.toml, line 12, mistake[0].zh-CN: missing"),
    ('zh-CN = "单位。"', 'zh-CN = ""', "item.toml, line 21, mistake[1].zh-CN: found ''"),
    ('on {dp_size}?', 'on {ranks}?', "item.toml, line 8, prompt.en: {ranks} is no input; accepted: num_params, dp_size"),
    ('id = "gb-as-gib"', 'id = "divided-params"', "item.toml, line 18, mistake[1].id: found 'divided-params' twice"),
    ('code = "print(', 'code = "print((', "item.toml, line 11, run.code: not Python"),
    ('kind = "number"', 'kind = number', "item.toml: not TOML"),
])
def test_a_faulty_item_is_refused_with_its_place(old, new, says):
    assert old in ITEM
    with pytest.raises(bank.ExerciseError, match=re.escape(says)):
        bank.parse("item", ITEM.replace(old, new))


@pytest.mark.parametrize("old, new, says", [
    ("answer * GIB // GB", "answer + 1", "answer (26,250,000,000) and gb-as-gib (26,250,000,001) coincide"),
    ("answer * GIB // GB", "answer * 1.03", "coincide within the tolerance of 2.00%"),
    ("answer * GIB // GB", "14 * GB", "divided-params (14,000,000,000) and gb-as-gib"),
    ("answer * GIB // GB", "answer - answer", "gives 0; accepted: a finite number above 0"),
    ("answer * GIB // GB", "1e308 * 10", "gives inf"),
    ("answer * GIB // GB", "ledger(num_params)", "accepted: a finite number above 0"),
    ("answer * GIB // GB", "answer / 0", "mistake[gb-as-gib].value: 'answer / 0' fails: ZeroDivisionError"),
    ("dp_size, stage=2)", "dp_size, stage=7)", "item.toml, answer: "),
    ('en = "Unit."', 'en = "{{ ranks | int }} ranks."', "item.toml, mistake[gb-as-gib].en: {{ ranks | int }}: "),
    ('en = "Unit."', 'en = "{{ dp_size }} ranks."', "needs a format"),
])
def test_values_that_cannot_be_told_apart_or_used(old, new, says):
    assert old in ITEM
    with pytest.raises(bank.ExerciseError, match=re.escape(says)):
        bank.parse("item", ITEM.replace(old, new)).evaluate()


def test_prompts_and_mistakes_take_figures_that_follow_the_inputs():
    source = ITEM.replace('7_000_000_000, dp_size = 8 }', '7_000_000_000, dp_size = 8 }\ndraw = { dp_size = [4, 8] }')
    source = source.replace("on {dp_size}?", "on {{ dp_size | word }} of {{ 2 * dp_size | int }}, {dp_size}?").replace('"Unit."', '"{{ dp_size | int }}."')
    variants = bank.parse("item", source).variants()
    assert [one.prompt("en") for one in variants] == ["7B on four of 8, 4?", "7B on eight of 16, 8?"]
    assert [one.evaluate()["mistakes"][1]["text"]["en"] for one in variants] == ["4.", "8."]


def test_a_prompt_whose_figure_fails_is_refused_with_its_place():
    with pytest.raises(bank.ExerciseError, match=re.escape("item.toml, prompt.en: {{ ranks | int }}: ")):
        bank.parse("item", ITEM.replace("on {dp_size}?", "on {{ ranks | int }}?")).public()


@pytest.mark.parametrize("expression", [
    "__import__('os')", "open('x')", "().__class__", "ledger.__globals__", "2 ** 10 ** 9", "[x for x in (1,)]", "lambda: 1",
    "(a := 1)", "f'{1}'", "answer", "1 if 1 else 2",
])
def test_expressions_do_no_more_than_arithmetic_and_calls(expression):
    with pytest.raises(ExpressionError):
        evaluate(expression, {"num_params": 1})


def test_an_unknown_id_lists_the_known_ones(tmp_path):
    tmp_path.joinpath("item.toml").write_text(ITEM, encoding="utf-8")
    assert bank.load("item", tmp_path) == bank.parse("item", ITEM)
    with pytest.raises(bank.ExerciseError, match="no exercise 'other'; there are: item"):
        bank.load("other", tmp_path)


@pytest.mark.parametrize("path, line", [("answer", 4), ("prompt.en", 8), ("mistake[1].value", 19), ("mistake[1].nothing", 17), ("nothing", None)])
def test_lines_of_fields(path, line):
    assert line_of(ITEM, path) == line


# Variants drawn by a seed


@pytest.mark.parametrize("exercise_id", [name for name in bank.ids() if bank.load(name).draw])
def test_every_variant_can_be_judged_and_its_code_prints_its_answer(exercise_id):
    exercise = bank.load(exercise_id)
    variants = exercise.variants()
    assert exercise.inputs in [variant.inputs for variant in variants]
    for lang in LANGUAGES:
        prompts = {variant.prompt(lang) for variant in variants}
        assert len(prompts) == len(variants) and not re.search(r"[{}]", "".join(prompts))
    for variant in variants:
        values = variant.evaluate()
        assert bank.judge(variant, values["answer"]).verdict == "right"
        assert output_of(f"from zeroledger import *\n{variant.code}").split() == [str(values["answer"])]
        for mistake in values["mistakes"]:
            assert bank.judge(variant, mistake["value"]).mistake_id == mistake["id"]
            assert not re.search(r"[{}]", "".join(mistake["text"].values()))


def test_an_item_without_draw_has_no_variants():
    assert bank.parse("item", ITEM).variants() == []


@pytest.mark.parametrize("draw, says", [
    ("ranks = [4, 8]", "item.toml, line 4, draw.ranks: is no input; accepted: num_params, dp_size"),
    ("dp_size = [8]", "draw.dp_size: found [8]; accepted: two or more different values like 8"),
    ("dp_size = [8, 8]", "accepted: two or more different values"),
    ('dp_size = [8, "16"]', "accepted: two or more different values"),
    ("dp_size = 8", "draw.dp_size: found 8"),
])
def test_a_faulty_draw_is_refused(draw, says):
    with pytest.raises(bank.ExerciseError, match=re.escape(says)):
        bank.parse("item", ITEM.replace("answer =", f"draw = {{ {draw} }}\nanswer =", 1))
