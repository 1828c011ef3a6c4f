"""Collectives of a step against nccl-tests, the ZeRO paper and counted calls of real runs; and what must always hold."""

import json
from fractions import Fraction

import pytest
from cases import DATA, assert_matches, cases_of
from hypothesis import given
from hypothesis import strategies as st
from toy_gpt import llama_tensors, toy_gpt, toy_tensors

from zeroledger.collectives import RING_FACTORS, Communication, Interconnect, ring_factor, ring_wire_bytes
from zeroledger.communication import ddp, ddp_buckets, fsdp2, large_group_numel, zero_paper, zero_redundancy_optimizer
from zeroledger.deepspeed_communication import deepspeed, reduce_buckets
from zeroledger.deepspeed_config import run_config_from_deepspeed
from zeroledger.deepspeed_stage3 import FetchLimits, backward_order, module_trace, persistent_names, replay
from zeroledger.errors import InvalidInput
from zeroledger.model_parallel_communication import expert_parallel, pipeline_parallel, tensor_parallel
from zeroledger.sharding import persistent_numel
from zeroledger.units import MIB
from zeroledger.wrapping import as_tensors, execution_order, wrap_units

C10D_OPS = {"allreduce_": "all_reduce", "broadcast_": "broadcast", "_allgather_base_": "all_gather",
            "_reduce_scatter_base_": "reduce_scatter"}
DEEPSPEED_OPS = {"all_reduce": "all_reduce", "all_gather_into_tensor": "all_gather", "reduce": "reduce",
                 "reduce_scatter_tensor": "reduce_scatter"}
KNOBS = {"stage3_max_live_parameters": "max_live_numel", "stage3_max_reuse_distance": "max_reuse_numel",
         "stage3_prefetch_bucket_size": "prefetch_numel", "stage3_param_persistence_threshold": "persistence_numel"}
NO_KNOBS = FetchLimits(0, 0, 0, 0)


@pytest.mark.parametrize("case", cases_of("collective_factor"))
def test_ring_factor(case):
    assert_matches(ring_factor(case["inputs"]["op"], case["inputs"]["ranks"]), case)


@pytest.mark.parametrize("case", cases_of("communication_volume", prefix="wire-"))
def test_wire_bytes_of_the_paper(case):
    inputs = case["inputs"]
    assert inputs["bytes"] == 2
    assert_matches(zero_paper(inputs["params"], inputs["dp"], inputs["stage"]).wire_bytes, case)


@pytest.mark.parametrize("case", cases_of("communication_volume", prefix="zero-"))
def test_volumes_of_the_paper(case):
    inputs, psi = case["inputs"], 10**6
    if "stage" not in inputs:
        block = tensor_parallel(1, 128, 64, 8, recompute="full")
        assert block.total("all_reduce")["calls"] == inputs["allreduces"]
        assert_matches(Fraction(large_group_numel(block), 128 * 64), case)
        return
    volume = Fraction(large_group_numel(zero_paper(psi, 64, inputs["stage"])), psi)
    assert_matches(volume / 2 if case["unit"] == "x baseline" else volume, case)


def torch_run(inputs):
    """The ``Communication`` of a measured PyTorch scenario, from its name."""
    scenario, ranks = inputs["scenario"], inputs["N"]
    tensors = toy_gpt(inputs["model"], tied=scenario.endswith("_tied"))
    if scenario.startswith("ddp"):
        return ddp(tensors, ranks, "bf16" if "pure_bf16" in scenario else "fp32")
    if scenario.startswith("zero1"):
        return zero_redundancy_optimizer(tensors, ranks)
    reshard = True if "_reshard" in scenario else False if "_noreshard" in scenario else None
    return fsdp2(tensors, ranks, reshard, param_dtype="bf16" if "bf16mp" in scenario else "fp32",
                 reduce_dtype="bf16" if "bf16reduce" in scenario else "fp32",
                 wrap="none" if "rootonly" in scenario else "layer")


