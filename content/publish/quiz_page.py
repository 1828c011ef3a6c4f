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
from .lessons import LANGUAGES

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
    placed = [(one.lesson, _number_item(one, lang)) for one in map(bank.load, bank.ids())]
    placed += [(one.lesson, _choice_item(one, lang)) for one in all_questions()]
    for slug, item in placed:
        if slug not in known:
            raise BuildError(f"{item.id}.toml: lesson {slug!r} is none of {', '.join(known)}", "correct the field lesson")
    found = [(lesson, [item for slug, item in placed if slug == lesson.slug]) for lesson in lessons]
    return [(lesson, items) for lesson, items in found if items]


def quiz_page(exporter, context, lessons):
    """The page as HTML. `context` is a pages.PageContext of that page."""
    return exporter.render_template("quiz.html.j2", zero=context, sections=sections(lessons, context.lang))


def calibration_page(exporter, context, lessons):
    """The page of the reader's own predictions as HTML; `context` is a pages.PageContext of that page."""
    lang = context.lang
    asked = [{"id": item.id, "lesson": lesson.slug, "title": lesson.title[lang], "prompt": item.prompt, "unit": item.unit}
             for lesson, items in sections(lessons, lang) for item in items if item.kind == "number"]
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
    return [variant.evaluate() for variant in exercise.variants()]


def _number_item(exercise, lang):
    variants = tuple(variant.prompt(lang) for variant in exercise.variants())
    return Item(exercise.id, "number", exercise.prompt(lang), exercise.unit, variants=variants)


def _choice_item(question, lang):
    return Item(question.id, question.kind, question.prompt[lang], options=tuple((one.id, one.text[lang]) for one in question.options))


def _computed(question):
    def fill(texts):
        return {lang: _filled(question.id, text) for lang, text in texts.items()}

    options = tuple(replace(one, text=fill(one.text), because=fill(one.because)) for one in question.options)
    return replace(question, prompt=fill(question.prompt), options=options, hints=tuple(map(fill, question.hints)), solution=fill(question.solution))


def _filled(question_id, text):
    typed = find_typed_figures(text)
    if typed:
        raise BuildError(f"questions/{question_id}.toml: {typed[0]!r} is typed by hand", f'compute it, or quote it: {{{{ "{typed[0]}" }}}}')
    try:
        return fill_values(text)
    except ValueInProseError as error:
        raise BuildError(f"questions/{question_id}.toml: {error}", "correct the expression") from error
