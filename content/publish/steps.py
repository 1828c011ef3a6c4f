"""Runs build steps, and skips those whose inputs and outputs are as they were.

A step's key is a hash over the content of its inputs, over the module that makes it and over the
keys of the steps before it. Its stamp keeps the key and the size and time of each output file.
"""

import hashlib
import inspect
import json
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from publish import paths
from publish.console import Console, seconds
from publish.errors import BuildError

IGNORED_PARTS = {"__pycache__", "node_modules", ".ipynb_checkpoints", ".pytest_cache"}


@dataclass(frozen=True)
class Step:
    """One thing that the build makes."""

    name: str
    make: Callable[[Console], None]
    outputs: tuple[Path, ...]  # files or folders that exist afterwards
    inputs: tuple[Path, ...] = ()  # files or folders; their content counts
    after: tuple["Step", ...] = ()
    code: bytes = field(init=False, repr=False, default=b"")  # the module that makes it, as it was when it was imported

    def __post_init__(self):
        object.__setattr__(self, "code", Path(inspect.getsourcefile(self.make)).read_bytes())

    @property
    def slug(self) -> str:
        return self.name.lower().replace(" ", "-")


def run_steps(steps: Iterable[Step], console: Console, stamps: Path = paths.STAMPS) -> None:
    """Makes the steps that are out of date, in order. Raises BuildError for the first that fails."""
    keys: dict[str, str] = {}
    for step in steps:
        keys[step.name] = key_of(step, keys)
        started = time.monotonic()
        stamp = stamps / f"{step.slug}.json"
        if is_fresh(step, keys[step.name], stamp):
            console.end(step.name, "unchanged")
            continue
        console.begin(step.name)
        stamp.unlink(missing_ok=True)
        _make(step, console)
        write_stamp(step, keys[step.name], stamp)
        console.end(step.name, seconds(time.monotonic() - started))


def key_of(step: Step, keys: dict[str, str]) -> str:
    """A hash of all that the step's result depends on."""
    digest = hashlib.sha256(step.name.encode() + b"\0" + step.code)
    for path in step.inputs:
        for file in files_under(path):
            digest.update(f"\0{file.relative_to(path.parent)}\0".encode())
            digest.update(file.read_bytes())
    for earlier in step.after:
        digest.update(keys[earlier.name].encode())
    return digest.hexdigest()


def files_under(path: Path) -> list[Path]:
    """The file itself, or the files below a folder in a fixed order; nothing if it is not there."""
    if path.is_file():
        return [path]
    found = (file for file in path.rglob("*") if file.is_file())
    return sorted(file for file in found if not IGNORED_PARTS & set(file.relative_to(path).parts))


def is_fresh(step: Step, key: str, stamp: Path) -> bool:
    """True if the stamp was written for this key and no output has changed since."""
    try:
        recorded = json.loads(stamp.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return False
    return recorded == {"key": key, "outputs": listing(step)}


def write_stamp(step: Step, key: str, stamp: Path) -> None:
    """Records that the step was made. Raises BuildError if it left out a promised output."""
    missing = [path for path in step.outputs if not path.exists()]
    if missing:
        raise failed(step, f"it did not make {missing[0]}", "report this as a bug of the build")
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(json.dumps({"key": key, "outputs": listing(step)}))


def listing(step: Step) -> dict[str, list[int]]:
    """Size and modification time of each output file: cheap to compare, and any edit shows."""
    found = {}
    for output in step.outputs:
        for file in [output] if output.is_file() else output.rglob("*"):
            if file.is_file():
                stat = file.stat()
                found[str(file)] = [stat.st_size, stat.st_mtime_ns]
    return found


def failed(step: Step, reason: str, remedy: str) -> BuildError:
    """The error with the step's name in front of the reason."""
    return BuildError(f"step '{step.name}': {reason}", remedy)


def _make(step: Step, console: Console) -> None:
    try:
        step.make(console)
    except BuildError as error:
        raise failed(step, error.reason, error.remedy) from error
    except Exception as error:
        # Not foreseen: keep the traceback, but say first what a reader can use.
        log = paths.LOGS / f"{step.slug}.traceback.txt"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(traceback.format_exc())
        raise failed(step, f"{type(error).__name__}: {error}", f"see the traceback in {log}") from error
