"""How frameworks really cut parameters over ranks, tensor by tensor. Counts are elements.

The ideal P/N is a bound that none of them meets exactly: FSDP2 cuts every tensor on its first dimension, PyTorch's
ZeroRedundancyOptimizer hands out whole tensors, DeepSpeed 1 and 2 cut one flat buffer, DeepSpeed 3 each tensor.
All rules here reproduce bytes measured with PyTorch 2.13.0 and DeepSpeed 0.19.8 (see tests/test_sharding.py).
"""

from dataclasses import dataclass
from math import prod

from .errors import InvalidInput, ceil_div, check_count

PERSISTENCE_THRESHOLD = 100_000  # DeepSpeed's stage3_param_persistence_threshold, in elements


@dataclass(frozen=True)
class Shard:
    """One rank's part: ``numel`` real elements, ``stored_numel`` with padding, in ``num_tensors`` tensors."""

    numel: int
    stored_numel: int
    num_tensors: int


def sizes_of(tensors):
    """The shapes of ``tensors`` as tuples of lengths; accepts ``Tensor`` objects and plain shapes.

    Raises ``InvalidInput`` for an empty list, a scalar or a length that is not a whole number above 0.
    """
    try:
        shapes = [tuple(getattr(tensor, "shape", tensor)) for tensor in tensors]
    except TypeError:
        raise InvalidInput("tensors", tensors, "a list of tensors or shapes such as (4096, 4096)") from None
    if not shapes:
        raise InvalidInput("tensors", tensors, "at least one tensor")
    for shape in shapes:
        if not shape:
            raise InvalidInput("shape", shape, "one dimension or more (frameworks refuse to shard scalars)")
        for length in shape:
            check_count("length", length)
    return shapes


def numel_of(shape):
    """Elements of a tensor of lengths ``shape``."""
    return prod(shape)


def ideal_shards(tensors, num_shards):
    """P/N, the last ranks one element short where it does not divide: what the ledger counts."""
    total = sum(map(numel_of, sizes_of(tensors)))
    num_shards = check_count("num_shards", num_shards)
    even = ceil_div(total, num_shards)
    return tuple(Shard(max(0, min(even, total - rank * even)), even, 1) for rank in range(num_shards))


def fsdp2_shards(tensors, num_shards):
    """FSDP2: ceil(d0/N) rows of each tensor to a rank; the last ranks get what is left, perhaps nothing.

    Parameters and gradients live in storage padded to the largest chunk on *every* rank (``stored_numel``); optimizer
    states are made for ``numel`` only.
    """
    shapes = sizes_of(tensors)
    num_shards = check_count("num_shards", num_shards)
    held = [0] * num_shards
    stored = 0
    for first, *rest in shapes:
        row, chunk = numel_of(rest), ceil_div(first, num_shards)
        stored += chunk * row
        full = first // chunk  # ranks with a whole chunk; the next one gets the remainder
        for rank in range(min(full, num_shards)):
            held[rank] += chunk * row
        if full < num_shards:
            held[full] += (first - full * chunk) * row
    return tuple(Shard(numel, stored, len(shapes)) for numel in held)


def fsdp2_unsharded_numel(tensors, num_shards):
    """Elements of the gathered tensors of one FSDP2 unit, padding included: N × the padded chunk."""
    return check_count("num_shards", num_shards) * fsdp2_shards(tensors, num_shards)[0].stored_numel


def zero_redundancy_shards(tensors, num_shards):
    """PyTorch's ZeroRedundancyOptimizer: whole tensors, largest first, each to the rank that holds least."""
    num_shards = check_count("num_shards", num_shards)
    held, count = [0] * num_shards, [0] * num_shards
    for numel in sorted(map(numel_of, sizes_of(tensors)), reverse=True):
        rank = held.index(min(held))
        held[rank] += numel
        count[rank] += 1
    return tuple(map(Shard, held, held, count))


def flat_shards(tensors, num_shards):
    """DeepSpeed ZeRO-1 and 2: all tensors end to end, padded to a multiple of 2N elements, cut evenly.

    The alignment is ``nccl_start_alignment_factor`` (2) times the number of ranks.
    """
    total = sum(map(numel_of, sizes_of(tensors)))
    num_shards = check_count("num_shards", num_shards)
    part = 2 * ceil_div(total, 2 * num_shards)
    return tuple(Shard(max(0, min(part, total - rank * part)), part, 1) for rank in range(num_shards))


def flat_gradient_numels(tensors, num_shards):
    """Gradient elements each rank keeps after backward in DeepSpeed ZeRO-1 and 2.

    Gradients stay whole tensors: a rank keeps every tensor that touches its part, so those on a border are kept twice.
    """
    shapes = sizes_of(tensors)
    part = flat_shards(shapes, num_shards)[0].stored_numel
    kept, start = [0] * num_shards, 0
    for numel in map(numel_of, shapes):
        for rank in range(start // part, (start + numel - 1) // part + 1):
            kept[rank] += numel
        start += numel
    return tuple(kept)


def stage3_shards(tensors, num_shards):
    """DeepSpeed ZeRO-3: ceil(numel/N) elements of each tensor on every rank; the padding is stored everywhere."""
    shapes = sizes_of(tensors)
    num_shards = check_count("num_shards", num_shards)
    stored = sum(ceil_div(numel_of(shape), num_shards) for shape in shapes)
    held = [0] * num_shards
    for numel in map(numel_of, shapes):
        part = ceil_div(numel, num_shards)
        for rank in range(ceil_div(numel, part)):
            held[rank] += min(part, numel - rank * part)
    return tuple(Shard(numel, stored, len(shapes)) for numel in held)


def persistent_numel(tensors, threshold=PERSISTENCE_THRESHOLD, model_threshold=None, num_shards=1):
    """Elements that DeepSpeed ZeRO-3 leaves gathered on every rank: tensors of at most ``threshold`` elements.

    They come on top of the shards, and are stored as gathered: each padded to a multiple of ``num_shards`` (measured,
    DeepSpeed 0.19.8). ``model_threshold`` (None: no limit) bounds their unpadded sum, in the order of the tensors.
    """
    threshold = check_count("threshold", threshold, 0)
    limit = None if model_threshold is None else check_count("model_threshold", model_threshold, 0)
    num_shards = check_count("num_shards", num_shards)
    total = stored = 0
    for numel in map(numel_of, sizes_of(tensors)):
        if numel <= threshold and (limit is None or total + numel <= limit):
            total += numel
            stored += num_shards * ceil_div(numel, num_shards)
    return stored


def hybrid_group(world_size, shard_size, field="shard_size"):
    """(``shard_size``, replicas): ranks that share one copy, and how many copies there are.

    FSDP's HSDP and MiCS shard everything over a group smaller than the world; ZeRO++ hpZ only its second copy of the
    parameters. Raises ``InvalidInput`` naming both numbers when the group does not divide the world.
    """
    world_size = check_count("world_size", world_size)
    shard_size = check_count(field, shard_size)
    if world_size % shard_size:
        raise InvalidInput(field, shard_size, f"a divisor of the {world_size} ranks")
    return shard_size, world_size // shard_size
