"""Puts the parts together as dist/, the folder that is published.

Scripts, byte code and answers go into one folder whose name holds the hash of its content, static/zero-<hash>/, and
the pages refer to that: a page never meets files of another build. In static/zero/ stay small files under lasting names,
for pages elsewhere that embed a cell: each loads its namesake in the folder with the hash.

version.json names the build, as each page's <meta name="zero-version"> does; offline.json lists what offline.js, the
service worker, keeps.
"""

import hashlib
import json
import shutil
from pathlib import Path

from publish import api_pages, bytecode, compiled_wheels, jupyterlite, lesson_pages, paths, script_parts, scripts, teach_page
from publish.console import Console
from publish.errors import BuildError
from publish.steps import Step, files_under

ROOT_PAGE = Path("index.html")
PAGES_ABOVE_APPS = (ROOT_PAGE, Path("zh/index.html"))
ZERO = Path("static/zero")
HASH_DIGITS = 10
# Loaded by pages elsewhere, as a module or as a plain script, so that they cannot hand on to another module.
FOR_OTHER_PAGES = ("embed.js", "zero-cell.js")
# What only embeds load, beside data/; the course's own pages do not keep it for offline.
FOR_EMBEDS = ("cell-page.js", "cell-page.css", "cell-editor.js", *FOR_OTHER_PAGES)
# JupyterLite's own front page, and files that only its developers use.
NOT_PUBLISHED = (ROOT_PAGE, Path("package.json"), Path("bootstrap.js"))
# Tells GitHub Pages to publish the files as they are.
NO_JEKYLL = Path(".nojekyll")
# JupyterLite reads settings from this element of every index.html between an app and the site's root.
# Where files of the bundles' folder go that must not move with it: a service worker governs what lies below it.
AT_THE_ROOT = {ZERO / "offline.js": Path("offline.js")}
PYODIDE = Path("static/pyodide")
PYODIDE_PARTS = ("pyodide.asm.wasm", "pyodide.asm.mjs")  # what load-parts.js fetches
SETTINGS_ELEMENT = '<script id="jupyter-config-data" type="application/json">{}</script>'


def assemble(console: Console) -> None:
    """Makes dist/ equal to the parts: copies what is new or changed, removes what is gone."""
    found = site_files()
    pages = {place: file for place, file in found.items() if is_page(place, file)}
    bundled = {place: file for place, file in found.items() if is_bundled(place)}
    bundles = ZERO.with_name(f"{ZERO.name}-{content_hash(bundled)}")
    version = content_hash(bundled | pages)
    wanted: dict[Path, Path | str] = {renamed(place, bundles): file for place, file in found.items()}
    wanted |= {place: finished_page(place, file, bundles, version) for place, file in pages.items()}
    wanted |= lasting_names(found, bundles) | {NO_JEKYLL: "", Path("version.json"): json.dumps({"version": version})}
    wanted[Path("offline.json")] = offline_list(wanted, bundles, pages, version)
    for file in [file for file in paths.DIST.rglob("*") if file.is_file()]:
        if file.relative_to(paths.DIST) not in wanted:
            file.unlink()
    for place, source in wanted.items():
        if isinstance(source, str):
            write_if_changed(source, paths.DIST / place)
        else:
            copy_if_changed(source, paths.DIST / place)
    remove_empty_folders(paths.DIST)


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
        (paths.DOWNLOAD, Path("download")),
        (paths.BYTECODE, ZERO),
        (paths.SCRIPTS, ZERO),
        (paths.PAGES, Path()),
        (paths.API, Path()),
        (paths.SCRIPT_PARTS, ZERO / "data/parts"),
        (paths.TEACH, Path()),
    ]


def is_bundled(place: Path) -> bool:
    """Whether the file goes into the folder with the hash."""
    return place.is_relative_to(ZERO) and place not in AT_THE_ROOT


def is_page(place: Path, source: Path) -> bool:
    """Whether the file is a page of the course, not one of JupyterLite's."""
    return place.suffix == ".html" and any(source.is_relative_to(part) for part in (paths.PAGES, paths.API, paths.TEACH))


def content_hash(files: dict[Path, Path]) -> str:
    """A short hash over the places and the content of these files."""
    digest = hashlib.sha256()
    for place, file in sorted(files.items()):
        digest.update(f"\0{place}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:HASH_DIGITS]


def renamed(place: Path, bundles: Path) -> Path:
    """Where the file lies in dist/."""
    return bundles / place.relative_to(ZERO) if is_bundled(place) else AT_THE_ROOT.get(place, place)


def finished_page(place: Path, source: Path, bundles: Path, version: str) -> str:
    """The page's text with the address of this build's bundles, the build's name and, where JupyterLite looks for it,
    the settings element."""
    text = source.read_text(encoding="utf-8").replace(f"{ZERO}/", f"{bundles}/")
    text = text.replace("</head>", f'<meta name="zero-version" content="{version}">\n</head>', 1)
    if place in PAGES_ABOVE_APPS:
        text = text.replace("</head>", f"{SETTINGS_ELEMENT}</head>", 1)
    return text


def lasting_names(found: dict[Path, Path], bundles: Path) -> dict[Path, str]:
    """static/zero/<entry>: what loads the entry of this build; the two files for other people's pages whole."""
    entries = [ZERO / file.name for file in sorted((paths.WEB / "src/entries").glob("*.js"))]
    texts = {place: f"export * from '../{bundles.name}/{place.name}';\n" for place in entries if place in found}
    texts |= {ZERO / name: found[ZERO / name].read_text(encoding="utf-8") for name in FOR_OTHER_PAGES if ZERO / name in found}
    return texts | {ZERO / "page.css": f"@import url('../{bundles.name}/page.css');\n"}


def offline_list(published, bundles: Path, pages, version: str) -> str:
    """offline.json: the build, what all its pages need, and the pages of each language, as addresses below the site."""
    pyodide_version = json.loads((compiled_wheels.PYODIDE_PACKAGE / "package.json").read_text())["version"]
    for_embeds = (bundles / "data", *(bundles / name for name in FOR_EMBEDS))
    shared = [str(place) for place in sorted(published) if place.is_relative_to(bundles) and not any(map(place.is_relative_to, for_embeds))]
    shared += [f"{PYODIDE / name}?v={pyodide_version}" for name in PYODIDE_PARTS]
    by_language = {folder: sorted(f"{place.parent}/" for place in pages if place.parts[0] == folder) for folder in ("en", "zh")}
    return json.dumps({"version": version, "shared": shared, "pages": by_language})


def copy_if_changed(source: Path, target: Path) -> None:
    """Copies with the modification time, which tells the next build that it is the same."""
    old, new = target.stat() if target.exists() else None, source.stat()
    if old and (old.st_size, old.st_mtime_ns) == (new.st_size, new.st_mtime_ns):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)


def write_if_changed(text: str, target: Path) -> None:
    """Writes the text unless the file holds it already."""
    if target.exists() and target.read_text(encoding="utf-8") == text:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def remove_empty_folders(folder: Path) -> None:
    """Removes the folders below that hold nothing."""
    for child in sorted(folder.rglob("*"), reverse=True):
        if child.is_dir() and not any(child.iterdir()):
            child.rmdir()


STEP = Step(
    "dist", assemble, outputs=(paths.DIST,),
    after=(jupyterlite.STEP, bytecode.STDLIB_STEP, bytecode.ZEROLEDGER_STEP, scripts.STEP, lesson_pages.STEP, api_pages.STEP, script_parts.STEP, teach_page.STEP),
)
