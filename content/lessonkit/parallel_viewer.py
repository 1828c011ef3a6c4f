"""Lesson 6's chart in notebooks: model states and activations of one rank for each tensor-parallel degree, with controls."""

import ipywidgets as widgets
from zeroledger import GB, PRESETS, format_bytes

from . import parallel_books as books
from .chart_text import category_name
from .controls import Shown, choice, labelled, stack, toggle
from .figures import Picture, palette
from .fonts import chart_fonts
from .i18n import language, text
from .tables import rows_html

SIZE_INCHES = (7.2, 4.2)
FADED = 0.35  # opacity of the bars that are not chosen


class Parallel(Shown):
    """Draws at once and again whenever a control moves.

    The controls are public (``model``, ``stage``, ``tp_size``, ``recompute``, ``sequence_parallel``): set their ``.value``
    from code as well. Raises ``TypeError`` for a start setting that does not exist."""

    def __init__(self, **start):
        if unknown := set(start) - set(books.START):
            raise TypeError(f"parallel: {', '.join(sorted(unknown))}; accepted are {', '.join(books.START)}")
        start = {**books.START, **start}
        self.lang, self.families = chart_fonts(language())
        self.model = choice(self._say("model"), [(PRESETS[name].title, name) for name in books.MODELS], start["model"])
        self.stage = toggle(text("page.explore.stage", self.lang), books.STAGES, start["stage"])
        self.tp_size = toggle(self._say("tp"), books.TP_SIZES, start["tp_size"])
        modes = [(text(f"page.timeline.recompute.{name}", self.lang), name) for name in books.RECOMPUTE]
        self.recompute = toggle(text("page.timeline.recompute", self.lang), modes, start["recompute"])
        self.sequence_parallel = labelled(widgets.Checkbox(description=self._say("sp"), value=start["sequence_parallel"], indent=False))
        self.drawing = Picture(SIZE_INCHES)
        self.axes = self.drawing.figure.add_subplot()
        self.picture = widgets.Image(format="png", layout=widgets.Layout(max_width="100%"))
        self.table = widgets.HTML()
        self._show()
        controls = [self.model, self.stage, self.tp_size, self.recompute, self.sequence_parallel]
        for control in controls:
            control.observe(lambda _change: self._show(), "value")
        super().__init__(stack([*controls, self.picture, self.table]))

    def plain_text(self):
        """The chosen arrangement's sum, for where widgets cannot be shown."""
        return f"TP {self.tp_size.value}: {format_bytes(sum(self._bars()[self.tp_size.value].values()), 'GB')}"

    def html(self):
        """Every arrangement as an HTML table."""
        head = [self._say("layout"), *(text(f"term.{name}", self.lang) for name in ("model_states", "activations", "total"))]
        return rows_html(head, [self._row(tp, bar) for tp, bar in self._bars().items()])

    def _say(self, name):
        return text(f"page.parallel.{name}", self.lang)

    def _bars(self):
        """{TP degree: {category: bytes}} for the settings as they stand."""
        settings = self.sequence_parallel.value, self.recompute.value
        return {tp: dict(books.state_rows(self.model.value, tp, self.stage.value))
                | {"activations": books.activation_bytes(self.model.value, tp, *settings)} for tp in books.TP_SIZES}

    def _row(self, tp, bar):
        total, kept = sum(bar.values()), bar["activations"]
        return [f"{tp} × {books.NUM_CARDS // tp}", *(format_bytes(size, "GB") for size in (total - kept, kept, total))]

    def _show(self):
        bars = self._bars()
        self.axes.clear()
        for legend in list(self.drawing.figure.legends):
            legend.remove()
        self._draw(bars)
        self.picture.value = self.drawing.png()
        self.table.value = self.html()

    def _draw(self, bars):
        colours, places = palette()["categories"], range(len(bars))
        opacity = [1 if tp == self.tp_size.value else FADED for tp in bars]
        bottom = [0] * len(bars)
        for category in next(iter(bars.values())):
            heights = [bar[category] / GB for bar in bars.values()]
            drawn = self.axes.bar(places, heights, 0.62, bottom, color=colours[category]["light"], label=category_name(category, self.lang))
            for one, alpha in zip(drawn, opacity):
                one.set_alpha(alpha)
            bottom = [low + height for low, height in zip(bottom, heights)]
        for place, top in zip(places, bottom):
            self.axes.text(place, top, format_bytes(round(top * GB), "GB"), ha="center", va="bottom", fontsize=9, fontfamily=self.families)
        self.axes.set_xticks(places, [f"TP {tp}" for tp in bars])
        self.axes.set_ylim(0, 1.1 * max(bottom))
        self.axes.set_ylabel("GB")
        self.axes.spines[["top", "right"]].set_visible(False)
        self.drawing.figure.legend(loc="outside lower center", ncols=len(next(iter(bars.values()))), frameon=False,
                                   prop={"family": self.families, "size": 9})
