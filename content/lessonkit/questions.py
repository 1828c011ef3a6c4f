"""The bank's items that are no number: choice, many-choice, ordering, and "which account is this".

One file an item, content/exercises/questions/<id>.toml:

    lesson = "stages"
    section = "derive"               # a cell of that lesson, where a reader who missed it finds it again; optional
    kind = "choice"                  # one option is right
    answer = "stage-3"               # stated: then `check` must hold
    check = "ledger(7e9, 8, 3).model_states_bytes_per_rank < ledger(7e9, 8, 2).model_states_bytes_per_rank"
    [prompt]
    en = "…"
    zh-CN = "…"
    [[option]]
    id = "stage-3"
    en = "…"
    zh-CN = "…"
    because = { en = "…", zh-CN = "…" }   # why it is right or wrong; optional
    [[hint]]                              # any number of steps
    en = "…"
    zh-CN = "…"
    [solution]
    en = "…"
    zh-CN = "…"

Instead of `answer` and `check`, each option may compute: `holds`, an expression that is true of the right options
(choice, many-choice, account); `value` (ordering: the right order is from the smallest to the largest).
Options stand in the file in the order in which a reader first sees them.
"""

from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files

from .expressions import ExpressionError, evaluate
from .i18n import LANGUAGES
from .item_files import ExerciseError, item_data, item_ids, read_item, refuse
from .toml_lines import line_of

KINDS = ("choice", "many-choice", "ordering", "account")
ONE_RIGHT = ("choice", "account")
ACCEPTED_ANSWER = {"choice": "one option's id", "account": "one option's id", "many-choice": "a list of option ids",
                   "ordering": "a list of all option ids"}


@dataclass(frozen=True)
class Option:
    """One option: its text and, where given, why it is right or wrong, both {language: text}; and what computes it."""

    id: str
    text: dict[str, str]
    because: dict[str, str]
    holds: str | None
    value: str | None


@dataclass(frozen=True)
class Question:
    """One item. `stated` is the answer as written, a tuple of option ids, or None where the options compute it."""

    id: str
    lesson: str
    kind: str
    prompt: dict[str, str]
    options: tuple[Option, ...]
    stated: tuple[str, ...] | None
    check: str | None
    hints: tuple[dict[str, str], ...]
    solution: dict[str, str]
    section: str = ""

    @cached_property
    def answer(self) -> tuple[str, ...]:
        """The ids of the right options, for `ordering` in their order. ExerciseError when the key is wrong."""
        found = self._computed() if self.stated is None else self._checked()
        if self.kind in ONE_RIGHT and len(found) != 1:
            raise self._error("option", f"{len(found)} options are right ({', '.join(found) or 'none'}); accepted: exactly one")
        if not found:
            raise self._error("option", "no option is right; accepted: at least one")
        if self.kind == "ordering" and found == tuple(option.id for option in self.options):
            raise self._error("option", "the options stand in the right order already; accepted: any other order")
        return found

    def _checked(self):
        if self._value("check", self.check) is not True:
            raise self._error("check", f"{self.check!r} does not hold, so the answer {', '.join(self.stated)} is not shown to be right")
        return self.stated

    def _computed(self):
        if self.kind != "ordering":
            return tuple(option.id for option in self.options if self._truth(option))
        values = {option.id: self._value(f"option[{option.id}].value", option.value) for option in self.options}
        if len(set(values.values())) < len(values):
            raise self._error("option", f"two options have the same value: {values}; accepted: values that differ")
        return tuple(sorted(values, key=values.get))

    def _truth(self, option):
        truth = self._value(f"option[{option.id}].holds", option.holds)
        if not isinstance(truth, bool):
            raise self._error(f"option[{option.id}].holds", f"{option.holds!r} gives {truth!r}; accepted: a comparison")
        return truth

    def _value(self, field, expression):
        try:
            return evaluate(expression, {})
        except ExpressionError as error:
            raise self._error(field, str(error)) from error

    def _error(self, field, problem):
        return ExerciseError(f"questions/{self.id}.toml, {field}: {problem}")


def ids(folder=None) -> list[str]:
    """The ids of all questions, sorted."""
    return item_ids(_folder(folder))


def load(question_id: str, folder=None) -> Question:
    """The question `question_id`; ExerciseError when there is none or when it is not well formed."""
    return parse(question_id, read_item(_folder(folder), question_id, "question"))


def parse(question_id: str, source: str, report=refuse) -> Question:
    """The question written in `source` (TOML); ExerciseError naming file, line and field when something is not right.

    With another `report` (a function of one text) every fault goes there, and what comes back may be faulty."""
    return _Reader(question_id, source, report).question(item_data(f"questions/{question_id}.toml", source))


