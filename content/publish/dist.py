"""Puts the parts together as dist/, the folder that is published."""

import shutil
from pathlib import Path

from publish import api_pages, bytecode, jupyterlite, lesson_pages, paths, scripts
from publish.console import Console
from publish.errors import BuildError
from publish.steps import Step, files_under

ROOT_PAGE = Path("index.html")
PAGES_ABOVE_APPS = (ROOT_PAGE, Path("zh/index.html"))
ZERO = Path("static/zero")
# JupyterLite's own front page, and files that only its developers use.
NOT_PUBLISHED = (ROOT_PAGE, Path("package.json"), Path("bootstrap.js"))
# Tells GitHub Pages to publish the files as they are.
NO_JEKYLL = Path(".nojekyll")
# JupyterLite reads settings from this element of every index.html between an app and the site's root.
SETTINGS_ELEMENT = '<script id="jupyter-config-data" type="application/json">{}</script>'


def assemble(console: Console) -> None:
    """Makes dist/ equal to the parts: copies what is new or changed, removes what is gone."""
    wanted = site_files()
    kept = wanted.keys() | {NO_JEKYLL}
    for file in [file for file in paths.DIST.rglob("*") if file.is_file()]:
        if file.relative_to(paths.DIST) not in kept:
            file.unlink()
    for place, source in wanted.items():
        copy_if_changed(source, paths.DIST / place)
    (paths.DIST / NO_JEKYLL).touch()
    remove_empty_folders(paths.DIST)
    for page in PAGES_ABOVE_APPS:
        add_settings_element(paths.DIST / page)


def site_files() -> dict[Path, Path]:
    """Place in the site → file of a part. Raises BuildError if two parts claim one place."""
    found: dict[Path, Path] = {}
    for part, prefix in parts():
        for file in files_under(part):
            place = prefix / file.relative_to(part)
            if part == paths.JUPYTERLITE and (place in NOT_PUBLISHED or place.name.startswith("rspack.config")):
                continue
            if place in found:
                raise BuildError(f"{place} comes from both {found[place]} and {file}", "rename one of them")
            found[place] = file
    return found


def parts() -> list[tuple[Path, Path]]:
    """Each part's folder and where it goes."""
    return [
        (paths.JUPYTERLITE, Path()),
        (paths.BYTECODE, ZERO),
        (paths.SCRIPTS, ZERO),
        (paths.PAGES, Path()),
        (paths.API, Path()),
    ]


def copy_if_changed(source: Path, target: Path) -> None:
    """Copies with the modification time, which tells the next build that it is the same."""
    old, new = target.stat() if target.exists() else None, source.stat()
    if old and (old.st_size, old.st_mtime_ns) == (new.st_size, new.st_mtime_ns):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)


def remove_empty_folders(folder: Path) -> None:
    """Removes the folders below that hold nothing."""
    for child in sorted(folder.rglob("*"), reverse=True):
        if child.is_dir() and not any(child.iterdir()):
            child.rmdir()


def add_settings_element(page: Path) -> None:
    """Gives one of our pages the element without which JupyterLite does not start."""
    text = page.read_text(encoding="utf-8")
    if 'id="jupyter-config-data"' not in text:
        page.write_text(text.replace("</head>", f"{SETTINGS_ELEMENT}</head>", 1), encoding="utf-8")


STEP = Step(
    "dist", assemble, outputs=(paths.DIST,),
    after=(jupyterlite.STEP, bytecode.STDLIB_STEP, bytecode.ZEROLEDGER_STEP, scripts.STEP, lesson_pages.STEP, api_pages.STEP),
)
