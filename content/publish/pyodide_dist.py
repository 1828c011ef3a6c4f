"""The Pyodide distribution of the site: core, wheels and a lock that names just these."""

import json
import shutil
from pathlib import Path

from publish import bytecode_wheels, compiled_wheels, npm, own_wheel, paths, pure_wheels
from publish.console import Console
from publish.download import sha256_of
from publish.steps import Step
from publish.tools import fresh_folder

CORE_FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
LOCK = paths.PYODIDE / "pyodide-lock.json"
# Pyodide loads what a cell's own source imports. lessonkit imports these later, inside its functions,
# where nothing can be loaded any more: they come along with our wheel.
LATER_IMPORTS = ("ipywidgets", "matplotlib")


def assemble(console: Console) -> None:
    """Copies core and wheels into stage/lite/static/pyodide and writes the lock."""
    folder = fresh_folder(paths.PYODIDE)
    for name in CORE_FILES:
        shutil.copyfile(compiled_wheels.PYODIDE_PACKAGE / name, folder / name)
    wheels = [*bytecode_wheels.sources(), own_wheel.wheel()]
    for wheel in wheels:
        shutil.copyfile(wheel, folder / wheel.name)
    lock = make_lock([folder / wheel.name for wheel in wheels if wheel.parent != compiled_wheels.FOLDER])
    use_bytecode(lock)
    LOCK.write_text(json.dumps(lock, indent=1, sort_keys=True))


def make_lock(added: list[Path]) -> dict:
    """Pyodide's lock, cut down to the compiled wheels, plus the given wheels with their own hashes."""
    from pyodide_lock import PyodideLockSpec
    from pyodide_lock.utils import add_wheels_to_spec

    whole = json.loads((compiled_wheels.PYODIDE_PACKAGE / "pyodide-lock.json").read_text())
    packages = {name: whole["packages"][name] for name in compiled_wheels.NAMES}
    # pyodide-lock 0.1.2 insists on a version, which the locks of Pyodide 314 no longer carry.
    info = {"version": whole["info"]["python"], **whole["info"]}
    spec = add_wheels_to_spec(
        PyodideLockSpec(info=info, packages=packages), wheel_files=added, base_path=paths.PYODIDE, ignore_missing_dependencies=True
    )
    lock = json.loads(spec.model_dump_json())
    lock["info"] = whole["info"]
    lock["packages"]["zeroledger"]["depends"].extend(LATER_IMPORTS)
    for package in lock["packages"].values():
        package["depends"] = [name for name in package["depends"] if name in lock["packages"]]
    return lock


def use_bytecode(lock: dict) -> None:
    """Puts the wheels of byte code in the place of those they were made from. What each imports was read off its sources."""
    for package in lock["packages"].values():
        if made := bytecode_wheels.compiled(package["file_name"]):
            (paths.PYODIDE / package["file_name"]).unlink()
            shutil.copyfile(made, paths.PYODIDE / made.name)
            package.update(file_name=made.name, sha256=sha256_of(made))


STEP = Step(
    "Pyodide distribution", assemble, outputs=(paths.PYODIDE,), inputs=(paths.ROOT / "requirements.txt",),
    after=(npm.STEP, compiled_wheels.STEP, pure_wheels.STEP, own_wheel.STEP, bytecode_wheels.STEP),
)
