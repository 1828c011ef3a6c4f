"""A matplotlib figure that is laid out when its labels change and otherwise only redrawn.

matplotlib is imported when a figure is made. pyplot stays out: a plain Figure with the Agg canvas starts faster and
leaves no global state behind. Laying out costs as much as drawing, so it is not repeated while a slider is dragged.
"""

from importlib.resources import files
from io import BytesIO
from json import loads

DOTS_PER_INCH = 100
QUICK = {"compress_level": 1}  # the picture goes to the next process, not over a network


def palette():
    """The colours that notebooks and pages share, as palette.json has them."""
    return loads(files(__package__).joinpath("palette.json").read_text(encoding="utf-8"))


class Picture:
    """`.figure` to draw into, and its PNG."""

    def __init__(self, size_inches):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.figure = Figure(size_inches, dpi=DOTS_PER_INCH)
        self.canvas = FigureCanvasAgg(self.figure)
        self._laid_out_for = None

    def png(self, *labels) -> bytes:
        """The picture as it stands now. It is laid out anew when `labels`, whatever takes up room, are not those of the last call."""
        room = (*labels, *(len(label.get_text()) for axes in self.figure.axes for label in axes.get_yticklabels()))
        is_new, self._laid_out_for = room != self._laid_out_for, room
        self.figure.set_layout_engine("constrained" if is_new else "none")
        picture = BytesIO()
        self.canvas.print_png(picture, pil_kwargs=QUICK)
        return picture.getvalue()
