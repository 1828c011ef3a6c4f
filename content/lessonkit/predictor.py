"""The predict cell of a lesson notebook: asks for a number first, computes and shows the result only afterwards."""

from html import escape

import ipywidgets as widgets

from .bank import judge
from .controls import Shown, labelled, message, stack, toggle
from .feedback import read, result_html
from .i18n import language, text
from .running import output_of

CONFIDENCES = (1, 2, 3)


class Predictor(Shown):
    """Prompt, number, reason, confidence, commit and skip. Nothing of the answer exists before one of the two.

    Afterwards `.feedback` holds the Feedback, or stays None where the reader skipped; `.done` says that it is over."""

    def __init__(self, exercise):
        self.exercise, self.lang = exercise, language()
        self.feedback, self.done = None, False
        self.number = labelled(widgets.Text(description=self._say("number"), placeholder=self._number_hint()))
        self.reason = labelled(widgets.Text(description=self._say("reason")))
        self.confidence = toggle(self._say("confidence"), [(self._say(f"confidence_{level}"), level) for level in CONFIDENCES], 2)
        self.confidence.style.button_width = "auto"
        self.commit = widgets.Button(description=self._say("commit"), button_style="primary", layout={"width": "auto"})
        self.skip = widgets.Button(description=self._say("skip"), layout={"width": "auto"})
        self.result = widgets.HTML()
        self.commit.on_click(lambda _: self._commit())
        self.skip.on_click(lambda _: self._finish())
        self.number.on_msg(lambda _, content, __: self._commit() if content.get("event") == "submit" else None)
        buttons = widgets.HBox([self.commit, self.skip])
        super().__init__(stack([widgets.HTML(self.html()), self.number, self.reason, self.confidence, buttons, self.result]))

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
            prediction = read(self.number.value, self.exercise.unit)
        except ValueError as error:
            self.result.value = message(self._say("needs_number", reason=error))
            return
        self._finish(prediction)

    def _finish(self, prediction=None):
        """Closes the controls, then computes: the gate opens once."""
        if self.done:
            return
        self.done = True
        for control in (self.number, self.reason, self.confidence, self.commit, self.skip):
            control.disabled = True
        if prediction is not None:
            self.feedback = judge(self.exercise, prediction)
        self.result.value = result_html(self.exercise, self.feedback, output_of(self.exercise.code), self.lang)