@pytest.mark.parametrize("case", cases_of("collective_payload"))
def test_calls_counted_in_pytorch(case):
    tensors = toy_gpt(case["inputs"]["model"], tied=case["inputs"]["scenario"].endswith("_tied"))
    assert sum(tensor.numel for tensor in as_tensors(tensors)) == case["inputs"]["total_params"]
    run = torch_run(case["inputs"])
    got = {name: run.total(op) for name, op in C10D_OPS.items() if run.total(op)["numel"]}
    assert set(got) == set(case["expected"])
    assert_matches(got, case)


@pytest.mark.parametrize("case", cases_of("deepspeed_persistent_bytes"))
def test_calls_counted_in_deepspeed(case):
    inputs, config = case["inputs"], case["inputs"]["config"]
    options = {"gradient_accumulation_steps": config.get("_gas", 1), "reduce_scatter": config.get("reduce_scatter", True),
               "reduce_bucket_numel": config.get("reduce_bucket_size", 500_000_000),
               "multi_rank_bucket_allreduce": config.get("use_multi_rank_bucket_allreduce", True)}
    knobs = {KNOBS[name]: value for name, value in config.items() if name in KNOBS}
    run = deepspeed(toy_gpt(inputs["model"]), inputs["N"], inputs["stage"], fetch=FetchLimits(**knobs) if knobs else None,
                    **options)
    got = {}
    for row in run.rows:
        total = run.total(row.op)
        got[row.op] = {"calls": total["calls"], "numel": total["numel"]}
        assert row.dtype == "bf16"
    assert got == {DEEPSPEED_OPS[name.split(":")[0]]: calls for name, calls in case["expected"]["comm"].items()}


SMALL = {"V": 101, "S": 8, "h": 15, "L": 2, "ffn": 33}
WIDE = {"V": 4000, "S": 16, "h": 256, "L": 6, "ffn": 1024}
FP32 = {"param_dtype": "fp32", "reduce_dtype": "fp32"}


@pytest.mark.parametrize("run, expected", [
    (ddp(toy_tensors(WIDE), 4), {"all_reduce": (2, 6791168)}),
    (ddp(toy_tensors(WIDE), 4, gradient_accumulation_steps=2, bucket_bytes=2 * MIB), {"all_reduce": (11, 6791168)}),
    (ddp(toy_tensors(SMALL), 4, gradient_accumulation_steps=2, no_sync=False), {"all_reduce": (2, 14592)}),
    (fsdp2(toy_tensors(SMALL), 4, gradient_accumulation_steps=2, no_sync=True, **FP32),
     {"all_gather": (10, 24208), "reduce_scatter": (3, 7688)}),
    (fsdp2(toy_tensors(SMALL), 4, gradient_accumulation_steps=2, **FP32),
     {"all_gather": (10, 24208), "reduce_scatter": (6, 15376)}),
    (fsdp2(toy_tensors(SMALL), 4, reshard_after_forward=2, **FP32),
     {"all_gather": (6, 15376), "reduce_scatter": (3, 7688)}),
    (fsdp2(toy_tensors(SMALL), 2, replicate_size=2, gradient_accumulation_steps=2, no_sync=True, **FP32),
     {"all_gather": (10, 23576), "reduce_scatter": (3, 7500), "all_reduce": (3, 3750)}),
])
def test_calls_of_further_pytorch_runs(run, expected):
    """Counted by us on four processes of PyTorch 2.13.0 with gloo: (calls, full-buffer elements) of the third step."""
    assert {row.op: (run.total(row.op)["calls"], run.total(row.op)["numel"]) for row in run.rows} == expected


RUNS = json.loads((DATA / "deepspeed_calls.json").read_text(encoding="utf-8"))["runs"]


@pytest.mark.parametrize("run", RUNS, ids=[f"{number}-stage{run['config']['zero_optimization']['stage']}"
                                           for number, run in enumerate(RUNS)])
def test_calls_of_further_deepspeed_runs(run):
    """Our own runs with knobs drawn at random: every call and every element, through the importer of configurations."""
    layout = {"toy": toy_tensors, "llama": llama_tensors}[run["layout"]]
    settings = run_config_from_deepspeed(run["config"] | {"bf16": {"enabled": True}})
    tied = (("lm_head", "model.embed_tokens.weight"),) if run["tied"] else None
    sent = settings.communication(layout(run["sizes"], run["tied"]), run["ranks"], tied=tied)
    got = {row.op: {key: sent.total(row.op)[key] for key in ("calls", "numel")} for row in sent.rows}
    assert got == run["calls"]


