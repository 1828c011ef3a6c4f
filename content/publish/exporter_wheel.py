"""The wheel that teaches nbconvert `--to zero-lesson`; published with the site, so that pip can install it from there."""

import sys

from publish import npm, paths
from publish.console import Console
from publish.own_wheel import EPOCH_S, PACKAGES, copy_source
from publish.steps import Step
from publish.tools import fresh_folder, run_tool

PACKAGE = "zero_lesson"
# The part of the build that an exporter needs; these modules import one another relatively and nothing else of ours.
MODULES = ("notebook_exporter", "page_exporter", "page_context", "lesson_calls", "timeline_page", "explorer_grid", "parallel_grid", "print_patterns", "gate", "headings", "drawing", "errors", "paths")
PAGE_TEMPLATES = paths.PUBLISH / "templates" / "zero_lesson"
PROJECT = paths.PUBLISH / "templates" / "exporter" / "pyproject.toml"
DRAWINGS = ("render-static", "render-timeline", "render-parallel")
SOURCES = (
    *(paths.CONTENT / name for name in PACKAGES), *(paths.PUBLISH / f"{name}.py" for name in MODULES), PAGE_TEMPLATES, PROJECT,
    paths.WEB / "src" / "page", paths.ROOT / "LICENSE",
)


def build(console: Console) -> None:
    """Builds it from a staging copy."""
    staging = fresh_folder(paths.STAGE / "exporter-source")
    for source in (*(paths.CONTENT / name for name in PACKAGES), PROJECT, paths.ROOT / "LICENSE"):
        copy_source(source, staging / source.name)
    package = staging / PACKAGE
    package.mkdir()
    (package / "__init__.py").write_text('"""ZeRO Ledger lesson pages out of notebooks."""\n', encoding="utf-8")
    for name in MODULES:
        copy_source(paths.PUBLISH / f"{name}.py", package / f"{name}.py")
    copy_source(PAGE_TEMPLATES, package / "templates" / PAGE_TEMPLATES.name)
    for name in DRAWINGS:
        run_tool(
            [paths.NODE_MODULES / ".bin" / "esbuild", paths.WEB / f"src/page/{name}.mjs", "--bundle", "--platform=node", "--format=esm",
             "--log-level=warning", f"--outfile={package / 'drawings' / name}.mjs"],
            "exporter-drawings", remedy="fix the source file that esbuild names", cwd=paths.WEB,
        )
    run_tool(
        [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index",
         "--disable-pip-version-check", "--wheel-dir", fresh_folder(paths.EXPORTER), staging],
        "exporter-wheel", remedy="fix content/publish/templates/exporter/pyproject.toml or what it names", env={"SOURCE_DATE_EPOCH": EPOCH_S},
    )


STEP = Step("wheel of the exporter", build, inputs=SOURCES, outputs=(paths.EXPORTER,), after=(npm.STEP,))
