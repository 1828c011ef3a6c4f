"""What the log sends is what the communication account says; lanes and clocks are consistent."""

from dataclasses import replace

import pytest

from zeroledger.collectives import ring_wire_bytes
from zeroledger.communication import ddp, fsdp2, zero_paper
from zeroledger.deepspeed_communication import reduce_buckets
from zeroledger.simulate import Costs, Settings, simulate
from zeroledger.simulate.log import COLLECTIVES
from zeroledger.simulate.model import layers_of

EXACT = Settings(num_layers=2, num_steps=2, scale=1)


def tensors_of(settings):
    return [tensor for layer in layers_of(settings, None) for tensor in layer.tensors]


@pytest.mark.parametrize("stage", range(4))
@pytest.mark.parametrize("dp_size", [1, 2, 4, 8])
@pytest.mark.parametrize("accumulation", [1, 2, 3])
@pytest.mark.parametrize("model", ["mlp", "transformer"])
def test_elements_per_step_are_the_account_s(stage, dp_size, accumulation, model):
    settings = replace(EXACT, stage=stage, dp_size=dp_size, gradient_accumulation_steps=accumulation, model=model,
                       seq_length=8)
    numel = sum(tensor.numel for tensor in tensors_of(settings))
    account = zero_paper(numel, dp_size, stage, gradient_accumulation_steps=accumulation)
    run = simulate(settings)
    for step in range(2):
        for rank in (0, dp_size - 1):
            assert run.collective_numel(step, rank) == {op: account.total(op)["numel"] for op in COLLECTIVES}


@pytest.mark.parametrize("dp_size", [2, 3, 5, 16])
@pytest.mark.parametrize("model", ["mlp", "transformer"])
def test_padding_travels_as_in_fsdp2(dp_size, model):
    settings = replace(EXACT, sharding="rows", dp_size=dp_size, model=model, gradient_accumulation_steps=2)
    account = fsdp2(tensors_of(settings), dp_size, True, gradient_accumulation_steps=2)
    assert simulate(settings).collective_numel() == {op: account.total(op)["numel"] for op in COLLECTIVES}


def test_stage_0_reduces_as_often_as_ddp_does_with_no_sync():
    settings = replace(EXACT, stage=0, reduce_bucket_numel=10**9)
    run, account = simulate(settings), ddp(tensors_of(settings), 4, gradient_accumulation_steps=2)
    calls = [event for event in run.events_of(0) if event.event == "all_reduce" and event.step == 0]
    assert len(calls) == account.total("all_reduce")["calls"] == 1


@pytest.mark.parametrize("bucket", [1, 128, 300, 408, 500, 10**9])
def test_buckets_close_as_deepspeed_s_do(bucket):
    settings = replace(EXACT, stage=2, gradient_accumulation_steps=1, reduce_bucket_numel=bucket, num_layers=4)
    run = simulate(settings)
    sent = [event.numel for event in run.events_of(0) if event.event == "reduce_scatter" and event.step == 0]
    # The same rule, with a layer's gradients as one tensor because they appear together.
    units = [(layer.name, (layer.numel,)) for layer in layers_of(settings, None)]
    assert sent == [sum(unit.numel for unit in each) for each in reduce_buckets(units, bucket)]


def test_bytes_and_times_follow_the_recipe_and_the_link():
    run = simulate(EXACT)
    for event in run.events:
        if event.event in COLLECTIVES:
            assert event.num_bytes == 2 * event.numel  # bf16 weights and gradients
            seconds = ring_wire_bytes(event.event, event.num_bytes, 4) / Costs().link.bytes_per_s
            assert event.end_s - event.start_s == pytest.approx(seconds)


def test_gradients_of_an_fp32_buffer_travel_in_fp32():
    events = simulate(EXACT, recipe="megatron-bf16", stage=2).events
    assert {event.num_bytes // event.numel for event in events if event.event == "reduce_scatter"} == {4}
    assert {event.num_bytes // event.numel for event in events if event.event == "all_gather"} == {2}


@pytest.mark.parametrize("change", [{}, {"overlap": False}, {"offload": "params"}, {"stage": 1, "offload": "optimizer"}], ids=str)
def test_a_lane_does_one_thing_at_a_time_and_time_does_not_run_back(change):
    run = simulate(**change)
    for rank in range(4):
        for lane in ("compute", "communication", "host"):
            free_at = 0.0
            for event in run.events_of(rank):
                if event.lane == lane:
                    assert event.start_s >= free_at and event.end_s >= event.start_s
                    free_at = event.end_s
        moments = [event.start_s for event in run.events_of(rank) if not event.lane]
        assert moments == sorted(moments)


def test_a_layer_is_computed_after_its_gather_and_released_after_its_use():
    run = simulate(prefetch_depth=2)
    arrived, live = {}, set()
    for event in run.events_of(0):
        if event.event == "all_gather":
            arrived[event.tensor] = event.end_s
        elif event.event in ("gather", "prefetch"):
            live.add(event.tensor)
        elif event.event == "release":
            live.remove(event.tensor)
        elif event.event in ("forward", "backward"):
            assert event.tensor in live and event.start_s >= arrived[event.tensor]
    assert not live


def test_overlap_and_prefetch_hide_communication():
    waiting = [simulate(prefetch_depth=depth, overlap=overlap).total_s()
               for depth, overlap in ((0, False), (0, True), (1, True))]
    assert waiting[0] > waiting[1] > waiting[2]


def test_ranks_meet_at_collectives():
    run = simulate()
    starts = {}
    for rank in range(4):
        starts[rank] = [(event.tensor, event.start_s, event.end_s) for event in run.events_of(rank) if event.event in COLLECTIVES]
    assert all(starts[rank] == starts[0] for rank in range(4))


def test_offloading_costs_time():
    seconds = [simulate(offload=mode).total_s() for mode in ("none", "optimizer", "params")]
    assert seconds == sorted(seconds) and seconds[0] < seconds[1] < seconds[2]


def test_recomputation_costs_a_forward_pass_of_the_layers():
    def busy(run, *events):
        return sum(event.end_s - event.start_s for event in run.events_of(0) if event.event in events)

    run = simulate(recompute="full")
    layers = sum(event.end_s - event.start_s for event in run.events_of(0)
                 if event.event == "forward" and event.tensor.startswith("layers"))
    assert busy(run, "recompute") == pytest.approx(layers)
    assert busy(simulate(), "recompute") == 0
