"""Take the browser out of Python: the second layer behind the sandboxed frame and its content security policy."""

import gc
import importlib.machinery
import sys
import time

from guard import RUNNER_FILES

# Ways to the browser, to raw memory, or to the interpreter's own tests.
BLOCKED = frozenset(
    "js pyodide_js pyodide _pyodide _pyodide_core micropip ctypes _ctypes webbrowser"
    " _testcapi _testinternalcapi _testlimitedcapi _testclinic _testclinic_limited _testbuffer"
    " _testimportmultiple _testmultiphase _testsinglephase _xxtestfuzz _remote_debugging xxsubtype".split()
)
SLEEP_SLICE_SECONDS = 0.02


class _Blocker:
    """First of the import finders: what is blocked does not exist."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def block_imports():
    """Forget the blocked modules and refuse them from now on; only Python's own finders stay."""
    own = (importlib.machinery.BuiltinImporter, importlib.machinery.FrozenImporter, importlib.machinery.PathFinder)
    sys.meta_path[:] = [_Blocker, *own]
    for name in list(sys.modules):
        if name.partition(".")[0] in BLOCKED:
            del sys.modules[name]


def forget_browser_objects():
    """Empty what still points at JavaScript from Python objects that `gc` can list."""
    from _pyodide._importhook import JsLoader, jsfinder

    jsfinder.jsproxies.clear()
    for thing in gc.get_objects():
        if type(thing) is JsLoader:
            thing.jsproxy = None


def slice_sleep():
    """Make time.sleep wake every 20 ms, so that a signal can end it."""
    whole_sleep = getattr(time.sleep, "__wrapped__", time.sleep)  # beneath Pyodide's own wrapper
    now = time.perf_counter

    def sleep(seconds, /):
        """Delay execution for a given number of seconds."""
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        end = now() + seconds
        whole_sleep(0)
        while (left := end - now()) > 0:
            whole_sleep(min(left, SLEEP_SLICE_SECONDS))

    time.sleep = sleep


def reseed():
    """Give `random` a new start, in case the interpreter began from a stored state."""
    if "random" in sys.modules:
        sys.modules["random"].seed()


RUNNER_FILES.add(block_imports.__code__.co_filename)
