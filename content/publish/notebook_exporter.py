"""`jupyter nbconvert --to zero-lesson notebook.ipynb`: any tagged notebook becomes a lesson page with live cells.

Tags as in lesson sources: `live` (the reader may change and run it), `predict`, `explore`, `timeline`, and `setup`
(stands in front of every live cell). Untagged code is shown with its outputs. The page loads its scripts from a
published course:

    jupyter nbconvert --to zero-lesson --ZeroLessonExporter.site_url=https://example.org/course/ notebook.ipynb
"""

import ast
import difflib
import re
import sys
from copy import deepcopy
from dataclasses import dataclass

import nbformat
from lessonkit import bank
from lessonkit.item_files import ExerciseError
from nbconvert.utils.exceptions import ConversionException
from traitlets import Enum, Unicode, validate

from .errors import BuildError
from .gate import gated_cells
from .headings import toc
from .lesson_calls import KINDS, LANGUAGES, explorer_start, parallel_start, predicted_exercise, timeline_start
from .page_context import PageContext
from .page_exporter import LessonPageExporter

READS = {"predict": predicted_exercise, "explore": explorer_start, "timeline": timeline_start, "parallel": parallel_start}
SHOWN_KINDS = ("live", *READS)
IMPORTABLE = {*sys.stdlib_module_names, "zeroledger"}
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_TITLE = re.compile(r"\A\s*# +(.+?) *#* *(?:\n|\Z)")


class NotebookError(ConversionException):
    """A notebook that cannot become a lesson page; each line names a cell, what was found and what is accepted."""


@dataclass(frozen=True)
class NotebookContext(PageContext):
    """The context of a page that stands alone: no other language, no neighbours, no notebook in a lab."""

    setup: str = ""

    languages = ()
    notebook_name = ""

    @property
    def import_line(self):
        return self.setup


class ZeroLessonExporter(LessonPageExporter):
    """Converts any notebook with our tags to a lesson page."""

    export_from_notebook = "ZeRO Ledger lesson page"

    site_url = Unicode("../../", help="Where the course is published, as the page will see it: an address, or relative as in <site>/en/<name>/.").tag(config=True)
    lang = Enum(("", *LANGUAGES), default_value="", help="Language of the page; by default the notebook's metadata zero.lang, else what its text is written in.").tag(config=True)

    @validate("site_url")
    def _with_slash(self, proposal):
        return proposal["value"].rstrip("/") + "/" if proposal["value"] else "./"

    def from_notebook_node(self, nb, resources=None, **options):
        """The page as HTML. NotebookError lists everything that has to change first."""
        name = (resources or {}).get("metadata", {}).get("name") or "notebook"
        notebook = prepared(nb, name, self.lang)
        problems = problems_of(notebook)
        if problems:
            raise NotebookError("\n".join(f"{name}.ipynb, {problem}" for problem in problems))
        zero = notebook.metadata.zero
        context = NotebookContext(
            lang=zero.lang, root=self.site_url, slug=zero.lesson, page_title=zero.title, description=zero.summary, toc=tuple(toc(notebook)),
            has_explorer=any(kind_of(cell) == "explore" for cell in notebook.cells), gated=gated_cells(notebook),
            predictions=sum(kind_of(cell) == "predict" for cell in notebook.cells), setup=setup_code(notebook),
        )
        try:
            return super().from_notebook_node(notebook, {**(resources or {}), "zero": context}, **options)
        except BuildError as error:
            raise NotebookError(f"{name}.ipynb: {error.reason}; {error.remedy}") from error


