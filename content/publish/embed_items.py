"""What the page /cell/ can show: one file an item and language under static/zero/data/, and a list of all.

Every file is a classic script that calls zeroData(name, data): a frame without an origin of its own may load scripts
from a plain static host, but not fetch. For the same reason the answer files have twins here (`write_twins`).

Ids: an exercise ("zero1-20b-4"), a live cell, chart or simulated step of a lesson ("ledger/live-rows"), "chart",
"timeline", "quiz", one lesson's quiz ("quiz/stages"), one item of it ("quiz/order-states"), "code" (the embedder's own).
"""

import json
from functools import cache
from html import escape
from urllib.parse import urljoin

import nbformat
from bs4 import BeautifulSoup
from lessonkit import bank, i18n
from zeroledger import PRESETS

from .errors import BuildError
from .explorer_grid import DP_SIZES, STAGES, explorer_grid
from .lessons import FOLDER_OF_LANGUAGE, LANGUAGES, explorer_start, timeline_start
from .page_exporter import code_html
from .settable import settable_inputs
from .timeline_page import timeline_html

INPUT_OF_EXERCISE = {"num_params": "P", "dp_size": "N", "stage": "stage", "model": "model", "card_gb": "card"}
TIMELINE_DP_SIZES = [1, 2, 3, 4, 6, 8]  # timeline-view.js; a script test holds both equal
TIMELINE_MODELS = ["mlp", "transformer"]
CHART_START = {"model": "7b", "dp_size": 8, "stage": 1, "unit": "GB"}
ANY = None  # accepted: any value of the input's kind


def write_items(folder, exporter, lessons, context_of, quiz_html, import_line):
    """Writes data/ below `folder`. `context_of(lang)` gives a pages.PageContext, `quiz_html` the quiz page by language."""
    index = []
    for lang in LANGUAGES:
        context = context_of(lang)
        items = [*_site_items(context), *_lesson_items(context, lessons, import_line),
                 *_exercise_items(exporter, context), *_quiz_items(context, lessons, quiz_html[lang])]
        for item in items:
            _write_script(folder / f"items/{lang}/{item['id']}.js", f"items/{lang}/{item['id']}", item)
        index.append(items)
    listed = [{"id": one["id"], "kind": one["kind"], "inputs": one["inputs"], "lesson": one.get("lesson", ""),
               "title": {lang: same["title"] for lang, same in zip(LANGUAGES, pair)}}
              for pair in zip(*index, strict=True) for one in pair[:1]]
    duplicates = {one["id"] for one in listed if [other["id"] for other in listed].count(one["id"]) > 1}
    if duplicates:
        raise BuildError(f"two things to embed have the id {', '.join(sorted(duplicates))}", "rename one of the source files or cells")
    _write_script(folder / "items/index.js", "items/index", listed)
    _write_script(folder / "grid.js", "grid", _grid())


def write_twins(folder, site_zero):
    """For each answer file static/zero/<kind>/<id>.json the script that a frame without an origin can load."""
    for kind in ("exercises", "questions", "variants"):
        for file in sorted((site_zero / kind).glob("*.json")):
            name = f"{kind}/{file.stem}"
            _write_script(folder / f"{name}.js", name, json.loads(file.read_text(encoding="utf-8")))


def _site_items(context):
    yield {"id": "code", "kind": "live", "title": _say(context, "embed.own_code"), "html": _live_html("code", "", ""), "code": "", "spans": {},
           "inputs": {name: ANY for name in ("P", "N", "stage", "model", "card")} | {"stage": STAGES}}
    yield {"id": "chart", "kind": "chart", "title": _say(context, "embed.chart"), "inputs": _chart_inputs(),
           "html": _explorer_html(context, CHART_START, "chart")}
    yield {"id": "timeline", "kind": "timeline", "title": _say(context, "page.timeline.title"), "inputs": _timeline_inputs(),
           "html": timeline_html(context.lang, {}, "timeline")}


