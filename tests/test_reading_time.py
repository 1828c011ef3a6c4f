"""Reading time: both languages count, and what there is to do counts beside the text."""

import nbformat
import pytest

from publish.lessons import LANGUAGES, load_lessons
from publish.reading_time import CHINESE_CHARACTERS_A_MINUTE, WORDS_A_MINUTE, lesson_minutes, prose_minutes


@pytest.mark.parametrize("text, minutes", [
    ("", 0), ("word " * WORDS_A_MINUTE, 1), ("字" * CHINESE_CHARACTERS_A_MINUTE, 1), ("26.25 GB, don't " * 60, 1),
    ("字" * CHINESE_CHARACTERS_A_MINUTE + " rank" * WORDS_A_MINUTE, 2), ("，。 | --- |", 0),
])
def test_prose(text, minutes):
    assert prose_minutes(text) == pytest.approx(minutes)


def test_what_there_is_to_do_counts():
    def notebook(kind):
        cell = nbformat.v4.new_code_cell("print(1)")
        cell.metadata["zero"] = nbformat.from_dict({"kind": kind})
        return nbformat.v4.new_notebook(cells=[cell] * 10)

    assert lesson_minutes(notebook("explore")) == 20 > lesson_minutes(notebook("predict")) > lesson_minutes(notebook("code")) == 1


@pytest.mark.parametrize("lesson", load_lessons(), ids=lambda lesson: lesson.slug)
def test_a_lesson_takes_about_as_long_in_both_languages(lesson):
    english, chinese = (lesson.minutes(lang) for lang in LANGUAGES)
    assert 10 <= english <= 45 and abs(english - chinese) <= 0.2 * english
