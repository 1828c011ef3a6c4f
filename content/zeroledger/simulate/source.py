"""The text of the training loop, so that a picture can show the line behind an event."""

from . import training_loop

TEXT_COPY = "training_loop.py.txt"  # beside the byte code in the worker's archive, which holds no sources


def loop_lines(loop_file):
    """Lines of the file that ``loop_file`` names, as a list; empty when its text cannot be had."""
    from linecache import getlines

    lines = [line.rstrip("\n") for line in getlines(loop_file)]
    if not lines and loop_file == training_loop.train_step.__code__.co_filename:
        return _archived_lines()
    return lines


def _archived_lines():
    from pkgutil import get_data

    try:
        text = get_data(__package__, TEXT_COPY)
    except OSError:
        return []
    return text.decode("utf-8").splitlines() if text else []
