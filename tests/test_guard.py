"""The runner's Python parts in CPython: the guard against real signals, the loop, tracebacks, restoring, results."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

RUNNER = Path(__file__).parents[1] / "content" / "web" / "src" / "runner"
MODULES = ("guard", "loop", "tracebacks", "restore", "pictures", "cell", "harden", "boot")


@pytest.fixture(scope="module")
def cell():
    """The module `cell`, imported as a file; what importing and running it changes in this process is put back."""
    import asyncio
    import builtins

    kept = builtins.input, sys.unraisablehook, asyncio.events._event_loop_policy, sys.modules.get("__main__")
    sys.path.insert(0, str(RUNNER / "python"))
    try:
        import cell

        yield cell
    finally:
        sys.path.remove(str(RUNNER / "python"))
        for name in MODULES:
            sys.modules.pop(name, None)
        builtins.input, sys.unraisablehook, asyncio.events._event_loop_policy, sys.modules["__main__"] = kept


@pytest.fixture
def run(cell, monkeypatch):
    """run(source, session="page", mode="repr") as the worker does it, and what was printed."""
    out, err = (io.TextIOWrapper(io.BytesIO()) for _ in range(2))
    for stream in (out, err):
        stream.fileno = lambda: 1
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGALRM, signal.SIGINT, signal.SIGUSR1)}
    runner = cell.CellRunner()

    def run(source, session="page", mode="repr"):
        sys.stdout, sys.stderr = out, err  # pytest sets its own between set-up and call
        outcome = json.loads(runner.run(source, session, mode))
        out.flush()
        return {**outcome, "out": out.buffer.getvalue().decode(), "err": err.buffer.getvalue().decode()}

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)


@contextmanager
def signals_after(seconds, repeat_seconds=0.05):
    """What guard.js does in the browser: SIGALRM at the limit, and again and again."""
    signal.setitimer(signal.ITIMER_REAL, seconds, repeat_seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@pytest.mark.parametrize("source, value", [
    ("1 + 1", "2"),
    ("x = 3\nx * 2", "6"),
    ("x = 3", None),
    ("'text'", "'text'"),
    ("None", None),
    ("1;", None),
    ("", None),
    ("# only a comment", None),
    ("import asyncio\nawait asyncio.sleep(0)\n7", "7"),
    ("import asyncio\nasync def f():\n    await asyncio.sleep(0.01)\n    return 8\nasyncio.run(f())", "8"),
    ("__name__", "'__main__'"),
    ("from dataclasses import dataclass\n@dataclass\nclass A:\n    n: int\nA(1)", "A(n=1)"),
    ("import pickle\nclass B: pass\ntype(pickle.loads(pickle.dumps(B()))) is B", "True"),
])
def test_last_value(run, source, value):
    outcome = run(source)
    assert (outcome["status"], outcome["value"], outcome["error"]) == ("ok", value, None)


def test_result_modes(run):
    assert run("{'a': [1, 2.5, None]}", mode="json")["value"] == {"a": [1, 2.5, None]}
    assert run("1 + 1", mode="none")["value"] is None
    refused = run("{1, 2}", mode="json")
    assert (refused["status"], refused["errorType"]) == ("error", "TypeError")


def test_sessions_keep_their_own_variables(run):
    run("x = 1", session="a")
    assert run("x", session="a")["value"] == "1"
    assert run("x", session="b")["errorType"] == "NameError"


def test_traceback_shows_the_readers_lines_only(run):
    outcome = run("def f(n):\n    return 1 / n\nf(0)")
    assert outcome["error"].startswith('Traceback (most recent call last):\n  File "<cell>", line 3, in <module>\n    f(0)\n')
    assert '  File "<cell>", line 2, in f\n    return 1 / n\n' in outcome["error"]
    assert "cell.py" not in outcome["error"] and outcome["errorType"] == "ZeroDivisionError"


def test_traceback_of_a_function_from_an_earlier_run(run):
    run("def f(n):\n    return 1 / n")
    outcome = run("\n\nf(0)")
    assert 'File "<cell>", line 3' in outcome["error"]
    assert 'File "<cell, earlier run>", line 2, in f\n    return 1 / n' in outcome["error"]


def test_chained_errors_are_tidied_too(run):
    outcome = run("try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('no') from e")
    assert outcome["error"].count('File "<cell>"') == 2
    assert "direct cause" in outcome["error"]


@pytest.mark.parametrize("source, error_type", [("def f(:", "SyntaxError"), ("def f():\npass", "IndentationError"), ("x = 1\0", "SyntaxError")])
def test_syntax_errors(run, source, error_type):
    outcome = run(source)
    assert (outcome["status"], outcome["errorType"]) == ("error", error_type)
    assert "cell.py" not in outcome["error"]


@pytest.mark.parametrize("source, status, shown", [
    ("import sys; sys.exit()", "ok", None),
    ("exit(0)", "ok", None),
    ("import sys; sys.exit(3)", "error", "exit code 3"),
    ("import sys; sys.exit('wrong file')", "error", "wrong file"),
])
def test_system_exit_is_an_ordinary_end(run, source, status, shown):
    outcome = run(source)
    assert outcome["status"] == status
    assert shown is None or shown in outcome["error"]


@pytest.mark.parametrize("body, picture", [
    ("def _repr_svg_(self): return '<svg/>'", {"kind": "svg", "data": "<svg/>"}),
    ("def _repr_png_(self): return b'\\x89PNG'", {"kind": "png", "data": "iVBORw=="}),
    ("def _repr_svg_(self): return None\n    def _repr_png_(self): return b'a'", {"kind": "png", "data": "YQ=="}),
    ("pass", None),
])
def test_a_value_may_draw_itself(run, body, picture):
    source = f"class A:\n    {body}\n    def __repr__(self): return 'text'\n"
    outcome = run(source + "A()")
    assert (outcome["picture"], outcome["value"]) == (picture, "text")
    assert run(source + "A")["picture"] is None  # the class itself does not
    assert run(source + "A()", mode="none")["picture"] is None


def test_input_says_what_to_do(run):
    assert "input('n? ') cannot wait" in run("input('n? ')")["error"]


ENDLESS = {
    "plain": "kept = 1\nwhile True: pass",
    "except Exception": "kept = 1\nwhile True:\n    try:\n        while True: pass\n    except Exception: pass",
    "except BaseException": "kept = 1\nwhile True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "finally": "kept = 1\ntry:\n    while True: pass\nfinally:\n    while True: pass",
    "await": "kept = 1\nimport asyncio\nawait asyncio.sleep(1000)",
    "task": "kept = 1\nimport asyncio\nasync def f():\n    while True: await asyncio.sleep(0)\nt = asyncio.ensure_future(f())\nawait asyncio.sleep(1000)",
    "repr": "kept = 1\nclass R:\n    def __repr__(self):\n        while True: pass\nR()",
    "str of an exception": "kept = 1\nclass E(Exception):\n    def __str__(self):\n        while True: pass\nraise E",
}


@pytest.mark.parametrize("source", ENDLESS.values(), ids=ENDLESS.keys())
def test_endless_programs_end_at_the_limit_and_keep_variables(run, source):
    if not hasattr(sys, "monitoring") and source in (ENDLESS["except BaseException"], ENDLESS["finally"]):
        pytest.skip("this Python has no sys.monitoring; tests/browser/test_runner_hostile.py runs these in the browser's")
    began = time.perf_counter()
    with signals_after(0.2):
        outcome = run(source)
    assert 0.19 < time.perf_counter() - began < 3
    assert outcome["status"] in ("timeout", "error")
    assert run("kept")["value"] == "1"


def test_the_limit_names_the_line(run):
    with signals_after(0.2):
        outcome = run("x = 1\nwhile True:\n    x += 1")
    assert outcome["status"] == "timeout" and outcome["errorType"] == "TimeLimitExceeded"
    assert re.search(r'File "<cell>", line [23]', outcome["error"])


def test_a_swallowed_limit_is_still_a_timeout(run):
    with signals_after(0.2, 0):
        outcome = run("try:\n    while True: pass\nexcept BaseException: pass\n'all well'")
    assert (outcome["status"], outcome["value"]) == ("timeout", None)


def test_stop_and_output_limit_have_their_own_errors(run):
    for number, status, error_type in ((signal.SIGINT, "stopped", "StopRequested"), (signal.SIGUSR1, "error", "OutputLimitExceeded")):
        outcome = run(f"import signal\nsignal.raise_signal({int(number)})\nwhile True: pass")
        assert (outcome["status"], outcome["errorType"]) == (status, error_type)


def test_no_signal_is_raised_after_the_run(run):
    run("1")
    signal.raise_signal(signal.SIGALRM)
    signal.raise_signal(signal.SIGINT)


def test_waiting_for_nothing_is_an_error_with_its_line(run):
    outcome = run("import asyncio\nawait asyncio.get_running_loop().create_future()")
    assert outcome["errorType"] == "NothingWillHappen" and 'File "<cell>", line 2' in outcome["error"]


def test_waiting_for_a_task_that_the_limit_ended_is_the_limit(run):
    outcome = run("""
