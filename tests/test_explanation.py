"""Measured runs: the format is validated, differences are told account by account, reports of users are recognised."""

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_budget import SMALL, trainings

from zeroledger import Mesh, TransformerShape, budget, explain, measured_run
from zeroledger.deepspeed_config import run_config_from_deepspeed
from zeroledger.errors import ConfigError, InvalidInput
from zeroledger.explanation import predicted_instant
from zeroledger.fsdp_config import run_config_from_accelerate
from zeroledger.hypotheses import candidates
from zeroledger.measured import CATEGORIES, INSTANT_NAMES, MeasuredInstant, MeasuredRank, MeasuredRun
from zeroledger.offload import Placement
from zeroledger.training import Training
from zeroledger.training_inputs import training_from_dict, training_from_run_config
from zeroledger.units import GIB, MIB


def run_of(config, *instants, **fields):
    return {"format": "zeroledger-run", "version": 1, "source": "a test", "versions": {"torch": "2.13.0"},
            "config": {"model": "llama-2-7b", "dp": 4, "stage": 3} | config,
            "ranks": [{"rank": 0, "instants": list(instants)}]} | fields


def only(run):
    explanation, = explain(run).instants
    return explanation


def measured_apart(instant):
    """A reading's ``by_category`` that is just as predicted."""
    accounts = instant.by_account()
    return {each: sum(accounts[part] for part in parts) for each, parts in CATEGORIES.items()}


@settings(max_examples=25)
@given(trainings(models=(SMALL,)), st.sampled_from(sorted(INSTANT_NAMES)), st.integers(-10**6, 10**7))
def test_what_is_measured_apart_is_told_apart_and_the_rest_remains(training, name, extra):
    expected = predicted_instant(budget(training), name)
    categories = measured_apart(expected)
    categories["params"] += 64
    reading = MeasuredInstant(name, max(expected.num_bytes + 64 + extra, 0), None, None, categories)
    rank = MeasuredRank(0, budget(training).pp_rank, (reading,))
    told, = explain(MeasuredRun(training, (rank,), {}, "")).instants
    assert told.predicted_bytes == expected.num_bytes
    assert dict((row[0], row[3]) for row in told.rows)["params"] == 64
    assert told.difference_bytes == sum(row[3] for row in told.rows) + told.remainder_bytes
    assert all(each.num_bytes + each.remainder_bytes == told.difference_bytes for each in told.candidates)


def test_a_run_as_predicted_has_nothing_to_explain():
    result = budget("llama-2-7b", mesh=4, engine="fsdp2")
    told = only(run_of({"engine": "fsdp2"}, {"name": "peak", "allocated_bytes": result.peak_bytes,
                                             "reserved_bytes": result.peak_bytes + 5, "device_bytes": result.peak_bytes + 12}))
    assert (told.difference_bytes, told.remainder_bytes, told.is_within_range) == (0, 0, True)
    assert (told.reserve_bytes, told.outside_bytes, told.candidates) == (5, 7, ())


def test_deepspeed_4527():
    """6.8B, N = 4, all offloaded: 14,678 MiB after init. Consistent with weights whole on the device, 2P for any N, on top
    of the bucket that the estimator leaves out; what is left is no more than a context."""
    config = {"engine": "deepspeed", "offload": {"optimizer": "cpu", "params": "cpu"}}
    told = only(run_of(config, {"name": "after_init", "device_bytes": 14678 * MIB}))
    assert told.predicted.by_account()["reduce_scatter"] == 10**9
    first = told.candidates[0]
    assert first.key == "whole-weights" and first.is_consistent
    assert 500 * MIB < first.remainder_bytes < 1000 * MIB
    assert told.remainder_bytes == told.difference_bytes, "a candidate is never taken off the remainder"


@pytest.mark.parametrize("ranks", (2, 4))
def test_deepspeed_4093(ranks):
    """GPT-J-6B: about 13 GB on two and on four ranks: the same signature."""
    # the report's model has no preset; the 7B of ``run_of`` is as large within a tenth
    config = {"engine": "deepspeed", "dp": ranks, "offload": {"optimizer": "cpu", "params": "cpu"}}
    told = only(run_of(config, {"name": "after_init", "device_bytes": 13 * 10**9}))
    assert told.candidates[0].key == "whole-weights"


