"""What we predict and what was measured: the last truth run on record (tests/torch/results/truth.json) as a table.

The build reads the numbers and runs no PyTorch. The format is described in tests/torch/README.md. What could not be
measured (a GPU's own meters, where there was no GPU) has a row of its own that says so.
"""

import json
import re
from dataclasses import dataclass
from html import escape

from lessonkit import i18n

from . import paths
from .errors import BuildError

TRUTH = paths.TESTS / "torch/results/truth.json"
FORMAT, VERSION = "zeroledger-truth", 1
GROUPS = ("states", "collectives", "activations", "peak", "equivalence", "breaks", "kit", "meters")
BOUND = "at most "  # how a tolerance begins that is none of a value
REMEDY = "run ./build.sh torch again, or restore the file"


@dataclass(frozen=True)
class TruthGroup:
    """Comparisons of one kind: `met` of `count` kept their tolerance; `missing` are [(what, why)] that were not measured."""

    key: str
    engines: str
    worst: str
    count: int
    met: int
    rows: tuple
    missing: tuple


@dataclass(frozen=True)
class TruthRow:
    """All comparisons of one quantity under one engine, as texts; setup, numbers and tolerance are those of one of them:
    of the first that missed its tolerance, else of the last, which has most ranks."""

    engine: str
    quantity: str
    ranks: str
    count: int
    met: int
    setup: str
    predicted: str
    measured: str
    tolerance: str
    note: str


@dataclass(frozen=True)
class Truth:
    """The whole record."""

    date: str
    versions: str
    hardware: str
    groups: tuple

    @property
    def num_rows(self):
        """Comparisons in all."""
        return sum(group.count for group in self.groups)

    @property
    def num_met(self):
        """Those that kept their tolerance."""
        return sum(group.met for group in self.groups)


def truth(file=TRUTH):
    """The `Truth` in `file`, None where there is none. BuildError for a file of another form."""
    if not file.is_file():
        return None
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        if (record["format"], record["version"]) != (FORMAT, VERSION):
            raise BuildError(f"{file.name}: format {record['format']!r} version {record['version']!r}, expected {FORMAT} {VERSION}", REMEDY)
        unknown = {row["group"] for row in [*record["rows"], *record["missing"]]} - set(GROUPS)
        if unknown:
            raise BuildError(f"{file.name}: group {', '.join(sorted(unknown))} is none of {', '.join(GROUPS)}", REMEDY)
        groups = (_group(key, record) for key in GROUPS)
        versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
        return Truth(record["date"], versions, record["hardware"], tuple(group for group in groups if group.rows or group.missing))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BuildError(f"{file.name}: {type(error).__name__}: {error}", REMEDY) from error


def group_name(key, lang):
    """The group's name in the page's language."""
    return i18n.text(f"page.truth.group.{key}", lang)


def tolerance_in_words(tolerance, lang):
    """HTML of a row's tolerance: a bound, or words of the record."""
    bound = tolerance.removeprefix(BOUND)
    return in_words("tolerance", tolerance, lang) if bound == tolerance else escape(i18n.text("page.truth.tolerance.at_most", lang, bound=bound))


def in_words(kind, english, lang):
    """HTML of the record's own English in the page's language; where that has no words for it, the English, marked as such."""
    key = f"page.truth.{kind}.{re.sub('[^a-z0-9]+', '_', english.lower()).strip('_')}"
    if key in i18n.strings():
        return escape(i18n.text(key, lang))
    return f'<span lang="en">{escape(english)}</span>' if re.search("[A-Za-z]{2}", english) else escape(english)


def _group(key, record):
    given = [row for row in record["rows"] if row["group"] == key]
    kinds = {}
    for row in given:
        kinds.setdefault((row["engine"], row["quantity"], row["unit"]), []).append(row)
    missing = tuple((each["what"], each["why"]) for each in record["missing"] if each["group"] == key)
    return TruthGroup(key, ", ".join(sorted({row["engine"] for row in given})), _worst(given), len(given), sum(row["ok"] for row in given),
                      tuple(map(_row, kinds.values())), missing)


def _row(rows):
    shown = next((row for row in rows if not row["ok"]), rows[-1])
    return TruthRow(
        shown["engine"], shown["quantity"], ", ".join(map(str, sorted({row["ranks"] for row in rows}))), len(rows),
        sum(row["ok"] for row in rows), shown["setup"], _numbers(shown["predicted"], shown["unit"]),
        _numbers(shown["measured"], shown["unit"]), shown["tolerance"], shown["note"])


def _worst(rows):
    """The largest relative difference of those rows that name a value and not a bound; "" without such."""
    found = [abs(real - ours) / abs(real) for row in rows if not row["tolerance"].startswith(BOUND)
             for ours, real in zip(row["predicted"], row["measured"]) if real]
    if not found:
        return ""
    return "0" if max(found) == 0 else f"{100 * max(found):.2g}%"


def _numbers(values, unit):
    texts = [f"{value:,}" if isinstance(value, int) else f"{value:.4g}" for value in values]
    if len(texts) > 4:
        texts = [*texts[:3], "…"]
    return " / ".join(texts) + ("" if unit == "ratio" else f" {unit}")
