"""The lab's own extension: the guard that every JupyterLite kernel of the site gets, bundled from content/web/src/lab."""

import json
from pathlib import Path

from publish import npm, paths
from publish.console import Console
from publish.errors import BuildError
from publish.steps import Step
from publish.tools import fresh_folder, run_tool

NAME = "zero-ledger-guard"
FOLDER = paths.STAGE / "labextension" / NAME
GUARDED_PYODIDE = "guarded-pyodide.mjs"
KERNEL_PLUGIN = "@jupyterlite/pyodide-kernel-extension:kernel"
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
    """Makes the kernels of a built JupyterLite load Pyodide through the guard. `jupyter lite build` has set its own URL."""
    config_file = site / "jupyter-lite.json"
    config = json.loads(config_file.read_text())
    kernel = config["jupyter-config-data"]["litePluginSettings"][KERNEL_PLUGIN]
    if not (site / "extensions" / NAME / "static" / GUARDED_PYODIDE).is_file():
        raise BuildError(f"extensions/{NAME} is not in the site", REMEDY)
    kernel["pyodideUrl"] = f"./extensions/{NAME}/static/{GUARDED_PYODIDE}"
    config_file.write_text(json.dumps(config, indent=1, sort_keys=True))


STEP = Step(
    "lab extension", bundle, inputs=(paths.WEB, paths.CONTENT / "lessonkit" / "strings.json"), outputs=(FOLDER,), after=(npm.STEP,),
)
