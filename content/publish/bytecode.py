"""Archives of byte code for the worker, made by the same Pyodide that will load them.

Most of a bare Pyodide's start goes into parsing and compiling the standard library's sources.
"""

import zipfile
from pathlib import Path

from publish import npm, paths
from publish.compiled_wheels import PYODIDE_PACKAGE
from publish.console import Console
from publish.steps import Step, files_under
from publish.tools import run_tool

NODE_SCRIPT = paths.PUBLISH / "bytecode.mjs"
PYODIDE_SCRIPT = paths.PUBLISH / "bytecode_in_pyodide.py"
STDLIB = paths.BYTECODE / "stdlib.zip.gz"
ZEROLEDGER = paths.BYTECODE / "zeroledger.zip.gz"
RUNNER = paths.BYTECODE / "runner.json"  # goes into the interpreter's script
PACKAGE = paths.CONTENT / "zeroledger"
RUNNER_SOURCES = paths.WEB / "src/runner/python"
TEXT_COPIES = ("training_loop.py",)  # sources that pages show, kept as text beside their byte code


def compile_stdlib(console: Console) -> None:
    """stdlib.zip.gz: Pyodide's standard library, trimmed."""
    compile_in_pyodide("compile_archive", {PYODIDE_PACKAGE / "python_stdlib.zip": STDLIB})


def compile_zeroledger(console: Console) -> None:
    """zeroledger.zip.gz: the accounting package; unpacked and put on sys.path it can be imported as it is."""
    sources = paths.STAGE / "zeroledger-sources.zip"
    with zipfile.ZipFile(sources, "w") as archive:
        for file in files_under(PACKAGE):
            archive.write(file, file.relative_to(PACKAGE.parent))
            if file.name in TEXT_COPIES:
                archive.write(file, f"{file.relative_to(PACKAGE.parent)}.txt")
    compile_in_pyodide("compile_archive", {sources: ZEROLEDGER})


def compile_runner(console: Console) -> None:
    """runner.json: what prepares each interpreter."""
    sources = paths.STAGE / "runner-sources.zip"
    with zipfile.ZipFile(sources, "w") as archive:
        for file in files_under(RUNNER_SOURCES):
            archive.write(file, file.name)
    compile_in_pyodide("compile_runner", {sources: RUNNER})


def compile_in_pyodide(function: str, targets: dict[Path, Path]) -> None:
    """Runs that function of bytecode_in_pyodide.py on each source, all in one Pyodide; it fills the source's target."""
    partial = {target: target.with_name(f"partial-{target.name}") for target in targets.values()}
    for target in partial:
        target.parent.mkdir(parents=True, exist_ok=True)
    files = [file for source, target in targets.items() for file in (source, partial[target])]
    run_tool(
        ["node", NODE_SCRIPT, PYODIDE_PACKAGE, PYODIDE_SCRIPT, function, *files],
        f"{function}-{next(iter(partial)).stem}", remedy="if a source file does not compile, fix it",
    )
    for target, made in partial.items():
        made.replace(target)


STDLIB_STEP = Step(
    "byte code of the standard library", compile_stdlib,
    inputs=(NODE_SCRIPT, PYODIDE_SCRIPT), outputs=(STDLIB,), after=(npm.STEP,),
)
ZEROLEDGER_STEP = Step(
    "byte code of zeroledger", compile_zeroledger,
    inputs=(NODE_SCRIPT, PYODIDE_SCRIPT, PACKAGE), outputs=(ZEROLEDGER,), after=(npm.STEP,),
)
RUNNER_STEP = Step(
    "byte code of the runner", compile_runner,
    inputs=(NODE_SCRIPT, PYODIDE_SCRIPT, RUNNER_SOURCES), outputs=(RUNNER,), after=(npm.STEP,),
)
