"""Sharded runs train exactly as one rank does, and the hand-written backward passes are right."""

from dataclasses import replace
from functools import lru_cache
from itertools import product

import pytest

from zeroledger.simulate import Settings, baseline, simulate
from zeroledger.simulate import training_loop
from zeroledger.simulate.arithmetic import GRID, as_bf16, as_fp16, as_fp32, on_grid
from zeroledger.simulate.batches import global_batch, micro_batches
from zeroledger.simulate.layers import cross_entropy, cross_entropy_grad
from zeroledger.simulate.model import initial_weights, layers_of

SMALL = Settings(num_layers=2, num_steps=2)


@lru_cache(maxsize=None)
def one_rank(settings):
    return baseline(settings)


def same_training(settings):
    run = simulate(settings)
    # The baseline depends on the global batch and the model alone, so that many layouts share one.
    alone = one_rank(replace(settings.as_baseline(), prefetch_depth=0, reduce_bucket_numel=1, overlap=True,
                             recompute="none", sharding="even"))
    assert run.weights == alone.weights
    assert run.losses == alone.losses
    assert [step.gradients for step in run.steps] == [step.gradients for step in alone.steps]


@pytest.mark.parametrize("stage", range(4))
@pytest.mark.parametrize("dp_size", [1, 2, 3, 4])
@pytest.mark.parametrize("model", ["mlp", "transformer"])
def test_equal_to_one_rank_bit_for_bit(stage, dp_size, model):
    depths = (0, 1, 3) if stage == 3 else (1,)
    offloads = {0: ("none",), 3: ("none", "optimizer", "params")}.get(stage, ("none", "optimizer"))
    recomputes = ("none", "full") if model == "mlp" else ("none", "selective", "full")
    grid = list(product(depths, (1, 2_000_000, 10**9), recomputes, offloads, (1, 2)))
    # The four numbers of ranks take turns: together they cover the whole grid of schedules.
    grid = grid[dp_size % 4::4 if model == "mlp" else 11]
    for depth, bucket, recompute, offload, accumulation in grid:
        same_training(replace(SMALL, model=model, stage=stage, dp_size=dp_size, prefetch_depth=depth, offload=offload,
                              reduce_bucket_numel=bucket, recompute=recompute, num_steps=1 + (depth == 1),
                              gradient_accumulation_steps=accumulation))


@pytest.mark.parametrize("change", [
    {"sharding": "rows", "dp_size": 3}, {"sharding": "rows", "dp_size": 7}, {"overlap": False}, {"dp_size": 16},
    {"recipe": "megatron-bf16"}, {"recipe": "adam-fp32"}, {"seed": 5, "num_steps": 5}, {"micro_batch_size": 3},
    {"unequal_lengths": False}, {"scale": 1}, {"num_layers": 5, "prefetch_depth": 9},
], ids=str)
@pytest.mark.parametrize("stage", [0, 1, 2, 3])
def test_other_settings_are_equal_too(change, stage):
    same_training(replace(SMALL, stage=stage, **change))


def test_cutting_the_global_batch_differently_changes_nothing():
    runs = [simulate(SMALL, dp_size=ranks, gradient_accumulation_steps=steps, micro_batch_size=size)
            for ranks, steps, size in ((1, 1, 12), (1, 12, 1), (2, 3, 2), (3, 2, 2), (12, 1, 1))]
    assert all(run.weights == runs[0].weights for run in runs)


def test_ranks_see_every_sample_once():
    settings = Settings(dp_size=3, gradient_accumulation_steps=2, micro_batch_size=2)
    spread = [sample for batch in micro_batches(settings, 0) for samples in batch for sample in samples]
    assert sorted(spread) == sorted(global_batch(settings, 0)) and len(spread) == 12


def test_a_rank_at_stage_3_holds_only_its_piece():
    held = []

    def spying_step(ranks, batches):
        training_loop.train_step(ranks, batches)
        held.extend(len(values) for rank in ranks.ranks for values in rank.params.values())
        assert all(not rank.whole and not rank.unreduced for rank in ranks.ranks)

    run = simulate(SMALL, num_steps=1, train_step=spying_step)
    assert sum(held) == sum(map(len, run.weights.values()))


@pytest.mark.parametrize("model", ["mlp", "transformer"])
def test_training_learns(model):
    run = simulate(model=model, num_layers=1, num_steps=40, learning_rate=0.02, schedule_steps=60, dp_size=2)
    assert sum(run.losses[-5:]) / 5 < 0.75 * run.losses[0]


