"""The browser scripts of content/web, bundled by its build.mjs."""

from publish import bytecode, npm, paths
from publish.console import Console
from publish.steps import Step
from publish.tools import fresh_folder, run_tool


def bundle(console: Console) -> None:
    """Runs `node build.mjs <folder> <byte code>`; its output becomes static/zero of the site."""
    output = fresh_folder(paths.SCRIPTS)
    run_tool(["node", "build.mjs", output, paths.BYTECODE], "scripts", remedy="fix the source file that esbuild names", cwd=paths.WEB)


STEP = Step(
    "browser scripts", bundle,
    inputs=(paths.WEB,), outputs=(paths.SCRIPTS,), after=(npm.STEP, bytecode.STDLIB_STEP, bytecode.ZEROLEDGER_STEP, bytecode.RUNNER_STEP),
)
