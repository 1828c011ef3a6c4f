"""zeroledger is standard library only, imports fast, and its modules stay small."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "content" / "zeroledger"
MODULES = sorted(PACKAGE.glob("*.py"))
HEAVY = {"json", "argparse", "tomllib", "csv", "fractions", "decimal", "pathlib", "typing", "unicodedata"}
LONGEST_MODULE = 260  # lines


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_imports_only_the_standard_library(module):
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module]
        else:
            continue
        for name in names:
            assert name.split(".")[0] in sys.stdlib_module_names, f"{module.name} imports {name}"


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_modules_are_small_and_say_what_they_are(module):
    text = module.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST_MODULE
    tree = ast.parse(text)
    assert ast.get_docstring(tree), f"{module.name} has no docstring"
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{module.name}: {node.name} has no docstring"


def test_importing_loads_nothing_heavy():
    code = f"import sys; import zeroledger; print(sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True,
                          cwd=PACKAGE.parent)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there_and_no_module_hides_it():
    code = ("import importlib, pkgutil, zeroledger\n"
            "for module in pkgutil.walk_packages(zeroledger.__path__, 'zeroledger.'):\n"
            "    if not module.name.endswith('__main__'): importlib.import_module(module.name)\n"
            "import types\n"
            "from zeroledger import *\n"
            "print([name for name in zeroledger.__all__ if isinstance(getattr(zeroledger, name), types.ModuleType)])\n"
            "print(callable(ledger), callable(mesh_ledger), Mesh().world_size)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent)
    assert done.stdout.split("\n")[:2] == ["[]", "True True 1"]
