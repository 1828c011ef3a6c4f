"""Bytes and counts as people write them: ``104.3 GiB``, ``１１２ＧＢ``, ``1.12e11``, ``7B``, ``6_738_415_616``.

GB is 10⁹ bytes and GiB 2³⁰. Reading is exact integer arithmetic, rounded half up to whole bytes or elements.
"""

from .errors import UnitError, check_count

KB, MB, GB, TB, PB = (1000**power for power in range(1, 6))
KIB, MIB, GIB, TIB, PIB = (1024**power for power in range(1, 6))

BYTE_UNITS = {"B": 1, "KB": KB, "MB": MB, "GB": GB, "TB": TB, "PB": PB,
              "KiB": KIB, "MiB": MIB, "GiB": GIB, "TiB": TIB, "PiB": PIB}
COUNT_UNITS = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
_BYTE_WORDS = {unit.lower(): size for unit, size in BYTE_UNITS.items()} | {"": 1, "byte": 1, "bytes": 1, "字节": 1}
_COUNT_WORDS = {unit.lower(): size for unit, size in COUNT_UNITS.items()} | {
    "g": 10**9, "万": 10**4, "亿": 10**8, "万亿": 10**12, "thousand": 10**3, "million": 10**6, "billion": 10**9,
    "trillion": 10**12}

LONGEST_TEXT = 100  # characters; a quantity is short
LARGEST_EXPONENT = 30
BYTES_ACCEPTED = "bytes such as 112 GB, 104.3 GiB, 1.12e11 or 112 000 000 000 B"
COUNT_ACCEPTED = "a count such as 7B, 7e9, 350M or 6_738_415_616"


def parse_bytes(quantity, field="bytes"):
    """Whole bytes of ``quantity``: text with a unit of ``BYTE_UNITS`` (none: bytes), or a number of bytes.

    Full-width digits and signs, and spaces, underscores or commas between groups of three, are read. Raises
    ``UnitError`` for negative, non-finite, unreadable or ambiguous ("112 G", "5 Gbit", "104,3 GiB") quantities.
    """
    return _parse(quantity, field, _BYTE_WORDS, BYTES_ACCEPTED)


def parse_count(quantity, field="count"):
    """Whole elements of ``quantity``: text such as ``7B``, ``7e9``, ``70亿``, or a number. Raises ``UnitError``."""
    return _parse(quantity, field, _COUNT_WORDS, COUNT_ACCEPTED)


def format_bytes(num_bytes, unit=None, digits=None):
    """``num_bytes`` as text in ``unit`` of ``BYTE_UNITS`` (None: the largest decimal unit that fits).

    ``digits`` fixes the decimals; None shows two below 10, one below 1000, none above, without trailing zeros.
    """
    num_bytes = check_count("bytes", num_bytes, 0, 10**30, UnitError)
    if unit is None:
        decimal = ("B", "KB", "MB", "GB", "TB", "PB")
        unit = [name for name in decimal if name == "B" or num_bytes >= BYTE_UNITS[name]][-1]
    if unit not in BYTE_UNITS:
        raise UnitError("unit", unit, "one of " + ", ".join(BYTE_UNITS))
    return f"{_quotient_text(num_bytes, BYTE_UNITS[unit], digits)} {unit}"


def format_count(count, digits=None):
    """``count`` elements as text, never rounded unasked: ``7B`` when short and exact, else ``6,738,415,616``.

    ``digits`` asks for that many decimals of the largest suffix that fits: ``format_count(6738415616, 2)`` is 6.74B.
    """
    count = check_count("count", count, 0, 10**30, UnitError)
    suffix = [name for name, size in COUNT_UNITS.items() if name == "" or count >= size][-1]
    size = COUNT_UNITS[suffix]
    if digits is not None:
        return _quotient_text(count, size, digits) + suffix
    if count * 1000 % size:
        return f"{count:,}"
    return _strip_zeros(_quotient_text(count, size, 3)) + suffix


