"""Tracebacks as the reader should see them: their lines, their file `<cell>`, none of the runner's frames."""

import linecache
import sys
from traceback import StackSummary, TracebackException

from guard import RUNNER_FILES, RunEnded

CURRENT_NAME = "<cell>"
EARLIER_NAME = "<cell, earlier run>"
MAX_REPORT_CHARS = 20_000
_KEPT_SOURCES = 200
_file_names = []


def remember_source(source):
    """Keep `source` for tracebacks and return the file name to compile it under."""
    name = f"<cell {len(_file_names) + 1}>"
    _file_names.append(name)
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    if len(_file_names) > _KEPT_SOURCES:
        linecache.cache.pop(_file_names[-_KEPT_SOURCES - 1], None)
    return name


def describe_error(error, file_name):
    """Return the traceback of `error` as text; `file_name` is the current run's."""
    report = TracebackException.from_exception(error, compact=True)
    seen = set()
    _tidy(report, file_name, seen)
    text = "".join(report.format()).rstrip("\n")
    if len(text) > MAX_REPORT_CHARS:
        half = MAX_REPORT_CHARS // 2
        text = f"{text[:half]}\n  …\n{text[-half:]}"
    return text


def show_unraisable(unraisable):
    """For sys.unraisablehook: an error in __del__ or the like, which Python can only mention."""
    if isinstance(unraisable.exc_value, RunEnded):
        return
    where = getattr(unraisable.object, "__qualname__", type(unraisable.object).__name__)
    print(f"Ignored, for it came from {where}:\n{describe_error(unraisable.exc_value, _file_names[-1])}", file=sys.stderr)


def _tidy(report, file_name, seen):
    if report is None or id(report) in seen:
        return
    seen.add(id(report))
    frames = _reader_frames(report.stack, ends_at_cell=issubclass(report.exc_type, RunEnded))
    for frame in frames:
        frame.filename = _shown_name(frame.filename, file_name)
    report.stack = StackSummary.from_list(frames) if frames else None
    if getattr(report, "filename", None):
        report.filename = _shown_name(report.filename, file_name)
    for linked in (report.__cause__, report.__context__, *(report.exceptions or ())):
        _tidy(linked, file_name, seen)


def _reader_frames(stack, ends_at_cell):
    """Drop what leads to the reader's first frame (the runner, asyncio under an `await`), and the runner anywhere.

    `ends_at_cell`: also drop what the reader's last frame called (where it was in there is chance).
    """
    frames = [frame for frame in stack if frame.filename not in RUNNER_FILES]
    own = [i for i, frame in enumerate(frames) if frame.filename.startswith("<cell ")]
    if not own:
        return [] if ends_at_cell else frames
    return frames[own[0] : own[-1] + 1 if ends_at_cell else None]


def _shown_name(name, current):
    if name == current:
        return CURRENT_NAME
    return EARLIER_NAME if name.startswith("<cell ") else name


RUNNER_FILES.add(remember_source.__code__.co_filename)
