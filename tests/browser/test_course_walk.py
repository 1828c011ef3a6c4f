"""The whole course in both languages: every exercise right, skipped, and wrong in each known way; every cell; every control.

One lesson is walked at every commit, the rest and the self-test with --long. A walk notes all that is wrong, not the first only.
"""

import pytest
from course_reader import Findings, LessonReader, written
from playwright.sync_api import expect

from lessonkit import bank
from publish.lessons import FOLDER_OF_LANGUAGE, load_lessons
from publish.quiz_page import all_questions, hints_of

EVERY_COMMIT = ("same-training", "zh")
WALKS = [pytest.param(lesson.slug, folder, id=f"{lesson.slug}-{folder}", marks=() if (lesson.slug, folder) == EVERY_COMMIT else pytest.mark.long)
         for lesson in load_lessons() for folder in FOLDER_OF_LANGUAGE.values()]
MISSES_BEFORE_SOLUTION = 3


@pytest.mark.parametrize("slug, folder", WALKS)
def test_a_lesson_from_top_to_bottom(open_page, site, slug, folder):
    reader = LessonReader(open_page, site, folder, slug)
    assert len(reader.exercises) >= 3
    for exercise in reader.exercises:
        reader.answer_is_nowhere(exercise)
    for exercise in reader.exercises:
        reader.miss_in_every_known_way(exercise)
        reader.skip(exercise)
        reader.get_right(exercise)
    reader.run_every_cell()
    reader.move_explorers()
    reader.move_timelines()
    reader.predictions_are_still_there()
    reader.find_in_calibration()
    reader.found.assert_none()


class QuizReader:
    """A reader of the self-test who tries everything on each item."""

    def __init__(self, page, site, folder, lang):
        self.page, self.lang, self.found = page, lang, Findings()
        page.goto(f"{site.url}{folder}/quiz/")
        page.wait_for_function("Boolean(customElements.get('zero-question'))")

    def item(self, name):
        return self.page.locator(f"zero-question[exercise='{name}']")

    def answer(self, name, given):
        """Enters a number, chooses options, or moves the rows into the order given; then checks."""
        item = self.item(name)
        kind = item.get_attribute("kind")
        if kind == "number":
            item.locator("[name=number]").fill(given)
        elif kind == "ordering":
            for at, option in enumerate(given):
                row = item.locator(f"[data-option='{option}']")
                while row.evaluate("one => [...one.parentElement.children].indexOf(one)") > at:
                    row.locator("[data-move='-1']").press("Enter")
        else:
            for choice in item.locator("[name=option]").all():
                choice.set_checked(choice.get_attribute("value") in given) if kind == "many-choice" else None
            if kind != "many-choice":
                item.locator(f"[value='{given[0]}']").check()
        item.locator("form [type=submit]").click()

    def miss(self, name, given, says=""):
        with self.found.at(f"{name}, wrong with {given}"):
            self.answer(name, given)
            expect(self.item(name).locator("[data-part=feedback] .zl-verdict-line")).to_contain_text(says)
            expect(self.item(name)).to_have_attribute("data-verdict", "open")

    def take_all_hints(self, name, hints):
        with self.found.at(f"{name}, hints"):
            item, button = self.item(name), self.item(name).locator("[data-action=hint]")
            for count, hint in enumerate(hints, 1):
                button.click()
                expect(item.locator("[data-part=hints] p")).to_have_count(count)
                expect(item.locator("[data-part=hints] p").last).to_contain_text(hint)
            expect(button).to_be_disabled()

    def ask_for_the_solution(self, name, says):
        with self.found.at(f"{name}, solution"):
            solution = self.item(name).locator("[data-part=solution]")
            self.item(name).locator("[data-action=solution]").click()
            expect(solution).to_be_focused()
            expect(solution).to_contain_text(says)

    def solve(self, name, given):
        with self.found.at(f"{name}, right"):
            self.answer(name, given)
            expect(self.item(name)).to_have_attribute("data-verdict", "right")


@pytest.mark.long
@pytest.mark.parametrize("lang, folder", FOLDER_OF_LANGUAGE.items())
def test_the_self_test_from_top_to_bottom(page, site, lang, folder):
    reader = QuizReader(page, site, folder, lang)
    numbers = [bank.load(name) for name in bank.ids()]
    assert page.locator("zero-question").count() == len(numbers) + len(all_questions())
    for exercise in numbers:
        walk_number(reader, exercise)
    for question in all_questions():
        walk_choice(reader, question)
    with reader.found.at("progress"):
        count = len(numbers) + len(all_questions())
        expect(page.locator("[data-part=quiz-progress]")).to_contain_text(str(count))
        page.reload()
        expect(page.locator("zero-question[data-verdict=right]")).to_have_count(count)
    reader.found.assert_none()


def walk_number(reader, exercise):
    """Wrong in each known way, the hints, the solution, right."""
    values = exercise.evaluate()
    for mistake in values["mistakes"]:
        reader.miss(exercise.id, written(mistake["value"], values["unit"]), mistake["text"][reader.lang])
    own = [hint[reader.lang] for hint in hints_of(exercise)]
    reader.take_all_hints(exercise.id, own or ["", *(mistake["text"][reader.lang] for mistake in values["mistakes"][:1])])
    reader.ask_for_the_solution(exercise.id, values["code"].splitlines()[-1])
    reader.solve(exercise.id, written(values["answer"], values["unit"]))


def walk_choice(reader, question):
    """Each wrong choice once (at least three misses bring the solution), the hints, the solution, right."""
    options = [option.id for option in question.options]
    if question.kind == "ordering":
        misses = [list(reversed(question.answer))]
    elif question.kind == "many-choice":
        misses = [[option] for option in options if [option] != list(question.answer)]
    else:
        misses = [[option] for option in options if option not in question.answer]
    for given in misses:
        because = next(option.because for option in question.options if option.id == given[0]) if given[0] not in question.answer else None
        reader.miss(question.id, given, because[reader.lang] if because else "")
    if len(misses) >= MISSES_BEFORE_SOLUTION:
        with reader.found.at(f"{question.id}, solution after {len(misses)} misses"):
            expect(reader.item(question.id).locator("[data-part=solution]")).to_be_visible()
    reader.take_all_hints(question.id, [hint[reader.lang] for hint in question.hints])
    reader.ask_for_the_solution(question.id, question.solution[reader.lang])
    reader.solve(question.id, list(question.answer))
