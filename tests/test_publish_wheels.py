"""Where the compiled wheels come from: an order of sources, and only the sha256 decides."""

import hashlib
import io
import json
import zipfile
from pathlib import Path

import pytest
from publish import compiled_wheels
from publish.console import Console
from publish.errors import BuildError

CONTENTS = {"a-1.whl": b"a", "b-2.whl": b"b"}


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """Stands in for the two network sources; which was asked for what is recorded."""
    asked = []

    def source(name, offers):
        def take(missing, console):
            asked.append((name, sorted(missing)))
            for wheel in missing:
                if wheel in offers:
                    (tmp_path / "cache").mkdir(exist_ok=True)
                    (tmp_path / "cache" / wheel).write_bytes(offers[wheel])

        return take

    def set_offers(cdn, carrier):
        monkeypatch.setattr(compiled_wheels, "from_cdn", source("cdn", cdn))
        monkeypatch.setattr(compiled_wheels, "from_carrier", source("carrier", carrier))

    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in CONTENTS.items()}
    monkeypatch.setattr(compiled_wheels, "wanted", lambda: hashes)
    monkeypatch.setattr(compiled_wheels, "FOLDER", tmp_path / "cache")
    monkeypatch.delenv(compiled_wheels.WHEELS_DIR_VARIABLE, raising=False)
    set_offers({}, {})
    return asked, set_offers


def collect():
    compiled_wheels.collect(Console(io.StringIO()))


def test_the_cache_is_enough(tmp_path, sources):
    asked, _ = sources
    (tmp_path / "cache").mkdir()
    for name, content in CONTENTS.items():
        (tmp_path / "cache" / name).write_bytes(content)
    collect()
    assert asked == []


def test_the_named_folder_comes_before_the_network(tmp_path, sources, monkeypatch):
    asked, _ = sources
    for name, content in CONTENTS.items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.setenv(compiled_wheels.WHEELS_DIR_VARIABLE, str(tmp_path))
    collect()
    assert asked == []
    assert (tmp_path / "cache" / "a-1.whl").read_bytes() == b"a"


def test_a_wrong_file_in_the_named_folder_is_refused(tmp_path, sources, monkeypatch):
    (tmp_path / "a-1.whl").write_bytes(b"altered")
    monkeypatch.setenv(compiled_wheels.WHEELS_DIR_VARIABLE, str(tmp_path))
    with pytest.raises(BuildError, match="a-1.whl has sha256"):
        collect()


def test_what_one_source_lacks_the_next_is_asked_for(sources):
    asked, set_offers = sources
    set_offers({"a-1.whl": b"a"}, CONTENTS)
    collect()
    assert asked == [("cdn", ["a-1.whl", "b-2.whl"]), ("carrier", ["b-2.whl"])]


def test_no_source_is_a_build_error_that_says_what_to_do(sources):
    with pytest.raises(BuildError, match="no source had a-1.whl, b-2.whl") as error:
        collect()
    assert compiled_wheels.WHEELS_DIR_VARIABLE in error.value.remedy


def test_the_carrier_gives_only_what_is_missing_and_right(tmp_path, monkeypatch):
    def pip_download(command, log_name, remedy):
        folder = Path(command[command.index("--dest") + 1])
        with zipfile.ZipFile(folder / "carrier.whl", "w") as archive:
            archive.writestr("frontend/pyodide/a-1.whl", b"a")
            archive.writestr("frontend/pyodide/c-3.whl", b"c")

    monkeypatch.setattr(compiled_wheels, "run_tool", pip_download)
    monkeypatch.setattr(compiled_wheels.paths, "CACHE", tmp_path)
    monkeypatch.setattr(compiled_wheels, "FOLDER", tmp_path / "cache")
    compiled_wheels.from_carrier({"a-1.whl": hashlib.sha256(b"a").hexdigest()}, Console(io.StringIO()))
    assert [file.name for file in (tmp_path / "cache").iterdir()] == ["a-1.whl"]
    with pytest.raises(BuildError, match="sha256"):
        compiled_wheels.from_carrier({"c-3.whl": hashlib.sha256(b"other").hexdigest()}, Console(io.StringIO()))


def test_the_cdn_address_is_pyodides_own_for_its_version():
    version = json.loads((compiled_wheels.PYODIDE_PACKAGE / "package.json").read_text())["version"]
    assert compiled_wheels.cdn_url().startswith("https://")
    assert compiled_wheels.cdn_url().endswith(f"/v{version}/full/")
