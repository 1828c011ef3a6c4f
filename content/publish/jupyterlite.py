"""The lab: JupyterLite with our notebooks, our Pyodide distribution and the Chinese interface."""

import json
import shutil
import sys
import sysconfig
from pathlib import Path

from publish import bytecode, labextension, notebooks, paths, pyodide_dist
from publish.chinese_lab import add_chinese_apps
from publish.console import Console
from publish.steps import Step
from publish.tools import fresh_folder, run_tool

CONFIG = paths.ROOT / "jupyter_lite_config.json"
SETTINGS = paths.PUBLISH / "lite"  # jupyter-lite.json and others, as JupyterLite wants them in its input folder
LABEXTENSIONS = Path(sysconfig.get_path("data")) / "share" / "jupyter" / "labextensions"
# Named one by one: jupytext installs an extension too, which a static site has no use for.
EXTENSIONS = ("@jupyter-widgets/jupyterlab-manager", "@jupyterlite/pyodide-kernel-extension", "jupyterlab_pygments")
ICON = '<link rel="icon" type="image/x-icon" href="../static/favicons/favicon.ico">'
REMEDY = "run ./build.sh clean, then ./build.sh"


def build(console: Console) -> None:
    """Runs `jupyter lite build` from stage/lite to stage/jupyterlite: this environment's, whereas `jupyter` takes the first on PATH."""
    shutil.copytree(SETTINGS, paths.LITE, dirs_exist_ok=True)
    shutil.copytree(paths.NOTEBOOKS, fresh_folder(paths.LITE / "files"), dirs_exist_ok=True)
    config = paths.STAGE / "jupyter_lite_config.json"
    config.write_text(json.dumps(with_extensions(json.loads(CONFIG.read_text())), indent=1))
    output = fresh_folder(paths.JUPYTERLITE)
    (paths.LITE / ".jupyterlite.doit.db").unlink(missing_ok=True)  # its memory of an earlier output
    run_tool(
        [sys.executable, "-m", "jupyterlite_core", "build", "--config", config, "--lite-dir", paths.LITE, "--output-dir", output],
        "jupyterlite", remedy=REMEDY, cwd=paths.LITE,
    )
    labextension.use_guarded_pyodide(output)
    for page in output.glob("*/index.html"):
        add_icon(page)
    add_chinese_apps(output)


def add_icon(page: Path) -> None:
    """Names an icon in an app's HTML; JupyterLite does so late, and browsers first ask the host's root."""
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("</title>", f"</title>\n    {ICON}", 1), encoding="utf-8")


def with_extensions(config: dict) -> dict:
    """The build's settings, with the extensions' folders in this virtual environment."""
    folders = [*(str(LABEXTENSIONS / name) for name in EXTENSIONS), str(labextension.FOLDER)]
    own = {"ignore_sys_prefix": ["federated_extensions"], "federated_extensions": folders}
    return {**config, "LiteBuildConfig": {**config["LiteBuildConfig"], **own}}


STEP = Step(
    "JupyterLite", build, inputs=(CONFIG, SETTINGS, paths.PUBLISH / "chinese_lab.py", paths.ROOT / "requirements.txt"), outputs=(paths.JUPYTERLITE,),
    after=(pyodide_dist.STEP, bytecode.STDLIB_STEP, notebooks.STEP, labextension.STEP),
)