@pytest.mark.parametrize(("stage", "observed_gib"), [(2, 45.46), (3, 25.31)])
def test_deepspeed_3734(stage, observed_gib):
    """13B on 8 ranks: what is allocated between backward and step is the ledger, with the bucket at stage 3."""
    told = only(run_of({"model": "llama-2-13b", "dp": 8, "stage": stage, "engine": "deepspeed"},
                       {"name": "end_of_backward", "allocated_bytes": round(observed_gib * GIB)}))
    assert abs(told.difference_bytes) < 0.006 * told.measured_bytes


def test_deepspeed_5305_is_not_determined():
    """7B on two ranks: stage 3 took 52.8 GB, stage 2 43.8, with a sequence length nobody said: a remainder stays."""
    for stage, gigabytes in ((2, 43.8), (3, 52.8)):
        told = only(run_of({"dp": 2, "stage": stage, "engine": "deepspeed", "seq_length": 4096},
                           {"name": "peak", "allocated_bytes": round(gigabytes * 1e9)}))
        assert told.remainder_bytes == told.difference_bytes != 0
    saved = 6_738_415_616
    states = [budget("llama-2-7b", mesh=2, stage=stage).staying_bytes for stage in (2, 3)]
    assert states[0] - states[1] == saved, "stage 3 saves one byte a parameter at N = 2"


def test_deepspeed_examples_123():
    """BERT-large, N = 4: stage 2 saves 2P(1 − 1/4) of gradients, less than the bucket of 10⁹ bytes it may take."""
    shape = TransformerShape(1024, 24, 16, 30522, gated_mlp=False, norm="layernorm", tie_word_embeddings=True)
    saved = 2 * shape.num_params * 3 // 4
    training = Training(shape, 4, 2, "deepspeed")
    end = predicted_instant(budget(training), "after_step")
    found = {key: sum(changes.values()) for key, _, changes in candidates(training, 0, "after_step", end, lambda other: end)}
    assert saved < found["reduce-bucket"] == 10**9


def test_fairscale_627_and_verl_7458():
    """Whole gradients: 4P less the shard that was predicted, on any number of ranks."""
    for ranks in (1, 2, 4, 8):
        training = Training(SMALL, ranks, 3, "fsdp2")
        end = predicted_instant(budget(training), "end_of_backward")
        found = {key: sum(changes.values()) for key, _, changes in candidates(training, 0, "end_of_backward", end, lambda other: end)}
        grads = end.by_account()["sharded_grads"]
        assert found["whole-fp32-gradients"] == 4 * SMALL.num_params - grads


def test_candidates_have_the_sign_of_the_difference_and_bring_it_nearer():
    for extra in (-8 * 10**9, 3 * 10**9):
        peak = budget("llama-2-7b", mesh=4).peak_bytes
        told = only(run_of({}, {"name": "peak", "allocated_bytes": peak + extra}))
        assert told.candidates
        assert all((each.num_bytes > 0) == (extra > 0) for each in told.candidates)
        assert all(abs(each.remainder_bytes) < abs(told.difference_bytes) for each in told.candidates)
        left = [abs(each.remainder_bytes) for each in told.candidates]
        assert left == sorted(left)


def test_what_is_measured_apart_rules_out_what_contradicts_it():
    """Gradients as predicted, 2P more of parameters: whole weights stay a candidate, whole gradients do not."""
    end = predicted_instant(budget("llama-2-7b", mesh=4, engine="fsdp2"), "end_of_backward")
    categories = measured_apart(end)
    reading = {"name": "end_of_backward", "allocated_bytes": end.num_bytes + 2 * 6_738_415_616}
    keys = {each.key for each in only(run_of({"engine": "fsdp2"}, reading)).candidates}
    assert {"whole-weights", "whole-gradients"} <= keys
    apart = categories | {"params": categories["params"] + 2 * 6_738_415_616}
    told = only(run_of({"engine": "fsdp2"}, reading | {"by_category": apart}))
    assert "whole-weights" in {each.key for each in told.candidates} and "whole-gradients" not in {each.key for each in told.candidates}
    assert {category for each in told.candidates for category in each.by_category} <= {"params", "buffers"}
    only_grads = only(run_of({"engine": "fsdp2"}, reading | {"by_category": {"grads": categories["grads"]}}))
    assert "whole-weights" in {each.key for each in only_grads.candidates}, "what was not measured apart may hold it"
    assert "whole-gradients" not in {each.key for each in only_grads.candidates}


