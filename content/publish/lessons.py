"""Lesson sources to notebooks: one bilingual file in, one notebook per language out.

A source is `content/lessons/NN_slug.py` in jupytext's percent format:

    # ---
    # zero:                         (beside jupytext's own `jupyter:`)
    #   slug: ledger
    #   number: 1
    #   checked: 2026-09-10         when the sources were last checked
    #   title: {en: "…", zh-CN: "…"}
    #   summary: {en: "…", zh-CN: "…"}
    #   values:                     names for what several figures share; optional
    #     bloom: "TransformerShape(hidden_size=1536, …)"
    # ---

    # %% [markdown] id="stage-1" lang="en"
    # ## Stage 1 …
    # %% [markdown] id="stage-1" lang="zh-CN"
    # ## 阶段 1 …
    # %% id="stage-1-ledger" tags=["live"]
    print(ledger(num_params=7e9, dp_size=8, stage=1))

- Every cell has an `id`: letters, digits, hyphens; the same in both languages, never changed once
  published (links, stored answers and the language switch hang on it).
- A markdown cell has `lang="en"` or `lang="zh-CN"`, and every id has both; without `lang` it goes into both.
- Code is shared. `LANG = "…"` becomes the first line of the cell tagged `setup`; nothing else differs.
- Tags: `setup`, `live` (runs on the page), `predict` (`predict("exercise-id")`), `explore` (`explore()`),
  `timeline` (`timeline(stage=3, dp_size=4)`: a simulated training step), `parallel` (`parallel(model="llama-2-70b")`: TP × SP × recomputation),
  `page-only` and `lite-only` (left out of the notebook, of the page).
- Figures in prose are computed: `{{ ledger(7e9) | GiB 1 }}`, given ones are quoted:
  `{{ "16 GB" }}`; a byte figure typed by hand fails the build. Forms: lessonkit/computed_text.py.

The title becomes a first cell of its own, `title`. Our own metadata sits under the key `zero`: of the
notebook (the header's fields in its language) and of each cell (kind).
"""

import os
import re
import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import jupytext
import nbformat
import yaml
from nbclient import NotebookClient
from lessonkit.computed_text import ValueInProseError, fill_values, find_typed_figures, named_values
from traitlets.config import Config

from .fingerprint import mark_published
from .lesson_calls import FOLDER_OF_LANGUAGE, KINDS, LANGUAGES, explorer_start, parallel_start, predicted_exercise, timeline_start
from .notebook_cells import check_yourself_cells, new_notebook, title_cell
from .self_test_notebook import self_test_name, self_test_notebook
from .reading_time import lesson_minutes

TAGS = (*KINDS, "page-only", "lite-only")
CONTENT_DIR = Path(__file__).resolve().parents[1]
CELL_TIMEOUT_S = 120

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_CELL_ID = re.compile(r"^[a-z0-9]+(-[a-z0-9]+)*$")
_FILE_NAME = re.compile(r"^(\d\d)_([a-z0-9_]+)\.py$")


class LessonError(ValueError):
    """Something wrong in a lesson source; the message names lesson, cell and line."""


@dataclass(frozen=True)
class SourceCell:
    """One cell as written: `lang` is None where it serves both languages; `line` is its `# %%` line."""

    id: str
    type: str
    lang: str | None
    tags: tuple[str, ...]
    source: str
    line: int

    @property
    def kind(self):
        """`prose`, one of KINDS, or `code` for a code cell that is merely shown."""
        if self.type == "markdown":
            return "prose"
        return next((tag for tag in self.tags if tag in KINDS), "code")


