"""The predictions made in notebooks beside the results, and the file that takes them to the site's page "My calibration"."""

from base64 import b64encode
from html import escape
from math import log

import ipywidgets as widgets

from . import record
from .bank import ids, judge, load
from .controls import Shown, stack
from .feedback import amount, error_text
from .i18n import language, text
from .tables import rows_html

COLUMNS = ("question", "prediction", "result", "confidence", "error")


class Calibration(Shown):
    """A table, confident errors first, and a link that saves the predictions as JSON. `.refresh()` shows the latest."""

    def __init__(self):
        self.lang = language()
        self.table = widgets.HTML()
        self.button = widgets.Button(description=text("kit.calibration.refresh", self.lang), layout={"width": "auto"})
        self.button.on_click(lambda _: self.refresh())
        self.refresh()
        super().__init__(stack([self.button, self.table]))

    def refresh(self):
        """Shows the predictions made so far."""
        self.table.value = self.html() + ("" if record.is_empty() else download_html(self.lang))

    def plain_text(self):
        """The file's text, for where widgets cannot be shown."""
        return record.as_json() if not record.is_empty() else text("kit.calibration.none", self.lang)

    def html(self):
        """The table, or that there is nothing yet."""
        rows = by_concern(judged())
        if not rows:
            return f'<p role="status">{escape(text("kit.calibration.none", self.lang))}</p>'
        head = [text(f"page.calibration.{name}", self.lang) for name in COLUMNS]
        return rows_html(head, [_row(*row, self.lang) for row in rows])


def judged() -> list[tuple]:
    """(exercise, prediction, feedback) of each prediction that was not skipped, of exercises that there still are."""
    known = set(ids())
    rows = [(load(exercise_id), prediction) for exercise_id, prediction in record.made().items()
            if exercise_id in known and prediction["value"] is not None]
    return [(exercise, prediction, judge(exercise, prediction["value"])) for exercise, prediction in rows]


def by_concern(rows: list[tuple]) -> list[tuple]:
    """Wrong ones before right ones, the surest first, then the largest error, as on the page."""
    def concern(row):
        _, prediction, feedback = row
        off = abs(log(max(1 + feedback.relative_error, 1e-12)))
        return feedback.verdict == "right", -(prediction["confidence"] or 0), -off
    return sorted(rows, key=concern)


def download_html(lang: str) -> str:
    """A link that holds the file itself, so that nothing is sent anywhere."""
    address = f"data:application/json;base64,{b64encode(record.as_json().encode()).decode()}"
    words = text("kit.calibration.download", lang, name=record.FILE_NAME)
    where = text("kit.calibration.kept", lang, name=record.FILE_NAME) if record.is_kept() else text("kit.calibration.take_along", lang)
    return f'<p><a href="{address}" download="{record.FILE_NAME}" style="text-decoration:underline">{escape(words)}</a><br>{escape(where)}</p>'


def _row(exercise, prediction, feedback, lang):
    confidence = prediction["confidence"]
    said = text(f"kit.predict.confidence_{confidence}", lang) if confidence else "–"
    return [exercise.prompt(lang), amount(prediction["value"], exercise.unit), amount(feedback.answer, exercise.unit), said,
            error_text(feedback.relative_error)]
