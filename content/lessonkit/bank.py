"""The exercise bank: loads an item, computes its answer and the known wrong answers, judges a prediction.

Standard library and zeroledger only, so that the build, the notebooks and the tests share it.
What `Exercise.evaluate()` returns is plain data; `judge` reads nothing else, so a page can do the same with it.
"""

import ast
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from itertools import product
from math import isfinite
from string import Formatter

from zeroledger import format_count

from .computed_text import ValueInProseError, fill_values
from .expressions import ExpressionError, evaluate
from .i18n import LANGUAGES
from .item_files import ExerciseError, item_data, item_ids, read_item, refuse
from .toml_lines import line_of

UNITS = ("bytes", "count")
NEAR_RELATIVE_ERROR = 0.10  # up to here a wrong prediction is still called near
COUNTED_FROM = 10_000  # inputs from here on are shown as 7B, smaller ones digit by digit


@dataclass(frozen=True)
class Mistake:
    """A known wrong derivation: the expression that gives its value, and its explanation {language: text}."""

    id: str
    value: str
    text: dict[str, str]


@dataclass(frozen=True)
class Exercise:
    """One item of the bank. `answer` is an expression; `tolerance` is relative; `code` is what the reader sees run.

    `draw` holds, for inputs that may vary by seed, the values they may take. `hints` go from the first step on. Figures in
    prompts, hints and mistakes are expressions over the inputs, {{ num_params | short }} (computed_text.py), so that they
    follow what is drawn; a prompt also takes an input by its name, {num_params}."""

    id: str
    lesson: str
    kind: str
    inputs: dict
    answer: str
    unit: str
    tolerance: float
    prompts: dict[str, str]
    code: str
    mistakes: tuple[Mistake, ...]
    draw: dict[str, list] = field(default_factory=dict)
    hints: tuple[dict[str, str], ...] = ()

    def variants(self) -> list["Exercise"]:
        """The exercise once for each combination of the values in `draw`; empty where nothing is drawn.

        Their code assigns the inputs and prints the answer; their ids name the inputs."""
        return [self._variant(dict(zip(self.draw, values))) for values in product(*self.draw.values())] if self.draw else []

    def _variant(self, drawn):
        inputs = self.inputs | drawn
        code = "".join(f"{name} = {value!r}\n" for name, value in inputs.items()) + f"print({self.answer})"
        name = ", ".join(f"{name}={value}" for name, value in drawn.items())
        return replace(self, id=f"{self.id}[{name}]", inputs=inputs, code=code, draw={})

    def prompt(self, lang: str) -> str:
        """The question in `lang`, with its figures computed and the inputs filled in: counts as 7B, small integers as they are.

        ExerciseError when a figure has no value."""
        computed = self._filled(f"prompt.{lang}", self.prompts[lang])
        return computed.format(**{name: _shown(value) for name, value in self.inputs.items()})

    def mistake_text(self, mistake: Mistake) -> dict[str, str]:
        """The explanation of `mistake` {language: text}, its figures computed. ExerciseError when one has no value."""
        return {lang: self._filled(f"mistake[{mistake.id}].{lang}", words) for lang, words in mistake.text.items()}

    def public(self) -> dict:
        """What a page may hold before the prediction: everything but answer, mistakes and code."""
        return {"id": self.id, "lesson": self.lesson, "kind": self.kind, "unit": self.unit,
                "prompt": {lang: self.prompt(lang) for lang in LANGUAGES}}

    def evaluate(self) -> dict:
        """{"id", "answer", "unit", "tolerance", "near", "code", "mistakes": [{"id", "value", "text"}, …]}, all plain data.

        ExerciseError when a value is no finite positive number, or when two lie so close that one
        prediction could be taken for either."""
        return self._evaluated

    @cached_property
    def _evaluated(self):
        answer = self._number("answer", self.answer, self.inputs)
        scope = self.inputs | {"answer": answer}
        mistakes = [{"id": mistake.id, "value": self._number(f"mistake[{mistake.id}].value", mistake.value, scope),
                     "text": self.mistake_text(mistake)} for mistake in self.mistakes]
        self._check_apart([("answer", answer), *((mistake["id"], mistake["value"]) for mistake in mistakes)])
        return {"id": self.id, "answer": answer, "unit": self.unit, "tolerance": self.tolerance,
                "near": max(NEAR_RELATIVE_ERROR, self.tolerance), "code": self.code, "mistakes": mistakes}

    def _filled(self, field, words):
        try:
            return fill_values(words, self.inputs)
        except ValueInProseError as error:
            raise ExerciseError(f"{self.id}.toml, {field}: {error}") from error

    def _number(self, field, expression, scope):
        try:
            value = evaluate(expression, scope)
        except ExpressionError as error:
            raise ExerciseError(f"{self.id}.toml, {field}: {error}") from error
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value) or value <= 0:
            raise ExerciseError(f"{self.id}.toml, {field}: {expression!r} gives {value!r}; accepted: a finite number above 0")
        return value

    def _check_apart(self, values):
        for at, (name, value) in enumerate(values):
            for other_name, other in values[at + 1:]:
                if abs(value - other) <= self.tolerance * (value + other):
                    raise ExerciseError(f"{self.id}.toml: {name} ({value:,}) and {other_name} ({other:,}) coincide "
                                        f"within the tolerance of {self.tolerance:.2%}; change the inputs or drop one")


