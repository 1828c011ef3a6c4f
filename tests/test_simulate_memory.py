"""The log's bytes are the accounting's bytes: persistent state, the peak, offloading, the allocator, out of memory."""

from dataclasses import replace

import pytest

from zeroledger import ledger
from zeroledger.instants import peak
from zeroledger.offload import Placement, offload_plan
from zeroledger.recipes import RecipeRow, Recipe
from zeroledger.sharding import fsdp2_shards, stage3_shards
from zeroledger.simulate import Settings, simulate
from zeroledger.simulate.log import MEMORY_EVENTS
from zeroledger.simulate.memory import out_of_memory_text
from zeroledger.simulate.model import layers_of
from zeroledger.simulate.prediction import predicted_instants, predicted_peak

EXACT = Settings(num_layers=2, num_steps=1, scale=1)  # one stored number is one element


class SmallModel:
    """The simulator's tensors, as the accounting package wants them."""

    def __init__(self, settings):
        self._tensors = tuple(tensor for layer in layers_of(settings, None) for tensor in layer.tensors)
        self.num_params = sum(tensor.numel for tensor in self._tensors)

    def tensors(self):
        return self._tensors


@pytest.mark.parametrize("recipe", ["adam-mixed", "megatron-fp16", "megatron-bf16", "adam-fp32", "adam-bf16-pure"])
@pytest.mark.parametrize("stage", range(4))
@pytest.mark.parametrize("dp_size", [1, 2, 4, 8])
@pytest.mark.parametrize("model", ["mlp", "transformer"])
def test_persistent_bytes_are_the_ledger_s(recipe, stage, dp_size, model):
    settings = replace(EXACT, recipe=recipe, stage=stage, dp_size=dp_size, model=model, seq_length=8, num_layers=1)
    run, book = simulate(settings), ledger(SmallModel(settings).num_params, dp_size, stage, recipe)
    for rank in range(dp_size):  # every tensor divides, so that no rank stores padding
        assert run.persistent_bytes(rank) == {row.category: row.bytes_per_rank for row in book.rows}
        assert run.live_at_end(rank) == run.persistent_bytes(rank)


@pytest.mark.parametrize("sharding, rule", [("rows", fsdp2_shards), ("even", stage3_shards)])
@pytest.mark.parametrize("dp_size", [2, 3, 5, 7, 16])
@pytest.mark.parametrize("model", ["mlp", "transformer"])
def test_padded_tensors_follow_the_frameworks_rules(sharding, rule, dp_size, model):
    settings = replace(EXACT, sharding=sharding, dp_size=dp_size, model=model, gradient_accumulation_steps=1)
    run = simulate(settings)
    for rank, shard in enumerate(rule(SmallModel(settings).tensors(), dp_size)):
        # FSDP2 makes optimizer states for real elements only; DeepSpeed 3 for its padded pieces.
        states = shard.numel if sharding == "rows" else shard.stored_numel
        assert run.persistent_bytes(rank) == {"params": 2 * shard.stored_numel, "grads": 2 * shard.stored_numel,
                                              "master_params": 4 * states, "exp_avg": 4 * states, "exp_avg_sq": 4 * states}


def test_the_ideal_ledger_is_a_bound_and_padding_is_the_difference():
    settings = replace(EXACT, dp_size=3)
    run = simulate(settings)
    tensors = SmallModel(settings).tensors()
    padding = sum(-tensor.numel % 3 for tensor in tensors)  # elements added so that three equal pieces result
    ideal = ledger(SmallModel(settings).num_params, 3, 3).model_states_bytes_per_rank
    assert sum(run.persistent_bytes(0).values()) - ideal == 16 * padding // 3 == 64


@pytest.mark.parametrize("stage", range(4))
@pytest.mark.parametrize("change", [
    {}, {"prefetch_depth": 0}, {"prefetch_depth": 3}, {"reduce_bucket_numel": 1}, {"reduce_bucket_numel": 10**9},
    {"recompute": "full"}, {"recompute": "full", "prefetch_depth": 0}, {"overlap": False}, {"micro_batch_size": 4},
    {"micro_batch_size": 8, "seq_length": 12, "recompute": "full"}, {"dp_size": 1}, {"dp_size": 3, "sharding": "rows"},
    {"model": "transformer"}, {"model": "transformer", "recompute": "selective"}, {"model": "transformer", "recompute": "full"},
    {"recipe": "megatron-bf16"}, {"num_layers": 6, "hidden_size": 12}, {"vocab_size": 64}, {"offload": "optimizer"},
    {"offload": "params"}, {"offload": "params", "prefetch_depth": 2}, {"gradient_accumulation_steps": 1, "num_steps": 3},
], ids=str)
def test_peak_and_its_instant_are_the_predicted_ones(stage, change):
    least = {"optimizer": 1, "params": 3}.get(change.get("offload"), 0)
    settings = replace(Settings(num_layers=3), stage=max(stage, least), **change)
    seen, predicted = simulate(settings).peak(), predicted_peak(settings)
    assert (seen.num_bytes, seen.instant) == (predicted.num_bytes, predicted.name)
    accounts = predicted.by_account()
    assert accounts["activations"] == seen.live["activations"]
    assert accounts["unsharded_params"] == seen.live.get("gathered_params", 0)
    assert accounts["unsharded_grads"] == seen.live.get("unreduced_grads", 0)


