"""An exercise once more, with inputs of the reader's own: evaluated from the bank's expressions, widgets to ask for it."""

from dataclasses import replace
from html import escape
from math import inf

import ipywidgets as widgets
from zeroledger import InvalidInput, parse_count

from .bank import NEAR_RELATIVE_ERROR, judge_values
from .controls import message, stack, typed
from .expressions import evaluate
from .feedback import comparison_html, read
from .i18n import strings, text
from .running import when_messages_are_in


def evaluate_again(exercise, written: dict[str, str], lang: str | None = None) -> tuple:
    """(exercise, its values as Exercise.evaluate() gives them) for other inputs; `written` is what stands in the fields.

    Inputs that are texts stay. ValueError naming the input, or saying what fails. Mistakes that have no positive
    value, or fail, with these inputs are left out."""
    inputs = exercise.inputs | {name: _input(value, name, exercise.inputs[name]) for name, value in written.items()}
    answer = evaluate(exercise.answer, inputs)
    if not 0 < answer < inf:
        raise ValueError(text("kit.again.no_comparison", lang, answer=answer))
    scope = inputs | {"answer": answer}
    other = replace(exercise, inputs=inputs)
    mistakes = [found for mistake in exercise.mistakes if (found := _mistake_or_none(other, mistake, scope))]
    near = max(NEAR_RELATIVE_ERROR, exercise.tolerance)
    return other, {"id": exercise.id, "answer": answer, "unit": exercise.unit, "tolerance": exercise.tolerance, "near": near, "mistakes": mistakes}


def _input(written, name, default):
    """`written` as a whole number, or as any number where the bank's own value is no whole one."""
    if not isinstance(default, float):
        return parse_count(written, name)
    try:
        return float(written)
    except ValueError:
        raise InvalidInput(name, written, f"a number such as {default}") from None


def _mistake_or_none(exercise, mistake, scope):
    try:
        value = evaluate(mistake.value, scope)
        return {"id": mistake.id, "value": value, "text": exercise.mistake_text(mistake)} if value > 0 else None
    except ValueError:
        return None


class SecondTry:
    """A folded form below a result: a field for each input that is a number, one for the prediction, and its own result."""

    def __init__(self, exercise, lang):
        self.exercise, self.lang = exercise, lang
        self.inputs = {name: typed(description=_input_name(name, lang), value=f"{value:,}")
                       for name, value in exercise.inputs.items() if isinstance(value, (int, float))}
        self.number = typed(description=text("kit.predict.number", lang))
        self.commit = widgets.Button(description=text("kit.predict.commit", lang), layout={"width": "auto"})
        self.result = widgets.HTML()
        self.commit.on_click(lambda _: self.settle())
        for field in (*self.inputs.values(), self.number):
            field.on_msg(lambda _, content, __: when_messages_are_in(self.settle) if content.get("event") == "submit" else None)
        form = stack([*self.inputs.values(), self.number, self.commit, self.result])
        self.widget = widgets.Accordion(children=[form], titles=(text("page.predict.again", lang),), selected_index=None)

    def settle(self):
        """Judges the number against the answer for the inputs as they stand, or says what cannot be read."""
        try:
            prediction = read(self.number.value, self.exercise.unit, self.lang)
            other, values = evaluate_again(self.exercise, {name: field.value for name, field in self.inputs.items()}, self.lang)
            prompt = other.prompt(self.lang)
        except ValueError as error:
            self.result.value = message(error)
            return
        feedback = judge_values(values, prediction)
        self.result.value = f"<p>{escape(prompt)}</p>{comparison_html(other, feedback, values['answer'], self.lang)}"


def _input_name(name, lang):
    key = f"term.{name}"
    return text(key, lang) if key in strings() else name
