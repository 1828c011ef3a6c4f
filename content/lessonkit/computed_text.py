"""Figures inside prose: computed, never typed. Lessons have theirs filled in at build, the bank's questions when they are shown.

Forms, in any markdown cell of a lesson source and in any text of a question:

    {{ ledger(7e9) | GB 0 }}                       112 GB
    {{ ledger(7e9, dp_size=8, stage=2) | GiB 2 }}  24.45 GiB
    {{ PRESETS["llama-2-7b"].num_params | count }} 6,738,415,616
    {{ 7e9 | short }}                              7B
    {{ 104 / 112 | num 2 }}                        0.93
    {{ "16 GB" }}                                  16 GB: given, not computed

Left of the bar stands an expression over `zeroledger`'s public names and those of the lesson's header: calls, attributes, indexing,
numbers, strings and arithmetic, nothing else (as in the exercise bank); a ledger stands for its model
states per rank.
Right of it one of the formats

    B, KB … PB, KiB … PiB   bytes in that unit, by zeroledger's format_bytes; a number sets the decimals
    int, count              an exact whole number, plain or with its digits grouped
    num d                   a plain number with d decimals
    pct d                   a ratio as a percentage
    short                   7B, 1.5B
    word, han, part         eight, 八, an eighth: small whole numbers as prose writes them, others in digits

A string needs no format; everything else does, so that no unit is ever guessed.

The other way round, `find_typed_figures` finds byte figures (a number, then KB…PiB) written outside
`{{ }}` and outside code: the build refuses them. A figure that is given and not a result, such as a
card's size on its box, is quoted: `{{ "16 GB" }}`.
"""

import re
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

from zeroledger import format_bytes, format_count
from zeroledger.units import BYTE_UNITS

from .expressions import evaluate

_EXPRESSION = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_FORMAT = re.compile(r"^([A-Za-z]+)(?: +(\d+))?$")
_CODE = re.compile(r"```.*?```|`[^`\n]*`|<code>.*?</code>|<[^>\n]+>", re.DOTALL)
_TYPED_FIGURE = re.compile(r"(?<![A-Za-z0-9_.])\d(?:[\d,.]*\d)?\s*(?:[kKMGTPE]i?B)(?![A-Za-z])")

_DIGITS_HAN = ("", *"一二三四五六七八九")
_IN_WORDS = {
    "word": dict(enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)),
    "han": dict(enumerate(_DIGITS_HAN[1:], 1)) | {10 * tens + ones: _DIGITS_HAN[tens][tens == 1:] + "十" + _DIGITS_HAN[ones]
                                                  for tens in range(1, 10) for ones in range(10)},
    "part": {1: "all", 2: "half", 3: "a third", 4: "a quarter", 5: "a fifth", 6: "a sixth", 8: "an eighth", 10: "a tenth", 12: "a twelfth",
             16: "a sixteenth"},
}


class ValueInProseError(ValueError):
    """A `{{ … }}` that cannot be computed; `.expression` is its text."""

    def __init__(self, expression, reason):
        super().__init__(f"{{{{ {expression.strip()} }}}}: {reason}")
        self.expression = expression


def fill_values(text, names=None):
    """`text` with every `{{ expression | format }}` replaced by its value. ValueInProseError when one has none.

    `names` are values (`named_values`) that expressions may use beside zeroledger's."""
    return _EXPRESSION.sub(lambda match: _value_text(match.group(1), names or {}), text)


def named_values(expressions):
    """{name: value} of {name: expression}; each may use those before it. ValueInProseError when one has none."""
    values = {}
    for name, expression in expressions.items():
        try:
            values[name] = evaluate(expression, values)
        except Exception as error:
            raise ValueInProseError(expression, f"{name}: {error}") from error
    return values


def find_typed_figures(text):
    """The byte figures in `text` that no expression produced, as they are written, code left aside."""
    prose = _CODE.sub(" ", _EXPRESSION.sub(" ", text))
    return [match.group(0) for match in _TYPED_FIGURE.finditer(prose)]


def format_value(value, format_name):
    """`value` as text; ValueError when the format is unknown or does not suit the value."""
    match = _FORMAT.match(format_name)
    if not match:
        raise ValueError(f"format {format_name!r}: expected a name, or a name and decimals such as GiB 1")
    name, digits = match.group(1), match.group(2)
    digits = None if digits is None else int(digits)
    if name in BYTE_UNITS:
        return format_bytes(_whole(value), name, digits)
    if name in ("int", "count"):
        return f"{_whole(value):,}" if name == "count" else str(_whole(value))
    if name == "num":
        return _decimal_text(_exact(value), digits)
    if name == "pct":
        return f"{_decimal_text(_exact(value) * 100, digits)}%"
    if name == "short":
        return format_count(_whole(value))
    if name in _IN_WORDS:
        return _IN_WORDS[name].get(_whole(value), f"1/{_whole(value)}" if name == "part" else str(_whole(value)))
    raise ValueError(f"format {name!r}: accepted are int, count, short, word, han, part, num d, pct d, {', '.join(BYTE_UNITS)}")


def _value_text(inside, names):
    expression, bar, format_name = inside.rpartition("|")
    if not bar:
        expression, format_name = inside, ""
    try:
        value = evaluate(expression, names)
        if isinstance(value, str) and not format_name:
            return value
        if not format_name:
            raise ValueError(f"a {type(value).__name__} needs a format, for example | GB or | int")
        return format_value(value, format_name.strip())
    except Exception as error:  # whatever the package raises is a fault of this expression: name it
        raise ValueInProseError(inside, str(error)) from error


def _exact(value):
    """`value` as a Fraction (a ledger: its bytes per rank): byte counts stay exact, whatever their size."""
    value = getattr(value, "model_states_bytes_per_rank", value)
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)):
        raise ValueError(f"expected a number or a ledger, got {type(value).__name__}")
    return Fraction(value)


def _whole(value):
    exact = _exact(value)
    if exact.denominator != 1:
        raise ValueError(f"expected a whole number, got {value}")
    return exact.numerator


def _decimal_text(exact, digits):
    """`exact` with `digits` decimals (none given: none), rounded half up, as the package rounds."""
    quotient = Decimal(exact.numerator) / Decimal(exact.denominator)
    return str(quotient.quantize(Decimal(1).scaleb(-(digits or 0)), rounding=ROUND_HALF_UP))
