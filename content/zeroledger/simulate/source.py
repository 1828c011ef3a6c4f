"""The text of the training loop: shown beside a picture, and taken from a reader who changed it."""

from ..errors import InvalidInput
from . import training_loop

TEXT_COPY = "training_loop.py.txt"  # beside the byte code in the worker's archive, which holds no sources
OWN_LOOP = "<your loop>"
LONGEST_LOOP = 50_000  # characters


def loop_lines(loop_file):
    """Lines of the file that ``loop_file`` names, as a list; empty when its text cannot be had."""
    from linecache import getlines

    lines = [line.rstrip("\n") for line in getlines(loop_file)]
    if not lines and loop_file == training_loop.train_step.__code__.co_filename:
        return _archived_lines()
    return lines


def loop_from_text(text):
    """The ``train_step`` that ``text``, a changed copy of ``training_loop``, defines. It is run as Python.

    Raises ``InvalidInput`` when the text is not Python or defines no ``train_step``.
    """
    import linecache

    if not isinstance(text, str) or len(text) > LONGEST_LOOP:
        raise InvalidInput("loop", text, f"text of at most {LONGEST_LOOP:,} characters")
    try:
        code = compile(text, OWN_LOOP, "exec")
    except (SyntaxError, ValueError) as error:  # ValueError: null bytes
        raise InvalidInput("loop", f"line {getattr(error, 'lineno', '?')}", f"Python ({error})") from None
    linecache.cache[OWN_LOOP] = (len(text), None, text.splitlines(keepends=True), OWN_LOOP)
    names = {"__name__": OWN_LOOP}
    exec(code, names)
    train_step = names.get("train_step")
    if getattr(getattr(train_step, "__code__", None), "co_filename", None) != OWN_LOOP:
        raise InvalidInput("loop", "train_step", "a function train_step(ranks, micro_batches) defined in the text")
    return train_step


def error_in_loop(error):
    """An exception as one line, with the line of the reader's loop that led to it."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == OWN_LOOP:
            line = trace.tb_lineno
        trace = trace.tb_next
    said = str(error) if isinstance(error, InvalidInput) else f"{type(error).__name__}: {error}"
    return said if line is None else f"line {line}: {said}"


def _archived_lines():
    from pkgutil import get_data

    try:
        text = get_data(__package__, TEXT_COPY)
    except OSError:
        return []
    return text.decode("utf-8").splitlines() if text else []
