"""What the kit's widgets have in common: layout, and a form to fall back on where widgets cannot be shown."""

from html import escape

import ipywidgets as widgets

LABEL_WIDTH = "11em"
MAX_WIDTH = "46em"


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


def stack(children):
    """The children below each other."""
    return widgets.VBox(children)


def message(wording):
    """Plain text as an HTML paragraph that a screen reader announces."""
    return f'<p role="status">{escape(str(wording))}</p>'
