"""A measured run beside its prediction, account by account, with an honest remainder and the candidates for it."""

from dataclasses import dataclass

from .allocator import V100_CONTEXT_BYTES
from .budgets import UNCERTAINTY, Budget, estimated_bytes, stage_budget
from .hypotheses import candidates
from .instants import Instant, peak
from .measured import CATEGORIES, MeasuredInstant, MeasuredRun, by_category, measured_run

CLOSE_PERCENT = 2  # a candidate is called consistent when it leaves at most this share of the reading …
# … plus, when only nvidia-smi was read, what a CUDA context may take (allocator.V100_CONTEXT_BYTES, the largest known)
PHASE_OF_PEAK = {"peak_forward": "forward", "peak_backward": "backward", "peak_step": "optimizer step"}


@dataclass(frozen=True)
class Candidate:
    """A hypothesis: ``num_bytes`` it would add to the prediction, ``by_category`` where (``measured.CATEGORIES`` and
    ``OTHER``), and ``remainder_bytes`` that would then be left."""

    key: str
    words: str
    num_bytes: int
    by_category: dict
    remainder_bytes: int
    is_consistent: bool


@dataclass(frozen=True)
class InstantExplanation:
    """One reading of one rank. ``difference_bytes`` = measured − predicted of the meter read.

    ``rows`` are (account, predicted, measured or None, difference or None) in bytes for the categories that were
    measured apart, (account, predicted, None, None) else; ``remainder_bytes`` is what no row accounts for.
    ``reserve_bytes`` (reserved − allocated) and ``outside_bytes`` (device − reserved) are None where not read.
    """

    rank: int
    name: str
    meter: str
    measured_bytes: int
    predicted: Instant
    low_bytes: int
    high_bytes: int
    rows: tuple
    remainder_bytes: int
    reserve_bytes: int | None
    outside_bytes: int | None
    candidates: tuple

    @property
    def predicted_bytes(self):
        """Live bytes predicted."""
        return self.predicted.num_bytes

    @property
    def difference_bytes(self):
        """Measured less predicted."""
        return self.measured_bytes - self.predicted_bytes

    @property
    def is_within_range(self):
        """Whether the reading lies in the prediction's own range."""
        return self.low_bytes <= self.measured_bytes <= self.high_bytes

    def as_dict(self):
        """Plain data for JSON."""
        rows = [dict(zip(("account", "predicted_bytes", "measured_bytes", "difference_bytes"), row)) for row in self.rows]
        plain = {field: getattr(self, field) for field in (
            "rank", "name", "meter", "measured_bytes", "predicted_bytes", "low_bytes", "high_bytes", "difference_bytes",
            "is_within_range", "remainder_bytes", "reserve_bytes", "outside_bytes")}
        return {**plain, "predicted_instant": self.predicted.name, "rows": rows,
                "candidates": [dict(vars(each)) for each in self.candidates]}


@dataclass(frozen=True)
class Explanation:
    """All readings of a run explained, in the order given."""

    run: MeasuredRun
    instants: tuple

    def as_dict(self):
        """Plain data for JSON."""
        return {"config": self.run.training.as_dict(), "versions": self.run.versions, "source": self.run.source,
                "instants": [each.as_dict() for each in self.instants]}

    def table(self, unit="GB"):
        """Text for people."""
        from .explanation_tables import explanation_table

        return explanation_table(self, unit)

    def __str__(self):
        return self.table()


def explain(run):
    """The ``Explanation`` of a ``MeasuredRun``, or of a dict or JSON text in the format of ``measured``.

    Nothing is fitted: candidates are listed with their bytes, and the remainder stays. Raises ``ConfigError``.
    """
    run = run if isinstance(run, MeasuredRun) else measured_run(run)
    budgets, explained = {}, []
    for rank in run.ranks:
        if rank.pp_rank not in budgets:
            budgets[rank.pp_rank] = stage_budget(run.training, rank.pp_rank)
        explained += [_explained(rank, reading, budgets[rank.pp_rank]) for reading in rank.instants]
    return Explanation(run, tuple(explained))


