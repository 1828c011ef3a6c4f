"""The accounts of a DeepSpeed bf16 run with Adam, stage by stage, as read from DeepSpeed 0.19.8's live tensors.

Every function returns one dict a rank, {account: bytes}. ``other`` holds scalars: the loss between backward and step
(4 bytes) and the engine's own counters.
"""

from .sharding import flat_gradient_numels, flat_shards, numel_of, persistent_numel, stage3_shards

LOSS_BYTES = 4
STEP_BYTES = 4
COUNTER_BYTES = {0: 0, 1: 4, 2: 4, 3: 9}


def _adam(master_numel, num_steps):
    return {"master_fp32": 4 * master_numel, "optim_step": STEP_BYTES * num_steps, "optim_exp_avg": 4 * master_numel,
            "optim_exp_avg_sq": 4 * master_numel}


def _other(stage, instant):
    return {"other": COUNTER_BYTES[stage] + (0 if instant == "after_step" else LOSS_BYTES)}


def stage0(shapes, ranks, instant):
    """Everything whole on every rank; bf16 gradients until the step."""
    total = sum(map(numel_of, shapes))
    states = {"model_param_bit16": 2 * total} | _adam(total, len(shapes)) | _other(0, instant)
    if instant != "after_step":
        states["grad_p_grad"] = 2 * total
    return tuple(dict(states) for _ in range(ranks))


def stage1_or_2(shapes, ranks, stage, instant, bucket_bytes):
    """Flat optimizer shards. After backward a rank keeps the gradients of the tensors that touch its part.

    Between micro-batches stage 1 still holds whole local gradients and its bucket; stage 2 has already reduced them.
    """
    total = sum(map(numel_of, shapes))
    kept, part = flat_gradient_numels(shapes, ranks), flat_shards(shapes, ranks)[0].stored_numel
    result = []
    for rank in range(ranks):
        states = {"model_param_bit16": 2 * total} | _adam(part, 1) | _other(stage, instant)
        if instant == "after_backward":
            states["grad_averaged_gradients"] = 2 * kept[rank]
        elif instant == "after_micro_batch" and stage == 2:
            states["grad_all_grad_tensors"] = 2 * kept[rank]
        elif instant == "after_micro_batch":
            states |= {"grad_p_grad": 2 * total, "ipg_bucket": bucket_bytes}
        result.append(states)
    return tuple(result)


def fp32_gradients(shapes, ranks, stage, instant):
    """``grad_accum_dtype`` fp32. Stage 2: the rank's own part in fp32. Stage 1 (DeepSpeed's BF16_Optimizer): a *whole*
    fp32 gradient buffer that stays after the step, and the master weights counted among ``other``.
    """
    total, part = sum(map(numel_of, shapes)), flat_shards(shapes, ranks)[0].stored_numel
    states = {"model_param_bit16": 2 * total} | _adam(part, 1) | _other(stage, instant)
    if stage == 2:
        if instant != "after_step":
            states["grad_averaged_gradients"] = 4 * part
        return tuple(dict(states) for _ in range(ranks))
    states["other"] += states.pop("master_fp32")
    states["grad_master_grad"] = 4 * total
    if instant != "after_step":
        states["grad_p_grad"] = 2 * total
    return tuple(dict(states) for _ in range(ranks))


def stage3(shapes, ranks, instant, persistence_threshold, bucket_bytes, gradient_bytes=2):
    """Shards of every tensor, a permanent gradient shard and reduce bucket, and small parameters whole as well.

    On one rank a shard is the parameter itself and is counted once. The gradient shard has ``gradient_bytes`` an
    element: 4 with fp32 accumulation (read in stage3.py, where the buffer takes that dtype; not measured).
    """
    part = stage3_shards(shapes, ranks)[0].stored_numel
    whole = sum(map(numel_of, shapes)) if ranks == 1 else persistent_numel(shapes, persistence_threshold, num_shards=ranks)
    states = {"model_param_bit16": 2 * whole} if whole else {}
    if ranks > 1:
        states["param_shard_ds_tensor"] = 2 * part
    gradient = "grad_param_id_to_grad_partition" if instant == "after_step" else "grad_averaged_gradients"
    states |= _adam(part, 1) | {gradient: gradient_bytes * part, "ipg_bucket": bucket_bytes} | _other(3, instant)
    return tuple(dict(states) for _ in range(ranks))
