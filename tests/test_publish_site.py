"""The built site in dist/: what the browser will need is there, right, and nothing is said twice."""

import gzip
import json
import re
import subprocess
from pathlib import Path

import pytest
from publish import bytecode, compiled_wheels, font, own_wheel, paths, pure_wheels
from publish.download import sha256_of

PYODIDE = paths.DIST / "static" / "pyodide"


@pytest.fixture(scope="module")
def lock():
    if not PYODIDE.exists():
        pytest.fail("dist/ is not built: run ./build.sh first")
    return json.loads((PYODIDE / "pyodide-lock.json").read_text())


@pytest.fixture(scope="module")
def upstream_lock():
    return json.loads((compiled_wheels.PYODIDE_PACKAGE / "pyodide-lock.json").read_text())


def test_each_wheel_of_the_lock_is_there_with_its_hash(lock):
    for package in lock["packages"].values():
        assert sha256_of(PYODIDE / package["file_name"]) == package["sha256"], package["name"]


def test_each_dependency_is_in_the_lock(lock):
    for name, package in lock["packages"].items():
        assert set(package["depends"]) <= set(lock["packages"]), name


def test_no_wheel_is_published_without_an_entry(lock):
    listed = {package["file_name"] for package in lock["packages"].values()}
    assert {file.name for file in PYODIDE.glob("*.whl")} == listed


def test_the_lock_is_for_this_pyodide(lock, upstream_lock):
    assert lock["info"] == upstream_lock["info"]


def test_what_lessons_import_loads_by_itself(lock):
    importable = {name: package["name"] for package in lock["packages"].values() for name in package["imports"]}
    for name in ("zeroledger", "lessonkit", "exercises", "ipywidgets", "matplotlib", "IPython", "numpy", "comm"):
        assert name in importable, name
    assert importable["zeroledger"] == importable["lessonkit"] == "zeroledger"


def test_our_wheel_brings_what_its_functions_import(lock):
    assert {"ipywidgets", "matplotlib"} <= set(lock["packages"]["zeroledger"]["depends"])


def test_matplotlib_reaches_all_it_needs(lock, upstream_lock):
    assert set(lock["packages"]["matplotlib"]["depends"]) == set(upstream_lock["packages"]["matplotlib"]["depends"])


def test_equal_sources_give_an_equal_wheel(tmp_path, monkeypatch):
    names = set()
    for folder in (tmp_path / "first", tmp_path / "second"):
        monkeypatch.setattr(paths, "WHEEL", folder)
        monkeypatch.setattr(paths, "STAGE", folder.with_suffix(".stage"))
        own_wheel.build(None)
        names.add(own_wheel.wheel().name)  # holds the content's hash
    assert len(names) == 1


def test_the_chart_font_draws_all_course_text():
    from fontTools.ttLib import TTFont

    drawn = TTFont(font.FONT).getBestCmap()
    han = {sign for folder in font.TEXTS for sign in font.text_of(folder) if "\u4e00" <= sign <= "\u9fff"}
    assert len(han) > 200
    assert [sign for sign in han if ord(sign) not in drawn] == []
    assert font.FONT.stat().st_size < 1_500_000
    assert "SIL OPEN FONT LICENSE" in font.LICENCE.read_text().upper()


COMPARE_IMPORTS = """
const { loadPyodide } = await import(process.argv[1] + '/pyodide.mjs');
const { readFileSync } = await import('node:fs');
const importable = async (stdLibURL) => {
  const pyodide = await loadPyodide({ indexURL: process.argv[1], stdLibURL, stdout: () => {} });
  pyodide.FS.writeFile('/names.zip', readFileSync(process.argv[1] + '/python_stdlib.zip'));
  pyodide.FS.writeFile('/zeroledger.zip', readFileSync(process.argv[3]));
  return JSON.parse(pyodide.runPython(`
    import importlib, json, sys, zipfile
    sys.path.insert(0, "/zeroledger.zip")
    names = ["zeroledger"] + [n.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
                              for n in zipfile.ZipFile("/names.zip").namelist() if n.endswith(".py") and "__main__" not in n]
    def works(name):
        try: return bool(importlib.import_module(name))
        except Exception: return False
    json.dumps(sorted(filter(works, names)))`));
};
const plain = await importable(process.argv[1] + '/python_stdlib.zip');
const trimmed = new Set(await importable(process.argv[2]));
console.log(JSON.stringify({ kept: trimmed.size, lost: plain.filter((name) => !trimmed.has(name)) }));
"""