@settings(max_examples=25)
@given(trainings(models=(SMALL,)), st.sampled_from(sorted(INSTANT_NAMES)), st.sampled_from(sorted(CATEGORIES)), st.integers(-10**6, 10**7))
def test_no_candidate_makes_a_measured_row_worse(training, name, category, extra):
    expected = predicted_instant(budget(training), name)
    categories = measured_apart(expected)
    categories[category] = max(categories[category] + extra, 0)
    reading = MeasuredInstant(name, sum(categories.values()) + expected.by_account()["reserve"], None, None, categories)
    told, = explain(MeasuredRun(training, (MeasuredRank(0, budget(training).pp_rank, (reading,)),), {}, "")).instants
    off = {row[0]: row[3] for row in told.rows}
    for each in told.candidates:
        assert sum(each.by_category.values()) == each.num_bytes
        for where, size in each.by_category.items():
            assert abs(off.get(where, 0) - size) <= abs(off.get(where, 0)) + told.measured_bytes // 50


def test_instants_between_steps():
    fsdp, deep = budget(SMALL, mesh=2, engine="fsdp2"), budget(SMALL, mesh=2, engine="deepspeed")
    init, step = (predicted_instant(fsdp, name).by_account() for name in ("after_init", "after_step"))
    assert init["optimizer_states"] == 0 < step["optimizer_states"] and init["sharded_params"] == step["sharded_params"]
    assert predicted_instant(deep, "after_init").by_account()["optimizer_states"] > 0
    assert predicted_instant(fsdp, "peak_forward").phase == "forward"
    assert predicted_instant(fsdp, "end_of_forward").name == "end of forward"


def test_reads_text_and_prints_both_ways():
    text = json.dumps(run_of({}, {"name": "peak", "allocated_bytes": 30 * 10**9}))
    told = explain(text)
    assert json.loads(json.dumps(told.as_dict()))["instants"][0]["measured_bytes"] == 30 * 10**9
    assert "Left unexplained" in told.table("GiB") and "torch 2.13.0" in str(told)


GOOD = run_of({}, {"name": "peak", "allocated_bytes": 1, "reserved_bytes": 2, "device_bytes": 3, "by_category": {"params": 1}})


@pytest.mark.parametrize(("path", "value", "field"), [
    (("format",), "other", "format"), (("format",), None, "format"), (("version",), 2, "version"),
    (("config", "model"), "llama-9", "model"), (("config", "model"), 7, "config.model"), (("config", "dp"), 0, "config.dp"),
    (("config", "stage"), "auto", "config.stage"), (("config", "engine"), "x", "config.engine"),
    (("config", "bogus"), 1, "config.bogus"), (("config", "offload"), {"optimizer": "moon"}, "config.offload.optimizer"),
    (("config", "recompute"), "some", "recompute"), (("ranks",), [], "ranks"), (("ranks",), 5, "ranks"),
    (("ranks", 0, "rank"), 4, "ranks[0].rank"), (("ranks", 0, "pp_rank"), 1, "ranks[0].pp_rank"),
    (("ranks", 0, "instants"), {}, "ranks[0].instants"), (("ranks", 0, "instants", 0), 3, "ranks[0].instants[0]"),
    (("ranks", 0, "instants", 0, "name"), "noon", "ranks[0].instants[0].name"),
    (("ranks", 0, "instants", 0, "allocated_bytes"), -1, "ranks[0].instants[0].allocated_bytes"),
    (("ranks", 0, "instants", 0, "allocated_bytes"), 9, "ranks[0].instants[0]"),
    (("ranks", 0, "instants", 0, "by_category"), {"weights": 1}, "ranks[0].instants[0].by_category.weights"),
    (("extra",), 1, "extra"), (("date",), 7, "date"), (("meters",), {"watts": "x"}, "meters.watts"),
])
def test_bad_runs_name_the_field(path, value, field):
    run = copy.deepcopy(GOOD)
    place = run
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(InvalidInput) as caught:
        measured_run(run)
    assert caught.value.field == field


