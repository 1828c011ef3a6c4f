"""How long a lesson takes, estimated from what is in it: its prose, its code, and what it asks the reader to do.

The speeds are those of technical prose that is read to be understood.
"""

import re

WORDS_A_MINUTE = 180
CHINESE_CHARACTERS_A_MINUTE = 300
SECONDS_A_CODE_LINE = 5
SECONDS_TO_DO = {"predict": 90, "live": 40, "explore": 120, "timeline": 120, "parallel": 120}  # to write a number down, to change and run, to try out

_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_WORD = re.compile(r"[A-Za-z0-9]+(?:[.,'’-][A-Za-z0-9]+)*")


def lesson_minutes(notebook) -> int:
    """Minutes for a reader who reads `notebook` (in one language) and does what it asks: whole ones, at least one."""
    return max(1, round(sum(_cell_minutes(cell) for cell in notebook.cells)))


def prose_minutes(text: str) -> float:
    """Minutes to read `text`, which may mix both languages."""
    return len(_WORD.findall(_CHINESE.sub(" ", text))) / WORDS_A_MINUTE + len(_CHINESE.findall(text)) / CHINESE_CHARACTERS_A_MINUTE


def _cell_minutes(cell):
    if cell.cell_type == "markdown":
        return prose_minutes(cell.source)
    kind = cell.metadata.zero.kind
    lines = len(cell.source.splitlines()) if kind in ("live", "code") else 0
    return (SECONDS_A_CODE_LINE * lines + SECONDS_TO_DO.get(kind, 0)) / 60