@dataclass(frozen=True)
class Lesson:
    """A parsed lesson source; `title` and `summary` by language, `values` by name for its prose."""

    path: Path
    number: int
    slug: str
    checked: str
    title: dict[str, str]
    summary: dict[str, str]
    values: dict
    cells: tuple[SourceCell, ...]

    @property
    def notebook_name(self):
        return f"{self.number:02d}-{self.slug}.ipynb"

    @property
    def exercises(self):
        """The exercises whose predictions it asks for, in order."""
        return tuple(predicted_exercise(cell.source) for cell in self.cells if cell.kind == "predict")

    def minutes(self, lang):
        """Minutes for a reader in `lang`: reading_time.lesson_minutes of its page."""
        return self.notebook(lang, "page").metadata.zero.minutes

    def notebook(self, lang, surface="lite"):
        """The notebook in `lang` for a surface ("lite" or "page"), not executed. LessonError on a faulty cell."""
        left_out = {"lite": "page-only", "page": "lite-only"}[surface]
        cells = [title_cell(self.title[lang], lang, surface)] + [
            self._notebook_cell(cell, lang)
            for cell in self.cells
            if cell.lang in (None, lang) and left_out not in cell.tags
        ]
        notebook = new_notebook(cells, {
            "lesson": self.slug, "number": self.number, "lang": lang, "title": self.title[lang],
            "summary": self.summary[lang], "checked": self.checked,
        })
        notebook.metadata.zero.minutes = lesson_minutes(notebook)
        if surface == "lite":
            notebook.cells += check_yourself_cells(self.slug, lang)
        return notebook

    def _notebook_cell(self, cell, lang):
        if cell.type == "markdown":
            made = nbformat.v4.new_markdown_cell(self._filled(cell))
        else:
            head = f'LANG = "{lang}"\n' if cell.kind == "setup" else ""
            made = nbformat.v4.new_code_cell(head + cell.source)
        made.id = cell.id
        made.metadata = nbformat.from_dict({"zero": {"kind": cell.kind}})
        if cell.tags:
            made.metadata["tags"] = list(cell.tags)
        return made

    def _filled(self, cell):
        try:
            return fill_values(cell.source, self.values)
        except ValueInProseError as error:
            raise LessonError(self._where(cell, error.expression) + str(error)) from error

    def _where(self, cell, snippet=""):
        """`01_ledger.py, cell stage-1 (zh-CN), line 12: ` for the line of `snippet`, else of the cell."""
        line = cell.line
        if snippet and snippet in cell.source:
            line += 1 + cell.source[: cell.source.index(snippet)].count("\n")
        lang = f" ({cell.lang})" if cell.lang else ""
        return f"{self.path.name}, cell {cell.id}{lang}, line {line}: "


def load_lessons(folder=CONTENT_DIR / "lessons"):
    """All lessons of `folder` by number. LessonError on the first fault."""
    lessons = [load_lesson(path) for path in sorted(Path(folder).glob("*.py"))]
    slugs = [lesson.slug for lesson in lessons]
    if len(set(slugs)) < len(slugs):
        raise LessonError(f"two lessons share a slug: {', '.join(slugs)}")
    return lessons


def refuse(problem):
    """What happens to a fault unless somebody collects them: LessonError with its text."""
    raise LessonError(problem)


def load_lesson(path, report=refuse):
    """The lesson in `path`, checked. LessonError names the cell and line.

    With another `report` (a function of one text) every fault goes there, and what comes back may be faulty."""
    path = Path(path)
    if not _FILE_NAME.match(path.name):
        report(f"{path.name}: lesson sources are named NN_slug.py, for example 01_ledger.py")
    text = path.read_text(encoding="utf-8")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.startswith("# %%")]
    raw = [cell for cell in jupytext.reads(text, fmt="py:percent").cells if cell.cell_type != "raw"]
    raw = raw[len(raw) - len(lines):]  # text before the first marker (a comment on the file) is no cell
    cells = tuple(_source_cell(cell, line, path.name, report) for cell, line in zip(raw, lines, strict=True))
    lesson = Lesson(path=path, cells=cells, **_header(text, path.name, report))
    _check(lesson, report)
    return lesson


def write_notebooks(lessons, out_dir):
    """Write <out_dir>/<en|zh>/NN-slug.ipynb for every lesson, and the self-test's after them; returns the paths."""
    written = []
    for lang in LANGUAGES:
        made = {lesson.notebook_name: lesson.notebook(lang) for lesson in lessons}
        made[self_test_name(lessons)] = self_test_notebook(lessons, lang)
        for name, notebook in made.items():
            path = Path(out_dir) / FOLDER_OF_LANGUAGE[lang] / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(nbformat.writes(mark_published(notebook)) + "\n", encoding="utf-8")
            written.append(path)
    return written


