"""How much communication shows: a step played layer by layer on two streams, one computing and one communicating.

The wire is one queue: gathers and reductions take turns in the order they are asked for. A layer's gather is asked
for when the layer ``prefetch_depth`` before it starts to compute (depth 0: when its predecessor is done), its
reduction when its backward ends.
"""

from dataclasses import dataclass

from .errors import InvalidInput, check_count, check_flag, check_number

TIMES = ("forward_s", "backward_s", "gather_forward_s", "gather_backward_s", "reduce_s")


@dataclass(frozen=True)
class LayerCost:
    """Seconds of one layer: computing (recomputation belongs to backward) and what it sends; 0 where nothing is sent."""

    name: str
    forward_s: float
    backward_s: float
    gather_forward_s: float = 0.0
    gather_backward_s: float = 0.0
    reduce_s: float = 0.0

    def __post_init__(self):
        for field in TIMES:
            check_number(f"{field} of {self.name}", getattr(self, field))


@dataclass(frozen=True)
class Event:
    """One bar of the timeline, in seconds from the start of the step."""

    stream: str  # "compute" or "communication"
    kind: str  # "forward", "backward", "gather" or "reduce"; "step" for what follows the last backward
    layer: str
    micro_batch: int
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Timeline:
    """Events of one step, in the order they were issued."""

    events: tuple

    @property
    def total_s(self):
        """Seconds from start to the end of the last event."""
        return max((event.end_s for event in self.events), default=0.0)

    def busy_s(self, stream):
        """Seconds ``stream`` works."""
        return sum(event.end_s - event.start_s for event in self.events if event.stream == stream)

    @property
    def compute_s(self):
        """Seconds of computing."""
        return self.busy_s("compute")

    @property
    def communication_s(self):
        """Seconds of communicating, hidden or not."""
        return self.busy_s("communication")

    @property
    def exposed_s(self):
        """Seconds in which nothing computes: the communication that overlap could not hide."""
        return max(self.total_s - self.compute_s, 0.0)

    def exposed_by_layer(self):
        """``{layer: seconds its computations waited}``, and under "end of step" what outlasts the last computation."""
        waits, free_at = {}, 0.0
        for event in self.events:
            if event.stream == "compute":
                waits[event.layer] = waits.get(event.layer, 0.0) + event.start_s - free_at
                free_at = event.end_s
        waits["end of step"] = self.total_s - free_at
        return waits

    def as_dict(self):
        """Plain data for JSON."""
        return {"events": [dict(vars(event)) for event in self.events], "total_s": self.total_s,
                "compute_s": self.compute_s, "communication_s": self.communication_s, "exposed_s": self.exposed_s}


@dataclass(frozen=True)
class _Task:
    kind: str
    layer: str
    micro_batch: int
    compute_s: float
    gather_s: float
    reduce_s: float


def play_step(layers, prefetch_depth=1, gradient_accumulation_steps=1, reduce_every_micro_batch=True, step_gather_s=0.0):
    """The ``Timeline`` of one optimizer step over ``layers`` (``LayerCost``, in forward order).

    ``reduce_every_micro_batch`` False reduces in the last micro-batch only; ``step_gather_s`` is communication after
    the optimizer step (stages 1 and 2 gather the new weights), which nothing hides. Raises ``InvalidInput``.
    """
    layers = tuple(layers)
    if not layers or not all(isinstance(layer, LayerCost) for layer in layers):
        raise InvalidInput("layers", layers, "at least one LayerCost")
    depth = check_count("prefetch_depth", prefetch_depth, 0, 10**6)
    steps = check_count("gradient_accumulation_steps", gradient_accumulation_steps, 1, 10**6)
    check_flag("reduce_every_micro_batch", reduce_every_micro_batch)
    tasks = []
    for micro_batch in range(steps):
        reduces = reduce_every_micro_batch or micro_batch == steps - 1
        tasks += [_Task("forward", each.name, micro_batch, each.forward_s, each.gather_forward_s, 0.0)
                  for each in layers]
        tasks += [_Task("backward", each.name, micro_batch, each.backward_s, each.gather_backward_s,
                        each.reduce_s if reduces else 0.0) for each in reversed(layers)]
    return Timeline(tuple(_play(tasks, depth, check_number("step_gather_s", step_gather_s))))


def _play(tasks, depth, step_gather_s):
    """The events: communication as it is asked for, each computation once its predecessor and its weights are there."""
    player, compute_free = _Player(tasks), 0.0
    for number, task in enumerate(tasks):
        player.gather_up_to(number, compute_free)
        start = max(compute_free, player.gathered_at[number])
        player.gather_up_to(number + depth, start)
        compute_free = start + task.compute_s
        player.events.append(Event("compute", task.kind, task.layer, task.micro_batch, start, compute_free))
        player.gather_up_to(number + 1, compute_free)  # the next weights before these gradients
        player.send(task, "reduce", task.reduce_s, compute_free)
    player.send(tasks[-1], "step", step_gather_s, compute_free)
    return player.events


class _Player:
    """The wire: what was gathered when, when it is free again, and every event so far."""

    def __init__(self, tasks):
        self.tasks, self.gathered_at, self.wire_free, self.events = tasks, [], 0.0, []

    def gather_up_to(self, number, asked_at):
        """Ask for the weights of every task up to ``number`` that nobody asked for yet."""
        while len(self.gathered_at) <= min(number, len(self.tasks) - 1):
            task = self.tasks[len(self.gathered_at)]
            self.gathered_at.append(self.send(task, "gather", task.gather_s, asked_at))

    def send(self, task, kind, seconds, asked_at):
        """When a message of ``seconds`` asked for at ``asked_at`` has arrived; nothing is sent for 0 seconds."""
        if not seconds:
            return 0.0
        start = max(asked_at, self.wire_free)
        self.wire_free = start + seconds
        self.events.append(Event("communication", kind, task.layer, task.micro_batch, start, self.wire_free))
        return self.wire_free