def test_deepspeed_stages_1_and_2_send_half_more_than_the_paper():
    tensors = toy_gpt("even")
    for stage in (1, 2):
        assert 2 * deepspeed(tensors, 8, stage).wire_bytes == 3 * zero_paper(1063680, 8, stage).wire_bytes


def test_stage_3_gathers_once_below_the_reuse_distance_and_twice_without_knobs():
    tensors = as_tensors([(f"layers.{i}.weight", (1000, 1000)) for i in range(10)])
    assert sum(gather.numel for gather in replay(tensors)) == 10 * 10**6
    assert sum(gather.numel for gather in replay(tensors, NO_KNOBS)) == 20 * 10**6


@given(reuse=st.integers(0, 30), prefetch=st.integers(0, 30), live=st.integers(0, 30))
def test_stage_3_gathers_between_one_and_two_passes(reuse, prefetch, live):
    tensors = as_tensors([("tok.weight", (2, 1)), *((f"layers.{i}.{part}.weight", (3, 1)) for i in range(3)
                                                    for part in ("a", "b")), ("head.weight", (2, 1))])
    gathers = replay(tensors, FetchLimits(live, reuse, prefetch, 0))
    total = sum(tensor.numel for tensor in tensors)
    assert total <= sum(gather.numel for gather in gathers) <= 2 * total
    forward = [name for gather in gathers if gather.phase == "forward" for name in gather.names]
    assert set(forward) == {tensor.name for tensor in tensors}  # everything is needed in forward
    assert sum(gather.numel for gather in replay(tensors, FetchLimits(live, reuse + 5, 0, 0))) <= sum(
        gather.numel for gather in replay(tensors, FetchLimits(live, reuse, 0, 0)))


def test_module_trace_visits_containers_but_not_lists():
    trace = module_trace(as_tensors(toy_gpt("even")))
    names = [name for name, _ in trace]
    assert names[:5] == ["", "tok", "pos", "blocks.0", "blocks.0.ln1"] and "blocks" not in names
    back = [name for name, _ in backward_order(trace)]
    assert back[:5] == ["", "head", "lnf", "blocks.3", "blocks.3.fc2"]
    assert names[4:10] == ["blocks.0.ln1", "blocks.0.qkv", "blocks.0.proj", "blocks.0.ln2", "blocks.0.fc1", "blocks.0.fc2"]
    assert sorted(back) == sorted(names)


def test_persistent_names_count_what_sharding_says():
    tensors = as_tensors(toy_gpt("uneven"))
    for limits in (FetchLimits(), FetchLimits(persistence_numel=500), FetchLimits(model_persistence_numel=1000)):
        names = persistent_names(tensors, limits)
        assert sum(tensor.numel for tensor in tensors if tensor.name in names) == persistent_numel(
            tensors, limits.persistence_numel, min(limits.model_persistence_numel, 10**18))


def test_persistent_names_stop_at_the_model_threshold():
    tensors = as_tensors([("a.weight", (5,)), ("b.weight", (5,)), ("c.weight", (100,))])
    assert persistent_names(tensors, FetchLimits(persistence_numel=10)) == {"a.weight", "b.weight"}
    assert persistent_names(tensors, FetchLimits(persistence_numel=10, model_persistence_numel=9)) == {"a.weight"}


@given(st.lists(st.integers(1, 50), min_size=1, max_size=30), st.integers(1, 60))
def test_buckets_hold_every_gradient_once(sizes, limit):
    tensors = as_tensors([(f"t{i}.weight", (size,)) for i, size in enumerate(sizes)])
    buckets = reduce_buckets(tensors, limit)
    assert [tensor for bucket in buckets for tensor in bucket] == list(reversed(execution_order(tensors)))
    assert all(len(bucket) == 1 or sum(tensor.numel for tensor in bucket) <= limit for bucket in buckets)
    assert sum(ddp_buckets(tensors, "fp32", limit)) == sum(sizes)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=6), st.integers(1, 12))
