"""Every way to train a model on given cards, kept when it fits, ranked by estimated step time.

Memory is ``budget``'s (by ``quick_budget``), time ``StepTimes``' and ``offload_verdict``'s: peak rates of computing at an
``efficiency``, links at full rate, perfect overlap of data-parallel traffic. Use the order, not the seconds.
"""

from dataclasses import dataclass
from typing import NamedTuple

from .budgets import Budget, budget, card_bytes
from .collectives import interconnect
from .errors import ConfigError, InvalidInput, check_choice, check_count, check_number
from .mesh import Mesh
from .offload import Placement
from .offload_time import SERVER_2020, Machine
from .plan_space import OFFLOADS, layouts, micro_batches
from .plan_time import OffloadTimes
from .quick_budget import QuickBudgets
from .quick_time import StepTimes
from .training import Training

RECOMPUTES = ("none", "selective", "full")


class Plan(NamedTuple):
    """One configuration that fits. Bytes are live bytes of the fullest rank, ``step_s`` estimated seconds of a step."""

    step_s: float
    stage: int
    dp: int
    tp: int
    pp: int
    micro_batch_size: int
    gradient_accumulation_steps: int
    recompute: str
    sequence_parallel: bool
    offload: str
    peak_bytes: int
    high_bytes: int

    def training(self, base):
        """The ``Training`` of this plan; ``base`` gives what plans do not vary."""
        return base.changed(
            mesh=Mesh(dp=self.dp, tp=self.tp, pp=self.pp), stage=self.stage, micro_batch_size=self.micro_batch_size,
            gradient_accumulation_steps=self.gradient_accumulation_steps, recompute=self.recompute,
            sequence_parallel=self.sequence_parallel, placement=OFFLOADS[self.offload])


@dataclass(frozen=True)
class Plans:
    """The result of ``plan``: ``fitting`` by step time, and what became of the rest.

    ``failure`` is the fastest configuration that does not fit, ``failure_budget`` its ``Budget``; ``close`` counts those
    too close to call, ``over`` those that do not fit, ``invalid`` {reason: how many} those that cannot be run.
    """

    base: Training
    card_bytes: int
    global_batch_size: int
    fitting: tuple
    close: int
    over: int
    host_over: int
    invalid: dict
    failure: Plan | None
    failure_budget: Budget | None

    @property
    def considered(self):
        """Configurations looked at."""
        return len(self.fitting) + self.close + self.over + self.host_over + sum(self.invalid.values())

    @property
    def failure_reason(self):
        """{"account", "account_bytes", "bytes_over", "instant"} of ``failure``, None without one."""
        if self.failure_budget is None:
            return None
        account, size = self.failure_budget.largest_account
        over = -self.failure_budget.fits(self.card_bytes).best_margin_bytes
        return {"account": account, "account_bytes": size, "bytes_over": over, "instant": self.failure_budget.peak.name}

    def budget(self, plan):
        """The full ``Budget`` of one of the plans."""
        return budget(plan.training(self.base))

    def as_dict(self, limit=20):
        """Plain data for JSON, with the ``limit`` best plans."""
        limit = check_count("limit", limit, 0)
        return {"card_bytes": self.card_bytes, "global_batch_size": self.global_batch_size, "considered": self.considered,
                "fit": len(self.fitting), "too_close_to_call": self.close, "do_not_fit": self.over,
                "do_not_fit_host": self.host_over, "invalid": self.invalid,
                "plans": [each._asdict() for each in self.fitting[:limit]],
                "failure": None if self.failure is None else self.failure._asdict() | {"reason": self.failure_reason}}

    def table(self, unit="GB", limit=20):
        """Text for people."""
        from .budget_tables import plans_table

        return plans_table(self, unit, limit)

    def __str__(self):
        return self.table()


def plan(model, num_gpus, card="80 GB", seq_length=2048, global_batch_size=512, *, engine="ideal", gpus_per_node=8,
         device="a100", link="infiniband-hdr", node_link="nvlink-a100", machine=SERVER_2020, efficiency=0.5,
         stages=(0, 1, 2, 3), recomputes=RECOMPUTES, offloads=("none", "optimizer", "all"), max_micro_batch_size=64,
         **fields):
    """The ``Plans`` of training ``model`` on ``num_gpus`` cards (a number or several to try).

    ``card``: a ``Card``, its name or bytes; batch sizes in sequences, ``seq_length`` in tokens. Tensor parallelism stays
    within a node of ``gpus_per_node``; groups that fit in a node use ``node_link``, others ``link``. ``offloads`` are keys
    of ``plan_space.OFFLOADS``. ``fields`` are further ``Training`` fields (attention, loss_chunks, context_bytes …).
    Configurations that cannot be run are counted with the reason. Raises ``InvalidInput``.
    """
    base = Training(model, stage=3, engine=engine, seq_length=seq_length, ranks_per_node=gpus_per_node, **fields)
    batch = check_count("global_batch_size", global_batch_size, 1, 10**9, ConfigError)
    for field, values, known in (("stages", stages, (0, 1, 2, 3)), ("recomputes", recomputes, RECOMPUTES),
                                 ("offloads", offloads, OFFLOADS)):
        for value in values:
            check_choice(field, value, known, ConfigError)
    if not isinstance(machine, Machine):
        raise InvalidInput("machine", machine, "a Machine")
    check_number("efficiency", efficiency, 0.001, 1.0)
    search = _Search(base, card_bytes(card), batch, interconnect(link), interconnect(node_link), device, efficiency, machine)
    sizes = num_gpus if isinstance(num_gpus, (list, tuple)) else (num_gpus,)
    for size in sizes:
        for layout in layouts(check_count("num_gpus", size, 1, 10**6, ConfigError), gpus_per_node):
            search.layout(layout, stages, recomputes, offloads, check_count("max_micro_batch_size", max_micro_batch_size))
    return search.result()


