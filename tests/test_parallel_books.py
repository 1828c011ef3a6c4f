"""Lesson 6's chart: its amounts are those of the package, pages and notebooks show the same, and the gate knows all of them."""

import pytest

import lessonkit
from lessonkit import bank
from lessonkit import parallel_books as books
from publish.gate import tells
from publish.parallel_grid import parallel_figures, parallel_grid


def test_the_books_of_the_lessons_own_questions():
    assert sum(size for _, size in books.state_rows("llama-2-70b", 8, 1)) == bank.load("tp-states-70b").evaluate()["answer"]
    assert books.activation_bytes("llama-2-70b", 8, False, "none") == bank.load("tp-activations-70b").evaluate()["answer"]


def test_without_tp_there_is_nothing_for_sequence_parallelism_to_divide():
    for mode in books.RECOMPUTE:
        assert books.activation_bytes("llama-2-70b", 1, True, mode) == books.activation_bytes("llama-2-70b", 1, False, mode)


@pytest.mark.parametrize("tp, sp, mode", [(0, 0, 0), (3, 1, 2), (4, 1, 0)])
def test_the_pages_grid_is_indexed_as_the_page_reads_it(tp, sp, mode):
    kept = parallel_grid()["activations"][1][tp][sp][mode]
    assert kept == books.activation_bytes("llama-2-70b", books.TP_SIZES[tp], bool(sp), books.RECOMPUTE[mode])


@pytest.mark.parametrize("exercise", ["tp-states-70b", "tp-activations-70b"])
def test_the_gate_sees_what_the_controls_can_bring_up(exercise):
    assert tells(parallel_figures("llama-2-70b"), bank.load(exercise).evaluate())
    assert not tells(parallel_figures("llama-2-7b"), bank.load(exercise).evaluate())


def test_the_notebooks_chart_follows_its_controls():
    chart = lessonkit.parallel(stage=0)
    pictures = {bytes(chart.picture.value)}
    for control, value in (("stage", 3), ("tp_size", 1), ("sequence_parallel", True), ("recompute", "full"), ("model", "llama-2-7b")):
        getattr(chart, control).value = value
        pictures.add(bytes(chart.picture.value))
    assert len(pictures) == 6 and "GB" in chart.plain_text() and chart.table.value == chart.html()
    with pytest.raises(TypeError, match="tp_sizes"):
        lessonkit.parallel(tp_sizes=3)
