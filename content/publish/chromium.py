"""Finds or installs the Chromium that the browser tests drive."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from publish.console import Console
from publish.errors import BuildError
from publish.tools import run_tool

VARIABLE = "CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MACOS_PATHS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
REMEDY = f"install Chromium yourself, or name one: {VARIABLE}=/path/to/chromium ./build.sh test"


def ensure_chromium(console: Console) -> str | None:
    """Path of a Chromium, or None for Playwright's own. Raises BuildError if there is none to be had."""
    found = find_chromium()
    if found:
        return found
    if os.geteuid() == 0 and shutil.which("apt-get"):
        console.note("installing Chromium by apt")
        try:
            run_tool(["apt-get", "update"], "apt-update", remedy=REMEDY)
            run_tool(["apt-get", "install", "-y", "--no-install-recommends", "chromium"], "apt-chromium", remedy=REMEDY)
        except BuildError as error:
            console.note(f"apt could not: {error.reason.splitlines()[0]}")
        if found := find_chromium():
            return found
    console.note("installing Playwright's own Chromium")
    run_tool([sys.executable, "-m", "playwright", "install", "chromium"], "playwright-chromium", remedy=REMEDY)
    return None


def find_chromium() -> str | None:
    """Path of a Chromium that starts, or None. Raises BuildError if CHROMIUM names one that does not."""
    named = os.environ.get(VARIABLE)
    if named:
        if starts(named):
            return named
        raise BuildError(f"{VARIABLE}={named} does not start", f"give the path of a Chromium that runs, or unset {VARIABLE}")
    candidates = [shutil.which(name) for name in NAMES] + [path for path in MACOS_PATHS if Path(path).exists()]
    return next((path for path in candidates if path and starts(path)), None)


def starts(path: str) -> bool:
    """True if `path --version` works: a package may leave a stub that only says how to install it."""
    try:
        return subprocess.run([path, "--version"], capture_output=True, timeout=30).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
