"""Errors that say which field was wrong, what it held, and what is accepted; and the checks that raise them.

Every error of this package is a ``ValueError``; none is caught inside the package.
"""

LARGEST_COUNT = 10**18  # far above any model; stops 1e300 from becoming a "parameter count"
LONGEST_SHOWN = 80  # characters of a bad value that an error repeats


class InvalidInput(ValueError):
    """A value that cannot be used: ``field`` names it, ``value`` is what came, ``accepted`` says what would do."""

    def __init__(self, field, value, accepted):
        self.field, self.value, self.accepted = field, value, accepted
        super().__init__(f"{field} = {shown(value)}: expected {accepted}")


class UnitError(InvalidInput):
    """A quantity whose number or unit cannot be read."""


class RecipeError(InvalidInput):
    """A recipe that is unknown or not well formed."""


class ConfigError(InvalidInput):
    """A model or training configuration that cannot be read or does not fit together."""


class MeshError(InvalidInput):
    """A parallel layout that does not divide the model or the world."""


def shown(value):
    """``repr(value)``, shortened; quick for huge texts and containers, safe for integers too long to print."""
    if isinstance(value, (str, bytes, bytearray)):
        value = value[:LONGEST_SHOWN]
    elif isinstance(value, (list, tuple, dict, set, frozenset)) and len(value) > 20:
        return f"a {type(value).__name__} of {len(value):,} entries"
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # CPython refuses to print integers of more than 4300 digits
        return "a value too long to print"
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def check_count(field, value, minimum=1, maximum=LARGEST_COUNT, error=InvalidInput):
    """``value`` as an ``int`` in ``minimum … maximum``; floats count when they are whole (``7e9``)."""
    if type(value) is int and minimum <= value <= maximum:  # nearly always; the words below take longer than the check
        return value
    accepted = f"a whole number from {minimum:,} to {maximum:,}"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise error(field, value, accepted)
    if isinstance(value, float) and not value.is_integer():  # also NaN and the infinities
        raise error(field, value, accepted)
    if not minimum <= value <= maximum:
        raise error(field, value, accepted)
    return int(value)


def check_number(field, value, minimum=0.0, maximum=float("inf"), error=InvalidInput):
    """``value`` unchanged when it is a finite number in ``minimum … maximum``."""
    if type(value) is int and minimum <= value <= maximum:
        return value
    accepted = f"a finite number from {minimum:g} to {maximum:g}"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise error(field, value, accepted)
    if value != value or value in (float("inf"), float("-inf")) or not minimum <= value <= maximum:
        raise error(field, value, accepted)
    return value


def check_flag(field, value, error=InvalidInput):
    """``value`` when it is ``True`` or ``False``."""
    if not isinstance(value, bool):
        raise error(field, value, "true or false")
    return value


def check_choice(field, value, choices, error=InvalidInput):
    """``value`` when it is one of ``choices``; the error lists them."""
    try:
        known = not isinstance(value, bool) and value in choices
    except TypeError:  # unhashable, and choices is a set or a dict
        known = False
    if not known:
        raise error(field, value, "one of " + ", ".join(str(choice) for choice in choices))
    return value


def check_stage(value):
    """``value`` as a ZeRO stage: 0, 1, 2 or 3."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value not in (0, 1, 2, 3):
        raise InvalidInput("stage", value, "a ZeRO stage: 0, 1, 2 or 3")
    return int(value)


def ceil_div(total, parts):
    """The smallest integer not below ``total / parts``, exact for integers of any size."""
    return -(-total // parts)
