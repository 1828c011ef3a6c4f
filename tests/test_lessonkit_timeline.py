"""The simulated step in notebooks: the picture follows every control, says its peak, and survives bad combinations."""

import pytest

import lessonkit
from lessonkit.i18n import text
from zeroledger import format_bytes
from zeroledger.simulate import simulate
from zeroledger.simulate.effect import effect
from zeroledger.simulate.settings import BREAKS


@pytest.fixture(autouse=True)
def english():
    lessonkit.use_language("en")
    yield
    lessonkit.use_language("en")


@pytest.mark.parametrize("control, value", [
    ("stage", 1), ("dp_size", 2), ("prefetch_depth", 3), ("reduce_bucket_numel", 1), ("micro_batch_size", 4), ("recompute", "full"),
    ("offload", "optimizer"), ("overlap", False), ("model", "transformer"), ("rank", 2),
])
def test_the_picture_follows_every_control(control, value):
    shown = lessonkit.timeline(num_steps=1)
    before = bytes(shown.picture.value)
    getattr(shown, control).value = value
    assert bytes(shown.picture.value) != before and bytes(shown.picture.value).startswith(b"\x89PNG")
    if control != "rank":
        assert shown.run.peak() == simulate(num_steps=1, **{control: value}).peak()
        assert shown.run.settings.num_steps == 1


@pytest.mark.parametrize("lang, words", [("en", "peak {peak}: backward of layers."), ("zh-CN", "峰值 {peak}：layers.")])
def test_the_title_names_the_peak(lang, words):
    lessonkit.use_language(lang)
    shown = lessonkit.timeline()
    peak = format_bytes(shown.run.peak(0).num_bytes, "MB")
    assert shown.chart.memory.get_title().startswith(words.format(peak=peak)) or shown.chart.lang != lang  # no CJK font: English


def test_the_areas_reach_the_peak_and_the_lanes_are_named():
    shown = lessonkit.timeline(offload="params")
    top = max(path.vertices[:, 1].max() for area in shown.chart.memory.collections for path in area.get_paths()
              if area.get_label() and not area.get_label().startswith("_"))
    assert top == pytest.approx(shown.run.peak(0).num_bytes / 1e6)
    assert [label.get_text() for label in shown.chart.lanes.get_yticklabels()] == ["host: copies and CPU Adam", "communicating", "computing"]


def test_settings_that_do_not_go_together_are_said_and_the_picture_stays():
    shown = lessonkit.timeline(offload="params")
    before = bytes(shown.picture.value)
    shown.stage.value = 1
    assert "stage = 1: expected 3 or more" in shown.problem.value and bytes(shown.picture.value) == before
    shown.offload.value = "optimizer"
    assert shown.problem.value == "" and bytes(shown.picture.value) != before


@pytest.mark.parametrize("lang, mistake", [*(("en", name) for name in BREAKS), ("zh-CN", "skip_reduce")])
def test_a_mistake_is_named_with_what_it_does(lang, mistake):
    lessonkit.use_language(lang)
    shown = lessonkit.timeline()
    assert shown.effect.value == ""
    shown.breaks.value = (mistake,)
    expected = effect(simulate(breaks=mistake))
    said = {"en": "No: {}.", "zh-CN": "不是：{}。"}[lang].format(text(f"page.timeline.breaks.{mistake}"))
    assert said in shown.effect.value and f"{expected['losses'][-1]:.3f}" in shown.effect.value
    assert shown.effect.value.count("<polyline") == 2
    shown.breaks.value = ()
    assert shown.effect.value == ""


def test_two_mistakes_from_the_start():
    shown = lessonkit.timeline(breaks=("skip_reduce", "extra_adam_step"))
    assert shown.run.settings.breaks == ("skip_reduce", "extra_adam_step") and "none of the mistakes we know" in shown.effect.value


def outlines(chart):
    """Label and corners of every area and bar that is seen."""
    artists = [artist for artist in (*chart.areas.values(), *chart.work.values()) if artist.get_visible()]
    return {artist.get_label(): [path.vertices.tolist() for path in artist.get_paths()] for artist in artists}


def test_a_control_moves_the_same_artists():
    """Redrawing reuses what is there: only the legend's contents may be new, when other things are shown."""
    shown = lessonkit.timeline()
    chart = shown.chart
    before = [id(artist) for axes in chart.figure.axes for artist in axes.get_children()]
    legend = chart.figure.legends[0]
    shown.prefetch_depth.value = 3
    assert [id(artist) for axes in chart.figure.axes for artist in axes.get_children()] == before and chart.figure.legends == [legend]
    shown.offload.value = "params"
    assert "host: copies and CPU Adam" in [label.get_text() for label in chart.lanes.get_yticklabels()] and chart.figure.legends != [legend]
    shown.offload.value, shown.prefetch_depth.value = "none", 1
    assert outlines(chart) == outlines(lessonkit.timeline().chart)  # nothing of the runs before is left over


def test_fewer_ranks_leave_a_rank_to_show():
    shown = lessonkit.timeline(dp_size=4)
    shown.rank.value = 3
    shown.dp_size.value = 2
    assert shown.rank.value in (0, 1) and len(shown.rank.options) == 2


def test_out_of_memory_is_drawn_and_told():
    shown = lessonkit.timeline(dp_size=2, device_bytes="60 MB")
    assert "Out of memory" in shown.plain_text() and bytes(shown.picture.value).startswith(b"\x89PNG")


def test_where_widgets_cannot_be_shown_there_is_a_sentence():
    bundle = lessonkit.timeline()._repr_mimebundle_()
    assert "loss 2.8" in bundle["text/plain"] and "peak 37.1 MB" in bundle["text/html"]


def test_a_bad_start_is_refused():
    with pytest.raises(ValueError, match="stage = 7"):
        lessonkit.timeline(stage=7)