class _Search:
    """Collects configurations; one attribute for each thing that can become of them."""

    def __init__(self, base, capacity, batch, link, node_link, device, efficiency, machine):
        self.base, self.capacity, self.batch, self.machine = base, capacity, batch, machine
        self.quick, self.live_limit = QuickBudgets(base), live_limit(base, capacity)
        self.links, self.device, self.efficiency = (link, node_link), device, efficiency
        self.times, self.offload_times = {}, OffloadTimes(base, machine)
        self.fitting, self.invalid, self.close, self.over, self.host_over = [], {}, 0, 0, 0
        self.failure = None

    def layout(self, layout, stages, recomputes, offloads, max_micro_batch_size):
        dp, tp, pp = layout
        batches = micro_batches(self.batch, dp, max_micro_batch_size)
        sequence = (False, True) if tp > 1 else (False,)
        inner = len(batches) * len(recomputes) * len(sequence)
        if not batches:
            return self.refuse("global_batch_size: a multiple of dp", len(stages) * len(offloads) * len(recomputes))
        try:
            Training(self.base.model, Mesh(dp=dp, tp=tp, pp=pp), engine=self.base.engine, recipe=self.base.recipe,
                     stage=3 if self.base.engine == "fsdp2" else 1, seq_length=self.base.seq_length)
        except InvalidInput as problem:
            return self.refuse(f"{problem.field}: {problem.accepted}", inner * len(stages) * len(offloads))
        for stage in stages:
            for offload in offloads:
                try:
                    self.quick.weights(stage, dp, tp, pp, False, OFFLOADS[offload])
                except InvalidInput as problem:
                    self.refuse(f"{problem.field}: {problem.accepted}", inner)
                    continue
                for micro, steps in batches:
                    for sequence_parallel in sequence:
                        for recompute in recomputes:
                            self.consider(stage, layout, micro, steps, recompute, sequence_parallel, offload)
        return None

    def refuse(self, reason, count):
        self.invalid[reason] = self.invalid.get(reason, 0) + count

    def consider(self, stage, layout, micro, steps, recompute, sequence_parallel, offload):
        dp, tp, pp = layout
        placement = OFFLOADS[offload]
        peak, low, high = self.quick.peak(stage, dp, tp, pp, micro, steps, recompute, sequence_parallel, placement)
        seconds = self.step_times(layout).step(stage, dp, tp, pp, micro, steps, recompute, sequence_parallel)
        step_s = seconds.total_s
        if offload != "none":
            extra_s, fits_host = self.offload_times.extra(stage, dp, tp, pp, steps, placement, seconds.compute_s)
            step_s += extra_s
            if not fits_host:
                self.host_over += 1
                return
        if low > self.live_limit:
            self.over += 1
            if self.failure is None or step_s < self.failure.step_s:
                self.failure = Plan(step_s, stage, dp, tp, pp, micro, steps, recompute, sequence_parallel, offload, peak, high)
        elif high > self.live_limit:
            self.close += 1
        else:
            self.fitting.append(Plan(step_s, stage, dp, tp, pp, micro, steps, recompute, sequence_parallel, offload, peak, high))

    def step_times(self, layout):
        """``StepTimes`` with the links that this layout's groups use."""
        dp, tp, pp = layout
        link, node_link = self.links
        inside = dp * tp * pp <= self.base.ranks_per_node
        if inside not in self.times:
            self.times[inside] = StepTimes(
                self.base.model, self.base.seq_length, self.device, node_link if inside else link, node_link,
                node_link if inside else link, efficiency=self.efficiency, param_dtype=self.base.compute_dtype,
                reduce_dtype=self.base.fsdp.reduce_dtype if self.base.fsdp else self.base.compute_dtype)
        return self.times[inside]

    def result(self):
        self.fitting.sort()
        failed = None if self.failure is None else budget(self.failure.training(self.base))
        return Plans(self.base, self.capacity, self.batch, tuple(self.fitting), self.close, self.over, self.host_over,
                     self.invalid, self.failure, failed)


def live_limit(training, capacity):
    """The most live bytes with which device memory stays within ``capacity``; −1 when context alone exceeds it."""
    room = capacity - training.context_bytes - training.other_bytes
    if room < 0:
        return -1
    above, below = float(training.fragmentation).as_integer_ratio()
    limit = room * below // (above + below)
    while limit + 1 - (-(limit + 1) * above // below) <= room:
        limit += 1
    while limit - (-limit * above // below) > room:
        limit -= 1
    return limit
