"""What data parallelism sends in one optimizer step: ZeRO as the paper counts it, DDP, ZeroRedundancyOptimizer, FSDP2.

Each function returns a ``collectives.Communication``. DeepSpeed's real calls are in ``deepspeed_communication``,
tensor, pipeline and expert parallelism in ``model_parallel_communication``.
"""

from .collectives import CollectiveRow, Communication
from .dtypes import dtype_bytes
from .errors import InvalidInput, check_count, check_flag, check_stage
from .units import MIB
from .wrapping import as_tensors, execution_order, wrap_units

PAPER = "arXiv:1910.02054 sec. 7"
TORCH = "PyTorch 2.13.0, measured (payloads counted by a wrapped process group)"
DDP_FIRST_BUCKET_BYTES = 1 * MIB  # torch.nn.parallel.DistributedDataParallel: the first bucket is small …
DDP_BUCKET_BYTES = 25 * MIB  # … and the others hold bucket_cap_mb
LARGE_GROUP_FACTOR = {"all_reduce": 2}  # elements sent per element as the group grows; 1 for the others


def zero_paper(num_params, dp_size, stage, dtype="bf16", gradient_accumulation_steps=1):
    """ZeRO ``stage`` as the paper describes it: 2Ψ elements on the wire for stages 0–2, 3Ψ for stage 3.

    Under accumulation stages 0 and 1 reduce once a step; stages 2 and 3 keep no whole gradient and reduce after every
    micro-batch; stage 3 gathers for every pass. (The paper itself does not discuss accumulation.)
    """
    num_params = check_count("num_params", num_params)
    stage = check_stage(stage)
    micro_batches = check_count("gradient_accumulation_steps", gradient_accumulation_steps)

    def row(op, times, payload, phase):
        return CollectiveRow(op, "dp", check_count("dp_size", dp_size), None, times * num_params, dtype, payload, phase)

    reduce_scatter = row("reduce_scatter", micro_batches if stage >= 2 else 1, "grads", "backward")
    if stage == 0:
        rows = (row("all_reduce", 1, "grads", "backward"),)
    elif stage < 3:
        rows = (reduce_scatter, row("all_gather", 1, "params", "step"))
    else:
        rows = (row("all_gather", micro_batches, "params", "forward"),
                row("all_gather", micro_batches, "params", "backward"), reduce_scatter)
    return Communication(f"ZeRO stage {stage}, as published", rows, PAPER)


def large_group_numel(communication):
    """Elements each rank sends when groups are large, the paper's "Ψ count": an all-reduce counts twice."""
    return sum(LARGE_GROUP_FACTOR.get(row.op, 1) * row.numel for row in communication.rows)


def ddp(tensors, dp_size, grad_dtype="fp32", gradient_accumulation_steps=1, no_sync=True, bucket_bytes=DDP_BUCKET_BYTES):
    """DistributedDataParallel: one all-reduce a bucket.

    ``no_sync`` leaves out the reduction after all but the last micro-batch, as accelerate, Lightning and the Trainer
    do; plain torch without the ``no_sync()`` context reduces every time.
    """
    tensors = as_tensors(tensors)
    times = _syncs(gradient_accumulation_steps, no_sync)
    calls = len(ddp_buckets(tensors, grad_dtype, bucket_bytes))
    numel = sum(tensor.numel for tensor in tensors)
    row = CollectiveRow("all_reduce", "dp", check_count("dp_size", dp_size), times * calls, times * numel, grad_dtype,
                        "grads", "backward")
    return Communication("DDP", (row,), TORCH)


def ddp_buckets(tensors, grad_dtype="fp32", bucket_bytes=DDP_BUCKET_BYTES):
    """Elements of each DDP bucket, in the order they are reduced: from the second step on, as gradients become ready.

    A bucket closes with the tensor that makes it reach its size, so buckets may exceed it. Source:
    torch/csrc/distributed/c10d/reducer.cpp, ``compute_bucket_assignment_by_size`` and ``rebuild_buckets``.
    """
    item_bytes = dtype_bytes(grad_dtype, "grad_dtype")
    limits = (min(DDP_FIRST_BUCKET_BYTES, check_count("bucket_bytes", bucket_bytes)), bucket_bytes)
    buckets, open_numel = [], 0
    for tensor in reversed(execution_order(tensors)):
        open_numel += tensor.numel
        if open_numel * item_bytes >= limits[bool(buckets)]:
            buckets.append(open_numel)
            open_numel = 0
    return tuple(buckets + [open_numel] * (open_numel > 0))


