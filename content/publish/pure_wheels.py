"""The pure-Python wheels of browser-wheels.txt, by `pip download` with their hashes."""

import sys

from publish import paths
from publish.console import Console
from publish.steps import Step
from publish.tools import fresh_folder, run_tool

LIST = paths.PUBLISH / "browser-wheels.txt"
BROWSER_PYTHON = "3.14"  # Pyodide's
FOLDER = paths.CACHE / "pure"


def download(console: Console) -> None:
    """Downloads the wheels beside their final folder, which pip's success alone replaces."""
    partial = fresh_folder(FOLDER.with_name("pure.partial"))
    run_tool(
        [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--require-hashes",
         "--python-version", BROWSER_PYTHON, "--platform", "any", "--disable-pip-version-check",
         "--dest", partial, "-r", LIST],
        "pure-wheels", remedy="check the network, then run the same command again",
    )
    fresh_folder(FOLDER).rmdir()
    partial.rename(FOLDER)


STEP = Step("pure browser wheels", download, inputs=(LIST,), outputs=(FOLDER,))
