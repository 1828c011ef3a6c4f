"""Lesson notebooks with their outputs, run again only when something that they run has changed.

The outputs are kept under .build/cache/executed by a key over the code cells, the packages they use and
the versions of Python and of the pinned tools; prose may change without a run.
"""

import hashlib
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import nbformat

from . import paths
from .lessons import execute
from .steps import files_under

AT_ONCE = 2  # kernels; each is one busy process
PACKAGES = ("zeroledger", "lessonkit", "exercises")


def execute_all(notebooks, folder=None):
    """Puts outputs into each (notebook, name of its source) of `notebooks`. LessonError names the first failing cell."""
    folder = folder or paths.CACHE / "executed"
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda job: _execute_or_recall(*job, folder), notebooks))


def _execute_or_recall(notebook, where, folder: Path):
    code_cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    kept = folder / f"{_key([cell.source for cell in code_cells])}.json"
    try:
        outputs = json.loads(kept.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        execute(notebook, where)
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = kept.with_suffix(".part")
        unfinished.write_text(json.dumps([cell.outputs for cell in code_cells]), encoding="utf-8")
        unfinished.replace(kept)
        outputs = [cell.outputs for cell in code_cells]
    for cell, recalled in zip(code_cells, outputs, strict=True):
        cell.outputs = nbformat.from_dict(joined(recalled))


def joined(outputs):
    """The outputs with what came in several pieces to the same stream as one: the kernel cuts it by time, even inside a line."""
    whole = []
    for output in outputs:
        if whole and output["output_type"] == "stream" and whole[-1].get("name") == output["name"]:
            whole[-1] = {**whole[-1], "text": whole[-1]["text"] + output["text"]}
        else:
            whole.append(output)
    return whole


def _key(sources):
    digest = hashlib.sha256(json.dumps([sources, sys.version]).encode())
    digest.update(_packages_digest())
    return digest.hexdigest()[:32]


@cache
def _packages_digest():
    digest = hashlib.sha256()
    for root in (*(paths.CONTENT / name for name in PACKAGES), paths.ROOT / "requirements.txt"):
        for file in files_under(root):
            digest.update(f"\0{file.relative_to(root.parent)}\0".encode())
            digest.update(file.read_bytes())
    return digest.digest()
