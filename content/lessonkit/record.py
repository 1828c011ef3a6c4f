"""The predictions and the quiz's answers made in this kernel, in the form that the site's page "My calibration" imports and exports.

They live as long as the kernel; `as_json` is what a reader takes along.
"""

from json import dumps

KIND = "predictions"  # what the page looks for: content/web/src/page/calibration-data.js
FILE_NAME = "zero-predictions.json"

_made: dict[str, dict] = {}
_answers: dict[str, dict] = {}


def remember(exercise_id: str, value: float | None, written: str, reason: str, confidence: int | None) -> None:
    """Keeps the latest prediction of an exercise; `value` None where the reader skipped."""
    _made[exercise_id] = {"value": value, "text": written, "reason": reason, "confidence": confidence, "skipped": value is None}


def remember_answer(item_id: str, seed: str | None, state: dict) -> None:
    """Keeps how an item of the quiz stands, under the key that the pages use: its seed, if any, and its id."""
    _answers[f"{seed}:{item_id}" if seed else item_id] = state


def made() -> dict[str, dict]:
    """{exercise id: prediction}, in the order in which they were first made."""
    return dict(_made)


def forget() -> None:
    """Forgets them all."""
    _made.clear()
    _answers.clear()


def is_empty() -> bool:
    """Whether there is nothing to take along."""
    return not _made and not _answers


def as_json() -> str:
    """The file that the page imports."""
    return dumps({"zero": KIND, "predictions": _made, "quiz": _answers}, ensure_ascii=False, indent=1)
