"""`./build.sh new …` and `./build.sh check`: what an author of lessons and exercises types."""

import re
from datetime import date
from pathlib import Path

from . import paths
from .errors import BuildError

TEMPLATES = paths.PUBLISH / "templates" / "author"
LESSONS = paths.CONTENT / "lessons"
EXERCISES = paths.CONTENT / "exercises"
KINDS = ("lesson", "exercise", "question")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def new_source(kind: str, name: str, lessons: Path = LESSONS, exercises: Path = EXERCISES) -> Path:
    """Writes a valid starting file, a lesson's slug or an item's id being `name`, and returns its path.

    BuildError for another kind, a name that cannot stand in an address, or a file that exists."""
    if kind not in KINDS:
        raise BuildError(f"new {kind!r}", f"write ./build.sh new followed by one of {', '.join(KINDS)} and a name")
    if not _NAME.fullmatch(name) or len(name) > 64:
        raise BuildError(f"the name is {name!r}", "use lower-case words with hyphens, e.g. long-context")
    sources = sorted(lessons.glob("*.py"))
    number = 1 + max((int(path.name[:2]) for path in sources if path.name[:2].isdigit()), default=0)
    if kind == "lesson":
        target = lessons / f"{number:02d}_{name.replace('-', '_')}.py"
        taken = [path for path in sources if path.stem[3:] == target.stem[3:]]
    else:
        target = exercises / f"{name}.toml" if kind == "exercise" else exercises / "questions" / f"{name}.toml"
        taken = [target] if target.exists() else []
    if taken:
        raise BuildError(f"{taken[0]} is there already", "choose another name")
    template = TEMPLATES / ("lesson.py.txt" if kind == "lesson" else f"{kind}.toml")
    values = {"SLUG": name, "ID": name, "NUMBER": str(number), "TODAY": date.today().isoformat(),
              "TITLE": name.replace("-", " ").capitalize(), "LESSON": _first_slug(sources)}
    text = re.sub(r"@([A-Z]+)@", lambda match: values[match[1]], template.read_text(encoding="utf-8"))
    target.write_text(text, encoding="utf-8")
    return target


def _first_slug(sources):
    found = sources and re.search(r"^#   slug: *(\S+)", sources[0].read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else "ledger"


def report(files) -> bool:
    """Prints every problem of the files (of all sources when none is named); true when there is none. BuildError for a file that is not there."""
    from .check import check_files  # here: it loads jupytext

    seen, problems = check_files(files)
    for problem in problems:
        print(problem)
    print(f"{len(seen)} {'file' if len(seen) == 1 else 'files'} checked, {len(problems)} {'problem' if len(problems) == 1 else 'problems'}")
    return not problems
