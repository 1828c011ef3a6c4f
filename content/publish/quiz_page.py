"""The self-test: every number of the bank and every question of the other kinds on one page, by lesson.

The page holds the questions; answers, hints and solutions lie in static/zero/questions/<id>.json and, for numbers, in
exercises/<id>.json, and are fetched once the reader asks for them. With ?seed=… the page draws variants of the numbers
that have any (variants/<id>.json); with &sheet=1 it shows every solution, for an instructor to print.
"""

import json
from dataclasses import dataclass, replace

from lessonkit import bank, i18n, questions
from lessonkit.computed_text import ValueInProseError, fill_values, find_typed_figures

from .errors import BuildError
from .headings import heading_over
from .lessons import LANGUAGES, predicted_exercise

SLUG = "quiz"
CALIBRATION_SLUG = "calibration"


@dataclass(frozen=True)
class Item:
    """One entry of the page: what its template shows before an answer."""

    id: str
    kind: str
    prompt: str
    unit: str = ""
    options: tuple = ()  # (id, text)
    variants: tuple = ()  # prompts, one for each variant that a seed may draw
    lesson_number: int = 0
    section: str = ""  # title of the lesson's section that it belongs to, and where that is
    section_url: str = ""


@dataclass(frozen=True)
class Stop:
    """The self-test as a neighbour of the last lesson."""

    title: dict
    slug: str = SLUG


def stop():
    """Where "next" leads after the last lesson."""
    return Stop({lang: i18n.text("quiz.title", lang) for lang in LANGUAGES})


def sections(lessons, lang):
    """[(lesson, its items)] in the lessons' order, those without items left out. BuildError for an item of no lesson."""
    known = [lesson.slug for lesson in lessons]
    placed = [(one.lesson, _number_item(one, lang), None) for one in map(bank.load, bank.ids())]
    placed += [(one.lesson, _choice_item(one, lang), one.section) for one in all_questions()]
    for slug, item, _ in placed:
        if slug not in known:
            raise BuildError(f"{item.id}.toml: lesson {slug!r} is none of {', '.join(known)}", "correct the field lesson")
    found = [(lesson, _with_sections(lesson, lang, [one for one in placed if one[0] == lesson.slug])) for lesson in lessons]
    return [(lesson, items) for lesson, items in found if items]


def quiz_page(exporter, context, lessons):
    """The page as HTML. `context` is a pages.PageContext of that page."""
    return exporter.render_template("quiz.html.j2", zero=context, sections=sections(lessons, context.lang), number=lessons[-1].number + 1)


def calibration_page(exporter, context, lessons):
    """The page of the reader's own predictions as HTML; `context` is a pages.PageContext of that page."""
    lang = context.lang
    asked = [{"id": item.id, "kind": item.kind, "lesson": lesson.slug, "title": lesson.title[lang], "prompt": item.prompt, "unit": item.unit,
              "section_url": item.section_url}
             for lesson, items in sections(lessons, lang) for item in items]
    inline = json.dumps(asked, ensure_ascii=False).replace("<", "\\u003c")
    return exporter.render_template("calibration.html.j2", zero=context, questions_json=inline)


def all_questions():
    """The bank's questions with the figures of their texts computed. BuildError where one is typed or fails."""
    return [_computed(questions.load(name)) for name in questions.ids()]


def answer_data(question):
    """What questions/<id>.json holds, plain data."""
    return {
        "id": question.id, "kind": question.kind, "answer": list(question.answer), "hints": list(question.hints),
        "solution": question.solution, "because": {option.id: option.because for option in question.options if option.because},
    }


def variant_data(exercise):
    """What variants/<id>.json holds: for each variant, in the order of Item.variants, what is needed to judge it."""
    return [{**variant.evaluate(), "hints": hints_of(variant)} for variant in exercise.variants()]


def hints_of(exercise):
    """The exercise's hints as plain data, their figures computed for its inputs. BuildError where one is typed or fails."""
    return [{lang: _filled(f"{exercise.id}.toml", text, exercise.inputs) for lang, text in hint.items()} for hint in exercise.hints]


def _with_sections(lesson, lang, placed):
    """The items of one lesson, each with the section that it belongs to: stated, or where a predict cell asks it."""
    notebook = lesson.notebook(lang, "page")
    headings = heading_over(notebook)
    asked_in = {predicted_exercise(cell.source): cell.id for cell in notebook.cells if cell.metadata.zero.kind == "predict"}
    items = []
    for _, item, stated in placed:
        cell = stated or asked_in.get(item.id, "")
        if stated and stated not in {one.id for one in notebook.cells}:
            raise BuildError(f"questions/{item.id}.toml: section {stated!r} is no cell of {lesson.path.name}", "correct the field section")
        over = headings.get(cell, {"id": cell, "title": lesson.title[lang]})
        url = f"../{lesson.slug}/" + (f"#{over['id']}" if over["id"] else "")
        items.append(replace(item, lesson_number=lesson.number, section=over["title"], section_url=url))
    return items


def _number_item(exercise, lang):
    variants = tuple(variant.prompt(lang) for variant in exercise.variants())
    return Item(exercise.id, "number", exercise.prompt(lang), exercise.unit, variants=variants)


def _choice_item(question, lang):
    return Item(question.id, question.kind, question.prompt[lang], options=tuple((one.id, one.text[lang]) for one in question.options))


def _computed(question):
    def fill(texts):
        return {lang: _filled(f"questions/{question.id}.toml", text) for lang, text in texts.items()}

    options = tuple(replace(one, text=fill(one.text), because=fill(one.because)) for one in question.options)
    return replace(question, prompt=fill(question.prompt), options=options, hints=tuple(map(fill, question.hints)), solution=fill(question.solution))


def _filled(file_name, text, names=None):
    typed = find_typed_figures(text)
    if typed:
        raise BuildError(f"{file_name}: {typed[0]!r} is typed by hand", f'compute it, or quote it: {{{{ "{typed[0]}" }}}}')
    try:
        return fill_values(text, names or {})
    except ValueInProseError as error:
        raise BuildError(f"{file_name}: {error}", "correct the expression") from error
