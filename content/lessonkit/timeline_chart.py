"""The picture of a simulated step: one rank's memory over time, lanes of work below. Drawn once, then only moved."""

from zeroledger import format_bytes
from zeroledger.simulate.picture import run_as_dict

from .figures import Picture, palette
from .fonts import chart_fonts
from .i18n import language, text

SIZE_INCHES = (7.2, 5.0)
MB = 10**6
US = 1e6  # microseconds in a second
HEADROOM = 1.06  # of the highest line
LANES = ("compute", "communication", "host")
WORK_COLOURS = {"forward": "exp_avg", "recompute": "staging", "backward": "exp_avg_sq", "adam": "master_params",
                "all_gather": "gathered_params", "reduce_scatter": "grads", "all_reduce": "grads", "upload": "params",
                "offload": "main_grads"}  # the palette's colour of each kind of work


class TimelineChart:
    """One rank of a run: live bytes stacked by category, reserved bytes, the static line, the peak; lanes below."""

    def __init__(self, lang=None):
        self.lang, self.families = chart_fonts(lang or language())
        self.picture = Picture(SIZE_INCHES)
        self.figure = self.picture.figure
        self.palette = palette()
        self.memory, self.lanes = self.figure.subplots(2, 1, sharex=True, gridspec_kw={"height_ratios": (4, 1)})
        self.areas, self.work, self.labels = {}, {}, ()
        self._draw_once()

    def draw(self, run, rank, step=None):
        """Draws ``rank`` of a ``simulate.Run``, one ``step`` or all (None)."""
        plain = run_as_dict(run, [rank])
        seen = plain["ranks"][str(rank)]
        self._move_areas(plain, seen)
        self._move_peak(plain, seen["peak"])
        self._move_lanes(plain, seen)
        self._limits(run, step)
        self._legend()

    def png(self) -> bytes:
        """The picture as it stands now."""
        return self.picture.png(*self.labels)

    def _say(self, key, **fields):
        return text(f"page.timeline.{key}", self.lang, **fields)

    def _colour(self, category):
        return self.palette["categories"][category]["light"]

    def _draw_once(self):
        ink = self.palette["ink"]["light"]
        for axes in (self.memory, self.lanes):
            axes.spines[["top", "right"]].set_visible(False)
        (self.reserved,) = self.memory.step([], [], where="post", color=ink, linewidth=1.3, label=self._say("reserved"))
        self.static = self.memory.axhline(0, color=ink, linestyle="--", linewidth=1, label=self._say("static_short"))
        (self.peak,) = self.memory.plot([], [], "o", color=ink, markersize=5)
        (self.mark,) = self.memory.plot([], [], color=ink, linewidth=1)
        self.memory.set_ylabel("MB")
        self.lanes.set_xlabel("µs")
        for label in (self.memory.yaxis.label, self.lanes.xaxis.label, self.memory.title):
            label.set_fontfamily(self.families)
        self.memory.title.set_fontsize(11)

    def _move_areas(self, plain, seen):
        curve = seen["curve"]
        times = [US * time for time in curve["time_s"]] + [US * plain["total_s"]]
        bottom = [0.0] * len(times)
        for category, sizes in curve["live"].items():
            top = [low + size / MB for low, size in zip(bottom, (*sizes, sizes[-1]))]
            self._area(category).set_data(times, bottom, top)
            bottom = top
        for category, area in self.areas.items():
            area.set_visible(category in curve["live"])
        reserved = [size / MB for size in (*curve["reserved"], curve["reserved"][-1])]
        self.reserved.set_data(times, reserved)
        self.static.set_ydata([seen["persistent_bytes"] / MB] * 2)
        self.top = max(*reserved, *bottom)

    def _area(self, category):
        if category not in self.areas:
            self.areas[category] = self.memory.fill_between([0, 1], 0, 0, step="post", color=self._colour(category), linewidth=0,
                                                            label=text(f"term.{category}", self.lang))
        return self.areas[category]

    def _move_peak(self, plain, peak):
        event = dict(zip(plain["fields"], plain["events"][peak["index"]]))
        instant = self._say(f"phase.{event['phase']}", layer=event["at"]) if event["step"] >= 0 else self._say("phase.start")
        self.memory.set_title(self._say("peak", bytes=format_bytes(peak["num_bytes"], "MB"), instant=instant))
        x, y = US * event["start_s"], peak["num_bytes"] / MB
        self.peak.set_data([x], [y])
        self.mark.set_data([x, x], [y, HEADROOM * max(self.top, y)])

    def _move_lanes(self, plain, seen):
        shown = [lane for lane in LANES if seen["lanes"][lane]]
        bars = {kind: [] for kind in self.work}
        for height, lane in enumerate(reversed(shown)):
            for index in seen["lanes"][lane]:
                event = dict(zip(plain["fields"], plain["events"][index]))
                start, end = US * event["start_s"], US * event["end_s"]
                low, high = height + 0.15, height + 0.85
                bars.setdefault(event["event"], []).append([(start, low), (start, high), (end, high), (end, low)])
        for kind, corners in bars.items():
            self._work(kind).set(verts=corners, visible=bool(corners))
        self.lanes.set_yticks([height + 0.5 for height in range(len(shown))], [self._say(f"lane.{lane}") for lane in reversed(shown)],
                              fontfamily=self.families)
        self.lanes.set_ylim(0, len(shown))

    def _work(self, kind):
        if kind not in self.work:
            self.work[kind] = self.lanes.broken_barh([], (0, 1), color=self._colour(WORK_COLOURS[kind]), label=self._say(f"work.{kind}"))
        return self.work[kind]

    def _limits(self, run, step):
        events = [event for event in run.events if step is None or max(event.step, 0) == step]
        first, last = min(event.start_s for event in events), max(event.end_s for event in events)
        self.memory.set_xlim(US * first, max(US * last, US * first + 1e-3))
        self.memory.set_ylim(0, HEADROOM * self.top)

    def _legend(self):
        """Made anew only when other things are shown than before."""
        drawn = [*self.areas.values(), self.reserved, self.static, *self.work.values()]
        shown = [artist for artist in drawn if artist.get_visible()]
        labels = tuple(artist.get_label() for artist in shown)
        if labels == self.labels:
            return
        self.labels = labels
        for legend in list(self.figure.legends):
            legend.remove()
        self.figure.legend(shown, labels, loc="outside lower center", ncols=4, frameon=False, prop={"family": self.families, "size": 8})
