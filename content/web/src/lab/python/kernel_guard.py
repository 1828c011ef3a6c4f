"""The soft guard in a kernel of the lab: around every cell and every widget callback.

`install` is called once by kernel-guard.js when the kernel is loaded. The page's clock (guard.js) decides when a run must
end; guard.py turns that into an exception in the reader's code; here is what the kernel does with it.
"""

import asyncio
import builtins
import functools
import getpass
import sys
import traceback

from guard import ERROR_OF_SIGNAL, RUNNER_FILES, Guard, RunEnded
from harden import slice_sleep

CELL_FILE = "<ipython-input-"  # how IPython names the code of a cell
OWN_MODULES = ("guard", "harden", "kernel_guard")


class KernelSignals(Guard):
    """The runner's guard, told from which frame on the reader's code begins; None between runs."""

    first_error = None  # of this run, as it was raised in the reader's code

    def start_below(self, frame):
        """Begin a run whose own part is what `frame` calls; whatever an earlier one set off is over."""
        self._stop_raising_on_every_line()  # first: the rest calls code that is not ours
        self.stop()
        self.start()
        self._base_frame = frame

    def _on_signal(self, number, frame):
        # An exception belongs into the run, or into a task that a cell left behind; never into the kernel's own work.
        if not _is_below(frame, self._base_frame):
            return
        try:
            super()._on_signal(number, frame)
        except RunEnded as error:
            self.first_error = self.first_error or error
            raise


class OutputBudget:
    """What one run may print; `on_exceeded` is called at each attempt to print more."""

    def __init__(self, max_chars, max_lines, on_exceeded):
        self._limits = max_chars, max_lines
        self._on_exceeded = on_exceeded
        self.renew()

    def renew(self):
        """A run begins."""
        self._chars_left, self._lines_left = self._limits

    def take(self, text):
        """Return the part of `text` that still fits."""
        fitting = text[:self._chars_left]
        lines = fitting.count("\n")
        if lines > self._lines_left:
            fitting = "".join(fitting.splitlines(keepends=True)[:self._lines_left])
            lines = self._lines_left
        self._lines_left -= lines
        self._chars_left = self._chars_left - len(fitting) if self._lines_left else 0
        return fitting

    def bound(self, stream):
        """Let `stream` write no more than fits."""
        write = stream.write

        def write_what_fits(text):
            fitting = self.take(text)
            if fitting:
                write(fitting)
            if len(fitting) < len(text):
                self._on_exceeded()

        stream.write = write_what_fits


