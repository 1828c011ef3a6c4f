"""A reader who goes through a page of the course: predicts, runs, moves the controls, and notes whatever is not as it should be."""

from contextlib import contextmanager

from playwright.sync_api import Error as BrowserError
from playwright.sync_api import expect

from lessonkit import bank
from lessonkit.feedback import read
from publish.gate import tells
from publish.lessons import FOLDER_OF_LANGUAGE
from zeroledger import PRESETS, ledger

LANGUAGE_OF_FOLDER = {folder: lang for lang, folder in FOLDER_OF_LANGUAGE.items()}
RUN_TIMEOUT_MS = 90_000  # Python's start included, on a busy machine
LINES_OF_AN_ERROR = 6
MODEL_7B = 7_000_000_000
# Every run that ends in a cell of the page, by the cell's id.
RECORD_RUNS = """window.endedRuns = [];
document.addEventListener('zero-run', (event) => endedRuns.push({cell: event.target.getAttribute('cell-id'),
    output: event.target.shadowRoot.querySelector('.output').innerText, ...event.detail}));"""
ELEMENTS = ("zero-predict", "zero-cell")


class Findings:
    """What was wrong on a walk, with its place; the walk goes on after each."""

    def __init__(self):
        self.lines = []

    @contextmanager
    def at(self, place):
        """What fails inside is noted as found at `place`."""
        try:
            yield
        except (AssertionError, BrowserError) as error:
            self.lines.append(f"{place}: " + "\n    ".join(str(error).strip().splitlines()[:LINES_OF_AN_ERROR]))

    def assert_none(self):
        assert not self.lines, f"{len(self.lines)} findings:\n" + "\n".join(self.lines)


