"""The predictions made in this kernel, in the form that the site's page "My calibration" imports and exports.

They live as long as the kernel; `as_json` is what a reader takes along.
"""

from json import dumps

KIND = "predictions"  # what the page looks for: content/web/src/page/calibration-data.js
FILE_NAME = "zero-predictions.json"

_made: dict[str, dict] = {}


def remember(exercise_id: str, value: float | None, written: str, reason: str, confidence: int | None) -> None:
    """Keeps the latest prediction of an exercise; `value` None where the reader skipped."""
    _made[exercise_id] = {"value": value, "text": written, "reason": reason, "confidence": confidence, "skipped": value is None}


def made() -> dict[str, dict]:
    """{exercise id: prediction}, in the order in which they were first made."""
    return dict(_made)


def forget() -> None:
    """Forgets them all."""
    _made.clear()


def as_json() -> str:
    """The file that the page imports."""
    return dumps({"zero": KIND, "predictions": _made}, ensure_ascii=False, indent=1)
