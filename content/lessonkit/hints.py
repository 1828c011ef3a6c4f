"""Hints in steps for the bank's items; the pages give the same (content/web/src/page/quiz.js)."""

from .i18n import text


def number_hints(exercise, lang: str) -> list[str]:
    """Two hints that hold for every number: write the rows down, and a wrong turn that many take. Nothing is computed."""
    rows = text("quiz.hint_rows", lang)
    traps = [text("quiz.hint_trap", lang, mistake=mistake.text[lang]) for mistake in exercise.mistakes[:1]]
    return [rows, *traps]
