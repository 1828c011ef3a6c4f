"""The quiz in notebooks, and the record of predictions: every item answered right and wrong, nothing of a key shown before."""

import json
import subprocess
from pathlib import Path

import pytest
from ipywidgets import Widget

import lessonkit
from lessonkit import bank, questions, record
from lessonkit.grade import grade_choice
from lessonkit.quiz_items import NumberItem
from lessonkit.seeds import variant_for

DATA = Path(__file__).parent / "data"
ENTER = {"event": "submit"}


@pytest.fixture(autouse=True)
def fresh():
    record.forget()
    lessonkit.use_language("en")
    yield
    lessonkit.use_language("en")
    record.forget()


def enter(card, option_ids):
    """Puts the option ids in, in their order."""
    item = card.item
    if item.question.kind == "many-choice":
        for name, box in item.boxes.items():
            box.value = name in option_ids
    elif item.question.kind == "ordering":
        for place, name in enumerate(option_ids):
            while item.order.index(name) > place:
                item.rows[item.order.index(name)][2].click()
    else:
        item.form.value = option_ids[0]


def shown(widget):
    """The texts that a front end holds of the widget and what is in it."""
    texts = [str(value) for value in widget.get_state().values()]
    return " ".join([*texts, *(shown(child) for child in getattr(widget, "children", ()))])


@pytest.mark.parametrize("lang", ["en", "zh-CN"])
def test_every_item_is_right_when_answered_right_and_says_so(lang):
    lessonkit.use_language(lang)
    quiz = lessonkit.quiz()
    assert len(quiz.cards) == len(bank.ids()) + len(questions.ids())
    for card in quiz.cards:
        if isinstance(card.item, NumberItem):
            answer = card.item.exercise.evaluate()["answer"]
            card.item.form.value = f"{answer!r} B" if card.item.exercise.unit == "bytes" else repr(answer)
        else:
            enter(card, card.item.question.answer)
        card.check.click()
        assert card.state.solved and card.state.misses == 0 and "✓" in card.feedback.value, card.item.id
    assert f"{len(quiz.cards)}" in quiz.progress.value and quiz.review.value == ""


def test_no_key_is_computed_or_shown_before_an_answer(monkeypatch):
    def too_early(self):
        raise AssertionError("computed before an answer")
    monkeypatch.setattr(bank.Exercise, "evaluate", too_early)
    monkeypatch.setattr(questions.Question, "answer", property(too_early))
    quiz = lessonkit.quiz()
    held = shown(quiz.widget) + quiz.plain_text() + quiz.html()
    for card in quiz.cards:
        if not isinstance(card.item, NumberItem):
            reasons = [option.because["en"] for option in card.item.question.options if option.because]
            assert not any(reason in held for reason in reasons) and card.item.question.solution["en"] not in held


def test_three_misses_bring_the_solution_and_the_review_lists_the_surest_first():
    quiz = lessonkit.quiz("ledger")
    unsure, sure = [card for card in quiz.cards if isinstance(card.item, NumberItem)][:2]
    for card, confidence in ((unsure, 1), (sure, 3)):
        card.confidence.value = confidence
        card.item.form.value = "1 TB"
        for _ in range(2):
            card.check.click()
        assert card.room.value == ""
        card.item.form._handle_custom_msg(ENTER, [])
        assert card.state.misses == 3 and "ledger(" in card.room.value
    review = quiz.review.value
    assert review.index(f"<li>{sure.number}.") < review.index(f"<li>{unsure.number}.") and "certain" in review


def test_a_known_mistake_is_named():
    card = next(card for card in lessonkit.quiz("ledger").cards if card.item.id == "zero2-20b-10")
    card.item.form.value = "32 GB"
    card.check.click()
    assert "that is stage 3" in card.feedback.value and not card.state.solved


def test_nothing_entered_is_no_miss():
    for card in lessonkit.quiz("stages").cards:
        if isinstance(card.item, NumberItem) or card.item.question.kind != "ordering":
            card.check.click()
            assert card.state.misses == 0 and 'role="status"' in card.feedback.value and "✗" not in card.feedback.value


