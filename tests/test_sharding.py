"""The sharding rules: measured examples, and what must hold for any tensors and any number of ranks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_gpt import toy_gpt

from zeroledger import sharding
from zeroledger.errors import InvalidInput

SHAPES = st.lists(st.lists(st.integers(1, 40), min_size=1, max_size=3).map(tuple), min_size=1, max_size=12)
RANKS = st.integers(1, 17)
RULES = (sharding.ideal_shards, sharding.fsdp2_shards, sharding.zero_redundancy_shards, sharding.flat_shards,
         sharding.stage3_shards)


def total(shapes):
    return sum(map(sharding.numel_of, shapes))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@given(shapes=SHAPES, ranks=RANKS)
def test_shards_sum_to_the_whole_plus_padding(rule, shapes, ranks):
    shards = rule(shapes, ranks)
    assert len(shards) == ranks
    assert sum(shard.numel for shard in shards) == total(shapes)
    assert all(0 <= shard.numel <= shard.stored_numel for shard in shards)
    assert sum(shard.stored_numel for shard in shards) >= total(shapes)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@given(shapes=SHAPES)
def test_one_rank_holds_everything(rule, shapes):
    [shard] = rule(shapes, 1)
    assert shard.numel == total(shapes)
    assert shard.stored_numel - shard.numel in (0, 1)  # the flat buffer's alignment


@given(shapes=SHAPES, ranks=RANKS)
def test_padding_is_bounded_by_the_rule(shapes, ranks):
    padding = {rule: sum(shard.stored_numel - shard.numel for shard in rule(shapes, ranks)) for rule in RULES}
    assert padding[sharding.ideal_shards] < ranks
    assert padding[sharding.zero_redundancy_shards] == 0
    assert padding[sharding.flat_shards] < 2 * ranks
    assert padding[sharding.stage3_shards] < ranks * len(shapes)
    assert padding[sharding.fsdp2_shards] <= sum((ranks - 1) * sharding.numel_of(shape[1:]) for shape in shapes)


@given(shapes=SHAPES, ranks=RANKS)
def test_fsdp2_second_derivation(shapes, ranks):
    """Deal the rows out one by one instead of by formula."""
    for rank, shard in enumerate(sharding.fsdp2_shards(shapes, ranks)):
        rows = 0
        for shape in shapes:
            chunk = (shape[0] + ranks - 1) // ranks
            mine = [row for row in range(shape[0]) if row // chunk == rank]
            rows += len(mine) * sharding.numel_of(shape[1:])
        assert rows == shard.numel


@given(shapes=SHAPES, ranks=RANKS)
def test_flat_gradients_second_derivation(shapes, ranks):
    """Mark every element with its tensor and its rank."""
    part = sharding.flat_shards(shapes, ranks)[0].stored_numel
    owners = [tensor for tensor, shape in enumerate(shapes) for _ in range(sharding.numel_of(shape))]
    for rank, kept in enumerate(sharding.flat_gradient_numels(shapes, ranks)):
        touched = set(owners[rank * part:(rank + 1) * part])
        assert kept == sum(sharding.numel_of(shapes[tensor]) for tensor in touched)


@given(shapes=SHAPES, low=st.integers(0, 100), high=st.integers(0, 100))
def test_more_parameters_persist_under_a_higher_threshold(shapes, low, high):
    low, high = sorted((low, high))
    assert sharding.persistent_numel(shapes, low) <= sharding.persistent_numel(shapes, high) <= total(shapes)
    assert sharding.persistent_numel(shapes, 0) == 0
    assert sharding.persistent_numel(shapes, high, model_threshold=low) <= low


def test_a_tensor_with_fewer_rows_than_ranks_leaves_ranks_empty():
    assert [shard.numel for shard in sharding.fsdp2_shards([(3, 5)], 4)] == [5, 5, 5, 0]
    assert [shard.numel for shard in sharding.fsdp2_shards([(5, 1)], 4)] == [2, 2, 1, 0]


def test_zero_redundancy_optimizer_is_uneven():
    """Measured on four ranks: 270336 elements on one, 264448 on each of the others, where P/4 is 265920."""
    shapes = [shape for _, shape in toy_gpt("even")]
    assert [shard.numel for shard in sharding.zero_redundancy_shards(shapes, 4)] == [270336, 264448, 264448, 264448]


# Ranks → for each rank (FSDP2 held, stored, Adam moment; ZeroRedundancyOptimizer elements, tensors), as torch 2.13.0
# holds them: tests/torch/measure_shards.py.
AWKWARD = [(7, 5), (2, 3), (9,), (10, 4, 3), (1,), (4, 4), (3, 11)]
MEASURED = {
    2: [(119, 119, 119, 120, 1), (101, 119, 101, 100, 6)],
    3: [(89, 89, 89, 120, 1), (88, 89, 88, 50, 3), (43, 89, 43, 50, 3)],
    5: [(55, 55, 55, 120, 1), (54, 55, 54, 35, 1), (51, 55, 51, 33, 1), (35, 55, 35, 16, 1), (25, 55, 25, 16, 3)],
}


@pytest.mark.parametrize("ranks", MEASURED)
def test_awkward_shapes_as_torch_shards_them(ranks):
    ours = [(cut.numel, cut.stored_numel, cut.numel, owned.numel, owned.num_tensors) for cut, owned in
            zip(sharding.fsdp2_shards(AWKWARD, ranks), sharding.zero_redundancy_shards(AWKWARD, ranks))]
    assert ours == MEASURED[ranks]


@given(st.integers(1, 1000), st.integers(1, 1000))
def test_hybrid_groups_divide_the_world_or_are_refused(world, group):
    if world % group == 0:
        assert sharding.hybrid_group(world, group) == (group, world // group)
    else:
        with pytest.raises(InvalidInput, match=f"{group}.*{world}"):
            sharding.hybrid_group(world, group)


@pytest.mark.parametrize("tensors", [5, None, "ab", [5], [()], [], [(2, 0)], [(2, "3")], [(2, float("nan"))]])
def test_what_is_no_tensor_is_refused(tensors):
    for rule in RULES:
        with pytest.raises(InvalidInput):
            rule(tensors, 2)
