"""Where and in which phase a snapshot's blocks were made: read off their stacks, or off marks between the events.

PyTorch records neither. A stack through torch/optim allocates in the optimizer's step, one through autograd in backward,
one through a module's forward in forward. The backward thread has Python frames only where C++ frames were recorded too.
"""

from .errors import ConfigError

PHASES = ("forward", "backward", "step", "other", "no_stack")
PHASE_BEFORE = {"end_of_forward": "forward", "end_of_backward": "backward", "after_step": "step"}  # a mark ends a phase


class Stacks:
    """Remembers what each stack of frames says."""

    def __init__(self):
        self._told = {}

    def of(self, values, path):
        """(where in the user's code, phase) of an event or block of ``torch.cuda.memory._snapshot()``."""
        frames = values.get("frames") or []
        if not isinstance(frames, list):
            raise ConfigError(f"{path}.frames", frames, "a list of frames")
        stack = tuple(_frame(frame, f"{path}.frames") for frame in frames)
        if stack not in self._told:
            self._told[stack] = own_frame(stack), made_in(stack)
        return self._told[stack]


class PhaseOfMarks:
    """The phase of one event after the other; "other" after the last mark, and where there are none."""

    def __init__(self, marks):
        self._marks, self._at = [], -1
        for number, mark in enumerate(marks):
            event = mark.get("event") if isinstance(mark, dict) else None
            if isinstance(event, bool) or not isinstance(event, int) or not isinstance(mark.get("name"), str):
                raise ConfigError(f"marks[{number}]", mark, '{"event": a whole number, "name": an instant\'s name}')
            self._marks.append((event, mark["name"]))
        self._marks.sort(key=lambda mark: mark[0])

    def next(self):
        """The phase of the next event."""
        self._at += 1
        while self._marks and self._marks[0][0] <= self._at:
            self._marks.pop(0)
        return PHASE_BEFORE.get(self._marks[0][1], "other") if self._marks else "other"


def made_in(stack):
    """The phase in which a stack of (file, line, function) allocates: one of ``PHASES``."""
    if not stack:
        return "no_stack"
    if any("torch/optim/" in frame[0] for frame in stack):
        return "step"
    names = {frame[2] for frame in stack}
    if names & {"backward", "_engine_run_backward", "recompute_fn"} or any("autograd::" in name for name in names):
        return "backward"
    return "forward" if names & {"forward", "_call_impl"} else "other"


def own_frame(stack):
    """"file:line function" of the innermost frame that is not a library's; of the innermost where all are; "" without."""
    frames = [frame for frame in stack if frame[0] not in ("", "??")]
    if not frames:
        return ""
    file, line, name = next((frame for frame in frames if not _is_library(frame[0])), frames[0])
    return f"{file.rsplit('/', 1)[-1]}:{line} {name}"


def _is_library(file):
    return any(part in file for part in ("site-packages/", "dist-packages/", "/torch/")) or file.startswith("<") or not file.endswith(".py")


def _frame(frame, path):
    if not isinstance(frame, dict) or not isinstance(frame.get("filename"), str) or not isinstance(frame.get("name"), str):
        raise ConfigError(path, frame, 'frames {"filename", "line", "name"}')
    line = frame.get("line")
    return frame["filename"].replace("\\", "/"), line if isinstance(line, int) else 0, frame["name"]
