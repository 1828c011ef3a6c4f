"""The predict cell of a lesson notebook: asks for a number first, computes and shows the result only afterwards."""

from html import escape

import ipywidgets as widgets

from . import record
from .again import SecondTry
from .bank import judge
from .controls import HintButton, Shown, confidence_toggle, message, stack, typed
from .feedback import read, result_html
from .hints import number_hints
from .i18n import language, text
from .running import output_of, when_messages_are_in


class Predictor(Shown):
    """Prompt, number, reason, confidence, commit, skip and hints. Nothing of the answer exists before commit or skip.

    Afterwards `.feedback` holds the Feedback, or stays None where the reader skipped; `.done` says that it is over, and
    `.again` asks the same with other inputs."""

    def __init__(self, exercise):
        self.exercise, self.lang = exercise, language()
        self.feedback, self.done, self.again = None, False, None
        self.number = typed(description=self._say("number"), placeholder=self._number_hint())
        self.reason = typed(description=self._say("reason"))
        self.confidence = confidence_toggle(self.lang)
        self.commit = widgets.Button(description=self._say("commit"), button_style="primary", layout={"width": "auto"})
        self.skip = widgets.Button(description=self._say("skip"), layout={"width": "auto"})
        self.hint = HintButton(lambda: number_hints(exercise, self.lang), self.lang)
        self.result = widgets.HTML()
        self.commit.on_click(lambda _: self._commit())
        self.skip.on_click(lambda _: self._finish())
        for field in (self.number, self.reason):
            field.on_msg(lambda _, content, __: when_messages_are_in(self._commit) if content.get("event") == "submit" else None)
        buttons = widgets.HBox([self.commit, self.skip, self.hint.button], layout={"flex_flow": "row wrap"})
        super().__init__(stack([widgets.HTML(self.html()), self.number, self.reason, self.confidence, buttons, self.hint.room, self.result]))

    def plain_text(self):
        """The question, for where widgets cannot be shown; never the answer."""
        return f"{self._say('heading')}: {self.exercise.prompt(self.lang)}"

    def html(self):
        """The same as HTML."""
        return f"<p><b>{escape(self._say('heading'))}</b><br>{escape(self.exercise.prompt(self.lang))}</p>"

    def _say(self, name, **fields):
        return text(f"kit.predict.{name}", self.lang, **fields)

    def _number_hint(self):
        return self._say("number_hint" if self.exercise.unit == "bytes" else "count_hint")

    def _commit(self):
        if self.done:
            return
        try:
            prediction = read(self.number.value, self.exercise.unit, self.lang)
        except ValueError as error:
            self.result.value = message(error)
            return
        self._finish(prediction)

    def _finish(self, prediction=None):
        """Closes the controls, then computes: the gate opens once."""
        if self.done:
            return
        self.done = True
        for control in (self.number, self.reason, self.confidence, self.commit, self.skip, self.hint.button):
            control.disabled = True
        reason, confidence = self.reason.value.strip(), self.confidence.value
        record.remember(self.exercise.id, prediction, self.number.value.strip(), reason, confidence)
        if prediction is not None:
            self.feedback = judge(self.exercise, prediction)
        self.result.value = result_html(self.exercise, self.feedback, output_of(self.exercise.code), self.lang, reason, confidence)
        self.again = SecondTry(self.exercise, self.lang)
        self.widget.children = (*self.widget.children, self.again.widget)
