"""`./build.sh check`: everything that is wrong with lessons, exercises and questions, each with its line, without a build."""

import ast
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from lessonkit import bank, i18n, questions
from lessonkit.item_files import ExerciseError, item_data
from lessonkit.computed_text import find_typed_figures
from lessonkit.toml_lines import line_of

from . import lessons, paths
from .errors import BuildError

LESSONS = paths.CONTENT / "lessons"
EXERCISES = paths.CONTENT / "exercises"
QUESTIONS = EXERCISES / "questions"
RUN_LIMIT_S = 60
RUNNER = Path(__file__).with_name("run_cells.py")
_PLACED = re.compile(r"^(?:questions/)?[\w.\[\], =-]+?\.(?:py|toml)(?P<place>, (?!line)[^:]*?)?(?:, line (?P<line>\d+))?(?P<field>, [^:]*?)?: (?P<text>.*)$", re.DOTALL)


@dataclass(frozen=True)
class Problem:
    """One fault: the file, its line (0: the file as a whole), where in words, and what to change."""

    file: Path
    line: int
    text: str

    def __str__(self):
        return f"{_shown(self.file)}:{self.line}: {self.text}" if self.line else f"{_shown(self.file)}: {self.text}"


def check_files(files=()) -> tuple[list[Path], list[Problem]]:
    """What was looked at (all sources when `files` is empty), and its problems in the order of files and lines.

    BuildError for a file that is not there or of neither kind."""
    wanted = [Path(file) for file in files] or [*sorted(LESSONS.glob("*.py")), *sorted(EXERCISES.glob("*.toml")), *sorted(QUESTIONS.glob("*.toml"))]
    found = []
    for file in wanted:
        if not file.is_file():
            raise BuildError(f"{file} is not there", "name a lesson (.py) or an exercise or question (.toml)")
        if file.suffix not in (".py", ".toml"):
            raise BuildError(f"{file} is neither a lesson nor an exercise", "name a lesson (.py) or an exercise or question (.toml)")
        found += lesson_problems(file) if file.suffix == ".py" else item_problems(file)
    return wanted, sorted(set(found), key=lambda problem: (str(problem.file), problem.line, problem.text))


def lesson_problems(file: Path) -> list[Problem]:
    """Faults of the header, the cells, the figures in prose, the exercises asked for; then of its code, which is run."""
    texts = []
    lesson = lessons.load_lesson(file, texts.append)
    texts += _prose_faults(lesson)
    problems = [_placed(file, text) for text in texts]
    problems += [*_neighbour_problems(file, lesson)] + [problem for cell in lesson.cells for problem in _code_problems(file, cell)]
    return problems or _run_problems(file, lesson)


def item_problems(file: Path) -> list[Problem]:
    """Faults of an exercise or, where it has options, a question: of its fields, then of what it computes."""
    source, texts = file.read_text(encoding="utf-8"), []
    try:
        data = item_data(file.name, source)
    except ExerciseError as error:
        at = re.search(r"at line (\d+)", str(error))
        return [Problem(file, int(at[1]) if at else 0, str(error).partition(": ")[2])]
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", file.stem):
        texts.append(f"{file.name}: the file name is the id; accepted: lower-case words with hyphens, e.g. zero1-20b-4.toml")
    is_question = "option" in data or data.get("kind") in questions.KINDS
    item = (questions if is_question else bank).parse(file.stem, source, texts.append)
    if not texts:
        texts += _question_faults(item) if is_question else _exercise_faults(item)
    known = [lesson_slug(path) for path in sorted(LESSONS.glob("*.py"))]
    if item.lesson and item.lesson not in known:
        texts.append(f"{file.name}, lesson: found {item.lesson!r}; accepted: the slug of a lesson, {', '.join(filter(None, known))}")
    return [_placed(file, text, source) for text in texts]