def test_fsdp2_pads_each_tensor_by_less_than_one_row_a_rank(shapes, ranks):
    tensors = [(f"layers.{i}.weight", shape) for i, shape in enumerate(shapes)]
    numel = sum(rows * columns for rows, columns in shapes)
    gathered = fsdp2(tensors, ranks).total("all_gather", phase="forward")["numel"]
    assert (numel if ranks > 1 else 0) <= gathered < numel + ranks * sum(columns for _, columns in shapes)
    assert gathered % ranks == 0


def test_hybrid_sharding_moves_the_gather_into_the_node_and_reduces_shards_across():
    tensors = toy_gpt("even")
    flat, hybrid = fsdp2(tensors, 16), fsdp2(tensors, 8, replicate_size=2)
    across = hybrid.total("all_reduce", "replicate")
    assert across["numel"] == 1063680 // 8
    assert across["wire_bytes"] < flat.wire_bytes / 8
    half_way = fsdp2(tensors, 16, reshard_after_forward=8)
    assert half_way.total(phase="backward", op="all_gather")["numel"] == half_way.total(phase="forward")["numel"]
    assert half_way.total(group="reshard")["wire_bytes"] < half_way.total("all_gather", "dp")["wire_bytes"]


def test_deepspeed_hybrid_groups():
    tensors = toy_gpt("even")
    plain = deepspeed(tensors, 16, 3, fetch=NO_KNOBS)
    near = deepspeed(tensors, 16, 3, fetch=NO_KNOBS, secondary_shard_size=8)
    assert near.total(group="secondary")["numel"] == plain.total("all_gather", phase="backward")["numel"]
    assert near.total(group="dp")["wire_bytes"] == plain.wire_bytes * 2 / 3  # a third of the traffic stays in the node
    mics = deepspeed(tensors, 16, 3, fetch=NO_KNOBS, shard_group_size=8)
    assert mics.total(group="replicate")["numel"] == 1063680 // 8
    assert mics.rows[:-1] == deepspeed(tensors, 8, 3, fetch=NO_KNOBS).rows


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_accumulation_reduces_as_often_as_each_rule_says(steps):
    tensors, numel = toy_gpt("even"), 1063680
    assert zero_paper(numel, 4, 1, gradient_accumulation_steps=steps).total("reduce_scatter")["numel"] == numel
    assert zero_paper(numel, 4, 2, gradient_accumulation_steps=steps).total("reduce_scatter")["numel"] == steps * numel
    assert zero_paper(numel, 4, 3, gradient_accumulation_steps=steps).total("all_gather")["numel"] == 2 * steps * numel
    assert ddp(tensors, 4, gradient_accumulation_steps=steps).total()["numel"] == numel
    assert ddp(tensors, 4, gradient_accumulation_steps=steps, no_sync=False).total()["numel"] == steps * numel
    kept = fsdp2(tensors, 4, True, gradient_accumulation_steps=steps, no_sync=True)
    assert kept.total("reduce_scatter")["numel"] == numel and kept.total("all_gather")["numel"] == 2 * steps * numel


def test_sequence_parallelism_sends_the_same_forward_and_one_more_gather_a_sublayer_backward():
    plain, sequence = (tensor_parallel(2, 64, 32, 4, sequence_parallel=flag) for flag in (False, True))
    assert plain.total(phase="forward")["wire_bytes"] == sequence.total(phase="forward")["wire_bytes"]
    message = 2 * 64 * 32 * 2
    extra = sequence.wire_bytes - plain.wire_bytes
    assert extra == 2 * ring_wire_bytes("all_gather", message, 4)


def test_pipeline_and_experts():
    pipeline = pipeline_parallel(1, 100, 8, 4, gradient_accumulation_steps=3)
    assert pipeline.total()["calls"] == 6 and pipeline.wire_bytes == 6 * 100 * 8 * 2
    assert pipeline_parallel(1, 100, 8, 1).wire_bytes == 0
    assert expert_parallel(1, 100, 8, 2, 4).total()["numel"] == 4 * 100 * 8 * 2


