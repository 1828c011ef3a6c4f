"""The lab's own extension: the guard that every JupyterLite kernel of the site gets, bundled from content/web/src/lab."""

import json
import shutil
from pathlib import Path

from publish import bytecode, npm, paths
from publish.console import Console
from publish.download import sha256_of
from publish.errors import BuildError
from publish.steps import Step
from publish.tools import fresh_folder, run_tool

NAME = "zero-ledger-guard"
FOLDER = paths.STAGE / "labextension" / NAME
GUARDED_PYODIDE = "guarded-pyodide.mjs"
KERNEL_PLUGIN = "@jupyterlite/pyodide-kernel-extension:kernel"
REPL = Path("repl/jupyter-lite.json")
OUR_WHEEL = "zeroledger"
REMEDY = "run ./build.sh clean, then ./build.sh"


def bundle(console: Console) -> None:
    """Makes stage/labextension/zero-ledger-guard, a prebuilt JupyterLab extension."""
    static = fresh_folder(FOLDER) / "static"
    run_tool(["node", "build-lab.mjs", static], "labextension", remedy="fix the source file that esbuild names", cwd=paths.WEB)
    (entry,) = static.glob("remoteEntry.*.js")
    package = {
        "name": NAME, "version": "0.1.0", "license": "MIT",
        "jupyterlab": {"extension": True, "_build": {"load": f"static/{entry.name}", "extension": "./extension"}},
    }
    (FOLDER / "package.json").write_text(json.dumps(package, indent=1))


def use_guarded_pyodide(site: Path) -> None:
    """Makes the kernels of a built JupyterLite load Pyodide through the guard, with the standard library as byte code.
    `jupyter lite build` has set its own URL. The REPL loads our wheel, and matplotlib with it, only when it is imported."""
    if not (site / "extensions" / NAME / "static" / GUARDED_PYODIDE).is_file():
        raise BuildError(f"extensions/{NAME} is not in the site", REMEDY)
    kernel = kernel_settings(site / "jupyter-lite.json", pyodideUrl=f"./extensions/{NAME}/static/{GUARDED_PYODIDE}")
    options = {**kernel["loadPyodideOptions"], "stdLibURL": f"./{add_stdlib(site)}"}
    kernel_settings(site / "jupyter-lite.json", loadPyodideOptions=options)
    kernel_settings(site / REPL, loadPyodideOptions={**options, "packages": [name for name in options["packages"] if name != OUR_WHEEL]})


def kernel_settings(config_file: Path, **changed) -> dict:
    """Changes settings of the kernel in one of JupyterLite's files of settings; all that the file has of them come back."""
    config = json.loads(config_file.read_text())
    kernel = config["jupyter-config-data"].setdefault("litePluginSettings", {}).setdefault(KERNEL_PLUGIN, {})
    kernel.update(changed)
    config_file.write_text(json.dumps(config, indent=1, sort_keys=True))
    return kernel


def add_stdlib(site: Path) -> str:
    """Copies the standard library's byte code into the site under a name with its content's hash; its place comes back."""
    place = f"static/pyodide/stdlib-{sha256_of(bytecode.STDLIB)[:10]}.zip.gz"
    shutil.copyfile(bytecode.STDLIB, site / place)
    return place


STEP = Step(
    "lab extension", bundle, inputs=(paths.WEB, paths.CONTENT / "lessonkit" / "strings.json"), outputs=(FOLDER,), after=(npm.STEP,),
)
