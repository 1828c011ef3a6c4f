"""A prediction read, and its feedback in words."""

import re
from html import escape
from unicodedata import normalize

from zeroledger import format_bytes, format_count, parse_bytes, parse_count

from .i18n import text
from .scale import scale_svg
from .tables import rows_html

FACTOR_FROM = 10  # relative errors from here on are said as a factor, not as percent
SMALLEST_BARE_BYTES = 10**6  # a smaller number without a unit is one whose unit was forgotten
_LETTER = re.compile(r"[^\W\d_]")


def read(written: str, unit: str, lang: str | None = None) -> float:
    """The bytes (or the count) that the reader wrote; ValueError whose message tells them, in `lang`, what is missing.

    A count in bare digits keeps its fraction, as a ratio has one: "5.5"."""
    try:
        return _bytes(written, lang) if unit == "bytes" else _count(written)
    except UnitMissing:
        raise
    except ValueError as error:
        raise ValueError(text("kit.predict.needs_number", lang, reason=error)) from error


class UnitMissing(ValueError):
    """A small bare number where bytes are asked for."""


def _bytes(written, lang):
    value = parse_bytes(written, "prediction")
    if value < SMALLEST_BARE_BYTES and not _LETTER.search(normalize("NFKC", written)):
        raise UnitMissing(text("page.predict.needs_unit", lang))
    return value


def _count(written):
    whole = parse_count(written, "prediction")
    try:
        bare = float(normalize("NFKC", written))
    except ValueError:  # with a unit or grouped digits: such counts are whole
        return whole
    return whole if bare == whole else bare


def amount(value, unit: str) -> str:
    """`value` for reading: bytes in decimal and binary units side by side, "112 GB = 104.3 GiB"."""
    if unit == "count":
        return format_count(value) if value == round(value) else f"{value:.2f}"
    decimal = format_bytes(round(value))
    name = decimal.split()[1]
    return decimal if name == "B" else f"{decimal} = {format_bytes(round(value), name.replace('B', 'iB'))}"


def error_text(relative_error: float) -> str:
    """"+7.4%", or "×1,000" where a percentage would say little."""
    if relative_error < FACTOR_FROM:
        return f"{relative_error:+.1%}"
    return f"×{relative_error + 1:,.0f}"


def comparison_html(exercise, feedback, answer, lang: str) -> str:
    """Prediction, result and error side by side, the error on a logarithmic scale, and the verdict.

    `feedback` is None where the reader skipped."""
    rows = [[text("kit.predict.result", lang), amount(answer, exercise.unit)]]
    if feedback is not None:
        rows.insert(0, [text("kit.predict.prediction", lang), amount(feedback.prediction, exercise.unit)])
        rows.append([text("kit.predict.error", lang), error_text(feedback.relative_error)])
    scale = "" if feedback is None else scale_svg(feedback.prediction / answer, lang)
    return f"<p>{escape(verdict(exercise, feedback, lang))}</p>{rows_html(['', ''], rows)}{scale}"


def result_html(exercise, feedback, output: str, lang: str, reason: str = "", confidence: int | None = None) -> str:
    """The comparison, what the reader said, the code that ran and what it printed."""
    heading = escape(text("kit.predict.ran", lang))
    ran = f"<p>{heading}</p><pre>{escape(exercise.code)}</pre><pre>{escape(output)}</pre>"
    compared = comparison_html(exercise, feedback, exercise.evaluate()["answer"], lang)
    return f'<div role="status">{compared}{_said_html(reason, confidence, lang)}{ran}</div>'


def verdict(exercise, feedback, lang: str) -> str:
    """The one line that says how it went, and for a known mistake which one."""
    if feedback is None:
        return text("kit.predict.skipped", lang)
    wording = text(f"kit.predict.{feedback.verdict}", lang, tolerance=f"{100 * exercise.tolerance:g}%")
    return f"{wording} {feedback.mistake_text[lang]}" if feedback.mistake_text else wording


def _said_html(reason, confidence, lang):
    said = []
    if confidence:
        said.append(text("page.predict.confidence_said", lang, confidence=text(f"kit.predict.confidence_{confidence}", lang)))
    if reason:
        said.append(text("page.predict.your_reason", lang, reason=reason))
    return f"<p>{'<br>'.join(map(escape, said))}</p>" if said else ""
