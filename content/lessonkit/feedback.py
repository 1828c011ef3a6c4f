"""A prediction read, and its feedback in words."""

from html import escape
from unicodedata import normalize

from zeroledger import format_bytes, format_count, parse_bytes, parse_count

from .i18n import text
from .tables import rows_html

FACTOR_FROM = 10  # relative errors from here on are said as a factor, not as percent


def read(written: str, unit: str) -> float:
    """The bytes (or the count) that the reader wrote; ValueError naming what is accepted.

    A count in bare digits keeps its fraction, as a ratio has one: "5.5"."""
    if unit == "bytes":
        return parse_bytes(written, "prediction")
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


def result_html(exercise, feedback, output: str, lang: str) -> str:
    """Prediction, result and error side by side, the verdict, the code that ran and what it printed.

    `feedback` is None where the reader skipped."""
    values = exercise.evaluate()
    rows = [[text("kit.predict.result", lang), amount(values["answer"], exercise.unit)]]
    if feedback is not None:
        rows.insert(0, [text("kit.predict.prediction", lang), amount(feedback.prediction, exercise.unit)])
        rows.append([text("kit.predict.error", lang), error_text(feedback.relative_error)])
    heading = escape(text("kit.predict.ran", lang))
    ran = f"<p>{heading}</p><pre>{escape(exercise.code)}</pre><pre>{escape(output)}</pre>"
    return f'<div role="status"><p>{escape(verdict(exercise, feedback, lang))}</p>{rows_html(["", ""], rows)}{ran}</div>'


def verdict(exercise, feedback, lang: str) -> str:
    """The one line that says how it went, and for a known mistake which one."""
    if feedback is None:
        return text("kit.predict.skipped", lang)
    wording = text(f"kit.predict.{feedback.verdict}", lang, tolerance=f"{100 * exercise.tolerance:g}%")
    return f"{wording} {feedback.mistake_text[lang]}" if feedback.mistake_text else wording
