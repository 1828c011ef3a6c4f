"""The author's kit: starting files that are valid, and a check that finds every fault and its line."""

import re

import pytest
from publish import authoring, check, lessons
from publish.check import check_files
from publish.cli import FAILED, main
from publish.errors import BuildError


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A bank and a lesson folder of their own, holding one lesson `base` that the templates can refer to."""
    (tmp_path / "exercises" / "questions").mkdir(parents=True)
    (tmp_path / "lessons").mkdir()
    for module, names in ((check, ("LESSONS", "EXERCISES")), (authoring, ("LESSONS", "EXERCISES"))):
        for name in names:
            monkeypatch.setattr(module, name, tmp_path / name.lower())
    monkeypatch.setattr(check, "QUESTIONS", tmp_path / "exercises/questions")
    return tmp_path


def new(tree, kind, name):
    return authoring.new_source(kind, name, tree / "lessons", tree / "exercises")


def test_a_new_lesson_exercise_and_question_are_valid(tree):
    made = [new(tree, "lesson", "base"), new(tree, "lesson", "long-context"), new(tree, "exercise", "first-one"), new(tree, "question", "which-stage")]
    assert [file.name for file in made] == ["01_base.py", "02_long_context.py", "first-one.toml", "which-stage.toml"]
    seen, problems = check_files()
    assert problems == [] and len(seen) == 4


def test_a_new_lesson_becomes_a_notebook_that_runs_in_both_languages(tree):
    lesson = lessons.load_lesson(new(tree, "lesson", "base"))
    for lang in lessons.LANGUAGES:
        notebook = lessons.execute(lesson.notebook(lang, "page"), lesson.path.name)
        live = next(cell for cell in notebook.cells if cell.id == "live-first")
        assert live.outputs[0].text.splitlines()[0] == "1 112.0 GB"


@pytest.mark.parametrize(("kind", "name", "says"), [
    ("lesson", "Base", "lower-case"), ("lesson", "base", "there already"), ("chapter", "x", "lesson, exercise, question"),
])
def test_what_cannot_be_started_is_said(tree, kind, name, says):
    new(tree, "lesson", "base")
    with pytest.raises(BuildError) as error:
        new(tree, kind, name)
    assert says in error.value.reason + error.value.remedy


def faults(file, *changes):
    """[(line, text)] after the changes (old, new) in `file`."""
    text = file.read_text(encoding="utf-8")
    for old, replacement in changes:
        assert old in text
        text = text.replace(old, replacement, 1)
    file.write_text(text, encoding="utf-8")
    return [(problem.line, problem.text) for problem in check_files([file])[1]]


def line_of(file, snippet):
    """The line where the snippet stands."""
    return 1 + file.read_text(encoding="utf-8").partition(snippet)[0].count("\n")


def test_all_faults_of_a_lesson_are_listed_with_their_lines(tree):
    file = new(tree, "lesson", "base")
    found = faults(
        file,
        ("#   number: 1", "#   number: one"),
        ('{{ "80 GB" }} is too', "80 GB is too"),
        ("{{ ledger(7e9) | GB 0 }}，", "{{ ledgr(7e9) | GB 0 }}，"),
        ('tags=["predict"]', 'tags=["predct"]'),
        ("print(N, format", "print(N format"),
    )
    expected = [("number: one", "zero.number: expected int"), ("80 GB is too", "typed by hand"), ("ledgr", "ledgr"), ('tags=["predct"]', "tag 'predct'"),
                ("print(N format", "not Python")]
    assert len(found) == len(expected)
    for (line, text), (snippet, says) in zip(found, expected):
        assert says in text and line == line_of(file, snippet)


@pytest.mark.parametrize(("old", "replacement", "snippet", "says"), [
    ("dp_size=N, stage=2", "dp_size=N, stage=5", "run = ledger", "cell live-first: InvalidInput: stage = 5"),
    ("use_language(LANG)", "use_language(LNG)", "use_language(LNG)", "cell setup: NameError"),
    ('predict("zero2-20b-10")', 'predict("zero9")', 'id="predict-states"', "no exercise 'zero9'"),
    ('id="try" lang="zh-CN"', 'id="attempt" lang="zh-CN"', 'id="try" lang="en"', "has no text in zh-CN"),
    ("# ---\n# jupyter", "# jupyter", None, "begins with # ---"),
])
def test_a_fault_of_a_lesson_names_its_line(tree, old, replacement, snippet, says):
    file = new(tree, "lesson", "base")
    found = faults(file, (old, replacement))
    assert any(says in text and (snippet is None or line == line_of(file, snippet)) for line, text in found), found


def test_a_number_that_another_lesson_has_is_said(tree):
    new(tree, "lesson", "base")
    file = new(tree, "lesson", "other")
    assert faults(file, ("number: 2", "number: 1")) == [(line_of(file, "number:"), "number 1 is that of 01_base.py; accepted: one of its own")]


def test_all_faults_of_an_exercise_are_listed_with_their_lines(tree):
    new(tree, "lesson", "base")
    file = new(tree, "exercise", "first-one")
    found = faults(file, ('lesson = "base"', 'lesson = "bass"'), ('unit = "bytes"', 'unit = "byte"'), ("tolerance = 0.02", "tolerance = 2"),
                   ("{P} parameters", "{Q} parameters"), ('id = "not-sharded"\nvalue', 'id = "not-sharded"\nvlaue'))
    snippets = ["lesson =", "unit =", "tolerance =", "{Q}", "[[mistake]]", "vlaue"]
    assert sorted(line for line, _ in found) == sorted(line_of(file, snippet) for snippet in snippets)
    assert all("accepted: " in text for _, text in found)


@pytest.mark.parametrize(("old", "replacement", "snippet", "says"), [
    ('value = "16 * P"', 'value = "4 * P + 12 * P / N - 1.75 * P"', "[[mistake]]", "coincide"),
    ('value = "16 * P / N"', 'value = "16 * Q / N"', 'value = "16 * Q', "Q"),
    ("dp_size=N, stage=2)", "dp_size=N, stge=2)", "answer =", "stge"),
    ("print(format_bytes(", "print(frmat_bytes(", "code =", "NameError"),
    ("[prompt]", "[prompt", "[prompt", "not TOML"),
    ("[[mistake]]", '[[hint]]\nen = "Start from {{ 16 * P }}."\nzh-CN = "先想想。"\n\n[[mistake]]', 'en = "Start', "needs a format"),
    ("{N} ranks, ZeRO", "{{ M | int }} ranks, ZeRO", 'en = "{P}', "'M' is neither"),
    ("That is stage 3.", "That is stage 3, 14 GB.", 'en = "That is stage 3', "typed by hand"),
    ("answer =", "draw = { N = [1, 8] }\nanswer =", "draw = { N = [1", "with N=1, "),
])
def test_a_fault_of_an_exercise_names_its_line(tree, old, replacement, snippet, says):
    new(tree, "lesson", "base")
    file = new(tree, "exercise", "first-one")
    found = faults(file, (old, replacement))
    assert any(says in text and line == line_of(file, snippet) for line, text in found), found


@pytest.mark.parametrize(("old", "replacement", "snippet", "says"), [
    ("64, 2).model_states_bytes_per_rank <", "64, 2).model_states_bytes_per_rank >", "[[option]]", "2 options are right"),
    ('kind = "choice"', 'kind = "choose"', "kind =", "accepted: one of choice"),
    ("on each rank. Stage 3", "(28.9 GB). Stage 3", "en = \"Stage 2 keeps", "typed by hand"),
])
def test_a_fault_of_a_question_names_its_line(tree, old, replacement, snippet, says):
    new(tree, "lesson", "base")
    file = new(tree, "question", "which-stage")
    found = faults(file, (old, replacement))
    assert any(says in text and line == line_of(file, snippet) for line, text in found), found


def test_the_command_prints_file_and_line_and_fails(tree, capsys):
    file = new(tree, "lesson", "base")
    file.write_text(file.read_text(encoding="utf-8").replace("number: 1", "number: one"), encoding="utf-8")
    assert main(["check", str(file)]) == FAILED
    assert re.search(r"01_base\.py:9: .*zero\.number.*\n1 file checked, 1 problem\n", capsys.readouterr().out)
    assert main(["check", str(tree / "missing.py")]) == FAILED
    assert "missing.py is not there" in capsys.readouterr().err


def test_the_courses_own_sources_pass():
    assert check_files()[1] == []
