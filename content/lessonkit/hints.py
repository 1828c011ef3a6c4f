"""Hints in steps for the bank's numbers; the pages give the same (content/web/src/page/quiz.js)."""

from .computed_text import fill_values
from .i18n import text


def number_hints(exercise, lang: str) -> list[str]:
    """The exercise's own hints, their figures computed for its inputs; else two that hold for every number: write the rows
    down, and a wrong turn that many take. The answer is not computed."""
    if exercise.hints:
        return [fill_values(hint[lang], exercise.inputs) for hint in exercise.hints]
    traps = [text("quiz.hint_trap", lang, mistake=exercise.mistake_text(mistake)[lang]) for mistake in exercise.mistakes[:1]]
    return [text("quiz.hint_rows", lang), *traps]
