"""The notebooks' wheels with byte code in place of their sources, made by the same Pyodide that will load them.

Half of a notebook's way to its first plot went into compiling IPython, numpy and matplotlib anew at every start. Our own
wheel keeps its sources: a reader of a notebook may want to see them.
"""

from publish import compiled_wheels, npm, paths, pure_wheels, pyodide_kernel_wheels
from publish.bytecode import NODE_SCRIPT, PYODIDE_SCRIPT, compile_in_pyodide
from publish.console import Console
from publish.download import sha256_of
from publish.steps import Step
from publish.tools import fresh_folder


def sources():
    """The wheels as they were downloaded or installed."""
    return [
        *(compiled_wheels.FOLDER / name for name in compiled_wheels.wanted()),
        *sorted(pure_wheels.FOLDER.glob("*.whl")), *pyodide_kernel_wheels.found(),
    ]


def compile_wheels(console: Console) -> None:
    """Fills stage/byte-code-wheels, one folder per wheel, named as the wheel was: its content's hash is in the new name."""
    folder = fresh_folder(paths.BYTECODE_WHEELS)
    made = {wheel: folder / wheel.stem / wheel.name for wheel in sources()}
    compile_in_pyodide("compile_wheel", made)
    for wheel in made.values():
        wheel.rename(wheel.with_name(name_with_content(wheel)))


def name_with_content(wheel) -> str:
    """The wheel's name with its content's hash as the build tag: a browser's cache never pairs an old one with a new lock."""
    name, version, *tags = wheel.name.split("-")
    return "-".join([name, version, f"0{sha256_of(wheel)[:10]}", *tags])


def compiled(name: str):
    """The wheel that was made from the one of this name; None if that is not among them."""
    return next((paths.BYTECODE_WHEELS / name.removesuffix(".whl")).glob("*.whl"), None)


STEP = Step(
    "byte code of the wheels", compile_wheels, inputs=(NODE_SCRIPT, PYODIDE_SCRIPT, paths.ROOT / "requirements.txt"), outputs=(paths.BYTECODE_WHEELS,),
    after=(npm.STEP, compiled_wheels.STEP, pure_wheels.STEP),
)
