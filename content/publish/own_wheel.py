"""Our own wheel (zeroledger, lessonkit, the exercise bank, the chart font) for JupyterLite."""

import shutil
import sys
import tomllib
from pathlib import Path

from publish import font, paths
from publish.console import Console
from publish.download import sha256_of
from publish.errors import BuildError
from publish.steps import Step
from publish.tools import fresh_folder, run_tool

PACKAGES = ("zeroledger", "lessonkit", "exercises")
SOURCES = tuple(paths.CONTENT / name for name in (*PACKAGES, "pyproject.toml")) + (paths.ROOT / "LICENSE",)
EPOCH_S = "1577836800"  # 2020-01-01: a fixed time in the archive, so that equal sources give equal bytes


def build(console: Console) -> None:
    """Builds the wheel from a staging copy that also holds the generated font."""
    staging = fresh_folder(paths.STAGE / "wheel-source")
    for source in SOURCES:
        copy_source(source, staging / source.name)
    copy_source(font.FONT.parent, staging / "lessonkit" / "fonts")
    output = fresh_folder(paths.WHEEL)
    run_tool(
        [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index",
         "--disable-pip-version-check", "--wheel-dir", output, staging],
        "own-wheel", remedy="fix content/pyproject.toml or the package it names", env={"SOURCE_DATE_EPOCH": EPOCH_S},
    )
    download = fresh_folder(paths.DOWNLOAD)
    shutil.copyfile(wheel(), download / download_name())
    name_by_content(wheel())


def download_name() -> str:
    """The wheel's name for readers who install it themselves, which notebooks may quote: it changes with the version only."""
    project = tomllib.loads((paths.CONTENT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return f"{project['name']}-{project['version']}-py3-none-any.whl"


def copy_source(source: Path, target: Path) -> None:
    """Copies a file or folder without byte code and with plain permissions."""
    if source.is_file():
        shutil.copyfile(source, target)
    else:
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"), copy_function=shutil.copyfile)


def name_by_content(built: Path) -> None:
    """Puts the content's hash into the file name, as the build tag.

    A browser that has an older wheel in its cache then never pairs it with a newer lock.
    """
    name, version, *tags = built.name.split("-")
    built.rename(built.with_name("-".join([name, version, f"0{sha256_of(built)[:10]}", *tags])))


def wheel() -> Path:
    """The wheel that was built. Raises BuildError if there is not exactly one."""
    wheels = list(paths.WHEEL.glob("*.whl"))
    if len(wheels) != 1:
        raise BuildError(f"{paths.WHEEL} holds {len(wheels)} wheels, expected 1", "run ./build.sh clean, then ./build.sh")
    return wheels[0]


STEP = Step("wheel of zeroledger and lessonkit", build, inputs=SOURCES, outputs=(paths.WHEEL, paths.DOWNLOAD), after=(font.STEP,))
