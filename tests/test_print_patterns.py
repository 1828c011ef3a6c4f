"""Charts on paper: every category has a kind of hatching, and the rows of a ledger have different ones."""

import json

from publish import paths
from publish.print_patterns import KINDS, patterns_css, patterns_svg
from zeroledger import ledger

CATEGORIES = json.loads((paths.CONTENT / "lessonkit/palette.json").read_text(encoding="utf-8"))["categories"]


def test_every_category_has_a_kind():
    assert set(KINDS) == set(CATEGORIES)


def test_the_rows_of_a_ledger_differ_without_colour():
    kinds = [KINDS[row.category] for row in ledger(7e9, 8, 1).rows]
    assert len(set(kinds)) == len(kinds)


def test_each_rule_has_its_pattern():
    drawn, css = patterns_svg(CATEGORIES), patterns_css(CATEGORIES)
    for name in CATEGORIES:
        assert f'id="zl-paper-{name}"' in drawn and f"url(#zl-paper-{name})" in css
