"""Wheels of byte code: what is in them, and that the published ones are what the lock says."""

import base64
import csv
import hashlib
import io
import sys
import zipfile

import pytest
from publish import bytecode_in_pyodide, paths

RECORD = "thing-1.0.dist-info/RECORD"
FILES = {
    "thing/__init__.py": "VALUE = 6 * 7\ndef fail():\n    raise ValueError\n",
    "thing/old.py": "print 'Python 2'\n",
    "thing/data.json": "{}",
    "thing-1.0.dist-info/METADATA": "Name: thing\n",
    RECORD: "",
}


@pytest.fixture
def wheel(tmp_path):
    """A wheel that was compiled by this Python."""
    source, target = tmp_path / "source.whl", tmp_path / "thing.whl"
    with zipfile.ZipFile(source, "w") as archive:
        for name, text in FILES.items():
            archive.writestr(name, text)
    bytecode_in_pyodide.compile_wheel(str(source), str(target))
    return target


def test_what_compiles_is_byte_code_and_the_rest_as_it_was(wheel):
    with zipfile.ZipFile(wheel) as archive:
        assert sorted(archive.namelist()) == sorted(["thing/__init__.pyc", "thing/old.py", "thing/data.json", "thing-1.0.dist-info/METADATA", RECORD])
        assert archive.read("thing/old.py").decode() == FILES["thing/old.py"]


def test_it_can_be_imported_and_tracebacks_name_where_it_will_lie(wheel, monkeypatch):
    monkeypatch.syspath_prepend(str(wheel))
    import thing

    assert thing.VALUE == 42
    assert thing.fail.__code__.co_filename == "/lib/python3.14/site-packages/thing/__init__.py"
    del sys.modules["thing"]


def test_the_record_has_each_file_with_its_hash(wheel):
    with zipfile.ZipFile(wheel) as archive:
        rows = {name: (digest, size) for name, digest, size in csv.reader(io.StringIO(archive.read(RECORD).decode()))}
        assert rows.keys() == set(archive.namelist())
        assert rows.pop(RECORD) == ("", "")
        for name, (digest, size) in rows.items():
            content = archive.read(name)
            assert int(size) == len(content)
            assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")


def test_the_site_has_byte_code_of_all_but_our_own_wheel():
    wheels = list((paths.DIST / "static/pyodide").glob("*.whl"))
    if not wheels:
        pytest.skip("dist/ is not built")
    for file in wheels:
        names = zipfile.ZipFile(file).namelist()
        compiled, sources = sum(name.endswith(".pyc") for name in names), sum(name.endswith(".py") for name in names)
        assert compiled > sources if not file.name.startswith("zeroledger-") else sources > 0 == compiled, file.name