@dataclass(frozen=True)
class Feedback:
    """How a prediction compares: `verdict` is "right", "mistake", "near" or "wrong"; `relative_error` is signed.

    `mistake_id` and `mistake_text` {language: text} are None unless the verdict is "mistake"."""

    verdict: str
    prediction: float
    answer: float
    relative_error: float
    mistake_id: str | None = None
    mistake_text: dict[str, str] | None = None


def judge(exercise: Exercise, prediction: float) -> Feedback:
    """Compares `prediction` (in the exercise's unit: bytes or a count) with the answer and the known mistakes."""
    return judge_values(exercise.evaluate(), prediction)


def judge_values(values: dict, prediction: float) -> Feedback:
    """The same from the data that Exercise.evaluate() returned. content/web/src/page/predict.js does this lookup too;
    tests/data/judge_cases.json holds both to it."""
    answer, tolerance = values["answer"], values["tolerance"]
    error = (prediction - answer) / answer
    if abs(error) <= tolerance:
        return Feedback("right", prediction, answer, error)
    for mistake in values["mistakes"]:
        if abs(prediction - mistake["value"]) <= tolerance * mistake["value"]:
            return Feedback("mistake", prediction, answer, error, mistake["id"], mistake["text"])
    return Feedback("near" if abs(error) <= values["near"] else "wrong", prediction, answer, error)


def ids(folder=None) -> list[str]:
    """The ids of all items, sorted; `folder` defaults to the bank (in the clone or in the installed wheel)."""
    return item_ids(_bank(folder))


def load(exercise_id: str, folder=None) -> Exercise:
    """The item `exercise_id`; ExerciseError when there is none or when it is not well formed."""
    return parse(exercise_id, read_item(_bank(folder), exercise_id, "exercise"))


def parse(exercise_id: str, source: str, report=refuse) -> Exercise:
    """The item written in `source` (TOML); ExerciseError naming file, line and field when something is not right.

    With another `report` (a function of one text) every fault goes there, and what comes back may be faulty."""
    return _Reader(exercise_id, source, report).exercise(item_data(f"{exercise_id}.toml", source))


def _bank(folder):
    return files("exercises") if folder is None else folder


def _shown(value):
    return format_count(value) if isinstance(value, int) and value >= COUNTED_FROM else str(value)


