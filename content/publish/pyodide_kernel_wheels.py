"""The wheels inside JupyterLite's kernel extension."""

import sysconfig
from pathlib import Path

from publish.errors import BuildError

FOLDER = Path(sysconfig.get_path("data")) / "share/jupyter/labextensions/@jupyterlite/pyodide-kernel-extension/static/pypi"
NAMES = ("ipykernel", "piplite", "pyodide_kernel", "widgetsnbextension-4")


def found() -> list[Path]:
    """One of each name. Raises BuildError if the extension names them otherwise."""
    wheels = [wheel for name in NAMES for wheel in FOLDER.glob(f"{name}*.whl")]
    if len(wheels) != len(NAMES):
        raise BuildError(f"{FOLDER} does not hold one wheel each of {', '.join(NAMES)}", "adapt NAMES to the installed version")
    return wheels
