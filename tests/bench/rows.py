"""What a benchmark says: a figure beside its baseline of the same run, and whether their ratio meets the target."""

import statistics
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Row:
    """`value` and `baseline_value` in `unit`. `at_least` says that a large ratio is the good one."""

    what: str
    value: float
    unit: str
    baseline: str
    baseline_value: float
    target: float | None = None
    at_least: bool = False

    @property
    def ratio(self) -> float:
        return self.value / self.baseline_value

    @property
    def verdict(self) -> str:
        """`meets`, `MISSES`, or nothing where no target is set."""
        if self.target is None:
            return ""
        return "meets" if (self.ratio >= self.target if self.at_least else self.ratio <= self.target) else "MISSES"

    def as_dict(self) -> dict:
        return {**asdict(self), "ratio": self.ratio, "verdict": self.verdict}

    def __str__(self) -> str:
        target = "" if self.target is None else f"{self.verdict} {'≥' if self.at_least else '≤'} {self.target:g}×"
        return (f"{self.what:<46.46} {self.value:10.4g} {self.unit:<6} {self.baseline:<36.36} {self.baseline_value:10.4g}"
                f" {self.ratio:9.3f}×  {target}")


def interleaved(rounds: int, **measures) -> dict[str, float]:
    """The median of each measure, taken in turn so that a slow minute of the machine hits all of them alike."""
    times = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            times[name].append(measure())
    return {name: statistics.median(values) for name, values in times.items()}