def lesson_slug(file: Path) -> str:
    """The slug in a lesson's header, or "" where there is none."""
    found = re.search(r"^#   slug: *(\S+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else ""


def _prose_faults(lesson):
    for cell in lesson.cells:
        if cell.type == "markdown":
            for line in cell.source.split("\n\n"):
                try:
                    lessons.fill_values(line, lesson.values)
                except lessons.ValueInProseError as error:
                    yield lesson._where(cell, error.expression) + str(error)
        elif cell.kind == "predict":
            try:
                bank.load(lessons.predicted_exercise(cell.source))
            except ExerciseError as error:
                yield lesson._where(cell) + str(error)
            except (ValueError, IndexError, SyntaxError):
                pass  # load_lesson has said so


def _neighbour_problems(file, lesson):
    """Faults that show only beside the other lessons: a number or slug that is taken."""
    for other in sorted(LESSONS.glob("*.py")):
        if other.resolve() == file.resolve():
            continue
        taken = re.search(r"^#   number: *(\d+)", other.read_text(encoding="utf-8"), re.MULTILINE)
        if taken and int(taken[1]) == lesson.number:
            yield Problem(file, _header_line(file, "number"), f"number {lesson.number} is that of {other.name}; accepted: one of its own")
        if lesson.slug and lesson_slug(other) == lesson.slug:
            yield Problem(file, _header_line(file, "slug"), f"slug {lesson.slug!r} is that of {other.name}; accepted: one of its own")


def _header_line(file, name):
    lines = file.read_text(encoding="utf-8").splitlines()
    return next((at for at, line in enumerate(lines, 1) if re.match(rf"# +{name}:", line)), 1)


def _code_problems(file, cell):
    if cell.type != "code":
        return
    try:
        ast.parse(cell.source)
    except SyntaxError as error:
        yield Problem(file, cell.line + (error.lineno or 1), f"cell {cell.id}: not Python: {error.msg}")


def _run_problems(file, lesson):
    """Runs the setup, live and shown cells in a process of its own: the first that fails."""
    cells = [{"id": cell.id, "line": cell.line, "source": ('LANG = "en"\n' if cell.kind == "setup" else "") + cell.source, "shift": cell.kind == "setup"}
             for cell in lesson.cells if cell.kind in ("setup", "live", "code")]
    try:
        done = subprocess.run([sys.executable, RUNNER], input=json.dumps(cells), capture_output=True, text=True, encoding="utf-8", timeout=RUN_LIMIT_S,
                              env={"PYTHONPATH": str(paths.CONTENT), "PYTHONUTF8": "1", "MPLBACKEND": "agg", "PATH": "", "HOME": str(paths.BUILD)})
    except subprocess.TimeoutExpired:
        return [Problem(file, 0, f"its cells together ran longer than {RUN_LIMIT_S} s; accepted: less, the page stops each at 60 s")]
    last = done.stdout.strip().splitlines()[-1:] or ["null"]
    failed = json.loads(last[0]) if done.returncode == 0 else {"line": 0, "id": "?", "error": done.stderr.strip()[-300:]}
    return [Problem(file, failed["line"], f"cell {failed['id']}: {failed['error']}")] if failed else []


def _exercise_faults(exercise):
    scope, values = dict(exercise.inputs), []
    for name, expression, field in [("answer", exercise.answer, "answer"), *((one.id, one.value, f"mistake[{one.id}].value") for one in exercise.mistakes)]:
        try:
            value = exercise._number(field, expression, scope)
        except ExerciseError as error:
            yield str(error)
            continue
        if field == "answer":
            scope["answer"] = value
        values.append((name, value))
    try:
        exercise._check_apart(values)
    except ExerciseError as error:
        yield str(error).replace(".toml: ", ".toml, mistake: ", 1)
    texts = [("prompt", exercise.prompts), *((f"hint[{at}]", hint) for at, hint in enumerate(exercise.hints))]
    texts += [(f"mistake[{one.id}]", one.text) for one in exercise.mistakes]
    yield from _text_faults(exercise.id, texts, exercise.inputs)
    yield from _run_code_fault(exercise)
    yield from _variant_faults(exercise)


def _variant_faults(exercise):
    """What fails only with some of the inputs that a seed may draw."""
    for variant in exercise.variants():
        if variant.inputs == exercise.inputs:
            continue
        try:
            variant.public()
            variant.evaluate()
        except ExerciseError as error:
            drawn, problem = variant.id.removeprefix(exercise.id), str(error).partition(".toml")[2].lstrip(",: ")
            yield f"{exercise.id}.toml, draw: with {drawn.strip('[]')}, {problem}"


def _run_code_fault(exercise):
    """The code that a reader sees run, executed here as the page would."""
    scope = {}
    try:
        exec("from zeroledger import *\nprint = lambda *words, **options: None\n" + exercise.code, scope)  # noqa: S102 (the author's own file)
    except Exception as error:
        yield f"{exercise.id}.toml, run.code: {type(error).__name__}: {error}"


def _question_faults(question):
    try:
        question.answer
    except ExerciseError as error:
        yield str(error)
    texts = [("prompt", question.prompt), ("solution", question.solution), *((f"hint[{at}]", hint) for at, hint in enumerate(question.hints))]
    texts += [(f"option[{at}]", words) for at, one in enumerate(question.options) for words in (one.text, one.because) if words]
    yield from _text_faults(question.id, texts)


def _text_faults(item_id, texts, values=None):
    """What is wrong with the figures in texts by language; `values` are the names that their expressions may use."""
    for field, by_language in texts:
        for lang in i18n.LANGUAGES:
            for figure in find_typed_figures(by_language[lang]):
                yield f'{item_id}.toml, {field}.{lang}: {figure!r} is typed by hand: compute it, {{{{ … | GB }}}}, or quote it, {{{{ "{figure}" }}}}'
            try:
                lessons.fill_values(by_language[lang], values)
            except lessons.ValueInProseError as error:
                yield f"{item_id}.toml, {field}.{lang}: {error}"


def _placed(file, text, source=""):
    """The problem with its line, which the message holds or which is where its field stands in the TOML `source`."""
    match = _PLACED.match(text)
    if not match:
        return Problem(file, 0, text)
    place = (match["place"] or match["field"] or "").removeprefix(", ")
    numbered = _numbered(place, source)
    line = int(match["line"] or 0) or (source and (line_of(source, numbered) or line_of(source, f"{numbered}[0]"))) or 0
    return Problem(file, line, f"{place}: {match['text']}" if place else match["text"])


def _numbered(place, source):
    """`mistake[bf16].value` as `mistake[0].value`: entries are found by their position."""
    named = re.match(r"(\w+)\[([\w-]+)\](.*)", place)
    if not named or named[2].isdigit():
        return place
    ids = re.findall(rf'^\s*\[\[{named[1]}\]\](?:(?!^\s*\[\[).)*?^id *= *"([^"]+)"', source, re.MULTILINE | re.DOTALL)
    return f"{named[1]}[{ids.index(named[2])}]{named[3]}" if named[2] in ids else place


def _shown(file):
    """Relative to where the reader stands, if it lies below."""
    try:
        return file.resolve().relative_to(Path.cwd())
    except ValueError:
        return file
