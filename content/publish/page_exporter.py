"""The nbconvert exporter of lesson pages: an executed lesson notebook in, one HTML page out.

An HTMLExporter with a template of its own: no Jupyter style sheets, no MathJax, nothing from another site. What is
not in the notebook (address of the site's root, strings, the explorer's grid) comes as a PageContext in
`resources["zero"]`.
"""

import re
from html import escape
from pathlib import Path

from bs4 import BeautifulSoup, NavigableString
from jinja2 import pass_context
from lessonkit import bank
from nbconvert.exporters.html import HTMLExporter
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from .lesson_calls import explorer_start, parallel_start, predicted_exercise, timeline_start
from .parallel_grid import MODELS, parallel_figures, parallel_html
from .timeline_page import timeline_html

TEMPLATES = Path(__file__).resolve().parent / "templates"

# What stays on one line: a figure and its unit, ZeRO-3, GPT-2, N − 1.
_UNBROKEN = re.compile(r"\d[\d,.]* (?:[KMGTP]i?B|B|G)\b|\b(?:ZeRO|GPT)-\d\b|\(?\bN − 1\b\)?(?:/N\b)?")
# Where a heading in Chinese may break before anywhere else.
_PHRASE_END = re.compile(r"(?<=[，：；])")
_FULL_WIDTH_END = ("，", "。", "：", "；", "？", "！", "、", "）", "”")


class LessonPageExporter(HTMLExporter):
    """Converts a lesson notebook, already executed, to its page."""

    export_from_notebook = "ZeRO Ledger lesson page"

    def _template_name_default(self):
        return "zero_lesson"

    @property
    def extra_template_basedirs(self):
        return [str(TEMPLATES)]

    exclude_anchor_links = True

    def default_filters(self):
        yield from super().default_filters()
        yield "typeset", typeset
        yield "phrases", phrases
        yield "code_html", code_html
        yield "exercise", exercise_of
        yield "drawn_html", drawn_html

    def render_template(self, name, **values):
        """One of the other pages of the same template folder (home, choose), as HTML."""
        return self.environment.get_template(name).render(**values)


def typeset(html):
    """Prose HTML with tables and code that scroll on their own, figures that do not break from their unit, Chinese
    headings that break between phrases, and no blank after a full-width mark (markdown needs one where bold text ends)."""
    soup = BeautifulSoup(html, "html.parser")
    for table in soup.find_all("table"):
        table.wrap(soup.new_tag("div", attrs={"class": "zl-table", "tabindex": "0", "role": "group"}))
    for corner in soup.find_all("th"):
        if not corner.get_text(strip=True):
            corner.name = "td"  # an empty corner heads nothing
    for code in soup.select(".highlight pre"):
        code["tabindex"] = "0"
    for bold in soup.find_all("strong"):
        following = bold.next_sibling
        if isinstance(following, NavigableString) and bold.get_text().endswith(_FULL_WIDTH_END):
            following.replace_with(following.lstrip(" "))
    for text in soup.find_all(string=_UNBROKEN):
        if not text.find_parent(["code", "pre"]):
            text.replace_with(_parsed(_UNBROKEN.sub(r'<span class="zl-quantity">\g<0></span>', escape(text, quote=False))))
    for heading in soup.find_all(["h2", "h3"]):
        for text in heading.find_all(string=re.compile("[，：；]")):
            text.replace_with(_parsed(phrases(text)))
    return str(soup)


def _parsed(html):
    return BeautifulSoup(html, "html.parser")


def phrases(title):
    """`title` as HTML in which a line breaks between Chinese phrases, inside one only where it is longer than a line."""
    parts = [part for part in _PHRASE_END.split(title) if part]
    return "".join(f'<span class="zl-phrase">{escape(part, quote=False)}</span>' for part in parts) if len(parts) > 1 else escape(title, quote=False)


def code_html(source):
    """Python `source` as highlighted HTML, classes only; its text content is `source`."""
    return highlight(source, PythonLexer(stripnl=False, ensurenl=False), HtmlFormatter(nowrap=True)).rstrip("\n")


def exercise_of(cell):
    """The bank's exercise that a predict cell asks."""
    return bank.load(predicted_exercise(cell.source))


@pass_context
def drawn_html(context, cell):
    """What the page draws for the cell, see drawn_element."""
    return drawn_element(context["resources"]["zero"], cell)


def drawn_element(zero, cell):
    """The element that the page draws for an explore, timeline or parallel cell, readable without a script; "" for others."""
    kind = cell.metadata.zero.kind
    if kind == "explore":
        return f'<zero-explorer id="{cell.id}-explorer">{zero.explorer(explorer_start(cell.source), cell.id)}</zero-explorer>'
    if kind == "parallel":
        return parallel_html(zero.lang, parallel_start(cell.source), cell.id)
    return timeline_html(zero.lang, timeline_start(cell.source), cell.id) if kind == "timeline" else ""


def drawn_text(zero, cell):
    """What a reader of that element sees or hears, its labels one by one, or can make a parallel cell show."""
    soup = BeautifulSoup(drawn_element(zero, cell), "html.parser")
    for script in soup.find_all("script"):
        script.decompose()
    reachable = "\n".join(map(parallel_figures, MODELS)) if cell.metadata.zero.kind == "parallel" else ""
    return f"{soup.get_text(chr(10))}\n{reachable}"
