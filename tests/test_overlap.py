"""The two-stream step against hand-played schedules, its bounds, and the closed-form balance of computing and sending."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeroledger import PRESETS, TransformerShape
from zeroledger.collectives import INTERCONNECTS, Interconnect
from zeroledger.communication import zero_paper
from zeroledger.compute import ACCELERATORS, Accelerator, compute_s, step_flops
from zeroledger.errors import InvalidInput
from zeroledger.overlap import LayerCost, play_step
from zeroledger.step_time import (DataParallel, balance_tokens, communication_threshold, layer_costs, step_gather_s)

SECONDS = st.integers(0, 20)
LAYERS = st.lists(st.builds(LayerCost, st.just("layer"), SECONDS, SECONDS, SECONDS, SECONDS, SECONDS), min_size=1,
                  max_size=6)
SMALL = TransformerShape(64, 4, 4, 100)


def layers(count, *seconds):
    """``count`` equal layers."""
    return [LayerCost(f"layer {number}", *seconds) for number in range(count)]


def test_without_prefetch_every_gather_shows():
    timeline = play_step(layers(2, 3, 6, 2, 2, 0), prefetch_depth=0)
    assert timeline.total_s == 2 + 3 + 2 + 3 + 2 + 6 + 2 + 6 and timeline.exposed_s == 8
    bars = [(event.kind, event.layer, event.start_s, event.end_s) for event in timeline.events[:4]]
    assert bars == [("gather", "layer 0", 0, 2), ("forward", "layer 0", 2, 5), ("gather", "layer 1", 5, 7),
                    ("forward", "layer 1", 7, 10)]


def test_one_layer_ahead_hides_all_but_the_first_gather():
    timeline = play_step(layers(2, 3, 6, 2, 2, 0), prefetch_depth=1)
    assert timeline.exposed_s == 2 and timeline.exposed_by_layer() == {"layer 0": 2, "layer 1": 0, "end of step": 0}


def test_reductions_hide_behind_backward_but_for_the_last():
    timeline = play_step(layers(3, 1, 2, 0, 0, 2))
    assert timeline.exposed_s == 2 and timeline.exposed_by_layer()["end of step"] == 2
    slow = play_step(layers(3, 1, 2, 0, 0, 5))
    assert slow.total_s == 3 + 2 + 3 * 5


def test_gather_and_reduction_share_the_wire():
    """Backward of two layers, played by hand: G1 0-2, (B1 2-4, G0 2-4), (R1 4-7, B0 4-6), R0 7-10."""
    timeline = play_step([LayerCost("0", 0, 2, 0, 2, 3), LayerCost("1", 0, 2, 0, 2, 3)])
    assert [(event.kind, event.layer, event.start_s) for event in timeline.events if event.end_s > event.start_s] == [
        ("gather", "1", 0), ("gather", "0", 2), ("backward", "1", 2), ("reduce", "1", 4), ("backward", "0", 4),
        ("reduce", "0", 7)]
    assert timeline.total_s == 10


@given(layers=LAYERS, depth=st.integers(0, 8), steps=st.integers(1, 3), every=st.booleans(), tail=SECONDS)
def test_bounds(layers, depth, steps, every, tail):
    timeline = play_step(layers, depth, steps, every, tail)
    compute = steps * sum(layer.forward_s + layer.backward_s for layer in layers)
    sent = steps * sum(layer.gather_forward_s + layer.gather_backward_s for layer in layers) + tail
    sent += (steps if every else 1) * sum(layer.reduce_s for layer in layers)
    assert timeline.compute_s == compute and timeline.communication_s == sent
    assert max(compute, sent) <= timeline.total_s <= compute + sent
    assert sum(timeline.exposed_by_layer().values()) == timeline.exposed_s == timeline.total_s - compute
    assert play_step(layers, depth + 1, steps, every, tail).total_s <= timeline.total_s  # prefetching never hurts
    for stream in ("compute", "communication"):  # a stream does one thing at a time
        events = [event for event in timeline.events if event.stream == stream]
        assert all(first.end_s <= second.start_s for first, second in zip(events, events[1:]))


@given(layers=LAYERS, depth=st.integers(0, 3), steps=st.integers(1, 3))
def test_nothing_computes_before_its_weights_are_there(layers, depth, steps):
    layers = [LayerCost(str(number), *[getattr(layer, field) for field in list(vars(layer))[1:]])
              for number, layer in enumerate(layers)]
    there = {}
    for event in play_step(layers, depth, steps).events:
        key = (event.layer, event.micro_batch)
        if event.kind == "gather":
            there.setdefault(key, []).append(event.end_s)
        elif event.kind == "forward" and layers[int(event.layer)].gather_forward_s:
            assert there[key][0] <= event.start_s
        elif event.kind == "backward" and layers[int(event.layer)].gather_backward_s:
            assert there[key][-1] <= event.start_s


@pytest.mark.parametrize("stage", [0, 1, 2, 3])
def test_layer_costs_add_up_to_the_step(stage):
    model, link = PRESETS["llama-2-7b"].model, INTERCONNECTS["infiniband-hdr"]
    parallel = DataParallel(64, stage, link)
    costs = layer_costs(model, 2, 1024, parallel, "a100", recompute="full")
    timeline = play_step(costs, 1, step_gather_s=step_gather_s(model, parallel))
    flops = step_flops(model, 2, 1024, "full")
    assert timeline.compute_s == pytest.approx(compute_s(flops.hardware_flops, "a100"))
    paper = zero_paper(model.num_params, 64, stage)
    assert timeline.communication_s == pytest.approx(paper.lower_bound_s(link))


def test_balance_needs_no_model():
    assert balance_tokens(10**6, "nvlink-a100", "a100") == pytest.approx(1040, rel=1e-5)
    assert balance_tokens(1, "nvlink-a100", "a100") == 0
    half = Accelerator("half", ACCELERATORS["a100"].peak_flops / 2, "made up")
    assert balance_tokens(8, "pcie4-x16", half) == pytest.approx(balance_tokens(8, "pcie4-x16", "a100", efficiency=0.5))


def test_balance_agrees_with_the_model_when_attention_is_small():
    wide = TransformerShape(65536, 8, 512, 1000)
    parallel = DataParallel(64, 3, "infiniband-ndr")
    exact = communication_threshold(wide, 512, parallel, "h100").tokens
    assert balance_tokens(64, "infiniband-ndr", "h100") == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize("stage, dp_size, link", [(0, 8, "pcie4-x16"), (3, 8, "pcie4-x16"), (3, 64, "infiniband-hdr"),
                                                  (2, 16, "ethernet-25g"), (3, 2, "nvlink-h100")])
def test_threshold_is_where_the_per_layer_model_turns(stage, dp_size, link):
    model = PRESETS["llama-2-7b"].model
    parallel = DataParallel(dp_size, stage, link)
    threshold = communication_threshold(model, 512, parallel, "a100")
    tail = step_gather_s(model, parallel)

    def play(micro_batch_size):
        return play_step(layer_costs(model, micro_batch_size, 512, parallel, "a100"), 1, step_gather_s=tail)

    at = play(threshold.micro_batch_size)
    assert at.compute_s >= at.communication_s
    if threshold.micro_batch_size > 1:
        below = play(threshold.micro_batch_size - 1)
        assert below.compute_s < below.communication_s <= below.total_s  # however it overlaps, it waits for the wire
    if threshold.hidden_from is not None:
        hidden = play(threshold.hidden_from)
        costs = layer_costs(model, threshold.hidden_from, 512, parallel, "a100")
        ends = max(cost.gather_forward_s + cost.gather_backward_s + cost.reduce_s for cost in costs)
        assert hidden.exposed_s <= 3 * ends  # only the ends of the passes show
        assert hidden.exposed_s < 0.1 * hidden.total_s


def test_threshold_is_one_without_communication():
    threshold = communication_threshold(SMALL, 16, DataParallel(1, 3, "pcie3-x16"), "v100")
    assert threshold.micro_batch_size == threshold.hidden_from == 1 and threshold.communication_s == 0
    assert communication_threshold(SMALL, 16, DataParallel(2, 1, "pcie3-x16"), "v100").hidden_from is None


def test_latency_counts_once_a_message():
    slow = Interconnect("slow", 1e30, "made up", latency_s=1.0)
    costs = layer_costs(SMALL, 1, 16, DataParallel(2, 3, slow), "a100")
    assert play_step(costs).communication_s == pytest.approx(3 * 6)


@pytest.mark.parametrize("call, field", [
    (lambda: LayerCost("x", -1, 0), "forward_s of x"),
    (lambda: LayerCost("x", 0, float("nan")), "backward_s of x"),
    (lambda: play_step([]), "layers"),
    (lambda: play_step([1]), "layers"),
    (lambda: play_step(layers(1, 1, 1), -1), "prefetch_depth"),
    (lambda: play_step(layers(1, 1, 1), 1, 0), "gradient_accumulation_steps"),
    (lambda: play_step(layers(1, 1, 1), reduce_every_micro_batch=2), "reduce_every_micro_batch"),
    (lambda: DataParallel(2, 5, "pcie3-x16"), "stage"),
    (lambda: DataParallel(0, 1, "pcie3-x16"), "dp_size"),
    (lambda: DataParallel(2, 1, "pcie3-x16", reduce_dtype="int3"), "reduce_dtype"),
    (lambda: balance_tokens(2, "pcie3-x16", "a100", stage=-1), "stage"),
])
def test_bad_input_names_the_field(call, field):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert caught.value.field == field