class KernelGuard:
    """Runs the kernel's entry points under the guard. `page` has begin(kind), report(), wait(), resume(), end()."""

    def __init__(self, shell, page, budget):
        self._shell = shell
        self._page = page
        self._budget = budget
        self._guard = KernelSignals()
        self._depth = 0
        self._task = None
        self._ending = None
        self._show = shell.showtraceback

    def wrap(self, comm_manager):
        """Put the guard around cells, widget messages and tracebacks."""
        shell = self._shell
        shell.run_cell = self._cell(shell.run_cell)
        shell.run_cell_async = self._async_cell(shell.run_cell_async)
        shell.showtraceback = self._show_error
        for name in ("comm_open", "comm_msg", "comm_close"):
            setattr(comm_manager, name, self._callback(getattr(comm_manager, name)))
        self.rest()

    def rest(self):
        """Between runs: signals for the tasks that cells left behind still raise, counted from none."""
        self._guard.start_below(None)

    def cancel(self, signal_number):
        """End the cell that waits in an `await`."""
        error, message = ERROR_OF_SIGNAL[signal_number]
        self._ending = error(message)
        if self._task is not None and not self._task.done():
            self._task.cancel(message)

    def _begin(self, kind):
        self._depth += 1
        if self._depth == 1:
            self._ending = self._guard.first_error = None
            _ask_through(self._page)
            self._budget.renew()
            self._page.begin(kind)
            self._guard.start_below(sys._getframe(1))

    def _end(self):
        self._depth -= 1
        if self._depth == 0:
            self._task = None
            self.rest()
            self._page.end()

    def _cell(self, run_cell):
        @functools.wraps(run_cell)
        def guarded(*args, **kwargs):
            self._begin("cell")
            try:
                return run_cell(*args, **kwargs)
            except RunEnded:
                self._show_error()
            finally:
                self._end()
        return guarded

    def _async_cell(self, run_cell_async):
        @functools.wraps(run_cell_async)
        async def guarded(*args, **kwargs):
            if self._depth:  # run_cell is made of run_cell_async
                return await run_cell_async(*args, **kwargs)
            self._begin("cell")
            self._task = asyncio.current_task()
            try:
                return await run_cell_async(*args, **kwargs)
            except (RunEnded, asyncio.CancelledError):
                self._show_error()
            finally:
                self._end()
        return guarded

    def _callback(self, handle):
        @functools.wraps(handle)
        def guarded(*args, **kwargs):
            self._begin("callback")
            try:
                return handle(*args, **kwargs)
            except RunEnded as error:
                self._page.report()
                self._budget.renew()  # for the traceback, which has no place but stderr
                self._guard.start_below(sys._getframe())
                trace = without_runner_frames(error.__traceback__)
                traceback.print_exception(type(error), error, trace, file=sys.stderr)
            finally:
                self._end()
        return guarded

    def _show_error(self, exc_tuple=None, *args, **kwargs):
        """IPython's traceback, without our frames, and with time of its own to be written."""
        kind, error, trace = exc_tuple or sys.exc_info()
        if self._depth:
            self._page.report()
            self._guard.start_below(sys._getframe())
        if isinstance(error, asyncio.CancelledError) and self._ending is not None:
            error, trace = self._ending, up_to_last_cell(trace)
            kind = type(error)
        elif isinstance(error, RunEnded):
            error.__suppress_context__ = True
            if not any(_is_cell(entry) for entry in _entries(trace)):  # the cell caught it, and met it again outside
                trace = up_to_last_cell(self._guard.first_error.__traceback__)
        self._show((kind, error, without_runner_frames(trace)), *args, **kwargs)


def _is_below(frame, base):
    """True if `frame` was called from `base` or from a cell."""
    while frame is not None:
        if frame is base or frame.f_code.co_filename.startswith(CELL_FILE):
            return True
        frame = frame.f_back
    return False


def without_runner_frames(trace):
    """`trace` with the guard's own frames taken out; changes it in place."""
    return _linked([entry for entry in _entries(trace) if entry.tb_frame.f_code.co_filename not in RUNNER_FILES])


def up_to_last_cell(trace):
    """`trace` as far as its last line in a cell: where a cell waits, what lies below is asyncio's. In place."""
    entries = _entries(trace)
    in_cells = [at for at, entry in enumerate(entries) if _is_cell(entry)]
    return _linked(entries[:in_cells[-1] + 1] if in_cells else entries)


def _is_cell(entry):
    return entry.tb_frame.f_code.co_filename.startswith(CELL_FILE)


def _entries(trace):
    entries = []
    while trace is not None:
        entries.append(trace)
        trace = trace.tb_next
    return entries


def _linked(entries):
    for here, following in zip(entries, [*entries[1:], None]):
        here.tb_next = following
    return entries[0] if entries else None


def _ask_through(page):
    """Stop the clock while input() and getpass() wait for the reader. The kernel sets both anew for each cell."""
    for module, name in ((builtins, "input"), (getpass, "getpass")):
        ask = getattr(module, name)
        if not hasattr(ask, "asks_through_page"):
            setattr(module, name, _paused(ask, page))


def _paused(ask, page):
    def asking(*args, **kwargs):
        page.wait()
        try:
            return ask(*args, **kwargs)
        finally:
            page.resume()
    asking.asks_through_page = True
    return asking


def install(page, max_output_chars, max_output_lines):
    """Guard the kernel of this interpreter; return the object whose `cancel` and `rest` kernel-guard.js calls."""
    import pyodide_kernel

    kernel = pyodide_kernel.kernel_instance
    budget = OutputBudget(max_output_chars, max_output_lines, page.exceed)
    for stream in (pyodide_kernel.stdout_stream, pyodide_kernel.stderr_stream):
        budget.bound(stream)
    guard = KernelGuard(kernel.interpreter, page, budget)
    guard.wrap(kernel.comm_manager)
    slice_sleep()
    for name in OWN_MODULES:  # these names are the reader's
        sys.modules.pop(name, None)
    return guard


RUNNER_FILES.add(install.__code__.co_filename)