def test_byte_code_imports_as_the_sources_do(tmp_path):
    archives = [tmp_path / packed.stem for packed in (bytecode.STDLIB, bytecode.ZEROLEDGER)]
    for packed, archive in zip((bytecode.STDLIB, bytecode.ZEROLEDGER), archives):
        archive.write_bytes(gzip.decompress(packed.read_bytes()))
    done = subprocess.run(
        ["node", "--input-type=module", "-e", COMPARE_IMPORTS, compiled_wheels.PYODIDE_PACKAGE, *archives],
        capture_output=True, text=True, timeout=120,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    left_out = ("_pyrepl.", "wsgiref", "xmlrpc", "ftplib", "imaplib", "mailbox", "poplib", "smtplib", "_pyio", "turtle", "zipapp", "__phello__", "ctypes.macholib",
                "_pydatetime", "_py_abc", "asyncio.proactor_events", "asyncio.tools")
    assert [name for name in result["lost"] if not name.startswith(left_out)] == []
    assert result["kept"] > 400


LIST_OF_OTHERS = str(pure_wheels.LIST.relative_to(paths.ROOT))  # other packages, whose versions may coincide


def pinned(file: Path) -> dict[str, str]:
    """Package → version of a requirements file."""
    return dict(re.findall(r"^([\w.-]+)==([\w.]+)", file.read_text(), re.MULTILINE))


def test_versions_agree_between_python_and_the_browser(upstream_lock):
    python, browser = pinned(paths.ROOT / "requirements.txt"), pinned(pure_wheels.LIST)
    compiled = {name: upstream_lock["packages"][name]["version"] for name in compiled_wheels.NAMES}
    assert python["matplotlib"] == compiled["matplotlib"]
    assert python["ipywidgets"] == browser["ipywidgets"]
    assert browser.keys() & compiled.keys() == set()


def test_browser_wheels_are_of_the_versions_that_pyodide_tested(upstream_lock):
    known = {name: package["version"] for name, package in upstream_lock["packages"].items()}
    ours = pinned(pure_wheels.LIST)
    assert len(ours) == sum("--hash=sha256:" in line for line in pure_wheels.LIST.read_text().splitlines())
    assert {name: version for name, version in ours.items() if known.get(name, version) != version} == {}


def tracked_texts() -> dict[str, str]:
    """Path → text of the files in git, apart from npm's lock file, which repeats versions by nature."""
    listed = subprocess.run(["git", "ls-files"], cwd=paths.ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    wanted = [name for name in listed if name.endswith((".py", ".js", ".mjs", ".sh", ".json", ".toml", ".txt", ".md", ".html")) and "package-lock" not in name]
    return {name: (paths.ROOT / name).read_text(encoding="utf-8") for name in wanted if (paths.ROOT / name).exists()}


def test_versions_are_stated_once():
    web = json.loads((paths.WEB / "package.json").read_text())
    versions = {f"pyodide {web['dependencies']['pyodide']}": web["dependencies"]["pyodide"]}
    for name in ("jupyterlite-core", "jupyterlab", "jupytext", "nbconvert", "playwright"):
        versions[name] = pinned(paths.ROOT / "requirements.txt")[name]
    texts = {place: text for place, text in tracked_texts().items() if place != LIST_OF_OTHERS}
    for name, version in versions.items():
        places = [place for place, text in texts.items() if re.search(rf"(?<![\d.]){re.escape(version)}(?![\d.]*\d)", text)]
        assert len(places) == 1, f"{name}: {places}"


def test_no_registry_host_is_named():
    hosts = ("pypi" + ".org", "npm" + "js.", "js" + "delivr", "files.python" + "hosted", "un" + "pkg")
    for place, text in tracked_texts().items():
        assert [host for host in hosts if host in text] == [], place


def test_nothing_published_points_away_from_the_site():
    settings = [file for file in paths.DIST.rglob("jupyter-lite.json")]
    assert len(settings) >= 7
    for file in settings:
        assert "http://" not in file.read_text() and "https://" not in file.read_text().replace("https://jupyter.org/schema", ""), file


def test_developers_files_are_not_published():
    stray = [file for pattern in ("*.map", "rspack.*", "*.partial", "*.pyc") for file in paths.DIST.rglob(pattern)]
    assert stray == []


def test_github_pages_is_told_to_publish_the_files_as_they_are():
    assert (paths.DIST / ".nojekyll").is_file()