def test_hints_come_in_steps():
    card = next(card for card in lessonkit.quiz("stages").cards if card.item.id == "account-bucket")
    card.hint.button.click()
    assert "Does the bucket exist between two steps?" in card.hint.room.value and card.hint.button.disabled


def test_moving_a_row_says_where_it_is_and_the_focus_follows(monkeypatch):
    item = next(card.item for card in lessonkit.quiz("stages").cards if card.item.id == "order-states")
    focused = []
    monkeypatch.setattr(Widget, "focus", lambda self: focused.append(self), raising=False)
    for _, _, up, down in item.rows:
        for button in (up, down):
            monkeypatch.setattr(button, "focus", lambda button=button: focused.append(button), raising=False)
    first = item.order[0]
    item.rows[0][3].click()
    assert item.order[1] == first and "is now number 2" in item.said.value and focused == [item.rows[1][3]]
    item.rows[0][2].click()  # at the end already
    assert item.order[1] == first


def test_a_seed_draws_what_the_page_draws():
    for seed, item_id, count, drawn in json.loads((DATA / "seeds.json").read_text(encoding="utf-8")):
        assert variant_for(seed, item_id, count) == drawn
    prompts = {lessonkit.quiz("ledger", seed).plain_text() for seed in ("a", "b", "c", "d")}
    assert len(prompts) > 1 and lessonkit.quiz("ledger", "a").plain_text() in prompts
    assert "“a”" in shown(lessonkit.quiz("ledger", "a").widget)


@pytest.mark.parametrize("kind, answer, given, right, partly, explain", [
    ("choice", "a", "a", True, None, "a"),
    ("choice", "a", "b", False, None, "b"),
    ("many-choice", "ab", "ab", True, None, "ab"),
    ("many-choice", "ab", "ac", False, {"right": 1, "wrong": 1, "missing": 1}, "c"),
    ("ordering", "abc", "abc", True, None, ""),
    ("ordering", "abc", "acb", False, None, ""),
])
def test_grades(kind, answer, given, right, partly, explain):
    grade = grade_choice(kind, tuple(answer), tuple(given))
    assert (grade.right, grade.partly, "".join(grade.explain)) == (right, partly, explain)


def test_a_lesson_that_is_not_there():
    with pytest.raises(ValueError, match="lesson = 'nothing': expected one of .*ledger"):
        lessonkit.quiz("nothing")


def predict(exercise_id, written, confidence=None):
    predictor = lessonkit.predict(exercise_id)
    predictor.number.value, predictor.confidence.value, predictor.reason.value = written, confidence, "because"
    predictor.commit.click()


def test_predictions_are_listed_confident_errors_first_and_exported_as_the_page_imports_them():
    shown_table = lessonkit.calibration()
    assert "No predictions" in shown_table.table.value
    predict("zero2-20b-10", "68 GB", 3)
    predict("adam-20b-total", "40 GB", 1)
    predict("zero1-20b-4", "1 TB", 3)
    lessonkit.predict("zero3-70b-48").skip.click()
    shown_table.button.click()
    table = shown_table.html()
    places = [table.index(bank.load(name).prompt("en")) for name in ("zero1-20b-4", "adam-20b-total", "zero2-20b-10")]
    assert places == sorted(places) and bank.load("zero3-70b-48").prompt("en") not in table
    assert 'download="zero-predictions.json"' in shown_table.table.value
    exported = json.loads(record.as_json())
    assert exported["zero"] == "predictions" and exported["predictions"]["zero2-20b-10"] == {
        "value": 68_000_000_000, "text": "68 GB", "reason": "because", "confidence": 3, "skipped": False}
    assert exported["predictions"]["zero3-70b-48"]["value"] is None


