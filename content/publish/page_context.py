"""What a page's template needs beyond its notebook: addresses, strings, colours, charts drawn at build."""

import json
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib.resources import files
from urllib.parse import quote

from lessonkit import i18n

from .drawing import draw
from .explorer_grid import explorer_grid
from .lesson_calls import FOLDER_OF_LANGUAGE, LANGUAGES
from .print_patterns import patterns_css, patterns_svg

LAB_FOLDER = {"en": "", "zh-CN": "zh/"}  # where the lab's entry pages in this language lie: chinese_lab.py
BUNDLES = "static/zero"  # what the build calls the folder of scripts and answers; published under a name with a hash
LANGUAGE_NAMES = {"en": "English", "zh-CN": "中文"}
FULL_STOP = {"en": ".", "zh-CN": "。"}
# The page has no setup cell: what a reader runs there names its import, and still runs where it is pasted.
IMPORT_LINE = "from zeroledger import *\n\n"
HOME_PICTURE = {"model": "7b", "dp_size": 8, "stage": 0, "unit": "GB"}
ICON = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20'><rect x='1' y='12' width='18' height='6' rx='1' fill='#1673c4'/>"
    "<rect x='1' y='7' width='12' height='4' rx='1' fill='#5b1f6b'/><rect x='1' y='2' width='7' height='4' rx='1' fill='#2f9a78'/></svg>"
)
ICON_URL = "data:image/svg+xml," + quote(ICON, safe="/:=' ")


@dataclass(frozen=True)
class Alternative:
    """A page in one of the languages, as seen from this page."""

    lang: str
    name: str
    url: str


@dataclass(frozen=True)
class PageContext:
    """What a page's template needs beyond the notebook. Texts from `t` are escaped for HTML."""

    lang: str
    root: str  # relative address of the site's root, "../../"
    slug: str  # the lesson's, or "" for a home
    page_title: str
    description: str
    checked: str = ""
    notebook_name: str = ""
    toc: tuple = ()
    has_explorer: bool = False
    local_archive: str = ""  # the lesson's notebook for the reader's own machine, beside the page
    neighbours: tuple = ()  # (string key, lesson) of the lessons before and after
    gated: dict = field(default_factory=dict)  # gate.gated_cells of the lesson
    predictions: int = 0  # how many the lesson asks for

    icon = ICON_URL
    import_line = IMPORT_LINE
    scripts = True

    def t(self, key, **fields):
        return escape(i18n.text(key, self.lang, **fields))

    def asset(self, name):
        """Address of a bundled file; dist.py puts the hash of the folder's content into it."""
        return f"{self.root}{BUNDLES}/{name}"

    def explorer(self, start, cell_id):
        """The explorer's HTML for the start selection that the lesson asks for."""
        return _drawn(self.lang, json.dumps(start, sort_keys=True), f"zl-{cell_id}")["explorer"]

    def after(self, cell_id):
        """The attribute of a cell that is held back until its exercises are settled; "" for the others."""
        exercises = self.gated.get(cell_id)
        return f' data-after="{" ".join(exercises)}"' if exercises else ""

    @property
    def picture(self):
        """The chart alone, for the course home."""
        return _drawn(self.lang, json.dumps(HOME_PICTURE), "zl-home")["charts"]

    @property
    def folder(self):
        return FOLDER_OF_LANGUAGE[self.lang]

    @property
    def home_url(self):
        return f"{self.root}{self.folder}/"

    @property
    def lab_url(self):
        return f"{self.root}{LAB_FOLDER[self.lang]}lab/index.html"

    @property
    def notebook_url(self):
        return f"{self.root}{LAB_FOLDER[self.lang]}notebooks/index.html?path={self.folder}/{self.notebook_name}"

    @property
    def download_url(self):
        return f"{self.root}files/{self.folder}/{self.notebook_name}"

    @property
    def wheel_url(self):
        from .own_wheel import download_name  # here, since the exporter's wheel has no build

        return f"{self.root}download/{download_name()}"

    @property
    def languages(self):
        page = f"{self.slug}/" if self.slug else ""
        return [Alternative(lang, LANGUAGE_NAMES[lang], f"{self.root}{FOLDER_OF_LANGUAGE[lang]}/{page}") for lang in LANGUAGES]

    @property
    def full_stop(self):
        return FULL_STOP[self.lang]

    @property
    def neighbour_links(self):
        return [
            {"kind": key.rpartition(".")[2], "label": self.t(key), "title": escape(lesson.title[self.lang]), "url": f"../{lesson.slug}/"}
            for key, lesson in self.neighbours
        ]

    @property
    def palette_css(self):
        return palette_css()

    @property
    def print_patterns(self):
        return print_patterns()

    @property
    def grid_json(self):
        return _script_json(_grid()) if self.has_explorer else ""


@cache
def _palette():
    return json.loads(files("lessonkit").joinpath("palette.json").read_text(encoding="utf-8"))


@cache
def print_patterns():
    """The hatching of the memory categories on paper, as an <svg> that a page holds once."""
    return patterns_svg(_palette()["categories"])


@cache
def palette_css():
    """The colours of the memory categories as custom properties, from the palette that notebooks use too."""
    palette = _palette()
    pairs = {f"--zl-{name}": pair for name, pair in palette["categories"].items()}
    pairs |= {"--zl-surface": palette["background"], "--zl-card-line": palette["card_line"], "--zl-ink": palette["ink"]}
    values = "".join(f"{name}:light-dark({pair['light']},{pair['dark']});" for name, pair in pairs.items())
    fills = "".join(f".zl-{name}{{fill:var(--zl-{name});background-color:var(--zl-{name})}}" for name in palette["categories"])
    return f":root{{{values}}}{fills}{patterns_css(palette['categories'])}"


@cache
def _drawn(lang, start_json, element_id):
    """What render-static.mjs makes of a start selection: {"explorer", "charts"}, HTML."""
    strings = {key: texts[lang] for key, texts in i18n.strings().items()}
    return json.loads(draw("render-static", {"grid": _grid(), "strings": strings, "start": json.loads(start_json), "id": element_id}))


@cache
def _grid():
    return explorer_grid()


def _script_json(data):
    """JSON that may stand inside a <script> element."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
