"""What a live cell draws: the last value's SVG or PNG, as an image that can do nothing."""

import base64

import pytest
from playwright.sync_api import expect
from test_cell import cell, cells, part, run  # noqa: F401  (a fixture)

SHOWN = "img => fetch(img.src).then((response) => response.text())"
DRAW = """
class Drawn:
    def _repr_svg_(self):
        return {svg!r}
    def __repr__(self):
        return 'a drawing'
Drawn()"""
# Each of these words belongs to something that must not get through.
FORBIDDEN = (
    "script", "alert", "onload", "onclick", "onbegin", "foreignObject", "iframe", "href", "image", "style", "http:", "https:", "//", "@import",
    "animate", "set ", "use", "data:", "url(e", "filter", "mask", "pattern", "marker", "javascript", "entity", "xml-stylesheet", "expression",
)
HOSTILE = """<?xml-stylesheet href="https://evil.example/a.css"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 100 50" onload="alert(1)"
  style="background: url(https://evil.example/a.png); fill: #123456; behavior: url(x)">
<title>Two bars</title>
<script>alert(1)</script><script href="https://evil.example/x.js"/>
<style>@import url(https://evil.example/b.css); rect { fill: url(https://evil.example/c.svg#x) }</style>
<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><iframe src="javascript:alert(1)"/></body></foreignObject>
<image href="https://evil.example/d.png" width="10" height="10"/>
<a href="javascript:alert(1)"><text>click</text></a>
<use href="https://evil.example/e.svg#x"/><use xlink:href="#r"/>
<g id="kept"><rect id="r" x="1" y="2" width="30" height="40" fill="url(#paint)" onclick="alert(1)" filter="url(#f)" mask="url(#m)"/>
  <rect x="50" width="30" height="20" fill="url(https://evil.example/f.svg#p)" stroke="url( 'https://evil.example/g.svg' )" style="stroke: red"/>
  <animate attributeName="href" values="javascript:alert(1)"/><set attributeName="onclick" to="alert(1)"/></g>
<defs><linearGradient id="paint"><stop offset="0" stop-color="#ff0000"/></linearGradient>
  <pattern id="p"><image href="data:image/png;base64,AAAA"/></pattern><marker id="k"/></defs>
<text x="5" y="45" font-family="sans-serif">kept text &amp; more</text>
<path d="M 0 0 L 10 10" stroke="black" fill="\\75rl(https://evil.example/h.svg)"/>
</svg>"""
TINY_PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
HUGE_PNG = TINY_PNG[:16] + (60_000).to_bytes(4, "big") * 2 + TINY_PNG[24:]
PNG = "class Drawn:\n    def _repr_png_(self): return {bytes!r}\nDrawn()"


def test_pictures(cells):  # noqa: F811
    page = cells(
        cell(DRAW.format(svg=HOSTILE), "hostile"),
        cell("from zeroledger import bars\nbars({'weights': 14e9, 'gradients < 3': 2e9})", "bars"),
        cell(PNG.format(bytes=TINY_PNG), "png"),
        cell(PNG.format(bytes=HUGE_PNG), "huge"),
        cell(DRAW.format(svg="<html><body>no</body></html>"), "other"),
        cell("class Long:\n    def _repr_svg_(self): return 'x' * 2_000_000\nLong()", "long"),
        cell("class Wrong:\n    def _repr_svg_(self): return 3\nWrong()", "wrong"),
    )
    page.evaluate("() => { window.alert = () => { window.alerted = true } }")

    run(page, "hostile")
    picture = part(page, "picture", "hostile")
    expect(picture).to_be_visible()
    assert picture.get_attribute("alt") == "Two bars"
    text = picture.evaluate(SHOWN)
    rest = text.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert [word for word in FORBIDDEN if word in rest] == [], text
    for kept in ('viewBox="0 0 100 50"', 'fill="#123456"', 'width="30"', 'fill="url(#paint)"', "stop-color", 'stroke="red"', "kept text &amp; more", "M 0 0 L 10 10"):
        assert kept in text, (kept, text)
    assert picture.evaluate("img => img.decode().then(() => img.naturalWidth > 0)")
    expect(part(page, "value", "hostile")).to_be_hidden()

    run(page, "bars")
    assert part(page, "picture", "bars").get_attribute("alt") == "weights 14 GB; gradients < 3 2 GB"

    run(page, "png")
    assert part(page, "picture", "png").evaluate("img => img.decode().then(() => img.naturalWidth)") == 1
    assert "Drawn object" in part(page, "picture", "png").get_attribute("alt")

    for refused in ("huge", "other"):
        run(page, refused)
        expect(part(page, "picture", refused)).to_be_hidden()
        expect(part(page, "output", refused)).to_contain_text("The picture is not shown")
        expect(part(page, "value", refused)).to_be_visible()
    for failing, message in (("long", "at most 1000000 fit"), ("wrong", "it must return str")):
        run(page, failing)
        expect(part(page, "traceback", failing)).to_contain_text(message)
    assert page.evaluate("window.alerted") is None


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_chart_is_seen_in_both_colour_schemes_and_on_a_phone(cells, page, scheme):  # noqa: F811
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 360, "height": 640})
    cells(cell("from zeroledger import bars, ledger\nbars(ledger(num_params=7e9, dp_size=8, stage=2))"))
    run(page)
    expect(part(page, "picture")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert part(page, "picture").evaluate("img => getComputedStyle(img).backgroundColor") == "rgb(255, 255, 255)"
    page.screenshot(path=f".build/picture-{scheme}.png")
