"""A font for the chart's labels: the subset that comes with the kit, else a Chinese font of this machine."""

import warnings
from importlib.resources import files

from .i18n import text

LATIN = "DejaVu Sans"  # matplotlib's own; the Chinese font fills in what it lacks
INSTALLED = ("Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "Source Han Sans CN", "Noto Sans CJK JP",
             "PingFang SC", "Hiragino Sans GB", "Microsoft YaHei", "SimHei", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei")


def chart_fonts(lang: str) -> tuple[str, list[str]]:
    """(language that the labels can be drawn in, font families for it).

    Without any Chinese font that language is English, with a warning: English reads better than boxes."""
    if lang == "en":
        return lang, [LATIN]
    family = _bundled_family() or _installed_family()
    if family is None:
        warnings.warn(text("kit.chart.no_font", lang), stacklevel=2)
        return "en", [LATIN]
    return lang, [LATIN, family]


def _bundled_family():
    from matplotlib import font_manager

    subset = files(__package__).joinpath("fonts", "NotoSansSC-subset.ttf")
    if not subset.is_file():
        return None
    font_manager.fontManager.addfont(str(subset))
    return font_manager.FontProperties(fname=str(subset)).get_name()


def _installed_family():
    from matplotlib import font_manager

    there = {font.name for font in font_manager.fontManager.ttflist}
    return next((family for family in INSTALLED if family in there), None)