def prepared(nb, name, lang):
    """A copy with our metadata: `zero` of the notebook (title, summary, language) and of each cell (its kind), and with cell ids."""
    notebook = deepcopy(nb)
    known = notebook.metadata.get("zero", {})
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type != "raw" and cell.source.strip()]
    title = known.get("title") or notebook.metadata.get("title") or _take_title(notebook) or name
    prose = " ".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    lang = lang or known.get("lang") or ("zh-CN" if 5 * len(_CHINESE.findall(prose)) > len(prose) else "en")
    for number, cell in enumerate(notebook.cells, 1):
        cell.id = re.sub(r"[^\w-]+", "-", cell.get("id") or f"cell-{number}")
        cell.metadata["zero"] = nbformat.from_dict({"kind": tagged_kind(cell)})
        if cell.cell_type == "code":
            cell.setdefault("outputs", [])
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "notebook"
    notebook.metadata["zero"] = nbformat.from_dict({**known, "title": title, "summary": known.get("summary", ""), "lang": lang, "lesson": slug})
    return notebook


def kind_of(cell):
    return cell.metadata.zero.kind


def tagged_kind(cell):
    """`prose`, one of KINDS by the cell's tags, or `code`."""
    if cell.cell_type == "markdown":
        return "prose"
    return next((tag for tag in cell.metadata.get("tags", ()) if tag in KINDS), "code")


def _take_title(notebook):
    """The first heading of the first level, taken out of its cell; "" when there is none."""
    for cell in notebook.cells:
        found = _TITLE.match(cell.source) if cell.cell_type == "markdown" else None
        if found:
            cell.source = cell.source[found.end():]
            return re.sub(r"[*`]", "", found[1])
    return ""


def setup_code(notebook):
    """What stands in front of each live cell: the setup cells without what a page does not have, else the course's import."""
    lines = "\n".join(cell.source for cell in notebook.cells if kind_of(cell) == "setup").splitlines()
    kept = [line for line in lines if not re.match(r"\s*(from lessonkit\b|import lessonkit\b|use_language\(|LANG\s*=)", line)]
    return "\n".join(kept).strip() + "\n\n" if any(map(str.strip, kept)) else ""


def problems_of(notebook):
    """What keeps the notebook from being a lesson page, one text each."""
    found = [problem for number, cell in enumerate(notebook.cells, 1) if cell.cell_type == "code" for problem in _cell_problems(f"code cell {cell.id} (number {number})", cell)]
    if not any(kind_of(cell) in SHOWN_KINDS for cell in notebook.cells):
        found.append(f"no cell is tagged {', '.join(SHOWN_KINDS)}, so nothing would run; tag at least one code cell, in JupyterLab under Property Inspector, Common Tools, Cell Tags")
    return found


def _cell_problems(where, cell):
    for tag in cell.metadata.get("tags", ()):
        near = difflib.get_close_matches(tag.lower(), KINDS, 1, 0.75)
        if tag not in KINDS and near:
            yield f"{where}: tag {tag!r}; accepted: {', '.join(KINDS)} (did you mean {near[0]!r}?)"
    kind = kind_of(cell)
    if kind in READS:
        try:
            READS[kind](cell.source)
            if kind == "predict":
                bank.load(predicted_exercise(cell.source))
        except ExerciseError as error:
            yield f"{where}: {error}"
        except (ValueError, IndexError, SyntaxError) as error:
            yield f"{where}: expected one call of {kind}(…) with literals: {error}"
    elif kind in ("live", "setup"):
        yield from _code_problems(where, cell.source)


def _code_problems(where, source):
    """Code that cannot run on a page: magics, other syntax errors, packages that are not there."""
    magic = next((line.strip() for line in source.splitlines() if re.match(r"\s*[%!]", line)), None)
    if magic:
        yield f"{where}: {magic!r} is IPython's own; accepted on a page: Python"
        return
    try:
        body = ast.walk(ast.parse(source))
    except SyntaxError as error:
        yield f"{where}, line {error.lineno}: not Python: {error.msg}"
        return
    for node in body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            top = name.partition(".")[0]
            if top not in IMPORTABLE | {"lessonkit"}:
                yield f"{where}, line {node.lineno}: imports {top}; accepted on a page: the standard library and zeroledger"
