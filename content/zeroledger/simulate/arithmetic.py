"""Numbers of the simulator: sums whose order does not matter, and rounding to the formats that training uses.

Real frameworks add gradients in an order that depends on the layout, so that two correct runs differ in the last bits.
Here every sample's gradient is rounded to multiples of ``GRID`` first. Such numbers add without any rounding while
sums stay below 8192, so every order gives the same bits, and "equal" in a test means equal.
"""

from math import frexp, fsum, ldexp
from operator import add, mul
from struct import pack, unpack

GRID = 2.0**-40
_SHIFT = 1.5 * 2.0**12  # a double near 2¹² has its last bit at 2⁻⁴⁰, so adding this pushes all lower bits out


def on_grid(number):
    """``number`` rounded to a multiple of ``GRID``; right for |number| < 2048."""
    return (number + _SHIFT) - _SHIFT


def dot(left, right):
    """Σ left·right, rounded once (``fsum``), hence the same in every version of Python."""
    return fsum(map(mul, left, right))


def add_lists(left, right):
    """Element by element, left + right."""
    return list(map(add, left, right))


def add_rows(left, right):
    """Matrix sum of two lists of rows."""
    return [add_lists(*pair) for pair in zip(left, right)]


def rows_of(flat, width):
    """A flat list as rows of ``width``."""
    return [flat[at:at + width] for at in range(0, len(flat), width)]


def as_fp64(values):
    """The values as they are: Python's own floats."""
    return values


def as_fp32(values):
    """The values rounded to fp32."""
    return _packed(values, "f")


def as_fp16(values):
    """The values rounded to fp16; what exceeds 65504 becomes infinite."""
    return _packed(values, "e")


def as_bf16(values):
    """The values rounded to bf16: 8 significant bits, ties to even."""
    return [_to_bits(value, 8) for value in values]


def _to_bits(value, bits):
    if value - value != 0:  # infinities and NaN have no exponent
        return value
    fraction, exponent = frexp(value)
    return ldexp(round(ldexp(fraction, bits)), exponent - bits)


def _packed(values, letter):
    form = f"{len(values)}{letter}"
    try:
        return list(unpack(form, pack(form, *values)))
    except OverflowError:
        return [_packed_one(value, letter) for value in values]


def _packed_one(value, letter):
    try:
        return unpack(letter, pack(letter, value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


CASTS = {"fp64": as_fp64, "fp32": as_fp32, "bf16": as_bf16, "fp16": as_fp16}
