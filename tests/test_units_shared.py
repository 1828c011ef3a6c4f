"""The quantities that Python and the page must read alike (tests/js/quantity.test.js tries the same table)."""

import json
from pathlib import Path

import pytest

from zeroledger import parse_bytes, parse_count

TABLE = json.loads((Path(__file__).parent / "data" / "quantities.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("written, expected", TABLE["bytes"])
def test_bytes(written, expected):
    assert parse_bytes(written) == int(expected)


@pytest.mark.parametrize("written, expected", TABLE["count"])
def test_counts(written, expected):
    assert parse_count(written) == int(expected)


@pytest.mark.parametrize("written", TABLE["unreadable_bytes"])
def test_unreadable_bytes(written):
    with pytest.raises(ValueError):
        parse_bytes(written)
