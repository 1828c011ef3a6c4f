"""One build at a time in a clone: a second one waits."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from publish import paths
from publish.console import Console


@contextmanager
def build_lock(console: Console) -> Iterator[None]:
    """Holds .build/lock; the system releases it when the process ends, however it ends."""
    paths.BUILD.mkdir(exist_ok=True)
    with (paths.BUILD / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            console.note("another build runs in this folder; waiting for it to end")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
