"""The bank's questions: each key is right at build, each text is there, and what is wrong with a file is said with its place."""

import json
import re

import pytest

from lessonkit import bank, i18n, questions
from publish import quiz_page
from publish.lessons import LANGUAGES, load_lessons

CHOICE = '''\
lesson = "ledger"
kind = "choice"
answer = "b"
check = "ledger(7e9, 8, 3).model_states_bytes_per_rank < 15 * GB"
[prompt]
en = "Which?"
zh-CN = "哪个？"
[[option]]
id = "a"
en = "A"
zh-CN = "甲"
because = { en = "No.", zh-CN = "不是。" }
[[option]]
id = "b"
en = "B"
zh-CN = "乙"
[solution]
en = "B."
zh-CN = "乙。"
'''
COMPUTED = CHOICE.replace('answer = "b"\ncheck = "ledger(7e9, 8, 3).model_states_bytes_per_rank < 15 * GB"\n', "").replace(
    'id = "a"\n', 'id = "a"\nholds = "1 > 2"\n').replace('id = "b"\n', 'id = "b"\nholds = "2 > 1"\n')
ORDERING = COMPUTED.replace('"choice"', '"ordering"').replace('holds = "1 > 2"', 'value = "2 * GIB"').replace('holds = "2 > 1"', 'value = "2 * GB"')


@pytest.mark.parametrize("question_id", questions.ids())
def test_every_question_has_an_answer_that_is_computed_or_checked(question_id):
    question = questions.load(question_id)
    known = [option.id for option in question.options]
    assert set(question.answer) <= set(known)
    assert question.kind != "ordering" or sorted(question.answer) == sorted(known)
    assert question.hints


def test_answers_computed_by_the_options():
    assert questions.parse("item", COMPUTED).answer == ("b",)
    assert questions.parse("item", COMPUTED.replace('"choice"', '"many-choice"').replace("1 > 2", "2 > 1")).answer == ("a", "b")
    assert questions.parse("item", ORDERING).answer == ("b", "a")


@pytest.mark.parametrize("source, old, new, says", [
    (CHOICE, 'answer = "b"', 'answer = "c"', "questions/item.toml, line 3, answer: found 'c'; accepted: one option's id (a, b)"),
    (CHOICE, "< 15 * GB", "> 15 * GB", "does not hold"),
    (CHOICE, "check = ", "chek = ", "line 4, chek: unknown field"),
    (CHOICE, 'kind = "choice"', 'kind = "guess"', "line 2, kind: found 'guess'; accepted: one of choice, many-choice"),
    (CHOICE, 'kind = "choice"', 'kind = "ordering"', "answer: found 'b'; accepted: a list of all option ids"),
    (CHOICE, 'id = "b"', 'id = "a"', "line 14, option[1].id: found 'a' twice"),
    (CHOICE, 'zh-CN = "乙"\n', "", "option[1].zh-CN: found None; accepted: a text in this language"),
    (CHOICE, 'id = "b"', 'id = "b"\nholds = "2 > 1"', "option[1].holds: found '2 > 1'; accepted: nothing here"),
    (COMPUTED, 'holds = "1 > 2"\n', "", "option[0].holds: found None; accepted: an expression, since there is no answer"),
    (COMPUTED, "1 > 2", "2 > 1", "2 options are right (a, b); accepted: exactly one"),
    (COMPUTED, "2 > 1", "1 > 2", "0 options are right (none)"),
    (COMPUTED, "2 > 1", "2", "gives 2; accepted: a comparison"),
    (COMPUTED, "2 > 1", "open('x') > 1", "is neither an input nor a public name"),
    (ORDERING, "2 * GIB", "2 * GB", "two options have the same value"),
    (ORDERING, "2 * GIB", "1 * GB", "stand in the right order already"),
    (CHOICE, '[solution]\nen = "B."\nzh-CN = "乙。"\n', "", "solution: found None; accepted: a table with en and zh-CN"),
    (CHOICE, 'lesson = "ledger"', "lesson = ledger", "questions/item.toml: not TOML"),
])
def test_a_faulty_question_is_refused_with_its_place(source, old, new, says):
    assert old in source
    with pytest.raises(bank.ExerciseError, match=re.escape(says)):
        questions.parse("item", source.replace(old, new)).answer


def test_an_unknown_id_lists_the_known_ones(tmp_path):
    tmp_path.joinpath("item.toml").write_text(CHOICE, encoding="utf-8")
    assert questions.load("item", tmp_path) == questions.parse("item", CHOICE)
    with pytest.raises(bank.ExerciseError, match="no question 'other'; there are: item"):
        questions.load("other", tmp_path)


# The self-test made of them


def test_the_self_test_has_items_of_every_kind_from_every_lesson():
    lessons = load_lessons()
    sections = quiz_page.sections(lessons, "en")
    items = [item for _, items in sections for item in items]
    assert len(items) >= 40
    assert {item.kind for item in items} == {"number", *questions.KINDS}
    assert [lesson.slug for lesson, _ in sections] == [lesson.slug for lesson in lessons]
    assert len({item.id for item in items}) == len(items)


@pytest.mark.parametrize("question", quiz_page.all_questions(), ids=lambda question: question.id)
def test_figures_are_filled_in_and_the_key_is_plain_data(question):
    data = quiz_page.answer_data(question)
    assert json.loads(json.dumps(data)) == data
    assert "{{" not in json.dumps(data) and all("{{" not in question.prompt[lang] for lang in LANGUAGES)


def test_what_a_page_shows_beforehand_has_neither_key_nor_solution():
    question = next(one for one in quiz_page.all_questions() if one.id == "peak-by-eight")
    shown = [item for _, items in quiz_page.sections(load_lessons(), "en") for item in items if item.id == "peak-by-eight"]
    assert len(shown) == 1 and question.solution["en"] not in str(shown[0]) and question.options[0].because["en"] not in str(shown[0])


def test_the_last_lesson_leads_to_the_self_test():
    assert quiz_page.stop().slug == "quiz"
    assert quiz_page.stop().title == {lang: i18n.text("quiz.title", lang) for lang in LANGUAGES}
