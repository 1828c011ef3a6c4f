"""The whole build: which steps there are, and in which order."""

from publish import (
    api_pages, bytecode, bytecode_wheels, compiled_wheels, dist, exporter_wheel, font, jupyterlite, labextension, lesson_pages, notebooks, npm, own_wheel, paths, pure_wheels,
    pyodide_dist, script_parts, scripts, teach_page,
)
from publish.build_lock import build_lock
from publish.console import Console
from publish.steps import run_steps

STEPS = (
    npm.STEP, compiled_wheels.STEP, pure_wheels.STEP, font.STEP, own_wheel.STEP, bytecode_wheels.STEP, pyodide_dist.STEP,
    bytecode.STDLIB_STEP, bytecode.ZEROLEDGER_STEP, bytecode.RUNNER_STEP, script_parts.STEP, notebooks.STEP, labextension.STEP, jupyterlite.STEP,
    scripts.STEP, lesson_pages.STEP, api_pages.STEP, exporter_wheel.STEP, teach_page.STEP, dist.STEP,
)


def build_site(console: Console) -> None:
    """Brings dist/ up to date. Raises BuildError if a step fails."""
    with build_lock(console):
        run_steps(STEPS, console)


def site_size_bytes() -> int:
    """The size of what is published."""
    return sum(file.stat().st_size for file in paths.DIST.rglob("*") if file.is_file())
