"""Reading and writing bytes and counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeroledger import GB, GIB, format_bytes, format_count, parse_bytes, parse_count
from zeroledger.errors import UnitError
from zeroledger.units import BYTE_UNITS


@pytest.mark.parametrize("text, expected", [
    ("104.3 GiB", 111_991_272_243),
    ("112GB", 112 * GB),
    ("112gb", 112 * GB),
    ("1.12e11", 112 * GB),
    ("1.12E+11 B", 112 * GB),
    ("112 000 000 000 B", 112 * GB),
    ("112,000,000,000 bytes", 112 * GB),
    ("112_000_000_000", 112 * GB),
    ("112\u202f000\u00a0000 KB", 112 * GB),
    ("１１２ＧＢ", 112 * GB),
    ("１０４．３　ＧｉＢ", 111_991_272_243),
    ("112，000，000，000 字节", 112 * GB),
    ("0.5 GiB", GIB // 2),
    (".5GiB", GIB // 2),
    ("0", 0),
    ("0.4 B", 0),
    ("0.5 B", 1),
    (7e9, 7 * GB),
    (14, 14),
])
def test_parse_bytes(text, expected):
    assert parse_bytes(text) == expected


@pytest.mark.parametrize("text, expected", [
    ("7B", 7_000_000_000), ("7b", 7_000_000_000), ("7e9", 7_000_000_000), ("6_738_415_616", 6_738_415_616),
    ("6,738,415,616", 6_738_415_616), ("６＿７３８＿４１５＿６１６", 6_738_415_616), ("350M", 350_000_000),
    ("1.5T", 1_500_000_000_000), ("70亿", 7_000_000_000), ("1.3 万亿", 1_300_000_000_000), (7e9, 7_000_000_000),
    ("0.1K", 100),
])
def test_parse_count(text, expected):
    assert parse_count(text) == expected


BAD = ["", " ", "GB", "-5 GB", "－5", "nan", "inf", "1e400 GB", "1e5 0", "112 G", "5 Gbit", "104,3 GiB", "1..2 GB", ".", "e9",
       "1 2 GB", "12,34 GB", "1e", "٣x", "five GB", "0x10", "1" * 200, None, True, float("nan"), float("inf"), -1,
       [7], b"7 GB", "7\x00GB", "1e1e1", "+-5", "--5"]


@pytest.mark.parametrize("text", BAD)
def test_unreadable_bytes_are_refused_by_name(text):
    with pytest.raises(UnitError) as caught:
        parse_bytes(text, "answer")
    assert caught.value.field == "answer"
    assert str(caught.value).startswith("answer = ")


def test_ambiguous_unit_is_explained():
    with pytest.raises(UnitError, match="GB .powers of 1000. or GiB"):
        parse_bytes("112 G")


@pytest.mark.parametrize("num_bytes, unit, expected", [
    (112 * GB, None, "112 GB"), (112 * GB, "GiB", "104.3 GiB"), (14 * GB, "GiB", "13 GiB"), (0, None, "0 B"),
    (1_999, None, "2 KB"), (1_875_000_000, "GB", "1.88 GB"), (999, None, "999 B"), (16 * GIB, "GB", "17.2 GB"),
])
def test_format_bytes(num_bytes, unit, expected):
    assert format_bytes(num_bytes, unit) == expected


@pytest.mark.parametrize("count, expected", [
    (7_000_000_000, "7B"), (1_500_000_000, "1.5B"), (6_738_415_616, "6,738,415,616"), (124_000_000, "124M"), (12, "12"),
    (1_000_000_000_000, "1T"), (1_234, "1.234K"), (0, "0"),
])
def test_format_count(count, expected):
    assert format_count(count) == expected


def test_format_count_rounds_only_when_asked():
    assert format_count(6_738_415_616, 2) == "6.74B"


@given(st.integers(0, 10**18))
def test_count_text_reads_back_exactly(count):
    assert parse_count(format_count(count)) == count


@given(st.integers(0, 10**16), st.sampled_from(sorted(BYTE_UNITS)), st.integers(0, 9))
def test_byte_text_reads_back_within_half_a_digit(num_bytes, unit, digits):
    back = parse_bytes(format_bytes(num_bytes, unit, digits))
    assert 2 * abs(back - num_bytes) * 10**digits <= BYTE_UNITS[unit] + 2 * 10**digits


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text):
    try:
        assert parse_bytes(text) >= 0
    except UnitError:
        pass
