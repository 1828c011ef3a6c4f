"""The course, the runner and its sandbox in Chromium, Firefox and WebKit."""

import pytest
from in_page import ANSWER, GO, KEPT, MOVE_SLIDER, NARROW, PLANT_CANARIES, RUN_CELLS, WALK
from runner_page import DOCUMENT, SCRIPT, SNAPSHOTS_KEPT
from test_runner_hostile import HARD_GRACE_MS, LIMIT_MS, SLOW_MACHINE_MS
from test_runner_hostile import PROGRAMS as HOSTILE
from test_runner_sandbox import CANARY, PRELUDE, SCRIPTS
from test_runner_sandbox import PROGRAMS as ESCAPES
from test_runner_sandbox import evil, stray_hits  # noqa: F401  (a fixture)

from publish import lessons

pytestmark = pytest.mark.long
LANGUAGES = ("en", "zh")
LESSONS = [lesson.slug for lesson in lessons.load_lessons()]
RUNS_AGAIN = "import zeroledger\nprint('fine', len('abc'))\n[zeroledger.GIB, 2 + 3]"


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("slug", LESSONS)
def test_lesson(engine, site, answers, lang, slug):
    """Each prediction of the lesson skipped, missed and got right; then every live cell runs; a reload finds the predictions."""
    address = f"{site.url}{lang}/{slug}/"
    engine.open(address)
    verdicts = engine.run(WALK, answers)
    assert len(verdicts) >= 3
    assert verdicts == {name: ["skipped", *(["mistake"] if answers[name]["wrong"] else []), "right"] for name in verdicts}
    cells = engine.run(RUN_CELLS)
    assert cells and [cell for cell in cells if cell["status"] != "ok"] == []
    engine.open(address)
    assert engine.run(KEPT)["kept"] == len(verdicts)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_self_test(engine, site, answers, keep, lang):
    """Each item missed and got right; a reload finds all of them."""
    engine.open(f"{site.url}{lang}/quiz/")
    seen = engine.run(ANSWER, answers)
    assert set(seen) == set(answers)
    assert [name for name, (missed, why, solved, praise) in seen.items() if (missed, solved) != ("open", "right") or not why or not praise] == []
    keep(f"quiz-{lang}")
    engine.open(f"{site.url}{lang}/quiz/")
    assert engine.run(KEPT)["kept"] == len(answers)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_explorer_and_phone_width(engine, site, keep, lang):
    engine.open(f"{site.url}{lang}/ledger/")
    charts = engine.run(MOVE_SLIDER)
    assert charts["before"] != charts["after"]
    keep(f"ledger-{lang}")
    narrow = engine.run(NARROW)
    assert narrow["width"] <= 360 and narrow["overflow"] == 0


@pytest.fixture(scope="module")
def runner(engine, site):
    """runner(source, **options) runs Python on a bare page of the site; RunResult with out, err comes back."""
    engine.open(site.url + DOCUMENT)
    engine.run(f"await (async () => {{ {SCRIPT} }})();")
    engine.run(PLANT_CANARIES, CANARY)
    first = engine.run(GO, "1 + 1", {})
    assert first["value"] == "2", first
    engine.run("window.heard.length = 0;")
    return lambda source, **options: engine.run(GO, source, options)


@pytest.mark.parametrize("statuses, source", [program[1:] for program in HOSTILE], ids=[program[0] for program in HOSTILE])
def test_hostile_program(engine, runner, statuses, source):
    """As in Chromium; engines differ in how a C stack overflows, so an ended run is enough for those."""
    result = runner(source, limitMs=LIMIT_MS)
    # Where a worker in a C loop cannot be terminated, the guard breaks the loop (interruptible-iteration.js).
    broken = {"timeout"} if engine.name == "webkit" and "killed" in statuses else set()
    assert result["status"] in statuses | {"crashed"} | broken, result
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


def test_a_later_visit_starts_from_the_snapshot(engine, site, runner):
    """The runs above lasted long enough for the browser to keep one; WebKit does not start from it and takes the plain way."""
    engine.run(f"await ({SNAPSHOTS_KEPT})(1);")
    engine.open(site.url + DOCUMENT)
    engine.run(f"await (async () => {{ {SCRIPT} }})();")
    result = engine.run(GO, RUNS_AGAIN, {})
    assert (result["value"], engine.run("return runner.startedFrom;")) == ("[1073741824, 5]", "files" if engine.name == "webkit" else "snapshot")
