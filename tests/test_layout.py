"""Imports point one way: lessons → lessonkit → zeroledger → standard library; the build sees all, nothing sees the build."""

import ast
import sys
from pathlib import Path

import pytest

CONTENT = Path(__file__).resolve().parents[1] / "content"
OURS = {"zeroledger", "lessonkit", "exercises", "publish"}
SCREEN = {"ipywidgets", "matplotlib", "IPython"}  # what lessonkit alone may import
ALLOWED = {  # folder → what it may import beside the standard library and itself
    "zeroledger": set(),
    "exercises": set(),
    "lessonkit": {"zeroledger", "exercises", *SCREEN},
    "lessons": {"zeroledger", "lessonkit"},
    "lessons/local": {"zeroledger", "lessonkit", "torch", "small_training"},  # opened where PyTorch is
    "measure": {"torch", "zeroledger", "zeroledger_measure"},  # goes to other machines alone
}


def imported_by(file: Path) -> set[str]:
    """Top-level names that the file imports, wherever in it; relative imports are its own package's."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module.split(".")[0])
    return found - set(sys.stdlib_module_names)


def python_files(folder: str) -> list[Path]:
    inner = [CONTENT / other for other in ALLOWED if other.startswith(folder + "/")]
    return sorted(file for file in (CONTENT / folder).rglob("*.py") if not any(map(file.is_relative_to, inner)))


@pytest.mark.parametrize("folder", ALLOWED)
def test_imports_point_one_way(folder):
    assert python_files(folder)
    for file in python_files(folder):
        assert imported_by(file) <= ALLOWED[folder] | {folder}, file.relative_to(CONTENT)


def test_the_build_draws_through_lessonkit_only():
    for file in python_files("publish"):
        assert imported_by(file) & SCREEN == set(), file.relative_to(CONTENT)


def test_python_for_the_browser_imports_none_of_ours_but_zeroledger():
    files = python_files("web/src")
    assert files
    for file in files:
        assert imported_by(file) & OURS <= {"zeroledger"}, file.relative_to(CONTENT)
