"""The course, the runner and its sandbox in Chromium, Firefox and WebKit; also with storage or service workers withheld."""

import pytest
from in_page import COMMIT, GO, MOVE_SLIDER, NARROW, PLANT_CANARIES, RUN_CELLS
from runner_page import DOCUMENT, SCRIPT, SNAPSHOTS_KEPT
from test_runner_hostile import HARD_GRACE_MS, LIMIT_MS, SLOW_MACHINE_MS
from test_runner_hostile import PROGRAMS as HOSTILE
from test_runner_sandbox import CANARY, PRELUDE, SCRIPTS
from test_runner_sandbox import PROGRAMS as ESCAPES
from test_runner_sandbox import evil, stray_hits  # noqa: F401  (a fixture)

from lessonkit import bank
from publish import lessons

pytestmark = pytest.mark.long
LANGUAGES = ("en", "zh")
LESSONS = [lesson.slug for lesson in lessons.load_lessons()]
RUNS_AGAIN = "import zeroledger\nprint('fine', len('abc'))\n[zeroledger.GIB, 2 + 3]"


@pytest.fixture(scope="module")
def answers():
    """What to type for each exercise, with its unit."""
    values = {name: bank.load(name).evaluate() for name in bank.ids()}
    return {name: f"{value['answer']} B" if value["unit"] == "bytes" else str(value["answer"]) for name, value in values.items()}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("slug", LESSONS)
def test_lesson(engine, served, answers, lang, slug):
    """Each prediction of the lesson committed right; then every live cell runs."""
    engine.open(f"{served()}{lang}/{slug}/")
    verdicts = engine.run(COMMIT, answers)
    assert len(verdicts) >= 3 and set(verdicts.values()) == {"right"}, verdicts
    cells = engine.run(RUN_CELLS)
    assert cells and [cell for cell in cells if cell["status"] != "ok"] == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_explorer_and_phone_width(engine, served, keep, lang):
    engine.open(f"{served()}{lang}/ledger/")
    charts = engine.run(MOVE_SLIDER)
    assert charts["before"] != charts["after"]
    keep(f"ledger-{lang}")
    narrow = engine.run(NARROW)
    assert narrow["width"] <= 360 and narrow["overflow"] == 0


@pytest.mark.parametrize("withheld", ["storage", "service worker"])
def test_lesson_with_something_withheld(engine, served, answers, withheld):
    engine.open(f"{served(withheld)}en/ledger/")
    assert set(engine.run(COMMIT, answers).values()) == {"right"}
    cells = engine.run(RUN_CELLS)
    assert cells and {cell["status"] for cell in cells} == {"ok"}


@pytest.fixture(scope="module")
def runner(engine, served):
    """runner(source, **options) runs Python on a bare page of the site; RunResult with out, err comes back."""
    engine.open(served() + DOCUMENT)
    engine.run(f"await (async () => {{ {SCRIPT} }})();")
    engine.run(PLANT_CANARIES, CANARY)
    first = engine.run(GO, "1 + 1", {})
    assert first["value"] == "2", first
    engine.run("window.heard.length = 0;")
    return lambda source, **options: engine.run(GO, source, options)


@pytest.mark.parametrize("statuses, source", [program[1:] for program in HOSTILE], ids=[program[0] for program in HOSTILE])
def test_hostile_program(runner, statuses, source):
    """As in Chromium; engines differ in how a C stack overflows, so an ended run is enough for those."""
    result = runner(source, limitMs=LIMIT_MS)
    assert result["status"] in statuses | {"crashed"}, result
    assert result["elapsedMs"] < LIMIT_MS + HARD_GRACE_MS + SLOW_MACHINE_MS, result
    after = runner(RUNS_AGAIN)
    assert (after["status"], after["out"], after["value"]) == ("ok", "fine 3\n", "[1073741824, 5]"), after


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_no_script_runs(engine, runner, evil, script):  # noqa: F811
    code = script.format(evil=f"http://127.0.0.1:{evil.server_port}")
    assert_contained(engine, evil, runner(f"{PRELUDE}\nattempt({code!r})", limitMs=20_000))


@pytest.mark.parametrize("program", ESCAPES.values(), ids=ESCAPES.keys())
def test_program_is_contained(engine, runner, evil, program):  # noqa: F811
    source = program.format(evil=f"http://127.0.0.1:{evil.server_port}", port=evil.server_port)
    assert_contained(engine, evil, runner(source, limitMs=10_000))


def test_the_second_origin_can_be_reached_by_the_page_itself(engine, runner, evil):  # noqa: F811
    """Otherwise an empty record of hits would prove nothing."""
    engine.run("await fetch(args[0], { mode: 'no-cors' });", f"http://127.0.0.1:{evil.server_port}/control")
    assert "/control" in evil.hits


def assert_contained(engine, evil, result):  # noqa: F811
    assert [line for line in result["out"].splitlines() if line.startswith("ESCAPED")] == []
    assert CANARY not in f"{result['out']}{result['err']}{result['value']}{result['error']}"
    assert engine.run("return heard;") == []
    assert stray_hits(evil) == []


def test_a_later_visit_starts_from_the_snapshot(engine, served, runner):
    """The runs above lasted long enough for the browser to keep one; WebKit does not start from it and takes the plain way."""
    engine.run(f"await ({SNAPSHOTS_KEPT})(1);")
    engine.open(served() + DOCUMENT)
    engine.run(f"await (async () => {{ {SCRIPT} }})();")
    result = engine.run(GO, RUNS_AGAIN, {})
    assert (result["value"], engine.run("return runner.startedFrom;")) == ("[1073741824, 5]", "files" if engine.name == "webkit" else "snapshot")