class LessonReader:
    """A reader of one lesson page, in a browser that has never seen the course."""

    def __init__(self, open_page, site, folder, slug):
        self.page = open_page(RECORD_RUNS)
        self.site, self.folder, self.lang = site, folder, LANGUAGE_OF_FOLDER[folder]
        self.address = f"{site.url}{folder}/{slug}/"
        self.found = Findings()
        self.open()

    def open(self):
        self.page.goto(self.address)
        self.page.wait_for_function("names => names.every(name => customElements.get(name))", arg=list(ELEMENTS))

    # Exercises

    @property
    def exercises(self):
        """The ids of the page's exercises, in order."""
        return self.page.locator("zero-predict").evaluate_all("all => all.map(one => one.getAttribute('exercise'))")

    def question(self, exercise):
        return self.page.locator(f"zero-predict[exercise='{exercise}']")

    def answer_is_nowhere(self, exercise):
        """Neither the question's own elements nor what the accessibility tree has of the text after it tell the answer."""
        values, question = bank.load(exercise).evaluate(), self.question(exercise)
        with self.found.at(f"{exercise}, before the prediction"):
            markup = question.evaluate("one => { const copy = one.cloneNode(true); copy.querySelector('.zl-predict-prompt').remove(); return copy.outerHTML; }")
            assert not tells(markup, values), "the answer is in the question's markup"
            shown = "\n".join(part.aria_snapshot() for part in question.locator("form > *").all())
            assert not tells(shown, values), "the answer is in the question's accessibility tree"
            for mistake in values["mistakes"]:
                assert mistake["text"][self.lang] not in markup, f"{mistake['id']} is explained already"

    def predict(self, exercise, number, confidence=None, reason=""):
        self.ask_anew(exercise)
        question = self.question(exercise)
        question.locator("[name=reason]").first.fill(reason)
        if confidence:
            question.locator(f"[name=confidence][value='{confidence}']").check(force=True)
        question.locator("[name=number]").first.fill(number)
        question.locator("[name=number]").first.press("Enter")

    def ask_anew(self, exercise):
        """Back to the empty form, also after a step that was found wrong."""
        if self.question(exercise).locator("form").first.is_hidden():
            self.forget(exercise)

    def forget(self, exercise):
        self.question(exercise).locator("[data-part=result] > .zl-link").click()
        expect(self.question(exercise).locator("form").first).to_be_visible()

    def miss_in_every_known_way(self, exercise):
        """Each known mistake is committed once; the page names that one."""
        values, question = bank.load(exercise).evaluate(), self.question(exercise)
        for mistake in values["mistakes"]:
            with self.found.at(f"{exercise}, mistake {mistake['id']}"):
                self.predict(exercise, written(mistake["value"], values["unit"]))
                expect(question.locator(".zl-verdict-line").first).to_contain_text(mistake["text"][self.lang])
                expect(question).to_have_attribute("data-verdict", "mistake")
        self.ask_anew(exercise)

    def skip(self, exercise):
        values, question = bank.load(exercise).evaluate(), self.question(exercise)
        with self.found.at(f"{exercise}, skipped"):
            self.ask_anew(exercise)
            question.locator("[data-action=skip]").click()
            expect(question).to_have_attribute("data-verdict", "skipped")
            shown = question.locator(".zl-compare :is(b, dd > span)").all_inner_texts()
            assert shown and {bank.judge_values(values, read(one, values["unit"])).verdict for one in shown} == {"right"}, f"it shows {shown}"

    def get_right(self, exercise):
        """The right number with a reason; then the code that the page runs prints it too, and a second try is judged."""
        values, question = bank.load(exercise).evaluate(), self.question(exercise)
        right = written(values["answer"], values["unit"])
        with self.found.at(f"{exercise}, right"):
            self.predict(exercise, right, confidence=3, reason="2P + 14P/N")
            expect(question).to_have_attribute("data-verdict", "right")
            expect(question).to_contain_text("2P + 14P/N")
            assert tells(question.locator(".zl-compare").inner_text(), values), "the result is not shown"
            run = self.ended_run(f"{exercise}-run")
            assert run["status"] == "ok", run["error"]
            assert tells(run["output"], values), f"its code prints {run['output']!r}, which does not tell {values['answer']}"
        with self.found.at(f"{exercise}, tried again with the same inputs"):
            again = question.locator(".zl-again")
            again.locator("summary").click()
            again.locator("[name=number]").fill(right)
            again.locator("[name=number]").press("Enter")
            expect(again.locator(".zl-verdict-line")).to_have_class("zl-verdict-line zl-right", timeout=RUN_TIMEOUT_MS)

    # Cells

    def ended_run(self, cell_id):
        """The last run of the cell, once there is one and none is under way."""
        self.page.wait_for_function("id => endedRuns.some(run => run.cell === id)", arg=cell_id, timeout=RUN_TIMEOUT_MS)
        return self.page.evaluate("id => endedRuns.filter(run => run.cell === id).at(-1)", cell_id)

    def run_every_cell(self):
        """Each live cell runs without an error and prints what the build recorded."""
        for cell_id in self.page.locator(".zl-cell > zero-cell").evaluate_all("all => all.map(one => one.getAttribute('cell-id'))"):
            with self.found.at(f"cell {cell_id}"):
                recorded = self.page.locator(f"[data-output-of='{cell_id}'] :is(.zl-stdout, .zl-stderr)").all_text_contents()
                self.page.locator(f"zero-cell[cell-id='{cell_id}'] .run").click()
                run = self.ended_run(cell_id)
                assert run["status"] == "ok", run["error"]
                printed = f"{run['output']} {run['value'] or ''}".split()
                assert printed == " ".join(recorded).split(), f"it prints {run['output']!r}, the page shows {recorded}"

    # Controls

    def move_explorers(self):
        """Every listed model, stage, unit and number of ranks, one control at a time; the table's total follows."""
        for explorer in self.page.locator("zero-explorer").all():
            with self.found.at("explorer"):
                for kind in ("stage", "unit"):
                    for choice in explorer.locator(f"[data-control={kind}] input").all():
                        choice.check(force=True)
                        check_total(explorer)
                for model in explorer.locator("select option").evaluate_all("all => all.map(one => one.value)"):
                    if model != "custom":
                        explorer.locator("select").select_option(model)
                        check_total(explorer)
                slider = explorer.get_by_role("slider")
                for key in ("Home", "End", "ArrowLeft"):
                    slider.press(key)
                    check_total(explorer)

    def move_timelines(self):
        """Every setting of the simulated step once, the player's buttons, both foldable parts."""
        for timeline in self.page.locator("zero-timeline").all():
            with self.found.at("timeline, player"):
                self.page.wait_for_function("one => Boolean(one.layouts)", arg=timeline.element_handle())
                cursor = timeline.locator("[data-control=cursor]")
                cursor.press("Home")
                before = int(cursor.input_value())
                timeline.locator("[data-action=forward]").click()
                assert int(cursor.input_value()) == before + 1
                timeline.locator("[data-action=play]").click()
                timeline.locator("[data-action=play]").click()
                timeline.locator("[data-action=peak]").click()
                for summary in timeline.locator("summary").all():
                    summary.click()
            for name, count in timeline.locator("fieldset[data-control]").evaluate_all(
                "all => all.map(one => [one.dataset.control, one.querySelectorAll('input').length])"
            ):
                for at in range(count):
                    with self.found.at(f"timeline, {name} {at}"):
                        choice = timeline.locator(f"[data-control={name}] input").nth(at)
                        if choice.count() and choice.is_enabled() and not choice.is_checked():
                            simulated(self.page, timeline, lambda: choice.check(force=True))
            for name in timeline.locator("input[type=range]:not([data-control=cursor])").evaluate_all("all => all.map(one => one.dataset.control)"):
                with self.found.at(f"timeline, slider {name}"):
                    slider = timeline.locator(f"input[data-control={name}]")
                    key = "ArrowLeft" if slider.input_value() == slider.get_attribute("max") else "ArrowRight"
                    simulated(self.page, timeline, lambda: slider.press(key))

    # Afterwards

    def predictions_are_still_there(self):
        """After a reload each exercise shows its verdict again and nothing waits for a prediction."""
        with self.found.at("after a reload"):
            self.open()
            for exercise in self.exercises:
                expect(self.question(exercise)).to_have_attribute("data-verdict", "right")
            expect(self.page.locator("[data-gate=closed]")).to_have_count(0)

    def find_in_calibration(self):
        """The page of predictions lists each of the lesson's, all right, with their confidence."""
        exercises = self.exercises
        with self.found.at("calibration"):
            self.page.goto(f"{self.site.url}{self.folder}/calibration/")
            expect(self.page.locator("tr[data-verdict]")).to_have_count(len(exercises))
            expect(self.page.locator("tr[data-verdict=right]")).to_have_count(len(exercises))
            listed = " ".join(self.page.locator("tr[data-verdict] th").all_inner_texts())
            for exercise in exercises:
                assert bank.load(exercise).prompt(self.lang) in listed, f"{exercise} is not listed"


def written(value, unit):
    """The number as one would type it, with all its digits."""
    return f"{value!r} B" if unit == "bytes" else repr(value)


def check_total(explorer):
    """The total under the explorer's table is what the package says for the settings that its controls show."""
    model = explorer.locator("select").input_value()
    num_params = MODEL_7B if model == "7b" else PRESETS[model].num_params
    stage = int(explorer.locator("[data-control=stage] input:checked").input_value())
    dp_size = 2 ** int(explorer.get_by_role("slider").input_value())
    expected = f"{ledger(num_params, dp_size, stage).model_states_bytes_per_rank:,} B"
    expect(explorer.locator("tfoot .zl-exact"), f"{model}, N = {dp_size}, stage {stage}").to_have_text(expected)


def simulated(page, timeline, change):
    """Does `change` and waits until Python has simulated the step anew, without a complaint."""
    before = int(timeline.get_attribute("data-runs") or 0)
    change()
    page.wait_for_function(
        "([one, before]) => Number(one.dataset.runs ?? 0) > before || one.querySelector('[data-part=status]').classList.contains('zl-problem')",
        arg=[timeline.element_handle(), before], timeout=RUN_TIMEOUT_MS,
    )
    expect(timeline.locator("[data-part=status]")).to_have_text("")
