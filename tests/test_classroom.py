"""Rooms without internet: the archive with its own server, and what Python's own server says of our files. Workflows too."""

import contextlib
import http.client
import json
import re
import socket
import subprocess
import sys
import zipfile

import pytest
import yaml
from publish import paths
from publish.classroom import write_package


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A small stand-in for dist/."""
    folder = tmp_path_factory.mktemp("site")
    for name in ("index.html", "static/zero-0123456789/page.js", "static/pyodide/pyodide.mjs", "static/pyodide/pyodide.asm.wasm", ".nojekyll"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


@contextlib.contextmanager
def running(*command, cwd):
    """A server program on a free port, until the end; gives its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = subprocess.Popen([sys.executable, *map(str, command), str(port)], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        while True:  # its first words come when it listens; refused connections end soon on this machine
            with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port), timeout=5):
                break
            assert program.poll() is None, program.stdout.read()
        yield port
    finally:
        program.terminate()
        program.wait(timeout=20)


def head(port, path):
    """Status and headers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}


def test_the_archive_serves_the_site_with_right_types_and_caching(site, tmp_path):
    with zipfile.ZipFile(write_package(tmp_path / "course.zip", site)) as archive:
        archive.extractall(tmp_path)
    folder = tmp_path / "zero-ledger"
    assert (folder / "README.txt").is_file() and (folder / "site/.nojekyll").is_file()
    with running("start.py", cwd=folder) as port:
        for path, mime_type, caching in [
            ("/", "text/html", "no-cache"), ("/static/zero-0123456789/page.js", "text/javascript", "immutable"),
            ("/static/pyodide/pyodide.mjs", "text/javascript", "no-cache"), ("/static/pyodide/pyodide.asm.wasm", "application/wasm", "no-cache"),
        ]:
            status, headers = head(port, path)
            assert status == 200 and headers["content-type"].startswith(mime_type) and caching in headers["cache-control"], path
        assert head(port, "/../start.py")[0] == 404


def test_an_equal_site_gives_an_equal_archive(site, tmp_path):
    assert write_package(tmp_path / "a.zip", site).read_bytes() == write_package(tmp_path / "b.zip", site).read_bytes()


def test_pythons_own_server_sends_types_that_browsers_accept(site):
    with running("-m", "http.server", "--bind", "127.0.0.1", "--directory", site, cwd=site) as port:
        assert head(port, "/static/pyodide/pyodide.mjs")[1]["content-type"] in ("text/javascript", "application/javascript")
        assert head(port, "/static/pyodide/pyodide.asm.wasm")[1]["content-type"] == "application/wasm"


def test_the_workflows_build_dist_with_official_actions_of_a_major_version():
    workflow = yaml.safe_load((paths.ROOT / ".github/workflows/pages.yml").read_text())
    steps = workflow["jobs"]["publish"]["steps"]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used and all(re.fullmatch(r"actions/[\w-]+@v\d+", name) for name in used)
    assert {"run": "./build.sh"} in steps and any(step.get("with", {}).get("path") == "dist" for step in steps)
    gitlab = yaml.safe_load((paths.ROOT / ".gitlab-ci.yml").read_text())
    assert "./build.sh" in gitlab["pages"]["script"] and gitlab["pages"]["artifacts"]["paths"] == ["public"]


def test_the_list_for_offline_use_names_what_is_published():
    listed = json.loads((paths.DIST / "offline.json").read_text())
    assert listed["version"] == json.loads((paths.DIST / "version.json").read_text())["version"]
    for place in listed["shared"] + listed["pages"]["en"] + listed["pages"]["zh"]:
        file = paths.DIST / place.partition("?")[0]
        assert file.is_file() or (file / "index.html").is_file(), place
    for place in listed["pages"]["en"]:
        assert f'content="{listed["version"]}"' in (paths.DIST / place / "index.html").read_text(encoding="utf-8")


def test_pages_name_one_folder_of_bundles():
    folders = [folder.name for folder in (paths.DIST / "static").glob("zero-*")]
    assert len(folders) == 1
    for page in [paths.DIST / "index.html", *(paths.DIST / "en").rglob("index.html")]:
        assert set(re.findall(r'(?:href|src)="[^"]*static/(zero[^/"]*)/', page.read_text(encoding="utf-8"))) == set(folders), page