import asyncio, signal
async def tick():
    signal.raise_signal(signal.SIGALRM)
task = asyncio.create_task(tick())
await asyncio.get_running_loop().create_future()""")
    assert outcome["status"] == "timeout" and 'File "<cell>", line 6' in outcome["error"]


def test_tasks_left_behind_are_cancelled(run):
    outcome = run("""
import asyncio
async def late():
    try:
        await asyncio.sleep(1000)
    except asyncio.CancelledError:
        print("cancelled")
        raise
task = asyncio.ensure_future(late())
await asyncio.sleep(0)""")
    assert (outcome["status"], outcome["out"]) == ("ok", "cancelled\n")


@pytest.mark.parametrize("damage", [
    "import builtins\nbuiltins.print = builtins.len = None",
    "import sys\nsys.stdout = None",
    "import sys\nsys.settrace(lambda *a: None)",
    "import sys\nsys.setrecursionlimit(100)",
    "import sys\nsys.meta_path.clear()",
    "import gc\ngc.disable()",
])
def test_damage_is_repaired_before_the_next_run(run, damage):
    assert run(damage)["status"] == "ok"
    after = run("import colorsys, gc, sys\nprint(len('abc'), gc.isenabled(), sys.gettrace())")
    assert (after["status"], after["out"]) == ("ok", "3 True None\n")


def test_sleep_is_cut_so_that_a_signal_ends_it(cell, run, monkeypatch):
    import harden

    monkeypatch.setattr(time, "sleep", time.sleep)
    harden.slice_sleep()
    with signals_after(0.2):
        outcome = run("import time\ntime.sleep(1000)")
    assert outcome["status"] == "timeout" and "time.sleep(1000)" in outcome["error"]
    with pytest.raises(ValueError):
        time.sleep(-1)


def test_blocked_modules_do_not_exist():
    """In a process of its own: even what was imported before is gone."""
    program = """import ctypes, harden
