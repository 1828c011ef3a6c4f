"""Runs the few lines of code that an exercise shows after the commit, and catches what they print."""

from contextlib import redirect_stdout
from io import StringIO

from .expressions import public_names


def output_of(code: str) -> str:
    """What `code` prints when it runs with zeroledger's public names; whatever it raises passes through."""
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(code, "<exercise>", "exec"), public_names())
    return printed.getvalue().rstrip()
