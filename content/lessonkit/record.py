"""The reader's predictions and quiz answers, in the form that the site's page "My calibration" imports and exports.

In a notebook they are also kept in a file beside it, so that they outlive the kernel, which a runaway cell may end; all
notebooks of the folder share the file. A file of that name that is not ours is left as it is.
"""

import json
import os
import sys
from pathlib import Path

KIND = "predictions"  # what the page looks for: content/web/src/page/calibration-data.js
FILE_NAME = "zero-predictions.json"
PARTS = ("predictions", "quiz")
FIELDS = {"value", "text", "reason", "confidence", "skipped"}  # of a prediction

_made: dict[str, dict[str, dict]] = {part: {} for part in PARTS}


def remember(exercise_id: str, value: float | None, written: str, reason: str, confidence: int | None) -> None:
    """Keeps the latest prediction of an exercise; `value` None where the reader skipped."""
    _made["predictions"][exercise_id] = {"value": value, "text": written, "reason": reason, "confidence": confidence, "skipped": value is None}
    _save()


def remember_answer(item_id: str, seed: str | None, state: dict) -> None:
    """Keeps how an item of the quiz stands, under the key that the pages use: its seed, if any, and its id."""
    _made["quiz"][f"{seed}:{item_id}" if seed else item_id] = state
    _save()


def made() -> dict[str, dict]:
    """{exercise id: prediction}, in the order in which they were first made."""
    return _all()["predictions"]


def forget() -> None:
    """Forgets what this kernel has in memory."""
    for part in _made.values():
        part.clear()


def is_empty() -> bool:
    """Whether there is nothing to take along."""
    return not any(_all().values())


def is_kept() -> bool:
    """Whether a file beside the notebook holds them."""
    file = _file()
    return bool(file and _read(file))


def as_json() -> str:
    """The file that the page imports."""
    return _as_json(_all())


def _as_json(record: dict[str, dict]) -> str:
    return json.dumps({"zero": KIND, **record}, ensure_ascii=False, indent=1)


def _all() -> dict[str, dict]:
    file = _file()
    return _over((_read(file) if file else None) or {})


def _over(stored: dict) -> dict[str, dict]:
    """What the file has, and over it what this kernel has."""
    return {part: {**stored.get(part, {}), **_made[part]} for part in PARTS}


def _file() -> Path | None:
    """Where a notebook's record belongs: beside it. None outside a notebook, and where the kernel sees no files of the
    reader's (JupyterLite without a service worker)."""
    ipython = sys.modules.get("IPython")
    return Path(FILE_NAME) if ipython and ipython.get_ipython() and any(Path().glob("*.ipynb")) else None


def _read(file: Path) -> dict | None:
    """The file's record, {} where there is none, None where something else lies there."""
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        return None
    return record if _is_ours(record) else None


def _is_ours(record) -> bool:
    if not (isinstance(record, dict) and record.get("zero") == KIND and all(isinstance(record.get(part), dict) for part in PARTS)):
        return False
    return all(isinstance(made, dict) and FIELDS <= made.keys() for made in record["predictions"].values())


def _save() -> None:
    file = _file()
    stored = _read(file) if file else None
    if stored is None:
        return
    try:
        partial = file.with_suffix(".json.tmp")
        partial.write_text(_as_json(_over(stored)), encoding="utf-8")
        os.replace(partial, file)
    except OSError:
        pass  # a folder that cannot be written: the kernel still has them, and the page's import takes them
