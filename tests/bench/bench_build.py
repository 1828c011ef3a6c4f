"""Building again with nothing changed, and with one lesson changed, against a whole build; in a copy of the clone.

The copy keeps what was downloaded and the browser packages, for neither is ours to make faster.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rows import Row, interleaved

from publish import paths

LESSON = "content/lessons/01_ledger.py"
KEPT = ("cache", "venv")
STAMP_OF_PACKAGES = "npm-packages.json"
ADDED = "#\n# One sentence more.\n"  # the sources end with prose


def measure(bench):
    with tempfile.TemporaryDirectory(prefix="zero-build-") as folder:
        clone = copy_clone(Path(folder) / "clone")
        found = interleaved(
            bench.rounds(2),
            full=lambda: full_build(clone),
            unchanged=lambda: build(clone),
            lesson=lambda: changed_lesson(clone),
        )
    yield Row("site build, nothing changed", found["unchanged"], "s", "full build", found["full"], 0.15)
    yield Row("site build, one lesson changed", found["lesson"], "s", "full build", found["full"], 0.4)


def copy_clone(clone: Path) -> Path:
    """The tracked files, with what was downloaded and the browser packages beside them."""
    subprocess.run(["git", "clone", "-q", str(paths.ROOT), str(clone)], check=True)
    shutil.copytree(paths.NODE_MODULES, clone / paths.NODE_MODULES.relative_to(paths.ROOT), symlinks=True)
    (clone / ".build" / "stamps").mkdir(parents=True)
    shutil.copy2(paths.STAMPS / STAMP_OF_PACKAGES, clone / ".build" / "stamps")
    for name in KEPT:
        (clone / ".build" / name).symlink_to((paths.BUILD / name).resolve())
    return clone


def full_build(clone: Path) -> float:
    """Seconds of a build with nothing made yet."""
    for made in (clone / "dist", clone / ".build" / "stage"):
        shutil.rmtree(made, ignore_errors=True)
    for stamp in (clone / ".build" / "stamps").iterdir():
        if stamp.name != STAMP_OF_PACKAGES:
            stamp.unlink()
    return build(clone)


def changed_lesson(clone: Path) -> float:
    """Seconds of a build after a word was added to a lesson."""
    lesson = clone / LESSON
    lesson.write_text(lesson.read_text(encoding="utf-8") + ADDED, encoding="utf-8")
    return build(clone)


def build(clone: Path) -> float:
    """Seconds of a build there."""
    environment = {**os.environ, "PYTHONPATH": str(clone / "content")}
    started = time.monotonic()
    subprocess.run([sys.executable, "-m", "publish", "build"], cwd=clone, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - started
