"""An event loop that waits by sleeping, so that `await` and `asyncio.run` work inside one synchronous call.

The browser's own loop would need the worker to return to it; then a pending promise would escape the time limit.
Here everything that waits, waits inside Python, where the guard can end it.
"""

import asyncio
import time

from guard import RUNNER_FILES

FOREVER_SECONDS = 10**9


class NothingWillHappen(RuntimeError):
    """The program waits for something that nothing left in it can bring about."""

    __module__ = "builtins"


class _SleepingSelector:
    """Stands where a loop keeps its sockets; there are none here."""

    def select(self, timeout_seconds):
        if timeout_seconds is None:
            raise NothingWillHappen("the program waits for something that nothing left in it can set")
        if timeout_seconds > 0:
            time.sleep(min(timeout_seconds, FOREVER_SECONDS))
        return ()

    def close(self):
        """Nothing to close."""


class CellLoop(asyncio.BaseEventLoop):
    """A loop with timers and callbacks, without input or output."""

    def __init__(self):
        super().__init__()
        self._selector = _SleepingSelector()
        self.set_exception_handler(_keep_quiet)

    def _process_events(self, event_list):
        """No sockets, no events."""

    def _write_to_self(self):
        """There is no other thread that would have to wake this loop."""

    async def _call_now(self, function, *args):
        return function(*args)

    def run_in_executor(self, executor, func, *args):
        """Call `func` in this thread, for lack of others, and return a task with its result."""
        return self.create_task(self._call_now(func, *args))


def _keep_quiet(_loop, _context):
    """Tasks that are cancelled when a run ends do not report to the reader."""


# Python 3.14 gave it the underscore; before, it had none.
_PolicyBase = getattr(asyncio.events, "_BaseDefaultEventLoopPolicy", None) or asyncio.events.BaseDefaultEventLoopPolicy


class _CellLoopPolicy(_PolicyBase):
    _loop_factory = CellLoop


def install():
    """Make CellLoop what asyncio uses from now on, in place of the browser's loop."""
    asyncio._set_running_loop(None)
    asyncio.run = asyncio.runners.run  # Pyodide's stand-in needs the browser's loop
    asyncio.events._event_loop_policy = _CellLoopPolicy()


def run_to_end(coroutine):
    """Run `coroutine` on a fresh loop; return its value. Tasks it leaves behind are cancelled.

    Whatever ends the loop from outside (the time limit, Stop) is raised at the line where the coroutine waits.
    """
    runner = asyncio.Runner(loop_factory=CellLoop)
    loop = runner.get_loop()
    try:
        value = runner.run(coroutine)
        runner.close()
        return value
    except BaseException as error:
        if coroutine.cr_frame is not None and not coroutine.cr_running:
            error = _raised_where_it_waits(coroutine, error)
        _abandon(loop)
        raise error


def _raised_where_it_waits(coroutine, error):
    """Throw `error` into the waiting coroutine; return what comes out of it."""
    try:
        coroutine.throw(error.with_traceback(None))
    except StopIteration:
        return error
    except BaseException as thrown:
        return thrown
    return error


def _abandon(loop):
    """Close what is left on `loop` without running it again: it was ended in the middle of something."""
    asyncio._set_running_loop(None)
    for task in asyncio.all_tasks(loop):
        try:
            task.get_coro().close()
        except Exception:
            pass  # the run has an error to report already


RUNNER_FILES.add(install.__code__.co_filename)
