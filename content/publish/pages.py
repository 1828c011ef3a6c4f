"""The pages of the site: language choice, course homes, lessons, and the answer files of the exercises.

`build(folder)` writes index.html, en/, zh/ (home and one folder a lesson) and static/zero/exercises/ into `folder`,
which becomes the root of the site. Addresses are relative throughout.
"""

import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

from lessonkit import bank, i18n

from . import embed_items
from .embed_pages import build_page, cell_page, BUILD_SLUG
from .errors import BuildError
from .executed import execute_all
from .gate import gated_cells
from .headings import toc
from .lessons import LANGUAGES, Lesson, LessonError, load_lessons
from .local_notebooks import archive_name, local_lessons, write_archive
from .measured_page import FOLDER as MEASURE_FOLDER, SLUG as MEASURED_SLUG, measured_page, write_files
from .page_context import BUNDLES, FOLDER_OF_LANGUAGE, ICON_URL, IMPORT_LINE, LAB_FOLDER, LANGUAGE_NAMES, PageContext, palette_css
from .page_exporter import LessonPageExporter, drawn_text
from .quiz_page import CALIBRATION_SLUG, SLUG as QUIZ_SLUG, all_questions, answer_data, calibration_page, hints_of, quiz_page, sections as quiz_sections, stop, variant_data
from .self_test_notebook import self_test_name
from .timeline_page import SLUG as TIMELINE_SLUG, timeline_page


def build(folder):
    """Writes every page below `folder`. BuildError names the lesson and cell that cannot be made."""
    folder = Path(folder)
    try:
        lessons, local = load_lessons(), local_lessons()
        exporter = LessonPageExporter()
        notebooks = {(lesson.slug, lang): lesson.notebook(lang, "page") for lesson in lessons for lang in LANGUAGES}
        execute_all([(notebooks[lesson.slug, lang], lesson.path.name) for lesson in lessons for lang in LANGUAGES])
        _write(folder / "index.html", choose_page(exporter))
        quiz_html = {}
        for lang in LANGUAGES:
            home = folder / FOLDER_OF_LANGUAGE[lang]
            _write(home / "index.html", home_page(exporter, lessons, lang))
            _write(home / TIMELINE_SLUG / "index.html", timeline_page(exporter, timeline_context(lang)))
            quiz_html[lang] = quiz_page(exporter, quiz_context(lang, self_test_name(lessons)), lessons)
            _write(home / QUIZ_SLUG / "index.html", quiz_html[lang])
            _write(home / BUILD_SLUG / "index.html", build_page(exporter, build_context(lang)))
            _write(home / CALIBRATION_SLUG / "index.html", calibration_page(exporter, calibration_context(lang), lessons))
            _write(home / MEASURED_SLUG / "index.html", measured_page(exporter, measured_context(lang)))
            for at, lesson in enumerate(lessons):
                following = [*lessons, stop()][at + 1 : at + 2]
                neighbours = (("page.previous", lessons[max(at - 1, 0) : at]), ("page.next", following))
                there = tuple((key, found[0]) for key, found in neighbours if found)
                own = local.get(lesson.number)
                html = lesson_page(exporter, lesson, lang, notebooks[lesson.slug, lang], there, own)
                _write(home / lesson.slug / "index.html", html)
                if own:
                    write_archive(own, lang, home / lesson.slug / archive_name(own))
        write_answers(folder / BUNDLES / "exercises")
        write_keys(folder / BUNDLES / "questions")
        write_variants(folder / BUNDLES / "variants")
        write_files(folder / MEASURE_FOLDER)
        _write(folder / "cell/index.html", cell_page(exporter, PageContext("en", "../", "", "ZeRO Ledger", "")))
        data = folder / BUNDLES / "data"
        embed_items.write_items(data, exporter, lessons, lambda lang: PageContext(lang, "../", "", "", ""), quiz_html, IMPORT_LINE)
        embed_items.write_twins(data, folder / BUNDLES)
    except (LessonError, bank.ExerciseError) as error:
        raise BuildError(str(error), "correct the source file that it names") from error


def lesson_page(exporter, lesson: Lesson, lang, notebook, neighbours=(), local=None):
    """The lesson's page in `lang` as HTML from its executed `notebook`, with links to `neighbours` and a `local` lesson."""
    context = PageContext(
        lang=lang, root="../../", slug=lesson.slug, checked=lesson.checked, notebook_name=lesson.notebook_name,
        page_title=f"{lesson.title[lang]} · {i18n.text('page.site', lang)}", description=lesson.summary[lang],
        toc=tuple(toc(notebook)), neighbours=neighbours, predictions=len(lesson.exercises),
        has_explorer=any(cell.metadata.zero.kind == "explore" for cell in notebook.cells),
    )
    context = replace(context, gated=gated_cells(notebook, partial(drawn_text, context)))
    html, _ = exporter.from_notebook_node(notebook, resources={"zero": context})
    return html


