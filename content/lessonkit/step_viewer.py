"""The simulated training step in notebooks: controls, and a picture of one rank's memory over time by matplotlib."""

from importlib.resources import files
from io import BytesIO
from json import loads

import ipywidgets as widgets
from zeroledger import format_bytes
from zeroledger.simulate import Settings, simulate
from zeroledger.simulate.picture import run_as_dict

from .controls import Shown, choice, labelled, message, stack, toggle
from .fonts import chart_fonts
from .i18n import language, text

SIZE_INCHES = (7.2, 5.0)
DOTS_PER_INCH = 100
MB = 10**6
US = 1e6  # microseconds in a second
DP_SIZES = (1, 2, 3, 4, 6, 8)
BUCKETS = (1, 1_000_000, 2_000_000, 4_000_000, 1_000_000_000)
LANES = ("compute", "communication", "host")
WORK_COLOURS = {"forward": "exp_avg", "recompute": "staging", "backward": "exp_avg_sq", "adam": "master_params",
                "all_gather": "gathered_params", "reduce_scatter": "grads", "all_reduce": "grads", "upload": "params",
                "offload": "main_grads"}  # the palette's colour of each kind of work


class TimelineChart:
    """One rank of a run: live bytes stacked by category, reserved bytes, the static line, the peak; lanes below."""

    def __init__(self, lang=None):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.lang, self.families = chart_fonts(lang or language())
        self.figure = Figure(SIZE_INCHES, dpi=DOTS_PER_INCH, layout="constrained")
        self.canvas = FigureCanvasAgg(self.figure)
        self.palette = loads(files(__package__).joinpath("palette.json").read_text(encoding="utf-8"))
        self.memory, self.lanes = self.figure.subplots(2, 1, sharex=True, gridspec_kw={"height_ratios": (4, 1)})

    def draw(self, run, rank, step=None):
        """Draws ``rank`` of a ``simulate.Run``, one ``step`` or all (None)."""
        plain = run_as_dict(run, [rank])
        for axes in (self.memory, self.lanes):
            axes.clear()
            axes.spines[["top", "right"]].set_visible(False)
        self._areas(plain, plain["ranks"][str(rank)])
        self._lanes(plain, plain["ranks"][str(rank)])
        self._limits(run, step)
        self._legend()

    def png(self) -> bytes:
        """The picture as it stands now."""
        picture = BytesIO()
        self.canvas.print_png(picture)
        return picture.getvalue()

    def _say(self, key, **fields):
        return text(f"page.timeline.{key}", self.lang, **fields)

    def _colour(self, category):
        return self.palette["categories"][category]["light"]

    def _areas(self, plain, seen):
        curve = seen["curve"]
        times = [US * time for time in curve["time_s"]] + [US * plain["total_s"]]
        layers = {category: [size / MB for size in sizes] + [sizes[-1] / MB] for category, sizes in curve["live"].items()}
        names = [text(f"term.{category}", self.lang) for category in layers]
        self.memory.stackplot(times, *layers.values(), step="post", labels=names, colors=map(self._colour, layers))
        reserved = [size / MB for size in curve["reserved"]] + [curve["reserved"][-1] / MB]
        ink = self.palette["ink"]["light"]
        self.memory.step(times, reserved, where="post", color=ink, linewidth=1.3, label=self._say("reserved"))
        self.memory.axhline(seen["persistent_bytes"] / MB, color=ink, linestyle="--", linewidth=1, label=self._say("static_short"))
        self._mark_peak(plain, seen["peak"], max(reserved))

    def _mark_peak(self, plain, peak, top):
        event = dict(zip(plain["fields"], plain["events"][peak["index"]]))
        instant = self._say(f"phase.{event['phase']}", layer=event["at"]) if event["step"] >= 0 else self._say("phase.start")
        label = self._say("peak", bytes=format_bytes(peak["num_bytes"], "MB"), instant=instant)
        at = (US * event["start_s"], peak["num_bytes"] / MB)
        self.memory.plot(*at, "o", color=self.palette["ink"]["light"], markersize=5)
        self.memory.set_title(label, fontfamily=self.families, fontsize=11)
        self.memory.vlines(at[0], at[1], 1.06 * max(top, at[1]), color=self.palette["ink"]["light"], linewidth=1)

    def _lanes(self, plain, seen):
        shown = [lane for lane in LANES if seen["lanes"][lane]]
        for height, lane in enumerate(reversed(shown)):
            by_kind = {}
            for index in seen["lanes"][lane]:
                event = dict(zip(plain["fields"], plain["events"][index]))
                by_kind.setdefault(event["event"], []).append((US * event["start_s"], US * (event["end_s"] - event["start_s"])))
            for kind, bars in by_kind.items():
                self.lanes.broken_barh(bars, (height + 0.15, 0.7), color=self._colour(WORK_COLOURS[kind]), label=self._say(f"work.{kind}"))
        self.lanes.set_yticks([height + 0.5 for height in range(len(shown))], [self._say(f"lane.{lane}") for lane in reversed(shown)])

    def _limits(self, run, step):
        events = [event for event in run.events if step is None or max(event.step, 0) == step]
        first, last = min(event.start_s for event in events), max(event.end_s for event in events)
        self.memory.set_xlim(US * first, max(US * last, US * first + 1e-3))
        self.memory.set_ylim(0, None)
        self.memory.set_ylabel("MB")
        self.lanes.set_xlabel("µs")

    def _legend(self):
        for legend in list(self.figure.legends):
            legend.remove()
        self.figure.legend(loc="outside lower center", ncols=4, frameon=False, prop={"family": self.families, "size": 8})
        for axes in (self.memory, self.lanes):
            for label in (*axes.get_xticklabels(), *axes.get_yticklabels(), axes.yaxis.label, axes.xaxis.label):
                label.set_fontfamily(self.families)


class Timeline(Shown):
    """Simulates at once and again whenever a control moves. The current run is ``.run``.

    The controls are public (``stage``, ``dp_size``, ``prefetch_depth``, ``reduce_bucket_numel``, ``micro_batch_size``,
    ``recompute``, ``offload``, ``model``, ``overlap``): set their ``.value`` from code as well. Other fields of
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
        self.rank = choice(say("rank"), [(str(rank), rank) for rank in range(settings.dp_size)], 0)
        self.problem = widgets.HTML()
        self.chart = TimelineChart(self.lang)
        self.picture = widgets.Image(format="png", layout=widgets.Layout(max_width="100%"))
        self._simulate()
        for name in (*self.names, "rank"):
            getattr(self, name).observe(self._changed, "value")
        super().__init__(stack([*(getattr(self, name) for name in self.names), self.rank, self.problem, self.picture]))

    names = ("model", "stage", "dp_size", "prefetch_depth", "reduce_bucket_numel", "micro_batch_size", "recompute", "offload",
             "overlap")

    def plain_text(self):
        """The run in a sentence, for where widgets cannot be shown."""
        return str(self.run)

    def html(self):
        """The same as HTML."""
        from html import escape

        return f"<p>{escape(str(self.run))}</p>"

    def _say(self, key):
        return text(f"page.timeline.{key}", self.lang)

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


def _with(options, value):
    """``options`` in order, ``value`` among them."""
    return tuple(sorted({*options, value}))
