"""Runs other programs and keeps what they print; makes empty folders."""

import os
import shutil
import subprocess
from pathlib import Path

from publish import paths
from publish.errors import BuildError

SHOWN_LINES = 12


def run_tool(command: list, log_name: str, remedy: str, cwd: Path = paths.ROOT, env: dict | None = None) -> str:
    """Runs a program to its end; what it printed comes back and stays in .build/log/<log_name>.txt.

    Raises BuildError with its last lines if it is missing or ends with another status than 0.
    """
    log = paths.LOGS / f"{log_name}.txt"
    log.parent.mkdir(parents=True, exist_ok=True)
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words, cwd=cwd, env={**os.environ, **(env or {})}, text=True, encoding="utf-8", errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
    except FileNotFoundError as error:
        raise BuildError(f"{words[0]} was not found", remedy) from error
    log.write_text(f"$ {' '.join(words)}\n{done.stdout}", encoding="utf-8")
    if done.returncode != 0:
        last = "\n".join(f"    | {line}" for line in done.stdout.strip().splitlines()[-SHOWN_LINES:])
        raise BuildError(f"{Path(words[0]).name} ended with status {done.returncode}:\n{last}", f"{remedy} (all of it: {log})")
    return done.stdout


def fresh_folder(folder: Path) -> Path:
    """The folder, empty."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
