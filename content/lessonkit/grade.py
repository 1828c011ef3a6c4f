"""Compares chosen options with the key of a question; the pages do the same (content/web/src/page/grade.js)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ChoiceGrade:
    """`partly` is {"right", "wrong", "missing"} for a wrong many-choice, else None; `explain`: the options whose reason the
    reader should see, those chosen wrongly, or all that were chosen when right."""

    right: bool
    partly: dict[str, int] | None
    explain: tuple[str, ...]


def grade_choice(kind: str, answer: tuple[str, ...], given: tuple[str, ...]) -> ChoiceGrade:
    """The grade of the option ids `given`, for `ordering` in their order."""
    if kind == "ordering":
        return ChoiceGrade(tuple(given) == tuple(answer), None, ())
    wrong = tuple(name for name in given if name not in answer)
    found = len(given) - len(wrong)
    right = not wrong and found == len(answer)
    partly = {"right": found, "wrong": len(wrong), "missing": len(answer) - found} if kind == "many-choice" and not right else None
    return ChoiceGrade(right, partly, tuple(given) if right else wrong)
