"""The self-test in notebooks: every number of the bank and every other question, of one lesson or of all."""

from dataclasses import dataclass
from html import escape

import ipywidgets as widgets

from . import bank, questions, record
from .controls import HintButton, Shown, confidence_toggle, message, stack
from .i18n import language, text
from .quiz_items import ITEMS, NumberItem
from .running import when_messages_are_in
from .seeds import variant_for

MISSES_BEFORE_SOLUTION = 3


@dataclass
class State:
    """How an item stands, with the names that the pages use (quiz-data.js): `first` is the first answer and stays as it was;
    `sure` is the greatest confidence of a wrong one, 0 when none was said."""

    misses: int = 0
    hints: int = 0
    solved: bool = False
    shown: bool = False
    sure: int = 0
    confidence: int | None = None
    given: str | list[str] | None = None
    first: dict | None = None

    @property
    def is_to_review(self):
        return self.misses > 0 or (self.shown and not (self.first and self.first["right"]))

    def take(self, judged, confidence, prompt):
        """Follows an answer. `prompt` is that of a drawn variant, else None."""
        self.given, self.solved, self.confidence = judged.given, judged.right, confidence
        if not judged.right:
            self.misses, self.sure = self.misses + 1, max(self.sure, confidence or 0)
        if self.first is None:
            self.first = {"right": judged.right, "confidence": confidence, "given": judged.said, "error": judged.error, "prompt": prompt}

    def as_dict(self):
        """Plain data; what was never set is left out."""
        return {name: value for name, value in vars(self).items() if value is not None or name == "confidence"}


class Card:
    """One item with its buttons: check, hint, solution. After three misses the solution is shown."""

    def __init__(self, item, number, lang, on_change, seed=None):
        self.item, self.number, self.lang, self.on_change, self.seed, self.state = item, number, lang, on_change, seed, State()
        self.confidence = confidence_toggle(lang)
        self.check, self.solution = self._button("check", "primary"), self._button("solution")
        self.hint = HintButton(item.hints, lang)
        self.feedback, self.room = widgets.HTML(), widgets.HTML()
        self.check.on_click(lambda _: self.answer())
        self.solution.on_click(lambda _: self.show_solution())
        if item.entry is not None:
            item.entry.on_msg(lambda _, content, __: when_messages_are_in(self.answer) if content.get("event") == "submit" else None)
        hints = [self.hint.button] if item.hints() else []
        buttons = widgets.HBox([self.check, *hints, self.solution], layout={"flex_flow": "row wrap"})
        prompt = widgets.HTML(f"<p><b>{number}.</b> {item.prompt_html()}<br><small>{escape(item.how)}</small></p>")
        self.widget = stack([prompt, item.form, self.confidence, buttons, self.hint.room, self.feedback, self.room])

    def answer(self):
        """Judges what is entered."""
        try:
            judged = self.item.judged()
        except ValueError as error:
            self.feedback.value = message(error)
            return
        drawn = self.item.plain_prompt() if self.seed and self.item.is_drawn else None
        self.state.take(judged, self.confidence.value, drawn)
        self.feedback.value = f'<p role="status"><b>{"✓" if judged.right else "✗"}</b> {judged.html}</p>'
        if self.state.misses >= MISSES_BEFORE_SOLUTION and not judged.right:
            self.show_solution()
        self._changed()

    def show_solution(self):
        """Shows the worked solution."""
        self.state.shown = True
        heading = escape(text("quiz.solution_heading", self.lang))
        self.room.value = f'<div role="status"><p><b>{heading}</b></p>{self.item.solution_html()}</div>'
        self._changed()

    def _changed(self):
        self.state.hints = self.hint.shown
        record.remember_answer(self.item.bank_id, self.seed, self.state.as_dict())
        self.on_change()

    def _button(self, name, style=""):
        return widgets.Button(description=text(f"quiz.{name}", self.lang), button_style=style, layout={"width": "auto"})


class Quiz(Shown):
    """The items of `lesson` (its slug; None: of all lessons), below them how many are solved and what to look at again.

    With `seed`, a text, numbers that have variants are drawn by it, the same ones as on the page "Self-test".
    ValueError for a lesson without items. `.cards` are the items, in their order."""

    def __init__(self, lesson=None, seed=None):
        self.lang = language()
        items = quiz_items(lesson, seed, self.lang)
        self.progress, self.review = widgets.HTML(), widgets.HTML()
        self.cards = [Card(item, number, self.lang, self._show, seed) for number, item in enumerate(items, 1)]
        note = [widgets.HTML(f"<p>{escape(text('quiz.seed_note', self.lang, seed=seed))}</p>")] if seed else []
        self._show()
        super().__init__(stack([*note, *(card.widget for card in self.cards), self.progress, self.review]))

    def plain_text(self):
        """The questions, for where widgets cannot be shown; never an answer."""
        return "\n".join(f"{card.number}. {card.item.plain_prompt()}" for card in self.cards)

    def html(self):
        """The same as HTML."""
        return f"<ol>{''.join(f'<li>{card.item.prompt_html()}</li>' for card in self.cards)}</ol>"

    def _show(self):
        solved = sum(card.state.solved for card in self.cards)
        self.progress.value = f'<p role="status">{escape(text("quiz.progress", self.lang, solved=solved, count=len(self.cards)))}</p>'
        self.review.value = review_html(self.cards, self.lang)


def quiz_items(lesson, seed, lang) -> list:
    """The items of `lesson` (None: all), numbers first, as on the page."""
    numbers = [exercise for exercise in map(bank.load, bank.ids()) if lesson in (None, exercise.lesson)]
    others = [question for question in map(questions.load, questions.ids()) if lesson in (None, question.lesson)]
    if not numbers and not others:
        known = sorted({bank.load(name).lesson for name in bank.ids()} | {questions.load(name).lesson for name in questions.ids()})
        raise ValueError(f"lesson = {lesson!r}: expected one of {', '.join(known)}")
    return [*(NumberItem(_drawn(exercise, seed), lang, exercise.id) for exercise in numbers), *(ITEMS[one.kind](one, lang) for one in others)]


def review_html(cards, lang) -> str:
    """What was missed or looked up, what the reader was sure of first; nothing when there is none."""
    listed = sorted((card for card in cards if card.state.is_to_review), key=lambda card: (-card.state.sure, card.state.solved, -card.state.misses))
    if not listed:
        return ""
    rows = "".join(f"<li>{card.number}. {card.item.prompt_html()} <small>({escape(_standing(card.state, lang))})</small></li>" for card in listed)
    return f"<p><b>{escape(text('quiz.review', lang))}</b><br>{escape(text('quiz.review_intro', lang))}</p><ul>{rows}</ul>"


def _standing(state, lang):
    said = [text(f"kit.predict.confidence_{state.sure}", lang)] if state.sure else []
    said.append(text("quiz.review_misses", lang, count=state.misses))
    return " · ".join([*said, text("quiz.review_solved" if state.solved else "quiz.review_open", lang)])


def _drawn(exercise, seed):
    variants = exercise.variants() if seed else []
    return variants[variant_for(str(seed), exercise.id, len(variants))] if variants else exercise

