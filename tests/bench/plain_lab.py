"""A plain JupyterLite site with one of our notebooks, as somebody would build it who follows JupyterLite's own guide.

The same versions of JupyterLite, its kernel, Pyodide and the wheels as ours, and everything else as it comes: Pyodide in
static/pyodide with its whole lock, wheels that Pyodide lacks in pypi/, and a first cell that installs what the notebook
needs. That cell is the one difference of the notebook; without it a plain site cannot run it.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from publish import compiled_wheels, jupyterlite, labextension, paths, pure_wheels, pyodide_dist
from publish.download import sha256_of

FOLDER = paths.BUILD / "bench-plain"
SITE = FOLDER / "site"
NOTEBOOK = "en/01-ledger.ipynb"
INSTALL = "%pip install -q zeroledger ipywidgets matplotlib"
# Two that ours does without: the kernel has the widgets' scripts from an extension of the lab.
PYPI_ONLY = ("comm", "ipywidgets")
FROM_PYPI = "jupyterlab_widgets==3.0.17"
CONFIG = {"LiteBuildConfig": {"apps": ["lab", "repl"], "no_sourcemaps": True}}
# Nothing but this machine is there to ask.
SETTINGS = {"jupyter-lite-schema-version": 0, "jupyter-config-data": {"litePluginSettings": {labextension.KERNEL_PLUGIN: {"disablePyPIFallback": True}}}}


def plain_site() -> Path:
    """The folder of the built site; it is built anew when the notebook or our wheel has changed."""
    made_from = FOLDER / "made-from.json"
    wanted = json.dumps([sha256_of(wheel()), sha256_of(paths.NOTEBOOKS / NOTEBOOK), sha256_of(Path(__file__)), sha256_of(paths.ROOT / "requirements.txt")])
    if not (made_from.is_file() and made_from.read_text() == wanted):
        build()
        made_from.write_text(wanted)
    return SITE


def build() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    lite = FOLDER / "lite"
    fill_pyodide(lite / "static/pyodide")
    fill_pypi(lite / "pypi")
    notebook = json.loads((paths.NOTEBOOKS / NOTEBOOK).read_text(encoding="utf-8"))
    notebook["cells"].insert(0, {"cell_type": "code", "id": "install", "metadata": {}, "source": INSTALL, "outputs": [], "execution_count": None})
    place = lite / "files" / NOTEBOOK
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps(notebook), encoding="utf-8")
    (lite / "jupyter-lite.json").write_text(json.dumps(SETTINGS))
    config = FOLDER / "jupyter_lite_config.json"
    extensions = [str(jupyterlite.LABEXTENSIONS / name) for name in jupyterlite.EXTENSIONS]
    config.write_text(json.dumps({"LiteBuildConfig": {**CONFIG["LiteBuildConfig"], "ignore_sys_prefix": ["federated_extensions"], "federated_extensions": extensions}}))
    subprocess.run(
        [sys.executable, "-m", "jupyterlite_core", "build", "--config", config, "--lite-dir", lite, "--output-dir", SITE],
        cwd=lite, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )


def fill_pyodide(folder: Path) -> None:
    """Pyodide's core, its whole lock, and the wheels of it that are at hand. PyPI's pure wheels are not Pyodide's own
    builds: the lock gets their hashes."""
    folder.mkdir(parents=True)
    for name in pyodide_dist.CORE_FILES:
        shutil.copy2(compiled_wheels.PYODIDE_PACKAGE / name, folder)
    for name in compiled_wheels.wanted():
        shutil.copy2(compiled_wheels.FOLDER / name, folder)
    lock = json.loads((compiled_wheels.PYODIDE_PACKAGE / "pyodide-lock.json").read_text())
    for wheel_file in pure_wheels.FOLDER.glob("*.whl"):
        entry = lock["packages"].get(package_name(wheel_file))
        if entry:
            shutil.copy2(wheel_file, folder)
            entry |= {"file_name": wheel_file.name, "sha256": sha256_of(wheel_file)}
    (folder / "pyodide-lock.json").write_text(json.dumps(lock))


def fill_pypi(folder: Path) -> None:
    """The wheels that piplite serves: ours, and those that Pyodide does not carry."""
    folder.mkdir(parents=True)
    shutil.copy2(wheel(), folder)
    for wheel_file in pure_wheels.FOLDER.glob("*.whl"):
        if package_name(wheel_file) in PYPI_ONLY:
            shutil.copy2(wheel_file, folder)
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--dest", folder, FROM_PYPI],
        check=True,
    )


def wheel() -> Path:
    """Ours, under the name that pip knows."""
    (found,) = paths.DOWNLOAD.glob("zeroledger-*.whl")
    return found


def package_name(wheel_file: Path) -> str:
    return wheel_file.name.partition("-")[0].lower().replace("_", "-")
