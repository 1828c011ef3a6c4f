"""The self-test as a notebook: every item of the bank, lesson by lesson, after the last lesson's notebook."""

from lessonkit.i18n import text

from .notebook_cells import asked_lessons, code_cell, markdown_cell, new_notebook, title_cell

SETUP = 'LANG = "{lang}"\nfrom lessonkit import calibration, quiz, use_language\n\nuse_language(LANG)'


def self_test_name(lessons):
    """Its file name, numbered after the last of `lessons`."""
    return f"{lessons[-1].number + 1:02d}-self-test.ipynb"


def self_test_notebook(lessons, lang):
    """The notebook in `lang`, not executed."""
    title = text("quiz.title", lang)
    cells = [title_cell(title, lang, "lite"), markdown_cell("about", text("kit.quiz.notebook_intro", lang)), code_cell("setup", SETUP.format(lang=lang), "setup")]
    asked = asked_lessons()
    for lesson in lessons:
        if lesson.slug in asked:
            cells.append(markdown_cell(f"lesson-{lesson.slug}", f"## {lesson.number} · {lesson.title[lang]}"))
            cells.append(code_cell(f"quiz-{lesson.slug}", f'quiz("{lesson.slug}")', "quiz"))
    cells += [markdown_cell("predictions", f"## {text('page.calibration.title', lang)}"), code_cell("calibration", "calibration()", "calibration")]
    return new_notebook(cells, {"lesson": "self-test", "number": lessons[-1].number + 1, "lang": lang, "title": title, "summary": text("quiz.about", lang)})
