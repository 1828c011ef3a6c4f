"""The site as one archive for rooms without internet: site/, start.py (a small server) and README.txt."""

import zipfile
from pathlib import Path

from . import paths
from .steps import files_under

PACKAGE = paths.BUILD / "zero-ledger.zip"
EXTRAS = paths.PUBLISH / "templates" / "classroom"
FOLDER = "zero-ledger"
EPOCH = (2020, 1, 1, 0, 0, 0)  # a fixed time, so that an equal site gives an equal archive


def write_package(target: Path, site: Path = paths.DIST) -> Path:
    """Writes the archive of the built site and returns its path."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f"{target.name}.part")
    with zipfile.ZipFile(unfinished, "w") as archive:
        for file in files_under(EXTRAS):
            _add(archive, file, f"{FOLDER}/{file.name}")
        for file in files_under(site):
            _add(archive, file, f"{FOLDER}/site/{file.relative_to(site).as_posix()}")
    unfinished.replace(target)
    return target


def _add(archive, file, name):
    entry = zipfile.ZipInfo(name, EPOCH)
    entry.external_attr = 0o644 << 16
    entry.compress_type = zipfile.ZIP_STORED if file.suffix in (".whl", ".zip", ".png", ".woff2") else zipfile.ZIP_DEFLATED
    archive.writestr(entry, file.read_bytes())
