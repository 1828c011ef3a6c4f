"""Is it still the same training? Compare a run with one rank that makes no mistake, and name the mistake if there is one."""

from dataclasses import dataclass, replace

from ..errors import InvalidInput
from .run import Run, baseline, simulate
from .settings import BREAKS

# Largest difference that rounding explains, relative to the largest gradient entry. fp64 has none, because sums are
# exact; for the others a few units in the last place of the format (8, 11 and 24 bits) add up over layers and samples.
TOLERANCE = {"fp64": 0.0, "fp32": 2.0**-19, "fp16": 2.0**-7, "bf16": 2.0**-4}
RATIO_TOLERANCE = 1e-9


@dataclass(frozen=True)
class GradientCheck:
    """What the comparison found. ``name`` is a key of ``BREAKS``, "unknown", or None when ``ok``.

    ``worst_difference`` and ``largest_gradient``: entries of the first step's gradient; ``ratio``: the factor between
    both gradients when one factor fits every entry, else None; ``flipped``: entries with the wrong sign.
    ``first_update``: largest change of a weight in the first step, in learning rates; ``disagreement``: how far ranks'
    copies of a weight are apart. Losses are per token and step.
    """

    ok: bool
    name: str | None
    worst_difference: float
    largest_gradient: float
    ratio: float | None
    flipped: int
    first_update: float
    disagreement: float
    learning_rates: tuple
    expected_learning_rates: tuple
    losses: tuple
    expected_losses: tuple

    def as_dict(self):
        """Plain data for JSON."""
        return dict(vars(self))

    def __str__(self):
        if self.ok:
            return (f"same training as one rank: gradients differ by at most {self.worst_difference:.1e} "
                    f"(largest entry {self.largest_gradient:.3g})")
        said = BREAKS.get(self.name, "none of the mistakes we know gives these numbers")
        return f"not the same training: {self.name} ({said}). {'. '.join(self._evidence())}."

    def _evidence(self):
        yield f"The first gradient differs by up to {self.worst_difference:.2e}, its largest entry is {self.largest_gradient:.3g}"
        if self.ratio is not None and abs(self.ratio - 1) > RATIO_TOLERANCE:
            yield f"every entry is {self.ratio:.6g} times what it should be"
        if self.flipped:
            yield f"{self.flipped} entries have the wrong sign"
        if self.disagreement:
            yield f"ranks' copies of a weight are up to {self.disagreement:.2e} apart"
        if self.learning_rates != self.expected_learning_rates:
            yield f"learning rates {_brief(self.learning_rates)} instead of {_brief(self.expected_learning_rates)}"
        yield f"the first update is {self.first_update:.4g} × the learning rate"
        yield f"the loss ends at {self.losses[-1]:.4f} instead of {self.expected_losses[-1]:.4f}"


def check_gradients(run):
    """The ``GradientCheck`` of a ``Run``.

    The mistake is found by making each known one on purpose in the same layout and comparing gradients, learning rates
    and weights, so that a mistake in a training loop of your own is named as well. Raises ``InvalidInput``.
    """
    if not isinstance(run, Run) or not run.steps:
        raise InvalidInput("run", run, "a Run of at least one finished step")
    settings = replace(run.settings, num_steps=len(run.steps), device_bytes=None)
    right = baseline(settings)
    ok = _distance(run, right) <= TOLERANCE[settings.precision]
    name = None if ok else _name(run, settings)
    mine, expected = _flat(run.steps[0].gradients), _flat(right.steps[0].gradients)
    return GradientCheck(
        ok, name, max(abs(one - other) for one, other in zip(mine, expected)), max(map(abs, expected)),
        _ratio(mine, expected), sum(one * other < 0 for one, other in zip(mine, expected)), run.steps[0].largest_update,
        max(step.disagreement for step in run.steps), tuple(step.learning_rate for step in run.steps),
        tuple(step.learning_rate for step in right.steps), tuple(run.losses), tuple(right.losses))


def _name(run, settings):
    """The known mistake whose run is nearest, if rounding explains what is left."""
    distances = {name: _distance(run, simulate(replace(settings, breaks=(name,)))) for name in BREAKS}
    nearest = min(distances, key=distances.get)
    return nearest if distances[nearest] <= TOLERANCE[settings.precision] else "unknown"


def _distance(run, other):
    """How unlike two runs are: the largest relative difference of first gradient, first update, rates, and ranks' copies.

    In fp64 the weights at the end count too; elsewhere Adam turns the sign of a tiny gradient into a whole step.
    """
    first, expected = run.steps[0], other.steps[0]
    pairs = [(_flat(first.gradients), _flat(expected.gradients)), ([first.largest_update], [expected.largest_update]),
             ([step.learning_rate for step in run.steps], [step.learning_rate for step in other.steps]),
             ([step.disagreement for step in run.steps], [step.disagreement for step in other.steps])]
    if run.settings.precision == "fp64":
        pairs.append((_flat(run.weights), _flat(other.weights)))
    return max(_relative(*pair) for pair in pairs)


def _relative(mine, expected):
    worst = max(abs(one - other) for one, other in zip(mine, expected))
    return worst / (max(map(abs, expected)) or 1.0) if worst else 0.0


def _flat(tensors):
    return [value for name in sorted(tensors) for value in tensors[name]]


def _ratio(mine, expected):
    at = max(range(len(expected)), key=lambda index: abs(expected[index]))
    if not expected[at]:
        return None
    ratio = mine[at] / expected[at]
    slack = RATIO_TOLERANCE * abs(expected[at])
    fits = all(abs(one - ratio * other) <= slack for one, other in zip(mine, expected))
    return ratio if fits else None


def _brief(numbers):
    return ", ".join(f"{number:.4g}" for number in numbers[:4]) + (" …" if len(numbers) > 4 else "")
