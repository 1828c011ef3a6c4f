"""Which cells of a lesson tell the answer of an exercise that the reader meets before them.

A figure tells the answer when it is the answer rounded to the decimals shown and, written as the prediction, would be
judged right. Prose, tables, recorded outputs
and what the page draws (explorers, simulated steps) are read; figures inside code are not: a reader runs that.
"""

import re

from lessonkit import bank
from zeroledger import parse_bytes, parse_count
from zeroledger.units import BYTE_UNITS, COUNT_UNITS

from .lesson_calls import predicted_exercise

_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_NUMBER = r"(?<![\w.-])(?<!\d,)((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)"
_BYTES = re.compile(rf"{_NUMBER}\s*({'|'.join(sorted(BYTE_UNITS, key=len, reverse=True))})(?![A-Za-z])")
_BARE = re.compile(rf"{_NUMBER}(?!\s*[KMGTP]?i?B\b)(?![\w%.])")  # a table's figure, its unit in the header
_COUNT = re.compile(rf"{_NUMBER}( ?[KMBT](?![A-Za-z]))?(?![\w%-]|\.\d|\s*[KMGTP]?i?B\b)")
BARE_UNITS = ("GB", "GiB")


def gated_cells(notebook, drawn=lambda cell: "") -> dict[str, tuple[str, ...]]:
    """{cell id: ids of the exercises whose answer the cell tells}, for cells that follow their predict cell.

    `drawn` gives the text of what the page draws for a cell, charts' labels included; "" where it draws nothing."""
    asked, gated = [], {}
    for cell in notebook.cells:
        if cell.metadata.zero.kind == "predict":
            asked.append(bank.load(predicted_exercise(cell.source)).evaluate())
            continue
        shown = f"{shown_text(cell)}\n{drawn(cell)}"
        told = tuple(values["id"] for values in asked if tells(shown, values))
        if told:
            gated[cell.id] = told
    return gated


def shown_text(cell) -> str:
    """What a reader of the cell sees before anything runs: its prose, or its recorded output."""
    if cell.cell_type == "markdown":
        return _CODE.sub(" ", cell.source)
    if cell.metadata.zero.kind not in ("live", "code"):
        return ""
    return "\n".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs)


def tells(text: str, values: dict) -> bool:
    """Whether a figure in `text` is the answer of the exercise with these `values` (Exercise.evaluate())."""
    answer, tolerance = values["answer"], values["tolerance"]
    return any(abs(figure - answer) <= min(step, tolerance * answer) for figure, step in _figures(text, values["unit"]))


def _figures(text, unit):
    """The amounts that `text` names, as bytes or counts, each with the worth of one in its last digit."""
    if unit == "count":
        return [_count(*found) for found in _COUNT.findall(text)]
    named = [_amount(number, name) for number, name in _BYTES.findall(text)]
    bare = [_amount(number, name) for number in _BARE.findall(text) for name in (BARE_UNITS if "." in number else ("B",))]
    return named + bare


def _amount(number, unit):
    return parse_bytes(f"{number} {unit}"), BYTE_UNITS[unit] / 10 ** len(number.partition(".")[2])


def _count(number, suffix):
    return parse_count(number + suffix), COUNT_UNITS[suffix.strip()] / 10 ** len(number.partition(".")[2])
