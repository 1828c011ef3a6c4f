"""Persistent bytes per rank as PyTorch and DeepSpeed really hold them between steps, by their own sharding rules.

Each function takes the model's tensors (``Tensor`` objects or plain shapes) and returns one dict a rank, {account:
bytes}. Measured on CPU with gloo, PyTorch 2.13.0 and DeepSpeed 0.19.8; tests/test_frameworks.py holds the readings.
"""

from .errors import InvalidInput, check_choice, check_count, check_flag, check_stage
from .sharding import (PERSISTENCE_THRESHOLD, fsdp2_shards, fsdp2_unsharded_numel, numel_of, sizes_of,
                       zero_redundancy_shards)

DTYPE_BYTES = {"fp32": 4, "bf16": 2, "fp16": 2}
STEP_BYTES = 4  # Adam's step counter, an fp32 scalar for each tensor it updates
REDUCE_BUCKET_NUMEL = 500_000_000  # DeepSpeed's reduce_bucket_size, in elements


def ddp_states(tensors, num_ranks, dtype="fp32"):
    """DDP with Adam: everything whole on every rank in ``dtype``, and gradient buckets as large as the gradients.

    With ``gradient_as_bucket_view`` the gradients live in the buckets (``ddp_bucket`` is then not extra).
    """
    shapes = sizes_of(tensors)
    size = check_choice("dtype", dtype, DTYPE_BYTES) and DTYPE_BYTES[dtype]
    whole = size * sum(map(numel_of, shapes))
    states = {"param": whole, "param_storage": whole, "grad": whole, "grad_storage": whole, "exp_avg": whole,
              "exp_avg_sq": whole, "step": STEP_BYTES * len(shapes), "ddp_bucket": whole}
    return tuple(dict(states) for _ in range(check_count("num_ranks", num_ranks)))


def zero_redundancy_states(tensors, num_ranks, dtype="fp32"):
    """DDP with ``ZeroRedundancyOptimizer`` (Adam): as DDP, but moments only of the tensors the rank owns."""
    states = ddp_states(tensors, num_ranks, dtype)
    size = DTYPE_BYTES[dtype]
    return tuple(each | {"exp_avg": size * shard.numel, "exp_avg_sq": size * shard.numel,
                         "step": STEP_BYTES * shard.num_tensors}
                 for each, shard in zip(states, zero_redundancy_shards(tensors, num_ranks)))


def fsdp2_states(tensors, num_ranks, dtype="fp32"):
    """FSDP2 with Adam: padded parameters and gradients, unpadded moments, all in the *original* ``dtype``.

    A bf16 mixed-precision policy does not change them: it only decides what is gathered and reduced.
    """
    size = check_choice("dtype", dtype, DTYPE_BYTES) and DTYPE_BYTES[dtype]
    return tuple({"param": size * shard.numel, "param_storage": size * shard.stored_numel, "grad": size * shard.numel,
                  "grad_storage": size * shard.stored_numel, "exp_avg": size * shard.numel,
                  "exp_avg_sq": size * shard.numel, "step": STEP_BYTES * shard.num_tensors}
                 for shard in fsdp2_shards(tensors, num_ranks))


def fsdp2_unsharded_bytes(units, num_ranks, reshard, dtype="fp32"):
    """Bytes of parameters that FSDP2 leaves gathered after forward.

    ``units``: lists of tensors, the root's first (what no inner unit claims). ``reshard`` is what fully_shard was
    given: "always" frees every unit, "never" none, "default" (None) all but the root. ``dtype`` is the policy's
    ``param_dtype``.
    """
    check_choice("reshard", reshard, ("always", "never", "default"))
    size = check_choice("dtype", dtype, DTYPE_BYTES) and DTYPE_BYTES[dtype]
    kept = {"always": [], "never": units, "default": units[:1]}[reshard]
    return sum(size * fsdp2_unsharded_numel(unit, num_ranks) for unit in kept)


def unsynchronised_gradient_bytes(tensors, dtype="fp32"):
    """Bytes of gradients each rank, of any number, keeps between micro-batches when synchronisation is skipped.

    ``dtype`` is the reduce dtype. DDP's ``no_sync`` and FSDP2's ``set_requires_gradient_sync(False)`` both do this.
    """
    size = check_choice("dtype", dtype, DTYPE_BYTES) and DTYPE_BYTES[dtype]
    return size * sum(map(numel_of, sizes_of(tensors)))


def deepspeed_states(tensors, num_ranks, stage, instant="after_backward", grad_accum_dtype="bf16",
                     persistence_threshold=PERSISTENCE_THRESHOLD, reduce_bucket_numel=REDUCE_BUCKET_NUMEL):
    """DeepSpeed bf16 with Adam at ZeRO ``stage``, per rank.

    ``instant``: "after_backward" (of the last micro-batch), "after_micro_batch" (of an earlier one), "after_step".
    ``grad_accum_dtype`` fp32 accumulates gradients in fp32 (``data_types.grad_accum_dtype``; stages 1 to 3).
    ``persistence_threshold`` and ``reduce_bucket_numel`` are elements. Raises ``InvalidInput``.
    """
    check_choice("instant", instant, ("after_backward", "after_micro_batch", "after_step"))
    check_choice("grad_accum_dtype", grad_accum_dtype, ("bf16", "fp32"))
    stage, ranks = check_stage(stage), check_count("num_ranks", num_ranks)
    bucket = 2 * check_count("reduce_bucket_numel", reduce_bucket_numel)
    shapes = sizes_of(tensors)
    if grad_accum_dtype == "fp32" and stage == 0:
        raise InvalidInput("grad_accum_dtype", grad_accum_dtype, "bf16 at stage 0 (fp32 was not measured there)")
    from . import deepspeed_accounts as accounts

    if stage == 0:
        return accounts.stage0(shapes, ranks, instant)
    if stage == 3:
        return accounts.stage3(shapes, ranks, instant, persistence_threshold, bucket, DTYPE_BYTES[grad_accum_dtype])
    if grad_accum_dtype == "fp32":
        return accounts.fp32_gradients(shapes, ranks, stage, instant)
    return accounts.stage1_or_2(shapes, ranks, stage, instant, bucket)
