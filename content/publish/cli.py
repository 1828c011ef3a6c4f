"""The words after `./build.sh`."""

import shutil
import sys
import time
from pathlib import Path

from publish import paths
from publish.console import Console, seconds
from publish.errors import BuildError

USAGE = """usage: ./build.sh              build the site into dist/
       ./build.sh serve [PORT] build it and serve it on 127.0.0.1 (PORT is 8000 if not given)
       ./build.sh test [ARG…]  build it and test it; ARGs go to pytest (-k ledger; --long: the walks too)
       ./build.sh bench [ARG…] build it and measure it (--quick, --json FILE, or names of benchmarks)
       ./build.sh torch [ARG…] compare predictions with real PyTorch runs (--quick; --help; see tests/torch)
       ./build.sh check [FILE…]  say what is wrong with lessons and exercises, without a build
       ./build.sh new KIND NAME  start a lesson, an exercise or a question from a template
       ./build.sh zip [FILE]   build it and pack it for a classroom without internet (.build/zero-ledger.zip)
       ./build.sh clean        remove dist/ and .build/
"""
FAILED = 1
BAD_USAGE = 2


def main(words: list[str]) -> int:
    """Runs a command; its exit status comes back."""
    command, *rest = words or ["build"]
    commands = {"build": build, "serve": serve, "test": test, "bench": bench, "check": check, "new": new, "zip": pack, "clean": clean, "help": usage, "-h": usage, "--help": usage}
    if command not in commands or (rest and command not in ("serve", "test", "bench", "check", "new", "zip")):
        print(USAGE, end="", file=sys.stderr)
        return BAD_USAGE
    try:
        return commands[command](rest)
    except BuildError as error:
        print(f"\nfailed: {error.reason}\n  what to do: {error.remedy}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130


def build(rest: list[str]) -> int:
    """Builds dist/ and says how long it took."""
    from publish.site import build_site, site_size_bytes

    started = time.monotonic()
    build_site(Console())
    print(f"dist/ is ready: {site_size_bytes() / 1e6:.0f} MB, {seconds(time.monotonic() - started)}")
    return 0


def serve(rest: list[str]) -> int:
    """Takes the port first, so that a taken one is said at once; then builds and serves."""
    from publish.serve import DEFAULT_PORT, make_server, parse_port, serve_until_stopped

    if len(rest) > 1:
        print(USAGE, end="", file=sys.stderr)
        return BAD_USAGE
    server = make_server(paths.DIST, parse_port(rest[0]) if rest else DEFAULT_PORT)
    build([])
    serve_until_stopped(server)
    return 0


def test(rest: list[str]) -> int:
    """Builds, then runs the type check, the script tests and pytest."""
    from publish.testing import run_all_tests

    return run_all_tests(rest, Console())


def bench(rest: list[str]) -> int:
    """Builds, then runs tests/bench."""
    from publish.testing import run_benchmarks

    return run_benchmarks(rest, Console())


def check(rest: list[str]) -> int:
    """Checks the named sources, or all."""
    from publish.authoring import report

    return 0 if report(rest) else FAILED


def new(rest: list[str]) -> int:
    """Writes a starting file and says what comes next."""
    from publish.authoring import KINDS, new_source

    if len(rest) != 2:
        print(f"usage: ./build.sh new {'|'.join(KINDS)} NAME", file=sys.stderr)
        return BAD_USAGE
    made = new_source(*rest).relative_to(paths.ROOT)
    print(f"wrote {made}\n  next: edit it, then ./build.sh check {made} and ./build.sh serve")
    return 0


def pack(rest: list[str]) -> int:
    """Builds, then packs dist/ with a small server."""
    from publish.classroom import PACKAGE, write_package

    if len(rest) > 1:
        print(USAGE, end="", file=sys.stderr)
        return BAD_USAGE
    build([])
    made = write_package(Path(rest[0]) if rest else PACKAGE)
    print(f"{made} is ready: {made.stat().st_size / 1e6:.0f} MB; unpack it and run python3 start.py")
    return 0


def clean(rest: list[str]) -> int:
    """Removes everything that a build makes, the virtual environment and the browser packages included."""
    for folder in (paths.DIST, paths.NODE_MODULES, paths.BUILD):
        shutil.rmtree(folder, ignore_errors=True)
    print("removed dist/, .build/ and content/web/node_modules/")
    return 0


def usage(rest: list[str]) -> int:
    """Prints the usage because it was asked for."""
    print(USAGE, end="")
    return 0
