"""The notebook chart: bars, lines and labels stand where the ledger says; Chinese has glyphs."""

import warnings
from io import BytesIO

import pytest
from matplotlib.ft2font import FT2Font
from matplotlib.font_manager import findfont, FontProperties

from lessonkit import fonts
from lessonkit.chart_text import STAGES, alternative
from lessonkit.charts import LedgerChart
from zeroledger import CARDS, GB, GIB, ledger


def ledgers(num_params=7e9, dp_size=8):
    return [ledger(num_params, dp_size, stage) for stage in STAGES]


def tops(chart):
    """Height of each stage's stack on the axis."""
    return [max(bars[stage].get_y() + bars[stage].get_height() for bars in chart.bars.values()) for stage in STAGES]


@pytest.mark.parametrize("unit, size", [("GB", GB), ("GiB", GIB)])
def test_bars_stack_up_to_the_totals(unit, size):
    chart = LedgerChart(ledgers(), 2, unit, "en")
    assert tops(chart) == pytest.approx([112e9 / size, 38.5e9 / size, 26.25e9 / size, 14e9 / size])
    assert [bar.get_height() * size for bar in chart.bars["master_params"]] == pytest.approx([28e9, 3.5e9, 3.5e9, 3.5e9])


def test_the_order_of_the_stack_is_that_of_the_ledger():
    chart = LedgerChart(ledgers(), 0, "GB", "en")
    bottoms = [bars[0].get_y() for bars in chart.bars.values()]
    assert list(chart.bars) == ["params", "grads", "master_params", "exp_avg", "exp_avg_sq"] and bottoms == sorted(bottoms)


def test_update_moves_the_same_artists():
    chart = LedgerChart(ledgers(), 0, "GB", "en")
    before = set(map(id, chart.axes.get_children()))
    chart.update(ledgers(70e9, 64), 3, "GiB")
    assert set(map(id, chart.axes.get_children())) == before
    assert tops(chart)[3] == pytest.approx(17.5e9 / GIB)
    assert chart.axes.get_ylabel() == "GiB per rank" and "70B" in chart.axes.get_title() and "64" in chart.axes.get_title()


def test_the_chosen_stage_stands_out():
    chart = LedgerChart(ledgers(), 1, "GB", "en")
    assert [bar.get_alpha() for bar in chart.bars["params"]] == [0.35, 1, 0.35, 0.35]


@pytest.mark.parametrize("num_params, visible", [(7e9, [16, 24, 40, 80]), (1e9, [16]), (405e9, [16, 24, 40, 80])])
def test_card_lines_stand_at_the_cards(num_params, visible):
    chart = LedgerChart(ledgers(num_params), 0, "GiB", "en")
    shown = [line.get_ydata()[0] for _, line, _ in chart.cards if line.get_visible()]
    assert shown == pytest.approx(visible)


def test_card_labels_never_overlap():
    chart = LedgerChart(ledgers(405e9), 0, "GB", "en")
    heights = [label.get_position()[1] for _, _, label in chart.cards if label.get_visible()]
    gaps = [high - low for low, high in zip(heights, heights[1:])]
    assert 1 <= len(heights) < len(CARDS) and all(gap >= 0.05 * chart.axes.get_ylim()[1] for gap in gaps)


def test_png():
    from matplotlib.image import imread

    pixels = imread(BytesIO(LedgerChart(ledgers(), 0, "GB", "en").png()))
    assert pixels.shape[:2] == (420, 720) and pixels.std() > 0.1


def test_chinese_labels_have_glyphs():
    lang, families = fonts.chart_fonts("zh-CN")
    assert lang == "zh-CN", "no Chinese font: neither the kit's subset nor one on this machine"
    chart = LedgerChart(ledgers(), 0, "GB", "zh-CN")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # matplotlib warns for each missing glyph
        chart.png()
    drawn = {letter for label in chart.figure.findobj(match=lambda artist: hasattr(artist, "get_text")) for letter in label.get_text()}
    chinese = {letter for letter in drawn if ord(letter) > 0x2E80}
    cmap = FT2Font(findfont(FontProperties(family=families[1]), fallback_to_default=False)).get_charmap()
    assert "阶" in chinese and {letter for letter in chinese if ord(letter) not in cmap} == set()


def test_without_a_chinese_font_labels_are_english(monkeypatch):
    monkeypatch.setattr(fonts, "_bundled_family", lambda: None)
    monkeypatch.setattr(fonts, "INSTALLED", ())
    with pytest.warns(UserWarning, match="没有找到中文字体"):
        chart = LedgerChart(ledgers(), 0, "GB", "zh-CN")
    assert chart.axes.get_ylabel() == "GB per rank"


def test_the_text_alternative_says_what_the_bar_shows():
    assert alternative(ledger(7e9, 8, 2), "GB", "en") == (
        "Stacked bars: 26.3 GB per rank at stage 2, of which parameters 14 GB, gradients 1.75 GB, "
        "master weights 3.5 GB, first moment 3.5 GB, second moment 3.5 GB.")