def _parse(quantity, field, words, accepted):
    if isinstance(quantity, (int, float)):
        return _whole_number(quantity, field, accepted)
    if not isinstance(quantity, str) or len(quantity) > LONGEST_TEXT:
        raise UnitError(field, quantity, accepted)
    number, unit = _split(_plain(quantity))
    if unit.lower() in ("g", "m", "k", "t") and unit.lower() not in words:
        raise UnitError(field, quantity, f"{unit.upper()}B (powers of 1000) or {unit.upper()}iB (powers of 1024)")
    if unit.lower() not in words:
        raise UnitError(field, quantity, accepted)
    return _scaled(number, words[unit.lower()], field, quantity, accepted)


def _whole_number(number, field, accepted):
    if isinstance(number, bool) or number != number or not 0 <= number < 10**LARGEST_EXPONENT:
        raise UnitError(field, number, accepted + ", not negative")
    return number if isinstance(number, int) else int(number + 0.5) if number < 2**52 else int(number)


def _plain(text):
    """``text`` in ordinary ASCII digits and punctuation (Unicode NFKC turns full-width forms into them)."""
    from unicodedata import normalize

    return normalize("NFKC", text).replace("。", ".").strip()


def _split(text):
    """Number part and unit part of ``text``; an ``e`` belongs to the number when digits follow it."""
    end = 0
    while end < len(text) and (text[end] in "+-.,_ 0123456789" or _is_exponent(text, end)):
        end += 1
    return text[:end].strip(), text[end:].strip()


def _is_exponent(text, at):
    if text[at] not in "eE" or at == 0 or not text[at - 1].isdigit():
        return False
    following = text[at + 1:at + 2]
    return following.isdigit() or (following in ("+", "-") and text[at + 2:at + 3].isdigit())


def _scaled(number, unit_size, field, quantity, accepted):
    """``number`` (text) × ``unit_size`` as a whole number, rounded half up."""
    if number.startswith("-"):
        raise UnitError(field, quantity, accepted + ", not negative")
    mantissa, _, exponent = number.lower().partition("e")
    whole, point, fraction = mantissa.removeprefix("+").partition(".")
    whole, exponent = _ungroup(whole), exponent or "0"
    digits = whole + fraction if whole is not None else ""
    if not (digits.isascii() and digits.isdigit()) or (point and not fraction and not whole):
        raise UnitError(field, quantity, accepted)
    if not exponent.lstrip("+-").isdigit() or abs(int(exponent)) > LARGEST_EXPONENT:
        raise UnitError(field, quantity, f"{accepted}, with an exponent up to {LARGEST_EXPONENT}")
    shift = int(exponent) - len(fraction)
    scaled = int(digits) * unit_size
    return scaled * 10**shift if shift >= 0 else (2 * scaled + 10**-shift) // (2 * 10**-shift)


def _ungroup(whole):
    """``whole`` without group separators, or None where they do not separate groups of three."""
    for mark in (",", "_", " "):
        if mark in whole:
            first, *groups = whole.split(mark)
            regular = 1 <= len(first) <= 3 and all(len(group) == 3 for group in groups)
            return first + "".join(groups) if regular or mark == "_" else None
    return whole


def _quotient_text(total, size, digits):
    """``total / size`` as decimal text, rounded half up."""
    if digits is not None:
        digits = check_count("digits", digits, 0, 15, UnitError)
        return _fixed(total, size, digits)
    return _strip_zeros(_fixed(total, size, 2 if total < 10 * size else 1 if total < 1000 * size else 0))


def _fixed(total, size, digits):
    scaled = (2 * total * 10**digits + size) // (2 * size)
    if digits == 0:
        return str(scaled)
    text = str(scaled).rjust(digits + 1, "0")
    return f"{text[:-digits]}.{text[-digits:]}"


def _strip_zeros(text):
    return text.rstrip("0").rstrip(".") if "." in text else text