def timeline_context(lang):
    """What the page of the simulated training step needs."""
    title = i18n.text("page.timeline.title", lang)
    return PageContext(lang=lang, root="../../", slug=TIMELINE_SLUG, page_title=f"{title} · {i18n.text('page.site', lang)}",
                       description=i18n.text("page.timeline.intro", lang))


def quiz_context(lang, notebook_name=""):
    """What the self-test's page needs; `notebook_name` is its notebook's."""
    title = i18n.text("quiz.title", lang)
    return PageContext(lang=lang, root="../../", slug=QUIZ_SLUG, notebook_name=notebook_name, page_title=f"{title} · {i18n.text('page.site', lang)}",
                       description=i18n.text("quiz.about", lang))


def build_context(lang):
    """What the page needs that makes snippets for other people's pages."""
    title = i18n.text("build.title", lang)
    return PageContext(lang=lang, root="../../", slug=BUILD_SLUG, page_title=f"{title} · {i18n.text('page.site', lang)}",
                       description=i18n.text("build.intro", lang))


def calibration_context(lang):
    """What the page of the reader's own predictions needs."""
    title = i18n.text("page.calibration.title", lang)
    return PageContext(lang=lang, root="../../", slug=CALIBRATION_SLUG, page_title=f"{title} · {i18n.text('page.site', lang)}",
                       description=i18n.text("page.calibration.intro", lang))


def measured_context(lang):
    """What the page of measured runs needs."""
    title = i18n.text("page.measured.title", lang)
    return PageContext(lang=lang, root="../../", slug=MEASURED_SLUG, page_title=f"{title} · {i18n.text('page.site', lang)}",
                       description=i18n.text("page.measured.intro", lang))


def home_page(exporter, lessons, lang):
    """The course home in `lang` as HTML."""
    context = PageContext(
        lang=lang, root="../", slug="", page_title=i18n.text("page.site", lang), description=i18n.text("page.tagline", lang),
    )
    listed = [
        {
            "slug": lesson.slug, "number": lesson.number, "minutes": lesson.minutes(lang), "exercises": lesson.exercises, "title": lesson.title[lang], "summary": lesson.summary[lang],
            "url": f"{lesson.slug}/",
            "notebook_url": f"../{LAB_FOLDER[lang]}notebooks/index.html?path={FOLDER_OF_LANGUAGE[lang]}/{lesson.notebook_name}",
        }
        for lesson in lessons
    ]
    items = [item.id for _, some in quiz_sections(lessons, lang) for item in some]
    return exporter.render_template("home.html.j2", zero=context, lessons=listed, quiz_items=items)


def choose_page(exporter):
    """The root page: goes on to the reader's language by script, offers both by link."""
    choices = [
        {"lang": lang, "name": LANGUAGE_NAMES[lang], "url": f"{FOLDER_OF_LANGUAGE[lang]}/", "tagline": i18n.text("page.tagline", lang)}
        for lang in reversed(LANGUAGES)
    ]
    return exporter.render_template("choose.html.j2", icon=ICON_URL, css=f"{BUNDLES}/page.css", palette_css=palette_css(), choices=choices)


def write_answers(folder):
    """One <id>.json per exercise: what a page needs once a prediction was made, and nothing may show before."""
    for exercise_id in bank.ids():
        exercise = bank.load(exercise_id)
        _write(folder / f"{exercise_id}.json", json.dumps(_answer(exercise, exercise.evaluate()), ensure_ascii=False))


def _answer(exercise, values):
    """Its `values` (evaluate()) with what a page needs to judge it and to ask it again with other numbers."""
    return {
        **values,
        "code": IMPORT_LINE + exercise.code,
        "inputs": exercise.inputs,
        "answer_expression": exercise.answer,
        "mistake_expressions": [mistake.value for mistake in exercise.mistakes],
        "hints": hints_of(exercise),
    }


def write_keys(folder):
    """One <id>.json per question of the self-test that is no number."""
    for question in all_questions():
        _write(folder / f"{question.id}.json", json.dumps(answer_data(question), ensure_ascii=False))


def write_variants(folder):
    """One <id>.json per exercise that has variants: what a page needs when one of them was asked."""
    for exercise in filter(lambda one: one.draw, map(bank.load, bank.ids())):
        variants = [_answer(variant, values) for variant, values in zip(exercise.variants(), variant_data(exercise), strict=True)]
        _write(folder / f"{exercise.id}.json", json.dumps(variants, ensure_ascii=False))


def _write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    build(sys.argv[1])
