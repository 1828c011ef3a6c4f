"""Runs a lesson's code cells, a JSON list on stdin, one after the other in one scope; a program of its own for check.py.

The last line it prints is null, or {"id", "line", "error"} of the first cell that failed.
"""

import contextlib
import io
import json
import sys


def main():
    scope = {"__name__": "__main__"}
    for cell in json.load(sys.stdin):
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(cell["source"], "<cell>", "exec"), scope)
        except BaseException as error:
            lines = [line for name, line in frames(error.__traceback__) if name == "<cell>"]
            line = cell["line"] + (lines[-1] if lines else 1) - bool(cell["shift"])
            return {"id": cell["id"], "line": line, "error": f"{type(error).__name__}: {error}"}
    return None


def frames(traceback):
    while traceback:
        yield traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
        traceback = traceback.tb_next


if __name__ == "__main__":
    print("\n" + json.dumps(main()))
