"""Called by the worker after the runner's modules are loaded: prepare the interpreter, return what runs cells."""

import sys

from cell import CellRunner
from guard import RUNNER_FILES
from harden import block_imports, forget_browser_objects, reseed, slice_sleep
from loop import install as install_loop

RUNNER_MODULES = ("guard", "loop", "tracebacks", "restore", "pictures", "cell", "harden", "boot")


def warm_up(ledger_path):
    """Import what nearly every cell of the site imports, so that no run need wait for it."""
    _add_path(ledger_path)
    try:
        exec("from zeroledger import *", {})
    except ImportError:
        pass  # the first cell that needs it will say so


def prepare(ledger_path):
    """Make the interpreter safe to hand to a reader; `ledger_path` is where zeroledger lies. Return a CellRunner."""
    _add_path(ledger_path)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)
    forget_browser_objects()
    slice_sleep()
    install_loop()
    block_imports()
    reseed()
    for name in RUNNER_MODULES:
        sys.modules.pop(name, None)
    return CellRunner()


def _add_path(path):
    if path not in sys.path:
        sys.path.append(path)


RUNNER_FILES.add(prepare.__code__.co_filename)
