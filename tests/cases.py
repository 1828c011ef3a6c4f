"""Loads the reference values of ``data/cases.json`` and compares with them in each value's own way.

A case is {id, kind, source, status, inputs, expected, unit, tolerance, [exact], [note]}. Its tolerance is "exact",
{"rel": x}, {"abs": x}, or {"round": mode, "digits": d}: the value as printed by the source, rounded its way.
"""

import json
from functools import lru_cache
from pathlib import Path

DATA = Path(__file__).parent / "data"
UNITS = {"GB": 10**9, "GiB": 2**30, "TiB": 2**40, "MiB": 2**20, "KiB": 2**10, "bytes": 1}


@lru_cache
def all_cases():
    """Every case, in the order of the file."""
    return json.loads((DATA / "cases.json").read_text(encoding="utf-8"))


def cases_of(*kinds, prefix=""):
    """``pytest.param`` for each case of ``kinds`` whose id starts with ``prefix``; at least one must exist."""
    import pytest

    chosen = [case for case in all_cases() if case["kind"] in kinds and case["id"].startswith(prefix)]
    assert chosen, f"no case of kind {kinds} with prefix {prefix!r}"
    return [pytest.param(case, id=case["id"]) for case in chosen]


def unit_bytes(case):
    """Bytes in the case's unit, read from its first word ("GB (1e9)" → 10⁹)."""
    return UNITS[case["unit"].split()[0]]


def rounded(value, mode, digits):
    """``value`` (float, int or Fraction) printed with ``digits`` decimals by ``mode``: half_up, half_even, floor, ceil."""
    from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
    from fractions import Fraction

    modes = {"half_up": ROUND_HALF_UP, "half_even": ROUND_HALF_EVEN, "floor": ROUND_FLOOR, "truncate": ROUND_FLOOR,
             "trunc": ROUND_FLOOR, "ceil": ROUND_CEILING}
    exact = Fraction(value)
    quotient = Decimal(exact.numerator) / Decimal(exact.denominator)
    return float(quotient.quantize(Decimal(1).scaleb(-digits), rounding=modes[mode]))


def assert_matches(value, case, expected=None):
    """Assert that ``value`` equals ``expected`` (default: the case's) within the case's tolerance; dicts key by key."""
    expected = case["expected"] if expected is None else expected
    if isinstance(expected, dict):
        for key, each in expected.items():
            assert_matches(value[key], case, each)
        return
    tolerance = case["tolerance"]
    if tolerance == "exact":
        assert value == expected, f"{case['id']}: {value} != {expected}"
    elif "round" in tolerance:
        printed = rounded(value, tolerance["round"], tolerance["digits"])
        assert printed == expected, f"{case['id']}: {float(value)} prints {printed}, not {expected}"
    else:
        allowed = tolerance.get("abs", 0) + tolerance.get("rel", 0) * abs(expected)
        assert abs(value - expected) <= allowed, f"{case['id']}: {float(value)} is not within {allowed} of {expected}"
