"""Hints of the bank's numbers: steps of their own for each, in both languages, with computed figures, and none tells the answer."""

import pytest

from lessonkit import bank
from publish.errors import BuildError
from publish.gate import tells
from publish.lessons import LANGUAGES
from publish.quiz_page import hints_of, variant_data


@pytest.mark.parametrize("exercise_id", bank.ids())
def test_each_number_has_hints_that_do_not_tell_it(exercise_id):
    exercise = bank.load(exercise_id)
    cases = [(hints_of(exercise), exercise.evaluate()), *((values["hints"], values) for values in variant_data(exercise))]
    for hints, values in cases:
        assert len(hints) >= 2
        for hint in hints:
            assert set(hint) == set(LANGUAGES)
            assert not [text for text in hint.values() if tells(text, values)], values["id"]


def test_hints_belong_to_one_exercise():
    texts = [hint["en"] for exercise in map(bank.load, bank.ids()) for hint in exercise.hints]
    assert len(set(texts)) == len(texts)


def exercise_with(hint):
    source = bank.files("exercises").joinpath("zero3-70b-48.toml").read_text(encoding="utf-8")
    return bank.parse("item", source.replace("[[hint]]", f'[[hint]]\nen = "{hint}"\nzh-CN = "{hint}"\n[[hint]]', 1))


@pytest.mark.parametrize("hint, says", [("It is 14 GB.", "typed by hand"), ("{{ nothing | GB 1 }}", "nothing")])
def test_a_typed_or_failing_figure_stops_the_build(hint, says):
    with pytest.raises(BuildError, match=says):
        hints_of(exercise_with(hint))


def test_figures_follow_the_inputs_of_a_variant():
    variants = variant_data(bank.load("zero3-70b-48"))
    assert len({values["hints"][1]["en"] for values in variants}) == len(variants)
