"""The simulated training step in notebooks: controls, one rank's memory over time, and what a mistake does to the training."""

import ipywidgets as widgets
from zeroledger.simulate import Settings, simulate
from zeroledger.simulate.effect import effect
from zeroledger.simulate.settings import BREAKS

from .controls import Shown, choice, labelled, message, stack, toggle
from .effect_text import effect_html
from .i18n import language, text
from .timeline_chart import TimelineChart

DP_SIZES = (1, 2, 3, 4, 6, 8)
BUCKETS = (1, 1_000_000, 2_000_000, 4_000_000, 1_000_000_000)
NO_MISTAKE = ()


class Timeline(Shown):
    """Simulates at once and again whenever a control moves. The current run is ``.run``.

    The controls are public (``stage``, ``dp_size``, ``prefetch_depth``, ``reduce_bucket_numel``, ``micro_batch_size``,
    ``recompute``, ``offload``, ``model``, ``overlap``, ``breaks``): set their ``.value`` from code as well. Other fields of
    ``zeroledger.simulate.Settings`` are taken from ``start`` and stay. Raises ``ValueError`` for a start that cannot be.
    """

    def __init__(self, **start):
        self.lang, settings = language(), Settings(**start)
        self.fixed = {name: value for name, value in start.items() if name not in self.names}
        say = self._say
        self.model = toggle(say("model"), [(say(f"model.{name}"), name) for name in ("mlp", "transformer")], settings.model)
        self.stage = toggle(say("stage"), (0, 1, 2, 3), settings.stage)
        self.dp_size = self._slider("dp_size", _with(DP_SIZES, settings.dp_size), settings.dp_size)
        self.prefetch_depth = self._slider("prefetch_depth", _with(range(5), settings.prefetch_depth), settings.prefetch_depth)
        self.reduce_bucket_numel = self._slider("reduce_bucket_numel", _with(BUCKETS, settings.reduce_bucket_numel),
                                                settings.reduce_bucket_numel)
        self.micro_batch_size = self._slider("micro_batch_size", _with(range(1, 9), settings.micro_batch_size),
                                             settings.micro_batch_size)
        self.recompute = toggle(say("recompute"), [(say(f"recompute.{name}"), name) for name in ("none", "selective", "full")],
                                settings.recompute)
        self.offload = toggle(say("offload"), [(say(f"offload.{name}"), name) for name in ("none", "optimizer", "params")],
                              settings.offload)
        self.overlap = labelled(widgets.Checkbox(description=say("overlap"), value=settings.overlap, indent=False))
        self.breaks = choice(say("breaks"), self._mistakes(settings.breaks), settings.breaks)
        self.rank = choice(say("rank"), [(str(rank), rank) for rank in range(settings.dp_size)], 0)
        self.problem, self.effect = widgets.HTML(), widgets.HTML()
        self.chart = TimelineChart(self.lang)
        self.picture = widgets.Image(format="png", layout=widgets.Layout(max_width="100%"))
        self._simulate()
        for name in (*self.names, "rank"):
            getattr(self, name).observe(self._changed, "value")
        super().__init__(stack([*(getattr(self, name) for name in self.names), self.rank, self.problem, self.picture, self.effect]))

    names = ("model", "stage", "dp_size", "prefetch_depth", "reduce_bucket_numel", "micro_batch_size", "recompute", "offload",
             "overlap", "breaks")

    def plain_text(self):
        """The run in a sentence, for where widgets cannot be shown."""
        return str(self.run)

    def html(self):
        """The same as HTML."""
        from html import escape

        return f"<p>{escape(str(self.run))}</p>"

    def _say(self, key):
        return text(f"page.timeline.{key}", self.lang)

    def _mistakes(self, started_with):
        """(title, value) of no mistake, of each known one, and of several at once where the start asks for them."""
        single = [((name,), self._say(f"breaks.{name}")) for name in BREAKS]
        several = [] if len(started_with) < 2 else [(started_with, ", ".join(self._say(f"breaks.{name}") for name in started_with))]
        return [(title, value) for value, title in [(NO_MISTAKE, self._say("breaks.none")), *single, *several]]

    def _slider(self, name, options, value):
        return labelled(widgets.SelectionSlider(description=self._say(name), options=options, value=value))

    def _changed(self, _change):
        try:
            self._simulate()
        except ValueError as error:  # settings that do not go together: said, and the picture stays
            self.problem.value = message(text("page.timeline.failed", self.lang, reason=error))

    def _simulate(self):
        chosen = {name: getattr(self, name).value for name in self.names}
        self.run = simulate(**self.fixed, **chosen)
        self.problem.value = ""
        rank = min(self.rank.value, self.run.settings.dp_size - 1)
        if len(self.rank.options) != self.run.settings.dp_size:
            self.rank.options = [(str(number), number) for number in range(self.run.settings.dp_size)]
            self.rank.value = rank
        self.chart.draw(self.run, rank)
        self.picture.value = self.chart.png()
        self._compare()

    def _compare(self):
        """With a mistake, says what it does to the training; a run that ended before its first step has nothing to compare."""
        compares = self.run.settings.breaks and self.run.steps
        self.effect.value = effect_html(effect(self.run), self.lang) if compares else ""


def _with(options, value):
    """``options`` in order, ``value`` among them."""
    return tuple(sorted({*options, value}))