@pytest.mark.parametrize("model", ["mlp", "transformer"])
def test_backward_agrees_with_finite_differences(model):
    settings = Settings(model=model, num_layers=2, seed=3)
    layers = layers_of(settings, list)
    weights = initial_weights(settings, layers)
    ids, targets = max(global_batch(settings, 0), key=lambda sample: len(sample[0]))
    grads = gradients_of(layers, weights, ids, targets)
    for name, values in weights.items():
        for index in range(0, len(values), max(1, len(values) // 5)):
            slope = central_difference(layers, weights, name, index, ids, targets)
            assert grads[name][index] == pytest.approx(slope, abs=2e-7), (name, index)


def gradients_of(layers, weights, ids, targets):
    flow, inputs, kept = ids, [], []
    for layer in layers:
        inputs.append(flow)
        flow, names = layer.forward(short(layer, weights), flow)
        kept.append(names)
    grad, found = cross_entropy_grad(flow, targets), {}
    for layer, rows, names in reversed(list(zip(layers, inputs, kept))):
        grad, grads = layer.backward(short(layer, weights), rows, names, grad)
        found.update({f"{layer.name}.{key}": values for key, values in grads.items()})
    return found


def central_difference(layers, weights, name, index, ids, targets, width=1e-5):
    losses = []
    for sign in (1, -1):
        moved = {**weights, name: list(weights[name])}
        moved[name][index] += sign * width
        flow = ids
        for layer in layers:
            flow, _ = layer.forward(short(layer, moved), flow)
        losses.append(cross_entropy(flow, targets))
    return (losses[0] - losses[1]) / (2 * width)


def short(layer, weights):
    return {key: weights[tensor.name] for key, tensor in zip(layer.keys, layer.tensors)}


def test_sums_on_the_grid_do_not_depend_on_their_order():
    from random import Random

    random = Random(1)
    numbers = [on_grid(random.uniform(-50, 50)) for _ in range(100)]
    assert all(number % GRID == 0 for number in numbers)
    total = sum(numbers)
    for _ in range(20):
        random.shuffle(numbers)
        added = 0.0
        for number in numbers:
            added += number
        assert added == total
    assert max(abs(on_grid(value) - value) for value in (random.uniform(-2000, 2000) for _ in range(999))) <= GRID / 2


@pytest.mark.parametrize("cast, number, expected", [
    (as_bf16, 1 + 2**-8, 1.0), (as_bf16, 1 + 2**-7, 1 + 2**-7), (as_bf16, 1 + 3 * 2**-8, 1 + 2**-6), (as_bf16, -3.14159, -3.140625),
    (as_fp16, 1 + 2**-11, 1.0), (as_fp16, 65504.0, 65504.0), (as_fp16, 1e6, float("inf")), (as_fp16, -1e6, float("-inf")),
    (as_fp32, 0.1, 0.10000000149011612), (as_fp32, 1e39, float("inf")), (as_bf16, float("inf"), float("inf")),
])
def test_rounding_to_training_formats(cast, number, expected):
    assert cast([number]) == [expected]


def test_a_loop_of_ones_own_runs_and_its_lines_are_logged():
    source = ("from zeroledger.simulate.training_loop import *\n"
              "def train_step(ranks, micro_batches):\n"
              "    ranks.zero_grads()\n"
              "    for number, batch in enumerate(micro_batches):\n"
              "        ranks.enter_micro_batch(number)\n"
              "        forward(ranks, batch)\n"
              "        backward(ranks, True)\n"
              "    optimizer_step(ranks)\n")
    names = {}
    exec(compile(source, "<cell 1>", "exec"), names)
    run = simulate(SMALL, train_step=names["train_step"])
    assert run.weights == baseline(SMALL).weights
    assert {event.line for event in run.events if event.step == 0} == {6, 7, 8}  # the other lines touch no memory


def test_all_reduce_in_place_of_reduce_scatter_trains_the_same_and_sends_as_much_again():
    def step(ranks, batches):
        ranks.reduce_scatter = ranks.all_reduce
        training_loop.train_step(ranks, batches)

    changed, plain = simulate(SMALL, train_step=step), simulate(SMALL)
    assert changed.weights == plain.weights
    assert changed.collective_numel()["all_reduce"] == plain.collective_numel()["reduce_scatter"]
    assert changed.collective_numel()["reduce_scatter"] == 0