def zero_redundancy_optimizer(tensors, dp_size, dtype="fp32", gradient_accumulation_steps=1, no_sync=True):
    """torch's ZeroRedundancyOptimizer around DDP: DDP's all-reduce, then one broadcast a tensor from its owner."""
    tensors = as_tensors(tensors)
    reduced = ddp(tensors, dp_size, dtype, gradient_accumulation_steps, no_sync)
    numel = sum(tensor.numel for tensor in tensors)
    sent = CollectiveRow("broadcast", "dp", dp_size, len(tensors), numel, dtype, "params", "step")
    return Communication("ZeroRedundancyOptimizer", reduced.rows + (sent,), TORCH)


def fsdp2(tensors, dp_size, reshard_after_forward=None, param_dtype="bf16", reduce_dtype="fp32", wrap="layer",
          gradient_accumulation_steps=1, no_sync=False, replicate_size=1):
    """FSDP2 (``fully_shard``) over ``dp_size`` ranks: gathers and reductions of tensors padded on dimension 0.

    ``reshard_after_forward``: True or False for every unit, None for torch's default (all but the root), or a number of
    ranks that must divide ``dp_size``: backward then gathers within groups of that many. ``no_sync`` reduces only after
    the last micro-batch (``set_requires_gradient_sync(False)``); gathers stay. ``replicate_size`` > 1 is HSDP: an
    all-reduce of each shard over that many replicas follows.
    """
    dp_size = check_count("dp_size", dp_size)
    units = wrap_units(tensors, wrap)
    micro_batches = check_count("gradient_accumulation_steps", gradient_accumulation_steps)
    syncs = _syncs(micro_batches, no_sync)
    regathered, group, ranks = _backward_gather(units, reshard_after_forward, dp_size)
    padded = sum(unit.padded_numel(dp_size) for unit in units)
    again = sum(unit.padded_numel(dp_size) for unit in regathered)

    rows = [CollectiveRow("all_gather", "dp", dp_size, micro_batches * len(units), micro_batches * padded, param_dtype,
                          "params", "forward")]
    if regathered:
        rows.append(CollectiveRow("all_gather", group, ranks, micro_batches * len(regathered), micro_batches * again,
                                  param_dtype, "params", "backward"))
    rows.append(CollectiveRow("reduce_scatter", "dp", dp_size, syncs * len(units), syncs * padded, reduce_dtype, "grads",
                              "backward"))
    if dp_size == 1:
        rows = []  # FSDP2 calls nothing where nobody else holds a part (counted, torch 2.13)
    if check_count("replicate_size", replicate_size) > 1:
        rows.append(CollectiveRow("all_reduce", "replicate", replicate_size, syncs * len(units),
                                  syncs * padded // dp_size, reduce_dtype, "grads", "backward"))
    return Communication("HSDP" if replicate_size > 1 else "FSDP2", tuple(rows), TORCH)


def _backward_gather(units, reshard_after_forward, dp_size):
    """Units gathered again for backward, and the group and number of ranks that hold their shards by then."""
    if reshard_after_forward is None:
        return tuple(unit for unit in units if not unit.is_root), "dp", dp_size
    if isinstance(reshard_after_forward, bool):
        return (units if reshard_after_forward else ()), "dp", dp_size
    ranks = check_count("reshard_after_forward", reshard_after_forward, 1, dp_size)
    if dp_size % ranks:
        raise InvalidInput("reshard_after_forward", ranks, f"True, False, None, or a divisor of dp_size {dp_size}")
    return units, "reshard", ranks


def _syncs(gradient_accumulation_steps, no_sync):
    """How many micro-batches of a step end in a reduction."""
    steps = check_count("gradient_accumulation_steps", gradient_accumulation_steps)
    return 1 if check_flag("no_sync", no_sync) else steps
