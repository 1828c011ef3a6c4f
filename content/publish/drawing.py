"""Pictures that the browser's own code draws, here at build by Node, so that a page shows them before any script runs."""

import json
import subprocess
from pathlib import Path

from . import paths
from .errors import BuildError

BUNDLED = Path(__file__).parent / "drawings"  # in the wheel of the exporter, which has no content/web
SOURCES = paths.WEB / "src" / "page"


def draw(name: str, job: dict) -> str:
    """What <name>.mjs prints for `job`. BuildError when it fails, or when there is no Node.js."""
    bundled = BUNDLED / f"{name}.mjs"
    try:
        done = subprocess.run(["node", bundled if bundled.is_file() else SOURCES / f"{name}.mjs"], input=json.dumps(job), capture_output=True, text=True, encoding="utf-8")
    except FileNotFoundError as error:
        raise BuildError("a chart or timeline has to be drawn, and Node.js was not found", "install Node.js 20 or newer") from error
    if done.returncode:
        raise BuildError(f"{name} could not be drawn: {done.stderr.strip()[-800:]}", "correct content/web/src/page")
    return done.stdout
