"""./build.sh from the outside: words, ports, and what is said when something is missing."""

import io
import os
import shutil
import socket
import subprocess

import pytest
from publish import chromium, paths, testing
from publish.cli import BAD_USAGE, FAILED, USAGE, main
from publish.console import Console
from publish.errors import BuildError

BUILD = paths.ROOT / "build.sh"


@pytest.mark.parametrize("words", [["nonsense"], ["--port", "8000"], ["build", "extra"], ["clean", "all"], ["serve", "1", "2"]])
def test_unknown_words_print_the_usage(words, capsys):
    assert main(words) == BAD_USAGE
    assert capsys.readouterr().err == USAGE


def test_help_is_no_error(capsys):
    assert main(["--help"]) == 0
    assert capsys.readouterr().out == USAGE


def test_the_script_passes_words_and_exit_status_on(tmp_path):
    done = subprocess.run([BUILD, "nonsense"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (BAD_USAGE, USAGE)


@pytest.mark.parametrize("word", ["0", "65536", "-1", "8e3", "http", "", "٨٠٠٠"])
def test_a_port_that_is_none(word, capsys):
    assert main(["serve", word]) == FAILED
    error = capsys.readouterr().err
    assert repr(word) in error and "1 to 65535" in error


def test_a_taken_port_is_said_before_anything_is_built(capsys):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert main(["serve", str(port)]) == FAILED
    said = capsys.readouterr()
    assert f"port {port} is taken" in said.err and "choose another port" in said.err
    assert said.out == ""


def run_with_programs(folder, programs):
    """Runs build.sh where only these programs exist: name → the file that stands for it, or a script's text."""
    for name, program in programs.items():
        if program.startswith("#!"):
            (folder / name).write_text(program)
            (folder / name).chmod(0o755)
        else:
            (folder / name).symlink_to(program)
    environment = {"PATH": str(folder), "HOME": str(folder)}
    return subprocess.run([shutil.which("bash"), BUILD], env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("node", "said"),
    [
        (None, "Node.js was not found"),
        ("v18.19.0", "Node.js is v18.19.0, and 20 or newer is needed"),
        ("v20.0.0", "npm was not found"),
    ],
)
def test_a_missing_or_old_node_is_named(tmp_path, node, said):
    programs = {"dirname": shutil.which("dirname")}
    if node:
        programs["node"] = f"#!{shutil.which('bash')}\necho {node}\n"
    done = run_with_programs(tmp_path, programs)
    assert done.returncode == FAILED
    assert said in done.stderr and "what to do: install" in done.stderr


def test_an_old_python_is_not_taken(tmp_path):
    clone = tmp_path / "clone"
    clone.mkdir()
    shutil.copy(BUILD, clone)
    shutil.copy(paths.ROOT / "requirements.txt", clone)
    programs = tmp_path / "programs"
    programs.mkdir()
    bash = shutil.which("bash")
    for name, text in (("node", "echo v22.0.0"), ("npm", ""), ("python3", "exit 1")):
        (programs / name).write_text(f"#!{bash}\n{text}\n")
        (programs / name).chmod(0o755)
    for name in ("dirname", "cmp"):
        (programs / name).symlink_to(shutil.which(name))
    done = subprocess.run([bash, clone / "build.sh"], env={"PATH": str(programs)}, capture_output=True, text=True)
    assert done.returncode == FAILED
    assert "no Python 3.11 or newer was found" in done.stderr and "PYTHON=" in done.stderr


def test_a_named_chromium_must_start(monkeypatch):
    monkeypatch.setenv(chromium.VARIABLE, "/nowhere/chromium")
    with pytest.raises(BuildError, match="/nowhere/chromium does not start"):
        chromium.find_chromium()


def test_a_stub_instead_of_chromium_is_passed_over(monkeypatch, tmp_path):
    for name, text in (("chromium", "exit 1"), ("google-chrome", "echo 150")):
        (tmp_path / name).write_text(f"#!{shutil.which('sh')}\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.delenv(chromium.VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(chromium, "MACOS_PATHS", ())
    assert chromium.find_chromium() == str(tmp_path / "google-chrome")


@pytest.fixture
def installers(monkeypatch):
    """A machine without Chromium on which installers only record that they were called."""
    called = []

    def record(command, log_name, remedy):
        called.append(log_name)
        if log_name in installers_that_fail:
            raise BuildError(f"{log_name} failed", remedy)
        return ""

    installers_that_fail = set()
    monkeypatch.setattr(chromium, "find_chromium", lambda: "/usr/bin/chromium" if "apt-chromium" in called[-1:] else None)
    monkeypatch.setattr(chromium, "run_tool", record)
    monkeypatch.setattr(chromium.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(chromium.os, "geteuid", lambda: 0)
    return called, installers_that_fail, monkeypatch


def quiet():
    return Console(io.StringIO())


def test_root_gets_chromium_by_apt(installers):
    called, _, _ = installers
    assert chromium.ensure_chromium(quiet()) == "/usr/bin/chromium"
    assert called == ["apt-update", "apt-chromium"]


def test_where_apt_fails_playwright_installs_its_own(installers):
    called, fail, _ = installers
    fail.add("apt-update")
    assert chromium.ensure_chromium(quiet()) is None
    assert called == ["apt-update", "playwright-chromium"]


def test_others_than_root_do_not_try_apt(installers):
    called, _, monkeypatch = installers
    monkeypatch.setattr(chromium.os, "geteuid", lambda: 1000)
    assert chromium.ensure_chromium(quiet()) is None
    assert called == ["playwright-chromium"]


def test_without_any_chromium_it_says_what_to_do(installers):
    _, fail, _ = installers
    fail.update({"apt-update", "playwright-chromium"})
    with pytest.raises(BuildError) as error:
        chromium.ensure_chromium(quiet())
    assert "CHROMIUM=" in error.value.remedy


def test_ci_runs_the_test_command():
    lines = (paths.ROOT / ".ci" / "run").read_text().splitlines()
    assert lines[-1] == "exec ./build.sh test"
    assert os.access(paths.ROOT / ".ci" / "run", os.X_OK) and os.access(BUILD, os.X_OK)


@pytest.mark.parametrize("statuses, is_selection, verdict", [
    ([0, 0, 0, 0], False, 0), ([0, 0, 5, 0], True, 0), ([0, 0, 0, 5], True, 0), ([0, 0, 5, 5], True, 5),
    ([0, 0, 0, 5], False, 5), ([0, 0, 5, 0], False, 5), ([0, 0, 5, 1], True, 1), ([0, 0, 1, 5], True, 1), ([2, 0, 5, 0], True, 2),
])
def test_a_selection_may_lie_in_one_suite_but_must_lie_somewhere(statuses, is_selection, verdict):
    assert testing.verdict(statuses, is_selection) == verdict
