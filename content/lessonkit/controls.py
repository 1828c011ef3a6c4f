"""What the kit's widgets have in common: layout, and a form to fall back on where widgets cannot be shown."""

from html import escape

import ipywidgets as widgets

from .i18n import text
from .marked import marked_html

LABEL_WIDTH = "11em"
MAX_WIDTH = "46em"
CONFIDENCES = (1, 2, 3)


class Shown:
    """Shows a widget as the value of a cell. Saved notebooks and pages without widgets show html() or plain_text()."""

    def __init__(self, widget):
        self.widget = widget

    def _repr_mimebundle_(self, include=None, exclude=None, **_):
        view = self.widget._repr_mimebundle_()
        return view | {"text/plain": self.plain_text(), "text/html": self.html()}


def choice(label, options, value):
    """A drop-down of (title, value) pairs."""
    return labelled(widgets.Dropdown(description=label, options=options, value=value))


def toggle(label, options, value):
    """A row of buttons, one of them pressed."""
    buttons = labelled(widgets.ToggleButtons(description=label, options=options, value=value))
    buttons.style.button_width = "4em"
    return buttons


def labelled(control):
    """`control` with room for a label in either language; one width, so that they line up."""
    control.style.description_width = LABEL_WIDTH
    control.layout.width, control.layout.max_width = "100%", MAX_WIDTH
    return control


def typed(**fields):
    """A text field that tells the kernel what was typed as a whole, with Enter or on leaving it: a front end holds single
    letters back while the kernel is busy, and a number would be committed without its last."""
    return labelled(widgets.Text(continuous_update=False, **fields))


def stack(children):
    """The children below each other."""
    return widgets.VBox(children)


def message(wording):
    """Plain text as an HTML paragraph that a screen reader announces."""
    return f'<p role="status">{escape(str(wording))}</p>'


def confidence_toggle(lang):
    """How sure the reader is, in three steps; none is chosen before they choose."""
    options = [(text(f"kit.predict.confidence_{level}", lang), level) for level in CONFIDENCES]
    buttons = toggle(text("kit.predict.confidence", lang), options, None)
    buttons.style.button_width = "auto"
    return buttons


class HintButton:
    """`.button` shows one more of the hints in `.room` each time; `make_hints` is called for the first."""

    def __init__(self, make_hints, lang):
        self.make_hints, self.lang, self.shown = make_hints, lang, 0
        self.button = widgets.Button(description=text("quiz.hint", lang), layout={"width": "auto"})
        self.room = widgets.HTML()
        self.button.on_click(lambda _: self.show())

    def show(self):
        """One hint more; after the last one the button rests."""
        hints = self.make_hints()
        self.shown = min(self.shown + 1, len(hints))
        lines = [f"<b>{escape(text('quiz.hint_number', self.lang, number=at, count=len(hints)))}</b> {marked_html(hint)}"
                 for at, hint in enumerate(hints[: self.shown], 1)]
        self.room.value = f'<div role="status">{"".join(f"<p>{line}</p>" for line in lines)}</div>'
        self.button.disabled = self.shown == len(hints)
