"""`./build.sh test`: a Chromium, a build, the type check, the script tests and pytest last; `./build.sh bench`."""

import os
import subprocess
import sys
import time

from publish import chromium, paths
from publish.console import Console, seconds
from publish.site import build_site

NOTHING_SELECTED = 5  # pytest's exit status
# Browser tests wait more than they compute. A file stays with one worker, which has its own server and Chromium; in the
# order of their names the long ones of the lab come early.
TWO_AT_ONCE = ("--numprocesses=2", "--dist=loadfile", "--no-loadscope-reorder")


def run_all_tests(pytest_arguments: list[str], console: Console) -> int:
    """Runs everything, also after a failure; the first exit status that is not 0 comes back."""
    environment = prepared(console)
    statuses = [run(name, command, environment) for name, command in suites(pytest_arguments)]
    return verdict(statuses, is_selection=bool(pytest_arguments))


def run_benchmarks(arguments: list[str], console: Console) -> int:
    """Runs tests/bench; its exit status comes back."""
    return run("benchmarks", [sys.executable, paths.TESTS / "bench", *arguments], prepared(console))


def prepared(console: Console) -> dict[str, str]:
    """A Chromium and a built site; the environment for programs that use both comes back."""
    console.begin("Chromium")
    browser = chromium.ensure_chromium(console)
    console.end("Chromium", browser or "Playwright's own")
    build_site(console)
    environment = {**os.environ, "PYTHONPATH": str(paths.CONTENT)}
    if browser:
        environment[chromium.VARIABLE] = browser
    return environment


def verdict(statuses: list[int], is_selection: bool) -> int:
    """The first exit status that is not 0. What was selected may all lie in one of pytest's two suites, the last ones:
    the other's "nothing selected" then counts only when both say it."""
    *others, python, browser = statuses
    if is_selection and python != browser and NOTHING_SELECTED in (python, browser):
        python = browser = python if browser == NOTHING_SELECTED else browser
    return next((status for status in (*others, python, browser) if status != 0), 0)


def suites(pytest_arguments: list[str]) -> list[tuple[str, list]]:
    """Name and command of each suite, pytest's last, whose summary then ends the output."""
    script_tests = sorted((paths.TESTS / "js").glob("*.test.js"))
    browser_tests = paths.TESTS / "browser"  # apart: Playwright's loop must not meet tests that play with signals and loops
    pytest = [sys.executable, "-m", "pytest", "-q", "-ra", "--durations=10", *TWO_AT_ONCE]
    return [
        ("type check", [paths.NODE_MODULES / ".bin" / "tsc", "--noEmit", "-p", paths.WEB]),
        ("script tests", ["node", "--test", "--test-reporter=spec", *script_tests]),
        ("Python tests", [*pytest, paths.TESTS, f"--ignore={browser_tests}", *pytest_arguments]),
        ("browser tests", [*pytest, browser_tests, *pytest_arguments]),
    ]


def run(name: str, command: list, environment: dict) -> int:
    """Runs one suite in the clone's folder, its output shown; its exit status comes back."""
    print(f"\n== {name}", flush=True)
    started = time.monotonic()
    status = subprocess.run([str(word) for word in command], cwd=paths.ROOT, env=environment).returncode
    print(f"== {name}: {'passed' if status == 0 else f'failed (status {status})'}, {seconds(time.monotonic() - started)}", flush=True)
    return status