@pytest.mark.parametrize("text", ("", "{", "[1]", "[" * 100_000, '{"version": 1}', "null", b"\xff\xfe"))
def test_broken_json_is_one_clear_error(text):
    with pytest.raises(ConfigError):
        explain(text)


@settings(max_examples=60)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
                        ("config", "ranks", "instants", "name", "model", "dp", "version", "format", "offload")), inner,
                        max_size=4), max_leaves=12))
def test_any_json_gives_a_value_error_at_worst(value):
    run = copy.deepcopy(GOOD)
    run |= value if isinstance(value, dict) else {"config": value}
    try:
        explain(run)
    except InvalidInput:
        pass


def test_how_it_was_measured_comes_along():
    run = measured_run(GOOD | {"date": "2026-11-29", "device": "CPU", "meters": {"device_bytes": "not read: no GPU"}})
    assert (run.date, run.device, run.meters) == ("2026-11-29", "CPU", {"device_bytes": "not read: no GPU"})


def test_a_meter_that_was_not_read_may_be_absent():
    told = only(run_of({}, {"name": "after_step", "device_bytes": 10**10, "allocated_bytes": None}))
    assert told.meter == "device" and told.reserve_bytes is None
    with pytest.raises(ConfigError):
        measured_run(run_of({}, {"name": "peak"}))


def test_training_from_plain_data():
    training = training_from_dict({"model": "llama-2-7b", "dp": 8, "tp": 2, "engine": "fsdp2", "seq_length": 4096,
                                   "fsdp": {"reshard_after_forward": True, "prefetch_depth": 2}})
    assert training == Training("llama-2-7b", Mesh(dp=8, tp=2), 3, "fsdp2", seq_length=4096, fsdp=training.fsdp)
    assert training.fsdp.reshard_after_forward is True and training.fsdp.prefetch_depth == 2


def test_training_from_a_deepspeed_file():
    config = run_config_from_deepspeed({
        "bf16": {"enabled": True}, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2,
        "zero_optimization": {"stage": 3, "reduce_bucket_size": 1e8, "offload_optimizer": {"device": "cpu"}}}, 8)
    imported = training_from_run_config(config, "llama-2-7b")
    training = imported.training
    assert (training.engine, training.stage, training.mesh.dp, training.micro_batch_size) == ("deepspeed", 3, 8, 4)
    assert training.gradient_accumulation_steps == 2 and training.deepspeed.reduce_bucket_numel == 10**8
    assert training.placement.optimizer == "cpu" and training.recipe.name == "adam-mixed"
    assert dict(imported.assumed) == {"seq_length": 2048, "recompute": "none"}
    assert dict(training_from_run_config(config, "llama-2-7b", seq_length=512, recompute="full").assumed) == {}


def test_what_a_file_leaves_open_is_named():
    config = run_config_from_deepspeed({"bf16": {"enabled": True}, "train_micro_batch_size_per_gpu": "auto",
                                        "zero_optimization": {"stage": 2}})
    with pytest.raises(ConfigError) as caught:
        training_from_run_config(config, "llama-2-7b")
    assert caught.value.field == "dp_size"
    assert ("micro_batch_size", 1) in training_from_run_config(config, "llama-2-7b", dp_size=4).assumed


def test_training_from_an_accelerate_file():
    config = run_config_from_accelerate({
        "distributed_type": "FSDP", "num_processes": 4, "mixed_precision": "bf16", "gradient_accumulation_steps": 2,
        "fsdp_config": {"fsdp_version": 2, "fsdp_reshard_after_forward": True, "fsdp_offload_params": True,
                        "fsdp_auto_wrap_policy": "TRANSFORMER_BASED_WRAP", "fsdp_activation_checkpointing": True}})
    training = training_from_run_config(config, "llama-2-7b").training
    assert (training.engine, training.mesh.dp, training.recompute) == ("fsdp2", 4, "full")
    assert training.placement == Placement("cpu", "cpu") and training.accumulate_unsharded
    assert training.fsdp.reduce_dtype == "bf16" and training.recipe.name == "adam-fp32"
