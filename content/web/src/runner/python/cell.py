"""Run one cell: compile it, run it under the guard, and say what came of it."""

import ast
import builtins
import json
import sys
import types

from guard import RUNNER_FILES, Guard, OutputLimitExceeded, RunEnded, StopRequested, TimeLimitExceeded
from loop import NothingWillHappen, run_to_end
from pictures import picture_of
from restore import InterpreterState
from tracebacks import describe_error, remember_source, show_unraisable

MAX_VALUE_CHARS = 200_000
RESERVE_BYTES = 4 * 1024 * 1024
MAX_JSON_CHARS = 2_000_000
_to_json = json.JSONEncoder().encode  # json.dumps may be the reader's own by the time it is needed
_RESULT_NAME = "__zero_result__"
_STATUS_OF = {TimeLimitExceeded: "timeout", StopRequested: "stopped", OutputLimitExceeded: "error"}


class InputNotAvailable(RuntimeError):
    """input() was called."""

    __module__ = "builtins"


def _input(prompt="", /):
    raise InputNotAvailable(
        f"input({str(prompt)[:80]!r}) cannot wait for an answer here. Write the answer into the code instead, as text, "
        "for example: answer = '7'"
    )


class CellRunner:
    """Runs cells in named sessions. One object an interpreter."""

    def __init__(self):
        builtins.input = _input
        sys.unraisablehook = show_unraisable
        self._guard = Guard()
        self._state = InterpreterState()
        self._sessions = {}
        self._reserve = bytearray(RESERVE_BYTES)

    def run(self, source, session, result_mode):
        """Run `source` in the namespace `session`. Return JSON text: {status, value, picture, error, errorType, spent}.

        status is ok, error, timeout or stopped; value is the last expression's (`result_mode`: repr, json or none), picture
        how it draws itself (with repr only);
        spent means that this interpreter cannot run another cell.
        """
        module = self._sessions.get(session) or self._new_session(session)
        file_name = remember_source(source)
        guard = self._guard
        self._reserve = self._reserve or bytearray(RESERVE_BYTES)
        guard.start()
        try:
            try:
                outcome = self._run_in(module, source, file_name, result_mode)
            except BaseException as error:
                if isinstance(error, MemoryError):
                    self._reserve = None  # what describes the error needs memory too
                guard.allow_report()
                self._state.restore_builtins()
                if guard.ended_by and isinstance(error, NothingWillHappen):
                    error = guard.ended_by.with_traceback(error.__traceback__)  # in a task
                outcome = _outcome_of(error, file_name)
            self._state.flush()
            if guard.ended_by and outcome["status"] == "ok":  # an except clause has kept to itself why
                outcome = _outcome_of(guard.ended_by, file_name)
        finally:
            self._state.restore_builtins()
            guard.stop()
            self._state.restore()
        return _to_json({**outcome, "spent": not self._state.is_usable()})

    def _new_session(self, name):
        module = types.ModuleType("__main__")
        module.__builtins__ = builtins
        self._sessions[name] = module
        return module

    def _run_in(self, module, source, file_name, result_mode):
        namespace = vars(module)
        sys.modules["__main__"] = module
        code = compile_cell(source, file_name)
        pending = eval(code, namespace)
        if type(pending) is types.CoroutineType:
            run_to_end(pending)
        self._state.restore_builtins()
        value = namespace.pop(_RESULT_NAME, None)
        picture = picture_of(value) if result_mode == "repr" else None
        return {"status": "ok", "value": _shown(value, result_mode), "picture": picture, "error": None, "errorType": None}


def compile_cell(source, file_name):
    """Return code that runs `source` and leaves its last expression's value under _RESULT_NAME. `await` is allowed."""
    tree = compile(source, file_name, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr) and not source.rstrip().endswith(";"):
        target = ast.copy_location(ast.Name(_RESULT_NAME, ast.Store()), last)
        tree.body[-1] = ast.copy_location(ast.Assign([target], last.value), last)
    return compile(tree, file_name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def _shown(value, mode):
    if mode == "json":
        text = _to_json(value)
        if len(text) > MAX_JSON_CHARS:
            raise ValueError(f"the result is {len(text)} characters of JSON; at most {MAX_JSON_CHARS} fit")
        return value
    if mode == "none" or value is None:
        return None
    text = repr(value)
    if len(text) > MAX_VALUE_CHARS:
        return f"{text[:MAX_VALUE_CHARS]}… ({len(text)} characters)"
    return text


def _outcome_of(error, file_name):
    if isinstance(error, SystemExit):
        return _outcome_of_exit(error)
    status = next((s for kind, s in _STATUS_OF.items() if isinstance(error, kind)), "error")
    name = type(error).__name__
    try:
        text = describe_error(error, file_name)
    except BaseException:
        # A hostile __str__ or one that does not end: the name must do.
        text = f"{name}: (its message cannot be shown)"
    return {"status": status, "value": None, "picture": None, "error": text, "errorType": name}


def _outcome_of_exit(error):
    """sys.exit() and exit() are an ordinary way to end a program; a message or a code other than 0 is shown."""
    code = error.code
    if code is None or code == 0:
        return {"status": "ok", "value": None, "picture": None, "error": None, "errorType": "SystemExit"}
    shown = code if isinstance(code, str) else f"the program ended itself with exit code {code!r}"
    return {"status": "error", "value": None, "picture": None, "error": f"SystemExit: {shown}", "errorType": "SystemExit"}


RUNNER_FILES.add(compile_cell.__code__.co_filename)