@given(op=st.sampled_from(sorted(RING_FACTORS)), num_bytes=st.integers(0, 10**15), ranks=st.integers(1, 4096))
def test_wire_bytes_grow_with_ranks_and_vanish_alone(op, num_bytes, ranks):
    assert ring_wire_bytes(op, num_bytes, 1) == 0
    assert ring_wire_bytes(op, num_bytes, ranks) <= ring_wire_bytes(op, num_bytes, ranks + 1) <= 2 * num_bytes


def test_an_all_reduce_costs_a_reduce_scatter_and_an_all_gather():
    for ranks in range(1, 70):
        assert ring_factor("all_reduce", ranks) == pytest.approx(
            ring_factor("reduce_scatter", ranks) + ring_factor("all_gather", ranks))


def test_lower_bound_seconds():
    run = zero_paper(7e9, 8, 0)
    assert run.lower_bound_s("nvlink-a100") == pytest.approx(24.5e9 / 300e9)
    slow = Interconnect("slow", 1e9, "made up", latency_s=1.0)
    assert run.lower_bound_s({"dp": slow}) == pytest.approx(24.5)  # calls unknown: no latency added
    assert ddp(toy_gpt("even"), 2).lower_bound_s(slow) == pytest.approx(2 + 4254720e-9)
    both = run.plus(tensor_parallel(1, 8, 8, 2))
    with pytest.raises(InvalidInput, match="links.*group 'tp'"):
        both.lower_bound_s({"dp": slow})
    assert "24.5 GB" in str(run) and run.as_dict()["rows"][0]["wire_bytes"] == 24_500_000_000
    assert isinstance(both, Communication)


def test_units_hold_every_tensor_once():
    tensors = as_tensors(toy_gpt("uneven"))
    units = wrap_units(tensors)
    assert [unit.name for unit in units] == ["root", "layer 0", "layer 1", "layer 2", "layer 3"]
    assert sorted(tensor.name for unit in units for tensor in unit.tensors) == sorted(tensor.name for tensor in tensors)


@pytest.mark.parametrize("call, field", [
    (lambda: ring_factor("gossip", 4), "op"),
    (lambda: ring_factor("all_gather", 0), "ranks"),
    (lambda: zero_paper(-1, 2, 0), "num_params"),
    (lambda: zero_paper(1, 2, 4), "stage"),
    (lambda: zero_paper(1, 2, 0, dtype="bf17").wire_bytes, "dtype"),
    (lambda: ddp([], 2), "tensors"),
    (lambda: ddp(7, 2), "tensors"),
    (lambda: ddp(toy_gpt("even"), 2, bucket_bytes=0), "bucket_bytes"),
    (lambda: ddp(toy_gpt("even"), 2, no_sync="yes"), "no_sync"),
    (lambda: fsdp2(toy_gpt("even"), 4, reshard_after_forward=3), "reshard_after_forward"),
    (lambda: fsdp2(toy_gpt("even"), 4, wrap="block"), "wrap"),
    (lambda: deepspeed(toy_gpt("even"), 4, 2, fetch=FetchLimits()), "fetch"),
    (lambda: deepspeed(toy_gpt("even"), 4, 1, shard_group_size=2), "shard_group_size"),
    (lambda: deepspeed(toy_gpt("even"), 4, 3, shard_group_size=3), "shard_size"),
    (lambda: FetchLimits(prefetch_numel=-1), "prefetch_numel"),
    (lambda: tensor_parallel(1, 1, 1, 1, recompute="some"), "recompute"),
    (lambda: Interconnect("x", 0, "y"), "bytes_per_s of x"),
    (lambda: zero_paper(1, 2, 0).lower_bound_s("pigeon"), "interconnect"),
])
def test_bad_input_names_the_field(call, field):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert caught.value.field == field


def test_fsdp2_on_one_rank_calls_nothing():
    """Counted (./build.sh torch, torch 2.13), while DDP reduces on one rank too."""
    assert fsdp2(toy_gpt("uneven"), 1).rows == ()
    assert ddp(toy_gpt("uneven"), 1).total("all_reduce")["numel"] == 1_033_208
