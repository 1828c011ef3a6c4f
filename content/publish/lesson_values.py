"""Figures inside lesson prose: computed at build, never typed.

Forms, in any markdown cell of a lesson source:

    {{ ledger(7e9).model_states_bytes_per_rank | GB }}      112 GB
    {{ ledger(7e9).model_states_bytes_per_rank | GiB(2) }}  104.31 GiB
    {{ PRESETS["llama-2-7b"].num_params | int }}            6,738,415,616
    {{ 7e9 | count }}                                       7B
    {{ 104 / 112 | num(2) }}                                0.93
    {{ "16 GB" }}                                           16 GB: given, not computed

Left of the bar stands an expression over `zeroledger`'s public names: calls, attributes, indexing,
numbers, strings, lists and arithmetic, nothing else. Right of it one of the formats

    B, kB … TB, KiB … TiB   bytes in that unit; `(d)` sets the decimals, without it at most one, no ".0"
    int                     an exact whole number, digits grouped by commas
    num(d)                  a plain number with d decimals
    pct(d)                  a ratio as a percentage
    count                   7B, 1.5B

A string needs no format; everything else does, so that no unit is ever guessed.

The other way round, `find_typed_figures` finds byte figures (a number, then kB…TiB) written outside
`{{ }}` and outside code: the build refuses them. A figure that is an input and not a result, such as
a card's size on its box, is quoted: `{{ "16 GB" }}`.
"""

import ast
import re
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

_DECIMAL_UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_BINARY_UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
BYTES_PER_UNIT = {**_DECIMAL_UNITS, **_BINARY_UNITS}

_EXPRESSION = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_FORMAT = re.compile(r"^([A-Za-z]+)(?:\((\d+)\))?$")
_CODE = re.compile(r"```.*?```|`[^`\n]*`|<code>.*?</code>|<[^>\n]+>", re.DOTALL)
_TYPED_FIGURE = re.compile(r"(?<![\w.])\d(?:[\d,.]*\d)?\s*(?:[kKMGTP]i?B)(?![A-Za-z])")
_ALLOWED_NODES = (
    ast.Expression, ast.Call, ast.keyword, ast.Attribute, ast.Subscript, ast.Name, ast.Constant, ast.Load,
    ast.List, ast.Tuple, ast.UnaryOp, ast.USub, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow,
)


class ValueInProseError(ValueError):
    """A `{{ … }}` that cannot be computed; `.expression` is its text."""

    def __init__(self, expression, reason):
        super().__init__(f"{{{{ {expression.strip()} }}}}: {reason}")
        self.expression = expression


def fill_values(text, names):
    """`text` with every `{{ expression | format }}` replaced by its value; `names` are the names it may use."""
    return _EXPRESSION.sub(lambda match: _value_text(match.group(1), names), text)


def find_typed_figures(text):
    """The byte figures in `text` that no expression produced, as they are written, code left aside."""
    prose = _CODE.sub(" ", _EXPRESSION.sub(" ", text))
    return [match.group(0) for match in _TYPED_FIGURE.finditer(prose)]


def format_value(value, format_name):
    """`value` as text; ValueError when the format is unknown or does not suit the value."""
    match = _FORMAT.match(format_name)
    if not match:
        raise ValueError(f"format {format_name!r}: expected a name, or a name with decimals such as GiB(1)")
    name, digits = match.group(1), match.group(2)
    digits = None if digits is None else int(digits)
    if name in BYTES_PER_UNIT:
        return f"{_decimal_text(_exact(value) / BYTES_PER_UNIT[name], digits)} {name}"
    if name == "int":
        return f"{_whole(value):,}"
    if name == "num":
        return _decimal_text(_exact(value), digits)
    if name == "pct":
        return f"{_decimal_text(_exact(value) * 100, digits)}%"
    if name == "count":
        from zeroledger import format_count

        return format_count(_whole(value))
    raise ValueError(f"format {name!r}: accepted are int, num(d), pct(d), count, {', '.join(BYTES_PER_UNIT)}")


def _value_text(inside, names):
    expression, bar, format_name = inside.rpartition("|")
    if not bar:
        expression, format_name = inside, ""
    try:
        value = _evaluate(expression.strip(), names)
        if isinstance(value, str) and not format_name:
            return value
        if not format_name:
            raise ValueError(f"a {type(value).__name__} needs a format, for example | GB or | int")
        return format_value(value, format_name.strip())
    except Exception as error:  # whatever the package raises is a fault of this expression: name it
        raise ValueInProseError(inside, f"{type(error).__name__}: {error}") from error


def _evaluate(expression, names):
    tree = ast.parse(expression, mode="eval")
    for node in ast.walk(tree):
        if not isinstance(node, _ALLOWED_NODES):
            raise ValueError(f"{type(node).__name__} is not allowed here; use calls, attributes, numbers, arithmetic")
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            raise ValueError(f"{node.attr!r} is private")
    return eval(compile(tree, "<lesson>", "eval"), {"__builtins__": {}}, dict(names))


def _exact(value):
    """`value` as a Fraction: byte counts stay exact, whatever their size."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)):
        raise ValueError(f"expected a number, got {type(value).__name__}")
    return Fraction(value)


def _whole(value):
    exact = _exact(value)
    if exact.denominator != 1:
        raise ValueError(f"expected a whole number, got {value}")
    return exact.numerator


def _decimal_text(exact, digits):
    """`exact` in decimals, digits grouped; without `digits` one decimal, dropped when it is zero."""
    places = 1 if digits is None else digits
    rounded = (Decimal(exact.numerator) / Decimal(exact.denominator)).quantize(
        Decimal(1).scaleb(-places), rounding=ROUND_HALF_EVEN
    )
    text = f"{rounded:,}"
    return text.removesuffix(".0") if digits is None else text