def test_in_a_notebook_the_record_outlives_the_kernel(tmp_path, monkeypatch):
    file = tmp_path / record.FILE_NAME
    monkeypatch.setattr(record, "_file", lambda: file)
    predict("zero2-20b-10", "68 GB", 3)
    record.forget()  # another kernel
    assert record.made()["zero2-20b-10"]["text"] == "68 GB"
    predict("adam-20b-total", "40 GB", 1)
    predict("zero2-20b-10", "70 GB", 1)
    assert json.loads(file.read_text()) == json.loads(record.as_json())
    assert {name: made["text"] for name, made in record.made().items()} == {"zero2-20b-10": "70 GB", "adam-20b-total": "40 GB"}
    table = lessonkit.calibration().table.value
    assert bank.load("adam-20b-total").prompt("en") in table and "kept in zero-predictions.json" in table


@pytest.mark.parametrize("written", ["{", "[1]", '{"zero": "other"}', '{"zero": "predictions", "predictions": {"a": 1}, "quiz": {}}'])
def test_a_file_of_somebody_else_is_left_as_it_is(tmp_path, monkeypatch, written):
    file = tmp_path / record.FILE_NAME
    file.write_text(written)
    monkeypatch.setattr(record, "_file", lambda: file)
    predict("zero2-20b-10", "68 GB", 3)
    assert file.read_text() == written and list(tmp_path.iterdir()) == [file]
    assert list(record.made()) == ["zero2-20b-10"] and "import" in lessonkit.calibration().table.value


def test_outside_a_notebook_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    predict("zero2-20b-10", "68 GB", 3)
    assert list(tmp_path.iterdir()) == []


def test_an_exercise_that_is_gone_is_passed_over(tmp_path, monkeypatch):
    file = tmp_path / record.FILE_NAME
    monkeypatch.setattr(record, "_file", lambda: file)
    predict("zero2-20b-10", "68 GB", 3)
    file.write_text(file.read_text().replace("zero2-20b-10", "gone"))
    record.forget()
    assert "No predictions" in lessonkit.calibration().html()


def test_the_quiz_answers_are_exported_in_the_pages_own_form():
    """tests/js/quiz_data.test.js and calibration.test.js hold the page to it; here the names and kinds of the fields."""
    cards = {card.item.bank_id: card for card in lessonkit.quiz("stages", "a").cards}
    number, choice = cards["stages-max-params"], cards["account-bucket"]
    number.item.form.value, number.confidence.value = "1T", 2
    number.check.click()
    number.confidence.value = 3
    number.check.click()
    enter(choice, ["states"])
    choice.check.click()
    answers = json.loads(record.as_json())["quiz"]
    assert answers["a:stages-max-params"] == {
        "misses": 2, "hints": 0, "solved": False, "shown": False, "sure": 3, "confidence": 3, "given": "1T",
        "first": {"right": False, "confidence": 2, "given": "1T", "error": answers["a:stages-max-params"]["first"]["error"],
                  "prompt": number.item.plain_prompt() if number.item.is_drawn else None}}
    assert answers["a:account-bucket"]["given"] == ["states"] and "model states" in answers["a:account-bucket"]["first"]["given"]
    assert lessonkit.calibration().table.value.count("download=") == 1


READ_EXPORT = """
import { importBundled } from '%s';
const { readExport } = await importBundled('page/calibration-data.js');
let text = '';
for await (const chunk of process.stdin) text += chunk;
console.log(JSON.stringify(readExport(text, ['zero2-20b-10', 'zero3-70b-48', 'account-bucket'])));
"""


def test_the_page_itself_reads_the_export():
    predict("zero2-20b-10", "68 GB", 3)
    lessonkit.predict("zero3-70b-48").skip.click()
    card = next(card for card in lessonkit.quiz("stages").cards if card.item.bank_id == "account-bucket")
    enter(card, ["states"])
    card.check.click()
    script = READ_EXPORT % (Path(__file__).parent / "js" / "bundled.js").as_uri()
    done = subprocess.run(["node", "--input-type=module", "-e", script], input=record.as_json(), capture_output=True, text=True, check=True)
    found, written = json.loads(done.stdout), json.loads(record.as_json())
    assert found == {"predictions": written["predictions"], "quiz": written["quiz"]}