harden.block_imports()
for name in ("js", "pyodide_js", "ctypes", "micropip"):
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        print(error.name)
"""
    environment = {**os.environ, "PYTHONPATH": str(RUNNER / "python")}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert (done.stdout.split(), done.stderr) == (["js", "pyodide_js", "ctypes", "micropip"], "")


def test_signal_numbers_agree_with_the_worker(cell):
    import guard

    text = (RUNNER / "protocol.js").read_text(encoding="utf-8")
    (table,) = re.findall(r"SIGNALS = \{(.*?)\}", text)
    in_worker = {name: int(number) for name, number in re.findall(r"(\w+): (\d+)", table)}
    of_error = {error.__name__: int(number) for number, (error, _message) in guard.ERROR_OF_SIGNAL.items()}
    assert in_worker == {
        "limit": of_error["TimeLimitExceeded"], "stop": of_error["StopRequested"], "output": of_error["OutputLimitExceeded"],
    }


def test_module_lists_agree(cell):
    import boot

    text = (RUNNER / "protocol.js").read_text(encoding="utf-8")
    (listed,) = re.findall(r"PYTHON_MODULES = \[(.*?)\]", text)
    assert tuple(re.findall(r"'(\w+)'", listed)) == boot.RUNNER_MODULES == MODULES
    assert sorted(path.stem for path in (RUNNER / "python").glob("*.py")) == sorted(MODULES)


def test_picture_bounds_agree(cell):
    import pictures

    (bound,) = re.findall(r"MAX_PICTURE_BYTES = ([\d_]+)", (RUNNER / "protocol.js").read_text(encoding="utf-8"))
    assert int(bound) == pictures.MAX_PICTURE_BYTES