def _folder(folder):
    return files("exercises").joinpath("questions") if folder is None else folder


class _Reader:
    """Checks the fields of one file; every complaint names file, line, field, what was found and what is accepted."""

    FIELDS = ("lesson", "section", "kind", "answer", "check", "prompt", "option", "hint", "solution")

    def __init__(self, question_id, source, report):
        self.question_id, self.source, self.report = question_id, source, report

    def question(self, data):
        self.only(data, self.FIELDS, "")
        kind = self.text(data, "kind", f"one of {', '.join(KINDS)}")
        if kind not in KINDS:
            if kind:
                self.fail("kind", f"found {kind!r}; accepted: one of {', '.join(KINDS)}")
            kind = KINDS[0]  # for a reader that goes on to the next fault
        options = self.options(data, kind)
        stated = self.stated(data, kind, [option.id for option in options])
        self.computing(options, kind, stated)
        return Question(
            id=self.question_id, lesson=self.text(data, "lesson", "the lesson's slug"), kind=kind,
            prompt=self.languages(data, "prompt"), options=options, stated=stated,
            check=None if stated is None else self.text(data, "check", "an expression that holds if the answer is right"),
            hints=tuple(self.languages({f"hint[{at}]": hint}, f"hint[{at}]") for at, hint in enumerate(data.get("hint", []))),
            solution=self.languages(data, "solution"),
            section=self.text(data, "section", "the id of a cell of the lesson") if "section" in data else "",
        )

    def fail(self, path, problem):
        line = line_of(self.source, path)
        self.report(f"questions/{self.question_id}.toml{f', line {line}' if line else ''}, {path}: {problem}")

    def only(self, table, accepted, prefix):
        for name in table:
            if name not in accepted:
                self.fail(prefix + name, f"unknown field; accepted: {', '.join(accepted)}")

    def text(self, table, name, accepted, prefix=""):
        value = table.get(name)
        if not isinstance(value, str) or not value:
            self.fail(prefix + name, f"found {value!r}; accepted: {accepted}")
            return ""
        return value

    def languages(self, table, name, others=()):
        texts = table.get(name)
        if not isinstance(texts, dict):
            self.fail(name, f"found {texts!r}; accepted: a table with {' and '.join(LANGUAGES)}")
            return dict.fromkeys(LANGUAGES, "")
        self.only(texts, (*LANGUAGES, *others), f"{name}.")
        return {lang: self.text(texts, lang, "a text in this language", f"{name}.") for lang in LANGUAGES}

    def options(self, data, kind):
        written = data.get("option")
        if not isinstance(written, list) or len(written) < 2:
            self.fail("option", "found fewer than two; accepted: two or more [[option]]")
            return ()
        options = tuple(self.option(entry, at) for at, entry in enumerate(written))
        known = [option.id for option in options]
        for at, name in enumerate(known):
            if name in known[:at]:
                self.fail(f"option[{at}].id", f"found {name!r} twice; accepted: a name of its own")
        return options

    def option(self, entry, at):
        prefix = f"option[{at}]"
        texts = self.languages({prefix: entry}, prefix, ("id", "because", "holds", "value"))
        because = self.languages({f"{prefix}.because": entry["because"]}, f"{prefix}.because") if "because" in entry else {}
        return Option(self.text(entry, "id", "a name for this option", f"{prefix}."), texts, because, entry.get("holds"), entry.get("value"))

    def stated(self, data, kind, known):
        if "answer" not in data:
            if "check" in data:
                self.fail("check", "there is no answer to check; accepted: answer and check, or neither")
            return None
        answer = data["answer"]
        listed = [answer] if kind in ONE_RIGHT else answer
        whole = isinstance(listed, list) and listed and all(name in known for name in listed) and len(set(listed)) == len(listed)
        if not whole or (kind == "ordering" and len(listed) < len(known)):
            self.fail("answer", f"found {answer!r}; accepted: {ACCEPTED_ANSWER[kind]} ({', '.join(known)})")
            return ()
        return tuple(listed)

    def computing(self, options, kind, stated):
        """Either the answer is stated or every option computes, never both."""
        field = "value" if kind == "ordering" else "holds"
        for at, option in enumerate(options):
            for name in ("holds", "value"):
                wanted = stated is None and name == field
                if wanted != isinstance(getattr(option, name), str):
                    self.fail(f"option[{at}].{name}", f"found {getattr(option, name)!r}; accepted: "
                              + ("an expression, since there is no answer" if wanted else "nothing here"))