def execute(notebook, where):
    """Run `notebook` top to bottom in CPython and return it with outputs. LessonError names the failing cell."""
    paths = [str(CONTENT_DIR), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONDONTWRITEBYTECODE": "1"}
    with TemporaryDirectory(prefix="zl-") as folder:
        # Sockets in a folder of this kernel's own: closed to other users, and apart from other kernels'.
        sockets = Config(KernelManager={"transport": "ipc", "ip": f"{folder}/kernel"})
        client = NotebookClient(notebook, timeout=CELL_TIMEOUT_S, kernel_name="python3", record_timing=False, config=sockets)
        try:
            return client.execute(env=environment)
        except Exception as error:  # CellExecutionError, a dead kernel, a timeout: the build wants one readable line
            failed = next((cell.id for cell in notebook.cells if _has_error(cell)), "?")
            last_line = _ANSI.sub("", str(error)).strip().rsplit("\n", 1)[-1]
            raise LessonError(f"{where}, cell {failed}: {last_line}") from error


_NEUTRAL = {"slug": "", "number": 0, "checked": date(2000, 1, 1), "title": dict.fromkeys(LANGUAGES, ""), "summary": dict.fromkeys(LANGUAGES, "")}


def _header(text, file_name, report):
    """The fields of the `zero:` header. A report names the field that is missing or of the wrong type, and its line."""
    fields = _header_fields(text, file_name, report)

    def fault(name, problem):
        found = re.search(rf"^# +{name}:", text, re.MULTILINE)
        line = 1 + text[: found.start()].count("\n") if found else 1
        report(f"{file_name}, line {line}, header zero.{name}: {problem}")

    header = {}
    for name, neutral in _NEUTRAL.items():
        kind, value = type(neutral), fields.get(name)
        if not isinstance(value, kind):
            fault(name, f"expected {kind.__name__}, got {value!r}")
        elif kind is dict and set(value) != set(LANGUAGES):
            fault(name, f"expected {' and '.join(LANGUAGES)}")
        else:
            header[name] = value
    header = _NEUTRAL | header
    expressions, values = fields.get("values", {}), {}
    if not isinstance(expressions, dict) or not all(isinstance(each, str) for each in expressions.values()):
        fault("values", f"expected names with expressions as text, got {expressions!r}")
        expressions = {}
    try:
        values = named_values(expressions)
    except ValueInProseError as error:
        fault("values", str(error))
    return header | {"checked": header["checked"].isoformat(), "values": values}


def _header_fields(text, file_name, report):
    """What stands under `zero:` between the two lines `# ---`."""
    match = re.match(r"# ---\n(.*?)\n# ---\n", text, re.DOTALL)
    if not match:
        report(f"{file_name}, line 1, header zero.slug: expected str, got None; a lesson begins with # ---, # zero: …, # ---")
        return {}
    try:
        header = yaml.safe_load("\n".join(line[2:] for line in match.group(1).split("\n")))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        report(f"{file_name}, line {mark.line + 2 if mark else 1}: not YAML: {getattr(error, 'problem', error)}")
        return {}
    fields = header.get("zero") if isinstance(header, dict) else None
    return fields if isinstance(fields, dict) else {}


def _source_cell(cell, line, file_name, report):
    metadata = cell.metadata
    cell_id = metadata.get("id", "")
    if not isinstance(cell_id, str) or not _CELL_ID.match(cell_id) or len(cell_id) > 64:
        report(f"{file_name}, line {line}: cell id {cell_id!r}: expected id=\"lower-case-words-with-hyphens\"")
    lang = metadata.get("lang")
    if lang not in (None, *LANGUAGES):
        report(f"{file_name}, cell {cell_id}, line {line}: lang {lang!r}: accepted are {', '.join(LANGUAGES)}")
        lang = None
    tags = tuple(metadata.get("tags", ()))
    for tag in tags:
        if tag not in TAGS:
            report(f"{file_name}, cell {cell_id}, line {line}: tag {tag!r}: accepted are {', '.join(TAGS)}")
    return SourceCell(str(cell_id), cell.cell_type, lang, tags, cell.source, line)


def _check(lesson, report):
    seen = {}
    for cell in lesson.cells:
        others = seen.setdefault(cell.id, [])
        if cell.lang in others or (others and None in (cell.lang, *others)):
            report(lesson._where(cell) + "this id is already taken")
        others.append(cell.lang)
        if cell.type == "markdown":
            for figure in find_typed_figures(cell.source):
                report(
                    lesson._where(cell, figure)
                    + f"{figure!r} is typed by hand: compute it, {{{{ … | GB }}}}, or quote it, {{{{ \"{figure}\" }}}}"
                )
        elif cell.kind == "predict":
            _check_call(lesson, cell, predicted_exercise, report)
        elif cell.kind == "explore":
            _check_call(lesson, cell, explorer_start, report)
        elif cell.kind == "timeline":
            _check_call(lesson, cell, timeline_start, report)
        elif cell.kind == "parallel":
            _check_call(lesson, cell, parallel_start, report)
    for cell in lesson.cells:
        missing = set(LANGUAGES) - set(seen[cell.id])
        if cell.lang and missing:
            report(lesson._where(cell) + f"has no text in {', '.join(sorted(missing))}")


def _check_call(lesson, cell, read, report):
    try:
        read(cell.source)
    except (ValueError, IndexError, SyntaxError) as error:
        report(lesson._where(cell) + f"expected one call of {cell.kind}(…) with literals: {error}")


def _has_error(cell):
    return any(output.output_type == "error" for output in cell.get("outputs", ()))


if __name__ == "__main__":
    for made in write_notebooks(load_lessons(), sys.argv[1]):
        print(made)
