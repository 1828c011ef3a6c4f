"""One item of the notebook's quiz: its form for an answer, and how that answer is judged. No item computes its key before that."""

from dataclasses import dataclass
from html import escape

import ipywidgets as widgets

from .bank import judge
from .computed_text import fill_values
from .controls import typed
from .feedback import amount, read, verdict
from .grade import grade_choice
from .hints import number_hints
from .i18n import text
from .marked import marked_html, plain

HOW = {"many-choice": "quiz.many_how", "account": "quiz.account_how", "ordering": "quiz.order_how"}
WRAPPING = {"width": "auto", "height": "auto"}  # long options break instead of being cut off


@dataclass(frozen=True)
class Judged:
    """An answer and how it compares: feedback as HTML, what was entered (a text or option ids), the same in words, the
    relative error of a number."""

    right: bool
    html: str
    given: str | list[str]
    said: str
    error: float | None = None


class NumberItem:
    """A number with its unit. `form` takes it; `judged` says how it compares."""

    how = ""

    def __init__(self, exercise, lang, bank_id):
        """`bank_id` is that of the exercise which `exercise` is, or of which it is a variant."""
        self.exercise, self.id, self.bank_id, self.lang = exercise, exercise.id, bank_id, lang
        self.is_drawn = exercise.id != bank_id
        hint = text("kit.predict.number_hint" if exercise.unit == "bytes" else "kit.predict.count_hint", lang)
        self.form = typed(description=text("quiz.your_answer", lang), placeholder=hint)
        self.entry = self.form  # where Enter means "check"

    def prompt_html(self):
        """The question."""
        return marked_html(self.plain_prompt())

    def plain_prompt(self):
        """The question as plain text."""
        return self.exercise.prompt(self.lang)

    def judged(self):
        """The answer as `Judged`. ValueError with words for the reader when there is no number."""
        written = self.form.value.strip()
        feedback = judge(self.exercise, read(written, self.exercise.unit, self.lang))
        words = text("quiz.wrong", self.lang) if feedback.verdict == "wrong" else verdict(self.exercise, feedback, self.lang)
        return Judged(feedback.verdict == "right", escape(words), written, written, feedback.relative_error)

    def hints(self):
        """The hints, in steps."""
        return number_hints(self.exercise, self.lang)

    def solution_html(self):
        """The answer and the code that computes it."""
        code = escape(text("quiz.code", self.lang))
        return f"<p>{escape(amount(self.exercise.evaluate()['answer'], self.exercise.unit))}</p><p>{code}</p><pre>{escape(self.exercise.code)}</pre>"


class OptionsItem:
    """Options to choose from or to put in order."""

    is_drawn = False
    entry = None  # no field in which Enter would mean "check"

    def __init__(self, question, lang):
        self.question, self.id, self.bank_id, self.lang = question, question.id, question.id, lang
        self.words = {option.id: fill_values(option.text[lang]) for option in question.options}
        self.form = self._form()

    def prompt_html(self):
        """The question."""
        return marked_html(fill_values(self.question.prompt[self.lang]))

    def plain_prompt(self):
        """The question as plain text."""
        return plain(fill_values(self.question.prompt[self.lang]))

    @property
    def how(self):
        """What to do with the options; "" where it goes without saying."""
        return text(HOW[self.question.kind], self.lang) if self.question.kind in HOW else ""

    def judged(self):
        """The answer as `Judged`. ValueError with words for the reader when nothing is chosen."""
        given = self.given()
        if not given:
            raise ValueError(text("quiz.choose", self.lang))
        grade = grade_choice(self.question.kind, self.question.answer, given)
        words = (text("quiz.right", self.lang) if grade.right else text("quiz.partly", self.lang, **grade.partly) if grade.partly
                 else text("quiz.wrong", self.lang))
        reasons = [fill_values(option.because[self.lang]) for option in self.question.options
                   if option.id in grade.explain and option.because]
        said = " · ".join(plain(self.words[name]) for name in given)
        return Judged(grade.right, " ".join([escape(words), *map(marked_html, reasons)]), list(given), said)

    def hints(self):
        """The hints, in steps."""
        return [fill_values(hint[self.lang]) for hint in self.question.hints]

    def solution_html(self):
        """The right options, in their order, and the worked solution."""
        tag = "ol" if self.question.kind == "ordering" else "ul"
        listed = "".join(f"<li>{marked_html(self.words[name])}</li>" for name in self.question.answer)
        return f"<{tag}>{listed}</{tag}><p>{marked_html(fill_values(self.question.solution[self.lang]))}</p>"


class ChoiceItem(OptionsItem):
    """One option is right: a group of radio buttons, which the arrow keys move."""

    def _form(self):
        options = [(plain(words), name) for name, words in self.words.items()]
        return widgets.RadioButtons(options=options, value=None, layout=WRAPPING)

    def given(self):
        """The chosen option's id, as a tuple."""
        return () if self.form.value is None else (self.form.value,)


class ManyChoiceItem(OptionsItem):
    """Several may be right: a check box each."""

    def _form(self):
        self.boxes = {name: widgets.Checkbox(description=plain(words), indent=False, layout=WRAPPING) for name, words in self.words.items()}
        return widgets.VBox(list(self.boxes.values()))

    def given(self):
        """The ids of the ticked options."""
        return tuple(name for name, box in self.boxes.items() if box.value)


class OrderingItem(OptionsItem):
    """Rows with two buttons each that move them; the focus follows the row, so that a key pressed again moves it on."""

    def _form(self):
        self.order = list(self.words)
        self.rows = [self._row(place) for place in range(len(self.order))]
        self.said = widgets.HTML()
        self._show()
        return widgets.VBox([*(row for row, *_ in self.rows), self.said])

    def given(self):
        """The ids in the order in which they stand."""
        return tuple(self.order)

    def move(self, place, step):
        """Swaps the option at `place` with the one above (-1) or below (+1); nothing at the ends."""
        other = place + step
        if not 0 <= other < len(self.order):
            return
        self.order[place], self.order[other] = self.order[other], self.order[place]
        self._show()
        moved = text("quiz.moved", self.lang, option=plain(self.words[self.order[other]]), place=other + 1)
        self.said.value = f'<span role="status">{escape(moved)}</span>'
        self.rows[other][2 if step < 0 else 3].focus()

    def _row(self, place):
        words = widgets.HTML(layout={"flex": "1 1 auto"})
        buttons = []
        for step, sign in ((-1, "↑"), (1, "↓")):
            button = widgets.Button(description=sign, layout={"width": "3em", "flex": "0 0 auto"})
            button.on_click(lambda _, step=step: self.move(place, step))
            buttons.append(button)
        return widgets.HBox([words, *buttons], layout={"max_width": "46em"}), words, *buttons

    def _show(self):
        for place, (name, (_, words, up, down)) in enumerate(zip(self.order, self.rows)):
            words.value = f"{place + 1}. {marked_html(self.words[name])}"
            for button, key in ((up, "quiz.move_up"), (down, "quiz.move_down")):
                button.tooltip = f"{text(key, self.lang)}: {plain(self.words[name])}"


ITEMS = {"choice": ChoiceItem, "account": ChoiceItem, "many-choice": ManyChoiceItem, "ordering": OrderingItem}
