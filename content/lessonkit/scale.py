"""Where a number lies from the result, on a logarithmic scale: a small SVG, as on the pages (predict-view.js)."""

from html import escape
from math import log10

from .i18n import text

WIDTH, HEIGHT, MIDDLE, REACH = 320, 40, 160, 136
DECADES = 2  # the scale reaches from 1/100 to 100 times the result
LINE, FAINT, MARK = "currentColor", "#8a8a8a", "#b3261e"


def scale_svg(ratio: float, lang: str) -> str:
    """The scale for a prediction that is `ratio` times the result; beyond its ends it stands at the end."""
    decades = log10(ratio) if ratio > 0 else -DECADES
    at = _place(max(-DECADES, min(DECADES, decades)))
    label = text("page.predict.scale", lang, ratio=f"{ratio:,.3g}")
    return (f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" style="max-width:100%" role="img" aria-label="{escape(label)}">'
            f'<line x1="{_place(-DECADES):g}" x2="{_place(DECADES):g}" y1="16" y2="16" stroke="{FAINT}"/>{"".join(map(_tick, range(-DECADES, DECADES + 1)))}'
            f'<line x1="{MIDDLE}" x2="{at:.1f}" y1="16" y2="16" stroke="{MARK}" stroke-width="3"/>'
            f'<circle cx="{MIDDLE}" cy="16" r="5" fill="{LINE}"/><path d="M{at:.1f} 9l6 7-6 7-6-7z" fill="{MARK}"/></svg>')


def _place(decades):
    return MIDDLE + decades / DECADES * REACH


def _tick(decade):
    name = "=" if decade == 0 else f"÷{10 ** -decade}" if decade < 0 else f"×{10 ** decade}"
    x = _place(decade)
    return (f'<line x1="{x:g}" x2="{x:g}" y1="10" y2="22" stroke="{FAINT}"/>'
            f'<text x="{x:g}" y="36" text-anchor="middle" font-size="11.5" fill="{LINE}">{name}</text>')