def predicted_instant(budget, name):
    """The ``Instant`` of a ``Budget`` that a reading called ``name`` (``measured.INSTANT_NAMES``) corresponds to."""
    if name == "peak":
        return budget.peak
    if name in PHASE_OF_PEAK:
        return peak(each for each in budget.instants if each.phase == PHASE_OF_PEAK[name])
    step = budget.instants[-1]
    if name == "end_of_forward":
        return next((each for each in budget.instants if each.name == "end of forward"), step)
    if name == "end_of_backward":
        return Instant(name, tuple(row for row in step.rows if row.account != "temporary"))
    return Instant(name, tuple(row for row in budget.staying_rows if _stays(row, budget, name)))


def _stays(row, budget, name):
    """Whether a row that is there during a whole step is also there between steps, or before the first one."""
    if budget.training.engine == "deepspeed":  # makes its states and, at stage 3, its gradient buffer at the start
        return budget.training.stage == 3 or row.account not in ("sharded_grads", "unsharded_grads")
    if name == "after_init":  # torch's optimizers make their states in the first step
        return row.account in ("sharded_params", "unsharded_params", "master_params")
    return row.account not in ("sharded_grads", "unsharded_grads")


def _explained(rank, reading, budget):
    predicted = predicted_instant(budget, reading.name)
    rows = tuple(_rows(predicted, reading))
    known = sum(row[3] for row in rows if row[3] is not None)
    difference = reading.num_bytes - predicted.num_bytes
    low, high = _range(budget, predicted)
    reserve, outside = _between(reading)
    return InstantExplanation(
        rank.rank, reading.name, reading.meter, reading.num_bytes, predicted, low, high, rows, difference - known,
        reserve, outside, tuple(_candidates(budget, rank.pp_rank, reading, predicted, rows)))


def _rows(predicted, reading):
    sizes = by_category(predicted)
    for category in CATEGORIES:
        expected, measured = sizes[category], reading.by_category.get(category)
        if expected or measured is not None:
            yield category, expected, measured, None if measured is None else measured - expected


def _range(budget, predicted):
    off = estimated_bytes(predicted) * UNCERTAINTY[budget.training.engine][0] // 100
    return predicted.num_bytes - off, predicted.num_bytes + off


def _between(reading):
    meters = reading.allocated_bytes, reading.reserved_bytes, reading.device_bytes
    return tuple(None if None in pair else pair[1] - pair[0] for pair in (meters[:2], meters[1:]))


def _candidates(budget: Budget, pp_rank, reading: MeasuredInstant, predicted, rows):
    """Hypotheses in the direction of the difference that bring the prediction nearer, the nearest first; none that what
    was measured apart contradicts."""
    difference = reading.num_bytes - predicted.num_bytes
    allowance = reading.num_bytes * CLOSE_PERCENT // 100
    allowance += V100_CONTEXT_BYTES if reading.meter == "device" else 0

    def predict(other):
        return predicted_instant(other, reading.name)

    found = []
    for key, words, changes in candidates(budget.training, pp_rank, reading.name, predicted, predict):
        size = sum(changes.values())
        left = difference - size
        if size and (size > 0) == (difference > 0) and abs(left) < abs(difference) and _agrees(changes, rows, difference, allowance):
            found.append(Candidate(key, words, size, changes, left, abs(left) <= allowance))
    return sorted(found, key=lambda each: abs(each.remainder_bytes))


def _agrees(changes, rows, difference, allowance):
    """Whether no row measured apart, and not the rest of the difference, would be further off with these changes."""
    apart = {category: off for category, _, _, off in rows if off is not None}
    rest = sum(size for category, size in changes.items() if category not in apart)
    pairs = [(difference - sum(apart.values()), rest), *((off, changes.get(category, 0)) for category, off in apart.items())]
    return all(abs(off - change) <= abs(off) + allowance for off, change in pairs)