def test_every_instant_is_predicted_not_only_the_highest():
    settings = Settings(num_steps=1, gradient_accumulation_steps=1, dp_size=2)
    run = simulate(settings)
    lengths = tokens_of_rank(settings, 0)
    highest = {}
    for event in run.events_of(0):
        if event.step == 0 and event.event in MEMORY_EVENTS:
            name = f"{event.phase} of {event.at}"
            highest[name] = max(highest.get(name, 0), event.live_bytes)
    expected = {}
    for instant in predicted_instants(settings, lengths):
        expected[instant.name] = max(expected.get(instant.name, 0), instant.num_bytes)
    assert highest == expected


def tokens_of_rank(settings, rank):
    from zeroledger.simulate.batches import micro_batches

    return tuple(len(ids) for ids, _ in micro_batches(settings, 0)[0][rank])


def test_the_static_line_lies_below_the_peak():
    run = simulate()
    static = run.as_dict()["static_bytes"]
    assert static == sum(run.persistent_bytes(0).values()) < run.peak(0).num_bytes


@pytest.mark.parametrize("levers, account", [
    ({"recompute": "full"}, "activations"), ({"prefetch_depth": 0}, "gathered_params"),
    ({"reduce_bucket_numel": 1}, "unreduced_grads"), ({"offload": "optimizer"}, "exp_avg"), ({"dp_size": 8}, "params"),
])
def test_each_lever_shrinks_its_own_account(levers, account):
    def most(run):
        totals = run.as_dict(ranks=[0])["ranks"]["0"]["curve"]["live"].get(account, [0])
        return max(totals)

    assert most(simulate(**levers)) < most(simulate())


@pytest.mark.parametrize("mode, stage, placement", [
    ("optimizer", 1, Placement("cpu", grads="cpu")), ("optimizer", 2, Placement("cpu")), ("optimizer", 3, Placement("cpu")),
    ("params", 3, Placement("cpu", "cpu")),
])
def test_offloaded_bytes_are_the_plan_s(mode, stage, placement):
    settings = replace(EXACT, offload=mode, stage=stage)
    plan = offload_plan(SmallModel(settings).num_params, 4, stage, placement)
    run = simulate(settings)
    for tier in ("device", "cpu"):
        expected = {row.category: row.num_bytes for row in plan.rows if row.tier == tier and not row.extra}
        assert {name: size for name, size in run.persistent_bytes(0, tier).items() if size} == expected


def test_reserved_bytes_never_fall_and_cover_what_is_live():
    run = simulate()
    for rank in range(4):
        reserved = [event.reserved_bytes for event in run.events_of(rank) if event.step >= 0]
        assert reserved == sorted(reserved)
        assert all(event.reserved_bytes >= event.live_bytes for event in run.events_of(rank))


def test_out_of_memory_names_instant_request_meters_and_what_was_live():
    fits = simulate(dp_size=2).peak()
    run = simulate(dp_size=2, device_bytes="60 MB")
    report = run.out_of_memory
    assert report["device_bytes"] == 60_000_000 < fits.num_bytes + report["request_bytes"] + 20 * 2**20
    assert report["allocated_bytes"] <= report["reserved_bytes"] <= 60_000_000
    assert sum(report["live"].values()) == report["live_bytes"] <= report["allocated_bytes"]
    last = run.events[-1]
    assert (last.event, last.rank, last.tensor, last.num_bytes) == ("out_of_memory", report["rank"], report["tensor"],
                                                                    report["request_bytes"])
    text = out_of_memory_text(report)
    for part in (report["instant"], report["tensor"], "activations", "60 MB", "reserved"):
        assert part in text
    assert str(run) == text
    assert len(run.steps) < 2


def test_a_layer_larger_than_the_device_ends_where_it_is_laid_out():
    run = simulate(stage=0, device_bytes="1 MiB")
    assert run.out_of_memory["step"] == -1 and run.steps == ()
    assert run.as_dict()["out_of_memory"]["tensor"] == "embed.weight"


def test_a_device_just_large_enough_is_enough():
    reserved = max(event.reserved_bytes for event in simulate().events)
    assert simulate(device_bytes=reserved).out_of_memory is None


def test_a_row_of_a_recipe_of_ones_own_is_laid_out():
    rows = (RecipeRow("params", "bf16", 2, 3), RecipeRow("grads", "fp32", 4, 2), RecipeRow("exp_avg", "fp32", 4, 1),
            RecipeRow("exp_avg_sq", "bf16", 2, 1))
    run = simulate(EXACT, recipe=Recipe("mine", rows, "test", "test"), stage=2, dp_size=2)
    numel = SmallModel(EXACT).num_params
    assert run.persistent_bytes(0) == {"params": 2 * numel, "grads": 2 * numel, "exp_avg": 2 * numel, "exp_avg_sq": numel}


def test_peak_is_the_highest_of_its_instants():
    settings = Settings(num_steps=1)
    found = peak(predicted_instants(settings, (6,)))
    assert found.num_bytes == max(instant.num_bytes for instant in predicted_instants(settings, (6,)))
