"""Ten times the lessons, exercises and events cost ten times the time: the slope of log time over log size is the figure.

1.0 is linear, 2.0 quadratic. Fixed costs bend it down, never up.
"""

import math
import time

from rows import Row

from lessonkit import bank
from publish import lessons, paths
from zeroledger.simulate import simulate

LINEAR = 1.0
SLACK = 1.15  # what noise adds
SIZES = (1, 2, 4, 10)


def measure(bench):
    sizes = SIZES[::3] if bench.quick else SIZES
    for what, work in (("lessons", render_lessons), ("exercises", evaluate_exercises), ("events", simulate_events)):
        work(1)  # imports and caches
        yield Row(f"growth with {what}, slope", slope([(size, seconds(work, size)) for size in sizes]), "", "linear", LINEAR, SLACK)


def seconds(work, size: int) -> float:
    """CPU seconds; the least of three, since other programs only add."""
    took = []
    for _ in range(3):
        started = time.process_time()
        work(size)
        took.append(time.process_time() - started)
    return min(took)


def slope(points) -> float:
    """Of the least-squares line through the logarithms of (size, seconds)."""
    logs = [(math.log(size), math.log(took)) for size, took in points]
    mean_x, mean_y = (sum(values) / len(logs) for values in zip(*logs, strict=True))
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def render_lessons(times: int) -> None:
    """Parses and fills every lesson in both languages, `times` over."""
    for _ in range(times):
        for path in sorted((paths.CONTENT / "lessons").glob("[0-9]*.py")):
            lesson = lessons.load_lesson(path)
            for lang in lesson.title:
                lesson.notebook(lang)


def evaluate_exercises(times: int) -> None:
    """Reads and evaluates the whole bank, `times` over."""
    for _ in range(times):
        for name in bank.ids():
            source = (paths.CONTENT / "exercises" / f"{name}.toml").read_text(encoding="utf-8")
            bank.parse(name, source).evaluate()


def simulate_events(times: int) -> None:
    """A run of about 4,000 events per unit of size, and its data for a picture."""
    simulate(dp_size=4, num_steps=4 * times).as_dict(ranks=[0])