def _lesson_items(context, lessons, import_line):
    for lesson in lessons:
        for cell in (cell for cell in lesson.cells if cell.kind in ("live", "explore", "timeline")):
            common = {"id": f"{lesson.slug}/{cell.id}", "lesson": lesson.slug, "title": f"{lesson.title[context.lang]}: {cell.id}"}
            if cell.kind == "live":
                code = import_line + cell.source
                settable = settable_inputs(code)
                inputs = {name: ANY for name in settable}
                inputs |= {"stage": STAGES} if "stage" in inputs else {}
                inputs |= {"model": sorted(PRESETS)} if "model" in inputs else {}
                yield {**common, "kind": "live", "inputs": inputs, "code": code,
                       "spans": {name: found["spans"] for name, found in settable.items()}, "html": _live_html(cell.id, lesson.slug, code)}
            elif cell.kind == "explore":
                start = {**CHART_START, **explorer_start(cell.source)}
                yield {**common, "kind": "chart", "inputs": _chart_inputs(), "html": _explorer_html(context, start, cell.id)}
            else:
                html = timeline_html(context.lang, timeline_start(cell.source), cell.id)
                yield {**common, "kind": "timeline", "inputs": _timeline_inputs(), "html": html}


def _exercise_items(exporter, context):
    for exercise in map(bank.load, bank.ids()):
        cell = nbformat.v4.new_code_cell(f'predict("{exercise.id}")', id=exercise.id)
        html = exporter.render_template("predict.html.j2", zero=context, cell=cell)
        variants = [{"inputs": _named(one.inputs), "prompt": one.prompt(context.lang)} for one in exercise.variants()]
        inputs = {name: sorted({one["inputs"][name] for one in variants}) for name in _named(exercise.draw)}
        yield {"id": exercise.id, "kind": "exercise", "lesson": exercise.lesson, "title": exercise.prompt(context.lang), "html": html,
               "inputs": inputs, "variants": variants}


def _quiz_items(context, lessons, html):
    """The whole quiz, one lesson's, and each item, cut out of the quiz page."""
    page = BeautifulSoup(html, "html.parser")
    sections = [section for section in page.select("main > section") if section.select("zero-question")]
    slugs = {section["aria-labelledby"].removeprefix("about-"): section for section in sections}
    titles = {lesson.slug: lesson.title[context.lang] for lesson in lessons}
    for link in page.select("main > section h2 > a"):
        link.unwrap()
    for question in page.select("[data-section-url]"):  # /cell/ lies beside the quiz page's parent
        question["data-section-url"] = urljoin(f"/{FOLDER_OF_LANGUAGE[context.lang]}/quiz/", question["data-section-url"]).replace("/", "../", 1)
    heading = _say(context, "quiz.title")
    yield {"id": "quiz", "kind": "quiz", "title": heading, "inputs": {}, "html": _quiz_html(sections)}
    for slug, section in slugs.items():
        yield {"id": f"quiz/{slug}", "kind": "quiz", "lesson": slug, "title": f"{heading}: {titles[slug]}", "inputs": {}, "html": _quiz_html([section])}
        for question in section.select("zero-question"):
            yield {"id": f"quiz/{question['exercise']}", "kind": "question", "lesson": slug, "inputs": {}, "html": _quiz_html([question]),
                   "title": question.select_one("legend").get_text(" ", strip=True)}


def _quiz_html(parts):
    """Those parts of the quiz page, with the places that quiz.js writes to; one question alone has no count and no review."""
    hidden = " hidden" if parts[0].name == "zero-question" else ""
    head = f'<p class="zl-status" data-part="quiz-progress" role="status"{hidden}></p><p class="zl-note" data-part="quiz-seed" hidden></p>'
    return head + "".join(map(str, parts)) + f'<div data-part="quiz-review"{hidden}></div>'


def _live_html(cell_id, session, code):
    inner = code_html(code) if code else ""
    return f'<zero-cell cell-id="{escape(cell_id)}" session="{escape(session)}"><pre class="zl-code" tabindex="0"><code>{inner}</code></pre></zero-cell>'


def _explorer_html(context, start, cell_id):
    return f'<zero-explorer id="{cell_id}-explorer">{context.explorer(start, cell_id)}</zero-explorer>'


def _chart_inputs():
    return {"P": ANY, "model": [model["id"] for model in _grid()["models"]], "N": DP_SIZES, "stage": STAGES}


def _timeline_inputs():
    return {"N": TIMELINE_DP_SIZES, "stage": STAGES, "model": TIMELINE_MODELS}


@cache
def _grid():
    return explorer_grid()


def _say(context, key):
    return i18n.text(key, context.lang)


def _named(inputs):
    """Inputs under the names that addresses use; others keep theirs."""
    return {INPUT_OF_EXERCISE.get(name, name): value for name, value in inputs.items()}


def _write_script(path, name, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    path.write_text(f"zeroData({json.dumps(name)},{text});\n", encoding="utf-8")
