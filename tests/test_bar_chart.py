"""bars(): a chart where values draw themselves, text elsewhere."""

import xml.etree.ElementTree as ElementTree

import pytest

from zeroledger import InvalidInput, bars, ledger

SVG = "{http://www.w3.org/2000/svg}"


def test_a_bar_per_entry_in_proportion_and_named():
    root = ElementTree.fromstring(bars({"weights": 14e9, "a < b & c": 7e9, "none": 0})._repr_svg_())
    widths = [float(bar.get("width")) for bar in root.findall(f"{SVG}rect")]
    assert widths[1] == widths[0] / 2 and widths[2] == 0
    assert root.find(f"{SVG}title").text == "weights 14 GB; a < b & c 7 GB; none 0 B"
    assert [text.text for text in root.findall(f"{SVG}text")] == ["weights", "14 GB", "a < b & c", "7 GB", "none", "0 B"]


def test_a_ledger_by_category_and_as_text():
    text = repr(bars(ledger(num_params=7e9, dp_size=8, stage=2)))
    assert text.splitlines()[0].split() == ["params", "14", "GB", "#" * 40]
    assert len(text.splitlines()) == 5


@pytest.mark.parametrize("amounts", [{}, 3, None, {"a": -1}, {"a": 0.5}, {"a": "much"}, {"a": float("nan")}])
def test_anything_else_is_an_error_that_names_it(amounts):
    with pytest.raises(InvalidInput, match="amounts"):
        bars(amounts)
