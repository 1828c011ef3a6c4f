"""The public names of zeroledger with their docstrings, read from the source: what the page of API docs shows.

Nothing is imported or run. A module belongs to the group that `GROUPS` names, or to the last one.
"""

import ast
import inspect
import re
from dataclasses import dataclass
from functools import cache
from html import escape

from . import paths

PACKAGE = paths.CONTENT / "zeroledger"
# Key of the group's title in strings.json (page.api.group.<key>) and its modules, in the order of the page.
GROUPS = {
    "ledger": ("ledger", "recipes", "recipe_book", "presets", "cards", "units", "capacity", "adapters", "groups", "errors"),
    "models": ("models", "hf_config", "json_input", "tensors"),
    "sharding": ("sharding", "rule_states", "frameworks", "mesh", "mesh_states", "wrapping"),
    "activations": ("activation_rows", "activations", "activation_stack", "backward_walk", "logits", "pipeline_activations",
                    "published_activations"),
    "instants": ("instants", "transients", "fsdp_timeline", "deepspeed_transients", "optimizer_step", "allocator",
                 "caching_allocator"),
    "budget": ("training", "budgets", "lever_search", "planner", "training_costs", "measured", "explanation", "training_inputs"),
    "offload": ("offload", "offload_time", "zero_infinity"),
    "communication": ("collectives", "communication", "deepspeed_communication", "deepspeed_stage3",
                      "model_parallel_communication", "compute", "overlap", "step_time", "quick_time", "equivalence"),
    "importers": ("run_config", "deepspeed_config", "fsdp_config"),
    "peers": ("peers", "peers_deepspeed", "peers_megatron", "peers_llm_analysis", "peers_calculators", "peers_xtuner"),
    "simulate": (),
    "other": (),
}
HIDDEN = re.compile(r"(^|\.)(__main__|cli\w*|\w+_tables|tables)$")  # tables and commands: parts of other things
SIMULATION = "simulate."


@dataclass(frozen=True)
class Entry:
    """One public function or class: `signature` as it is written, `doc` its docstring, `members` of a class (Entry)."""

    name: str
    signature: str
    doc: str
    is_class: bool = False
    members: tuple = ()

    @property
    def doc_html(self):
        """The docstring as HTML."""
        return docstring_html(self.doc)


@dataclass(frozen=True)
class Module:
    """One module: dotted `name` without the package, docstring, entries in the order of the source."""

    name: str
    doc: str
    entries: tuple

    @property
    def doc_html(self):
        """The docstring as HTML."""
        return docstring_html(self.doc)

    def import_line(self, entry):
        """How a reader gets the entry: from the package where it is exported, else from its module."""
        place = "zeroledger" if entry.name in exported() else f"zeroledger.{self.name}".removesuffix(".__init__")
        return f"from {place} import {entry.name}"


def groups():
    """[(key, [Module, …]), …] of every module with something public, each module once."""
    modules = {name: module for name, module in read_modules().items() if module.entries}
    grouped = {key: [modules.pop(name) for name in names if name in modules] for key, names in GROUPS.items()}
    for name, module in modules.items():
        grouped["simulate" if name.startswith(SIMULATION) else "other"].append(module)
    return [(key, found) for key, found in grouped.items() if found]


@cache
def read_modules():
    """{dotted name: Module} of the package's files that are not hidden."""
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
        if name == "__init__" or HIDDEN.search(name):
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        entries = tuple(_entry(node) for node in tree.body if _is_public(node))
        found[name] = Module(name, _doc(tree), entries)
    return found


@cache
def exported():
    """Names that `from zeroledger import *` brings."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    values = {node.targets[0].id: node.value for node in tree.body if isinstance(node, ast.Assign)}
    lazy = {key.value for key in values["LAZY"].keys}
    return lazy | {each.value for each in values["__all__"].elts if isinstance(each, ast.Constant)}


def _is_public(node):
    return isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")


def _doc(node):
    return inspect.cleandoc(ast.get_docstring(node) or "")


def _entry(node):
    if isinstance(node, ast.FunctionDef):
        return Entry(node.name, f"{node.name}({ast.unparse(node.args)})", _doc(node))
    fields = [ast.unparse(each) for each in node.body if isinstance(each, ast.AnnAssign)
              and not each.target.id.startswith("_")]
    bases = f"({', '.join(map(ast.unparse, node.bases))})" if node.bases else ""
    signature = f"class {node.name}{bases}"
    if fields:
        signature += ":\n    " + "\n    ".join(fields)
    members = tuple(_member(each) for each in node.body if _is_public(each) and isinstance(each, ast.FunctionDef))
    return Entry(node.name, signature, _doc(node), True, tuple(each for each in members if each.doc))


def _member(node):
    is_property = any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
    node.args.args = node.args.args[1:]  # without self
    signature = node.name if is_property else f"{node.name}({ast.unparse(node.args)})"
    return Entry(node.name, signature, _doc(node))


def docstring_html(text):
    """A docstring as HTML: paragraphs, ``code``, blocks after "::" and tables as they are written."""
    parts, literal = [], False
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        if (literal and block.startswith(" ")) or block.lstrip().startswith("|"):
            parts.append(f'<pre tabindex="0">{escape(inspect.cleandoc(block))}</pre>')
            continue
        before, table, rows = block.partition("\n|")
        literal = before.rstrip().endswith("::")
        prose = escape(before.rstrip().removesuffix(":") if literal else before, quote=False)
        parts.append("<p>" + re.sub(r"``?([^`]+)``?", r"<code>\1</code>", prose) + "</p>")
        if table:
            parts.append(f'<pre tabindex="0">{escape("|" + rows)}</pre>')
    return "".join(parts)
