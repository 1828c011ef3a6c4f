"""The gate: which figures count as an exercise's answer, and that each lesson's text that tells one is marked."""

import pytest

from lessonkit import bank
from publish.gate import gated_cells, shown_text, tells
from publish.lessons import LANGUAGES, load_lessons, predicted_exercise
from zeroledger import GB, GIB

BYTES = {"id": "item", "answer": 26_250_000_000, "unit": "bytes", "tolerance": 0.02}
COUNT = {"id": "item", "answer": 2500, "unit": "count", "tolerance": 0.02}


@pytest.mark.parametrize("text", [
    "It is 26.25 GB.", "26.3 GB", "about 26 GB", "24.4 GiB", "合计 26.25 GB，再加", "26,250 MB", "26,250,000,000 B",
    "| 2 | 26.25 | 24.45 |", "   26250000000",
])
def test_figures_that_tell_the_answer(text):
    assert tells(text, BYTES)


@pytest.mark.parametrize("text", [
    "", "27 GB", "26.1 GB", "26 cards", "26.25%", "126.25 GB", "26.25 MB", "version 2.26.25", "1,26.25", "26.4 GB",
])
def test_figures_that_do_not(text):
    assert not tells(text, BYTES)


@pytest.mark.parametrize("text, told", [
    ("2,500 steps", True), ("2500", True), ("2.5K", True), ("2,500.", True), ("250", False), ("2500 GB", False),
    ("12,500", False), ("on 2025-2500-01", False), ("2500%", False), ("v2.2500", False),
])
def test_counts(text, told):
    assert tells(text, COUNT) is told


def readings(values):
    """The answer as a text would show it, rounded by Python's own formatting."""
    sizes = {"GB": GB, "GiB": GIB}
    return {f"{values['answer'] / size:,.{digits}f} {unit}" for unit, size in sizes.items() for digits in (1, 2) if values["answer"] >= size}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("lesson", load_lessons(), ids=lambda lesson: lesson.slug)
def test_no_prose_after_a_question_shows_its_answer_ungated(lesson, lang):
    notebook, asked = lesson.notebook(lang, "page"), []
    gated = gated_cells(notebook)
    for cell in notebook.cells:
        if cell.metadata.zero.kind == "predict":
            asked.append(bank.load(predicted_exercise(cell.source)).evaluate())
        for values in asked if cell.cell_type == "markdown" else []:
            shown = [one for one in readings(values) if f" {one}" in f" {shown_text(cell)}"] if values["unit"] == "bytes" else []
            assert not shown or values["id"] in gated.get(cell.id, ()), (cell.id, shown)