class _Reader:
    """Checks the fields of one file; every complaint names file, line, field, what was found and what is accepted."""

    FIELDS = ("lesson", "kind", "inputs", "answer", "unit", "tolerance", "prompt", "run", "hint", "mistake", "draw")

    def __init__(self, exercise_id, source, report):
        self.exercise_id, self.source, self.report = exercise_id, source, report

    def exercise(self, data):
        self.only(data, self.FIELDS, "")
        inputs = self.field(data, "inputs", dict, "a table of numbers or strings")
        mistakes = self.field(data, "mistake", list, "one or more [[mistake]]", default=[])
        return Exercise(
            id=self.exercise_id,
            lesson=self.field(data, "lesson", str, "the lesson's slug"),
            kind=self.one_of(data, "kind", ("number",)),
            inputs=inputs,
            answer=self.field(data, "answer", str, "an expression over zeroledger's public names and the inputs"),
            unit=self.one_of(data, "unit", UNITS),
            tolerance=self.tolerance(data),
            prompts=self.prompts(data, inputs),
            code=self.code(data),
            mistakes=tuple(self.mistake(entry, at) for at, entry in enumerate(self.distinct(mistakes))),
            draw=self.draw(data, inputs),
            hints=tuple(self.hint(entry, at) for at, entry in enumerate(self.field(data, "hint", list, "[[hint]], any number", default=[]))),
        )

    def fail(self, path, problem):
        line = line_of(self.source, path)
        self.report(f"{self.exercise_id}.toml{f', line {line}' if line else ''}, {path}: {problem}")

    def only(self, table, accepted, prefix):
        for name in table:
            if name not in accepted:
                self.fail(prefix + name, f"unknown field; accepted: {', '.join(accepted)}")

    def field(self, table, name, kind, accepted, prefix="", default=None):
        value = table.get(name, default)
        if value is None:
            self.fail(prefix + name, f"missing; accepted: {accepted}")
        elif not isinstance(value, kind) or isinstance(value, bool) or value == "":
            self.fail(prefix + name, f"found {value!r}; accepted: {accepted}")
        else:
            return value
        return kind() if isinstance(kind, type) else kind[0]()  # for a reader that goes on to the next fault

    def one_of(self, table, name, choices):
        value = self.field(table, name, str, f"one of {', '.join(choices)}")
        if value and value not in choices:
            self.fail(name, f"found {value!r}; accepted: one of {', '.join(choices)}")
        return value

    def tolerance(self, data):
        value = self.field(data, "tolerance", (int, float), "a relative error above 0 and below 0.5, e.g. 0.02")
        if not 0 < value < 0.5 and "tolerance" in data:
            self.fail("tolerance", f"found {value!r}; accepted: a relative error above 0 and below 0.5, e.g. 0.02")
        return float(value)

    def draw(self, data, inputs):
        draw = self.field(data, "draw", dict, "a table of inputs, each with a list of values", default={})
        for name, values in draw.items():
            if name not in inputs:
                self.fail(f"draw.{name}", f"is no input; accepted: {', '.join(inputs)}")
                continue
            kinds = isinstance(values, list) and {type(value) for value in values} == {type(inputs[name])}
            if not kinds or len(values) < 2 or len(set(values)) < len(values):
                self.fail(f"draw.{name}", f"found {values!r}; accepted: two or more different values like {inputs[name]!r}")
        return draw

    def both_languages(self, table, prefix):
        return {lang: self.field(table, lang, str, "a text in this language", prefix) for lang in LANGUAGES}

    def prompts(self, data, inputs):
        table = self.field(data, "prompt", dict, f"a table with {' and '.join(LANGUAGES)}")
        self.only(table, LANGUAGES, "prompt.")
        prompts = self.both_languages(table, "prompt.")
        for lang, wording in prompts.items():
            for _, name, _, _ in Formatter().parse(wording):
                if name is not None and name not in inputs:
                    self.fail(f"prompt.{lang}", f"{{{name}}} is no input; accepted: {', '.join(inputs)}")
        return prompts

    def code(self, data):
        table = self.field(data, "run", dict, "a table with code")
        self.only(table, ("code",), "run.")
        code = self.field(table, "code", str, "Python", "run.")
        try:
            ast.parse(code)
        except SyntaxError as error:
            self.fail("run.code", f"not Python: {error.msg}")
        return code

    def distinct(self, mistakes):
        seen = set()
        for at, entry in enumerate(mistakes):
            name = self.field(entry, "id", str, "a name for this mistake", f"mistake[{at}].")
            if name in seen or name == "answer":
                self.fail(f"mistake[{at}].id", f"found {name!r} twice; accepted: a name of its own")
            seen.add(name)
        return mistakes

    def hint(self, entry, at):
        self.only(entry, LANGUAGES, f"hint[{at}].")
        return self.both_languages(entry, f"hint[{at}].")

    def mistake(self, entry, at):
        prefix = f"mistake[{at}]."
        self.only(entry, ("id", "value", *LANGUAGES), prefix)
        value = self.field(entry, "value", str, "an expression; it may also use `answer`", prefix)
        return Mistake(entry.get("id", ""), value, self.both_languages(entry, prefix))
