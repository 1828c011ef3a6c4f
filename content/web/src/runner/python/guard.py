"""The soft guard: how a run that must end is ended from inside, with its traceback and its variables kept.

The worker's interrupt buffer raises one of three signals while Python runs (guard.js decides when). Each becomes an
exception in the reader's own code. The signal repeats until the run is over, so that code which catches everything
gains nothing; from the third one on every further line of reader code raises as well.
This is the convenience. The guarantee is the supervisor, which terminates the worker.
"""

import signal
import sys

# Frames of these files belong to the runner: they are hidden from tracebacks and no exception is raised in them.
RUNNER_FILES = set()

ESCALATE_AT_SIGNAL = 3
_MONITORING_TOOL_ID = 5
HAS_MONITORING = hasattr(sys, "monitoring")  # from Python 3.12; the browser has 3.14


class RunEnded(BaseException):
    """The runner ends this run. Not an Exception, so that `except Exception` lets it pass."""

    __module__ = "builtins"


class TimeLimitExceeded(RunEnded):
    """The run reached its time limit."""

    __module__ = "builtins"


class StopRequested(RunEnded):
    """The reader clicked Stop."""

    __module__ = "builtins"


class OutputLimitExceeded(RunEnded):
    """The run printed more than a page can show."""

    __module__ = "builtins"


# guard.js repeats these numbers; tests/test_guard.py compares the two.
ERROR_OF_SIGNAL = {
    signal.SIGALRM: (TimeLimitExceeded, "the run reached its time limit"),
    signal.SIGINT: (StopRequested, "the run was stopped"),
    signal.SIGUSR1: (OutputLimitExceeded, "the run printed more than this page can show"),
}


def is_in_reader_code(frame, base=None):
    """True if a frame from `frame` outwards, as far as `base`, belongs to code that is not the runner's."""
    while frame is not None and frame is not base:
        if frame.f_code.co_filename not in RUNNER_FILES:
            return True
        frame = frame.f_back
    return False


class Guard:
    """Turns the worker's signals into exceptions between `start` and `stop`."""

    def __init__(self):
        self._base_frame = None
        self._grace_signals = 0
        self.signals_seen = 0
        self.ended_by = None  # the exception that a signal first stood for, even if the code swallowed it

    def start(self):
        """Begin a run: no signal seen yet, handlers ours. What calls the caller counts as the runner's."""
        self._base_frame = sys._getframe(1)
        self.signals_seen = 0
        self.ended_by = None
        self._grace_signals = 0
        for number in ERROR_OF_SIGNAL:
            signal.signal(number, self._on_signal)

    def allow_report(self, signals=5):
        """Let the runner write its report undisturbed for the next `signals` signals (100 ms each)."""
        self._stop_raising_on_every_line()
        self._grace_signals = self.signals_seen + signals

    def stop(self):
        """End a run: signals mean nothing until the next `start`."""
        self._base_frame = None
        for number in ERROR_OF_SIGNAL:
            signal.signal(number, _ignore_signal)
        self._stop_raising_on_every_line()

    def _on_signal(self, number, frame):
        self.signals_seen += 1
        error, message = ERROR_OF_SIGNAL[number]
        self.ended_by = self.ended_by or error(message)
        if self.signals_seen <= self._grace_signals or not is_in_reader_code(frame, self._base_frame):
            return
        if self.signals_seen >= ESCALATE_AT_SIGNAL:
            self._raise_on_every_line(error, message)
        raise error(message)

    def _raise_on_every_line(self, error, message):
        if not HAS_MONITORING:
            return
        monitoring, events = sys.monitoring, sys.monitoring.events
        branches = getattr(events, "BRANCH_LEFT", 0) | getattr(events, "BRANCH_RIGHT", 0) or events.BRANCH
        watched = events.LINE | events.JUMP | branches | events.PY_START | events.PY_RESUME

        def on_event(code, *_details):
            if code.co_filename not in RUNNER_FILES:
                raise error(message)

        if monitoring.get_tool(_MONITORING_TOOL_ID) is not None:
            monitoring.free_tool_id(_MONITORING_TOOL_ID)
        monitoring.use_tool_id(_MONITORING_TOOL_ID, "zero-runner")
        for bit in range(32):
            if watched >> bit & 1:
                monitoring.register_callback(_MONITORING_TOOL_ID, 1 << bit, on_event)
        monitoring.set_events(_MONITORING_TOOL_ID, watched)

    def _stop_raising_on_every_line(self):
        if HAS_MONITORING and sys.monitoring.get_tool(_MONITORING_TOOL_ID) is not None:
            sys.monitoring.set_events(_MONITORING_TOOL_ID, 0)
            sys.monitoring.free_tool_id(_MONITORING_TOOL_ID)


def _ignore_signal(_number, _frame):
    """A signal that arrives after its run ended."""


RUNNER_FILES.add(_ignore_signal.__code__.co_filename)
