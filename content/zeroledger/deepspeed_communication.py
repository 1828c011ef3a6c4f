"""What DeepSpeed 0.19 really sends in one optimizer step, which is not what the ZeRO paper counts.

Stages 1 and 2 reduce with an *all-reduce* unless ``use_multi_rank_bucket_allreduce`` is off, so they put 3Ψ on the
wire where the paper says 2Ψ. Stage 3 keeps weights that it will need again soon, so a small model is gathered once a
step and not twice (``deepspeed_stage3``). Rules read in deepspeed/runtime/zero and checked against measured calls.
"""

from .collectives import CollectiveRow, Communication
from .errors import InvalidInput, check_count, check_flag, check_stage
from .frameworks import REDUCE_BUCKET_NUMEL
from .sharding import flat_shards, hybrid_group, stage3_shards
from .wrapping import as_tensors, execution_order

SOURCE = "DeepSpeed 0.19.8, measured on CPU with gloo; deepspeed/runtime/zero/stage_1_and_2.py and stage3.py"


def deepspeed(tensors, dp_size, stage, *, dtype="bf16", reduce_dtype=None, gradient_accumulation_steps=1,
              reduce_bucket_numel=REDUCE_BUCKET_NUMEL, reduce_scatter=True, multi_rank_bucket_allreduce=True,
              overlap_comm=False, fetch=None, secondary_shard_size=None, shard_group_size=None, tied=None):
    """The ``Communication`` of one optimizer step under DeepSpeed ``stage`` with default settings.

    ``reduce_dtype`` is ``communication_data_type`` (None: ``dtype``); ``reduce_bucket_numel`` counts elements;
    ``overlap_comm`` makes stage 1 bucket gradients as they become ready, not in the order of registration;
    ``fetch`` is a ``deepspeed_stage3.FetchLimits`` (stage 3 only). ``secondary_shard_size`` is ZeRO++'s
    ``zero_hpz_partition_size``: backward gathers within groups of that many ranks (arXiv:2306.10209 sec. 3.2).
    ``shard_group_size`` is ``mics_shard_size``: everything is sharded over that many ranks, and an all-reduce of the
    shards over the replicas ends a step (arXiv:2205.00119 sec. 3.4). Both are read from their papers, not measured.
    ``tied`` is (module, tensor name) of each module that uses another's tensor (None: the tied head a model states).
    Raises ``InvalidInput``.
    """
    model, tensors = tensors, as_tensors(tensors)
    dp_size, stage = check_count("dp_size", dp_size), check_stage(stage)
    steps = check_count("gradient_accumulation_steps", gradient_accumulation_steps)
    for field, value in (("fetch", fetch), ("secondary_shard_size", secondary_shard_size),
                         ("shard_group_size", shard_group_size)):
        if value is not None and stage != 3:
            raise InvalidInput(field, value, "None below stage 3, which alone shards and gathers parameters")
    check_flag("reduce_scatter", reduce_scatter)
    check_flag("multi_rank_bucket_allreduce", multi_rank_bucket_allreduce)
    check_flag("overlap_comm", overlap_comm)
    reduce_dtype = reduce_dtype or dtype
    if stage == 0:
        rows = _stage0(tensors, dp_size, reduce_dtype)
    elif stage < 3:
        ready = tensors[::-1] if stage == 1 and not overlap_comm else execution_order(tensors)
        buckets = buckets_of(reversed(ready), reduce_bucket_numel)
        calls = _reduce_calls(tensors, buckets, dp_size, reduce_bucket_numel, reduce_scatter, multi_rank_bucket_allreduce)
        op = "reduce" if reduce_scatter and not multi_rank_bucket_allreduce else "all_reduce"
        rows = _stage12(tensors, dp_size, 1 if stage == 1 else steps, op, calls, reduce_dtype, dtype)
    else:
        from .deepspeed_stage3 import stage3_rows, tied_head

        shards, replicas = hybrid_group(dp_size, dp_size if shard_group_size is None else shard_group_size)
        if secondary_shard_size is not None:
            hybrid_group(shards, secondary_shard_size)  # must divide
        rows = stage3_rows(tensors, shards, steps, reduce_dtype, dtype, reduce_bucket_numel, fetch, secondary_shard_size,
                           tied_head(model) if tied is None else tied)
        if replicas > 1:
            rows += (_replica_reduction(tensors, shards, replicas, reduce_dtype),)
    return Communication(f"DeepSpeed stage {stage}", rows, SOURCE)


