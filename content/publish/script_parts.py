"""Python's parts once more, as scripts: gzip in base64, handed to zeroData(name, text).

An embed in `sandbox="allow-scripts"` has no origin. A host without CORS headers lets it fetch nothing, but scripts load.
"""

import base64
import gzip
import json

from publish import bytecode, paths, pyodide_dist
from publish.console import Console
from publish.steps import Step
from publish.tools import fresh_folder

FILES = (
    paths.PYODIDE / "pyodide.asm.wasm", paths.PYODIDE / "pyodide.asm.mjs",
    bytecode.STDLIB, bytecode.ZEROLEDGER,
)


def build(console: Console) -> None:
    """Writes <part>.js for each part that runner/load-parts.js names."""
    folder = fresh_folder(paths.SCRIPT_PARTS)
    for file in FILES:
        packed = base64.b64encode(gzip.compress(file.read_bytes(), mtime=0)).decode()
        (folder / f"{file.name}.js").write_text(f'zeroData({json.dumps(f"parts/{file.name}")},"{packed}");\n', encoding="ascii")


STEP = Step("Python parts as scripts", build, outputs=(paths.SCRIPT_PARTS,), after=(pyodide_dist.STEP, bytecode.STDLIB_STEP, bytecode.ZEROLEDGER_STEP))
