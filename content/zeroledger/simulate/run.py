"""Run a simulated training and read what it did: losses, weights, gradients, events, memory."""

from dataclasses import dataclass, replace

from ..errors import InvalidInput, check_choice
from . import training_loop
from .batches import micro_batches
from .cluster import Cluster
from .log import COLLECTIVES, MEMORY_EVENTS, Log
from .memory import OutOfMemory, out_of_memory_text
from .settings import Settings


@dataclass(frozen=True)
class Step:
    """One optimizer step: mean loss per token in nats, learning rate, tokens, and each rank's view.

    ``gradients``: {tensor: averaged gradient} as the optimizer saw it, whole, of rank 0 where ranks hold copies;
    ``disagreement``: largest difference between two ranks' copies of a weight after the step (0 when all is well);
    ``largest_update``: largest change that Adam made to a weight, before rounding, in units of the learning rate.
    """

    loss: float
    learning_rate: float
    tokens: int
    gradients: dict
    disagreement: float
    largest_update: float


@dataclass(frozen=True)
class Peak:
    """The most that one rank had live at once. ``index`` is the event's place in the log; bytes by category."""

    rank: int
    num_bytes: int
    instant: str
    step: int
    micro_batch: int
    index: int
    live: dict
    buffers: tuple

    def as_dict(self):
        """Plain data for JSON."""
        return {**vars(self), "buffers": [list(each) for each in self.buffers]}


@dataclass(frozen=True)
class Run:
    """A finished run, or one that ended where memory did (``out_of_memory`` is then a dict, else None)."""

    settings: Settings
    steps: tuple
    weights: dict
    events: tuple
    loop_file: str
    out_of_memory: dict | None

    @property
    def losses(self):
        """Mean loss per token of each step, in nats."""
        return [step.loss for step in self.steps]

    def events_of(self, rank):
        """The events of one rank, in order."""
        return [event for event in self.events if event.rank == rank]

    def persistent_bytes(self, rank, tier="device"):
        """{category: bytes} of the state the rank holds for good on ``tier`` ("device" or "cpu")."""
        totals = dict.fromkeys((row.category for row in self.settings.recipe.rows), 0)
        for event in self.events:
            if event.rank == rank and event.step < 0 and event.tier == tier:
                totals[event.category] += event.num_bytes
        return totals

    def live_at_end(self, rank):
        """{category: bytes} live on the device after the last event."""
        live = {}
        for event in self.events_of(rank):
            if event.event in MEMORY_EVENTS and event.tier == "device":
                live[event.category] = live.get(event.category, 0) + event.num_bytes
        return {category: size for category, size in live.items() if size}

    def peak(self, rank=None):
        """The ``Peak`` of ``rank``, by default of the rank with the highest; the first moment where several tie.

        None when the run ended before the rank did anything.
        """
        tops = [(event.live_bytes, -index) for index, event in enumerate(self.events) if rank in (None, event.rank)]
        return self._peak_at(-max(tops)[1]) if tops else None

    def _peak_at(self, index):
        top = self.events[index]
        buffers = {}
        for event in self.events[:index + 1]:
            if event.rank == top.rank and event.event in MEMORY_EVENTS and event.tier == "device":
                key = (event.category, event.tensor)
                buffers[key] = buffers.get(key, 0) + event.num_bytes
        held = tuple((*key, size) for key, size in buffers.items() if size)
        live = {}
        for category, _, size in held:
            live[category] = live.get(category, 0) + size
        return Peak(top.rank, top.live_bytes, instant_of(top), top.step, top.micro_batch, index, live, held)

    def collective_numel(self, step=0, rank=0):
        """{collective: full-buffer elements} that ``rank`` took part in during ``step``."""
        totals = dict.fromkeys(COLLECTIVES, 0)
        for event in self.events:
            if event.rank == rank and event.step == step and event.event in COLLECTIVES:
                totals[event.event] += event.numel
        return totals

    def total_s(self):
        """Seconds until the last event of the cost model's clock ends."""
        return max(event.end_s for event in self.events)

    def as_dict(self, ranks=None):
        """Plain data for JSON and for a picture: see ``picture.run_as_dict``."""
        from .picture import run_as_dict

        return run_as_dict(self, ranks)

    def __str__(self):
        from ..units import format_bytes

        if self.out_of_memory:
            return out_of_memory_text(self.out_of_memory)
        top, plain = self.peak(), self.settings
        return (f"{plain.model} on {plain.dp_size} ranks, stage {plain.stage}: loss {self.losses[0]:.4f} → "
                f"{self.losses[-1]:.4f} in {len(self.steps)} steps; peak {format_bytes(top.num_bytes)} on rank {top.rank}, "
                f"{top.instant}")


def instant_of(event):
    """Where an event happened, in words: "backward of layers.2"."""
    return f"{event.phase} of {event.at}" if event.at else event.phase


def simulate(settings=None, *, train_step=None, **changes):
    """Train the small model and return the ``Run``.

    ``settings`` is a ``Settings`` (default: its defaults); ``changes`` are fields of it. ``train_step`` is your own
    version of ``training_loop.train_step``. Running out of memory ends the run and is reported in it. Raises
    ``InvalidInput`` (a ``ValueError``) for settings that cannot be.
    """
    settings = _with_changes(settings, changes)
    train_step = train_step or training_loop.train_step
    log = Log(train_step.__code__.co_filename)
    steps, cluster, report = [], None, None
    try:
        cluster = Cluster(settings, log)
        for number in range(settings.num_steps):
            log.step, log.micro_batch = number, 0
            train_step(cluster, micro_batches(settings, number))
            steps.append(_step(cluster))
    except OutOfMemory as end:
        report = end.report
    weights = cluster.whole_weights() if cluster else {}
    return Run(settings, tuple(steps), weights, tuple(log.events), log.loop_file, report)


def baseline(settings=None, **changes):
    """The ``Run`` of the same training on one rank without sharding and without mistakes."""
    return simulate(_with_changes(settings, changes).as_baseline())


def _with_changes(settings, changes):
    if settings is not None and not isinstance(settings, Settings):
        raise InvalidInput("settings", settings, "a Settings, or None for the defaults")
    for name in changes:
        check_choice("settings", name, Settings.__dataclass_fields__)
    return replace(settings or Settings(), **changes)


def _step(cluster):
    if not cluster.tokens:
        raise InvalidInput("train_step", "no loss", "a loop that loads micro-batches and calls ranks.loss() in every step")
    rate = cluster.learning_rate()
    return Step(cluster.loss_sum / cluster.tokens, rate, cluster.tokens, cluster.whole_gradients(), cluster.disagreement(),
                cluster.largest_update / rate if rate else 0.0)