def _replica_reduction(tensors, shards, replicas, dtype):
    """The all-reduce of one rank's gradient shards over the copies of the model, once a step; calls are not modelled."""
    numel = stage3_shards(tensors, shards)[0].stored_numel
    return CollectiveRow("all_reduce", "replicate", replicas, None, numel, dtype, "grads", "step")


def reduce_buckets(tensors, bucket_numel=REDUCE_BUCKET_NUMEL):
    """Gradients as DeepSpeed buckets them while backward makes them ready: a tuple of tuples of tensors."""
    return buckets_of(reversed(execution_order(tensors)), bucket_numel)


def buckets_of(ordered, bucket_numel):
    """``ordered`` tensors cut into buckets: one is reduced before a tensor that would overfill it, so a tensor larger
    than ``bucket_numel`` elements goes alone."""
    limit = check_count("reduce_bucket_numel", bucket_numel)
    buckets, current, filled = [], [], 0
    for tensor in ordered:
        if current and filled + tensor.numel > limit:
            buckets.append(tuple(current))
            current, filled = [], 0
        current.append(tensor)
        filled += tensor.numel
    return tuple(buckets + [tuple(current)])


def _stage0(tensors, dp_size, dtype):
    """Plain data parallelism: gradients in buffers that close once they exceed 500 M elements, after accumulation."""
    calls, filled = 0, 0
    for tensor in tensors:
        filled += tensor.numel
        if filled > REDUCE_BUCKET_NUMEL:
            calls, filled = calls + 1, 0
    numel = sum(tensor.numel for tensor in tensors)
    return (CollectiveRow("all_reduce", "dp", dp_size, calls + (filled > 0), numel, dtype, "grads", "step"),)


def _stage12(tensors, dp_size, reduced, op, calls, reduce_dtype, dtype):
    """``calls`` bucket reductions, ``reduced`` times a step, and one all-gather of the flat parameter buffer."""
    numel = sum(tensor.numel for tensor in tensors)
    padded = dp_size * flat_shards(tensors, dp_size)[0].stored_numel
    rows = [CollectiveRow(op, "dp", dp_size, reduced * calls, reduced * numel, reduce_dtype, "grads", "backward")]
    if dp_size > 1:  # DeepSpeed returns at once when nobody else holds a part
        rows.append(CollectiveRow("all_gather", "dp", dp_size, 1, padded, dtype, "params", "step"))
    return tuple(rows)


def _reduce_calls(tensors, buckets, dp_size, bucket_numel, reduce_scatter, multi_rank):
    """Calls for one round of ``buckets``.

    With ``reduce_scatter`` a bucket is cut where the owners of the flat buffer change. Owners then get a reduce each,
    or the pieces are all-reduced together, a call whenever they exceed the bucket (which only a large tensor's can).
    """
    if not reduce_scatter:
        return len(buckets)
    pieces = _owned_pieces(tensors, dp_size)
    calls = 0
    for bucket in buckets:
        owned = [piece for tensor in bucket for piece in pieces[id(tensor)]]
        if not multi_rank:
            calls += len({owner for owner, _ in owned})
            continue
        filled = 0
        for _, numel in owned:
            filled += numel
            if filled > bucket_numel:
                calls, filled = calls + 1, 0
        calls += filled > 0
    return calls


def _owned_pieces(tensors, dp_size):
    """For each tensor (by ``id``) the (owner, elements) of its pieces in the flat buffer, in order."""
    share = flat_shards(tensors, dp_size)[0].stored_numel
    pieces, at = {}, 0
    for tensor in tensors:
        end, cut = at + tensor.numel, []
        while at < end:
            owner = at // share
            numel = min(end, (owner + 1) * share) - at
            cut.append((owner, numel))
            at += numel
        pieces[id(tensor)] = cut
    return pieces
