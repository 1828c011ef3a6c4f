"""Downloads that are never used by halves: a temporary name, the sha256, then the real name."""

import hashlib
import http.client
import os
import shutil
import urllib.error
import urllib.request
from pathlib import Path

from publish.console import Console
from publish.errors import BuildError

TIMEOUT_S = 10
CHUNK_BYTES = 1 << 18


def sha256_of(file: Path) -> str:
    """The file's sha256 in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def has_sha256(file: Path, sha256: str) -> bool:
    """True if the file is there and is exactly the one that is meant."""
    return file.is_file() and sha256_of(file) == sha256


def adopt(source: Path, target: Path, sha256: str) -> None:
    """Copies a local file to target if its hash is right. Raises BuildError otherwise."""
    partial = _partial(target)
    shutil.copyfile(source, partial)
    _accept(partial, target, sha256, str(source))


def fetch(url: str, target: Path, sha256: str, console: Console) -> None:
    """Downloads url to target. Raises BuildError if it cannot be had whole and right."""
    partial = _partial(target)
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer, partial.open("wb") as out:
            _copy_with_bar(answer, out, target.name, console)
    except (urllib.error.URLError, http.client.HTTPException, OSError, ValueError) as error:
        partial.unlink(missing_ok=True)
        raise BuildError(f"{url} could not be downloaded: {error}", "check the network and run the same command again") from error
    _accept(partial, target, sha256, url)


def _partial(target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    return target.with_name(f"{target.name}.{os.getpid()}.partial")


def _copy_with_bar(answer, out, name: str, console: Console) -> None:
    total_bytes = int(answer.headers.get("Content-Length") or 0) or None
    done_bytes = 0
    while chunk := answer.read(CHUNK_BYTES):
        out.write(chunk)
        done_bytes += len(chunk)
        console.bar(name, done_bytes, total_bytes)


def _accept(partial: Path, target: Path, sha256: str, origin: str) -> None:
    found = sha256_of(partial)
    if found != sha256:
        partial.unlink()
        raise BuildError(f"{origin} has sha256 {found}, expected {sha256}", "the download is broken or was altered; run the same command again")
    partial.replace(target)
