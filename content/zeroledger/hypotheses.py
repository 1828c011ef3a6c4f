"""What is known to make a run hold more or less than planned: candidates for a difference, with their bytes.

Each is a signature from a report (numbers are issues). None is fitted: a candidate says how many bytes it would add, and
to which of ``measured.CATEGORIES`` (``OTHER``: to none of them), and whoever reads decides. Keys are stable for pages.
"""

from dataclasses import replace

from .budgets import budget
from .dtypes import dtype_bytes
from .errors import InvalidInput
from .fsdp_timeline import FsdpSettings
from .instants import MemoryRow
from .measured import OTHER, by_category
from .offload import Placement
from .transients import kept_gradient_bytes


def candidates(training, pp_rank, name, predicted, predict):
    """(key, words, {category: bytes more than predicted}) of every hypothesis that applies at an instant; bytes may be
    negative.

    ``name`` is one of ``measured.INSTANT_NAMES``, ``predicted`` the predicted ``Instant``; ``predict(budget)`` gives the
    same instant of another budget.
    """
    accounts = predicted.by_account()
    yield from _weights(training, pp_rank, accounts)
    before_backward = name in ("end_of_forward", "peak_forward") and training.gradient_accumulation_steps == 1
    if name != "after_init" and not before_backward:
        yield from _gradients(training, pp_rank, accounts)
    yield from _optimizer(training, accounts)
    if training.deepspeed:
        yield from _deepspeed(training, predicted, accounts)
    for key, words, fields in _other_settings(training):
        try:
            other = predict(budget(training.changed(**fields)))
        except InvalidInput:
            continue
        yield key, words, _changes(predicted, other)


def _changes(predicted, other):
    """Bytes by category that ``other`` holds more than ``predicted``, where they differ."""
    before, after = by_category(predicted), by_category(other)
    return {category: after[category] - size for category, size in before.items() if after[category] != size}


def _numel(training, pp_rank):
    return sum(tensor.numel for tensor in training.tensors(pp_rank))


def _weights(training, pp_rank, accounts):
    """Signatures of weights that were meant to be elsewhere or in pieces."""
    size = dtype_bytes(training.compute_dtype)
    numel = _numel(training, pp_rank)
    yield ("whole-weights", f"all weights whole on the device: {size}P, whatever the number of ranks (DeepSpeed#4527, #4093)",
           {"params": size * numel - accounts["unsharded_params"], "buffers": -accounts["all_gather"]})
    yield "fp32-weights", "a whole fp32 copy of the weights: 4P (no cast, or loaded in fp32)", {"params": 4 * numel}


def _gradients(training, pp_rank, accounts):
    """Signatures of gradients that stay whole."""
    here, numel = accounts["sharded_grads"] + accounts["unsharded_grads"], _numel(training, pp_rank)
    size = dtype_bytes(training.compute_dtype)
    yield ("whole-gradients", f"gradients kept whole: {size}P for any number of ranks (fairscale#627, tnt#1057)",
           {"grads": kept_gradient_bytes(numel, training.compute_dtype) - here})
    yield ("whole-fp32-gradients", "gradients kept whole in fp32: 4P for any number of ranks (verl#7458, accelerate#2035)",
           {"grads": kept_gradient_bytes(numel) - here})
    shards = training.mesh.dense_shards
    yield ("fp32-gradient-copy", "an fp32 copy of the rank's gradients: 4 bytes a parameter of its part (DeepSpeed#3442)",
           {OTHER: 4 * -(-numel // shards) if training.stage else 4 * numel})


def _optimizer(training, accounts):
    """Signatures of optimizer states missing, doubled or not moved."""
    yield "no-master", "no fp32 master copy (Lightning#18717)", {"optimizer": -accounts["master_params"]}
    yield "extra-master", "a second fp32 copy of the rank's weights", {"optimizer": accounts["master_params"]}
    states = accounts["optimizer_states"]
    yield "no-states-yet", "optimizer states are made in the first step: none yet", {"optimizer": -states}
    yield "16-bit-moments", "moments in 16 bits instead of fp32", {"optimizer": -(states // 2)}
    if training.placement != Placement(pin_memory=training.placement.pin_memory):
        stays = Placement(params=training.placement.params)
        from .engine_states import state_rows, training_ledger

        kept, _ = state_rows(training_ledger(training), stays)
        moved = sum(row.num_bytes for row in kept if row.account in ("master_params", "optimizer_states"))
        yield "states-on-device", "optimizer states on the device in spite of offload", {"optimizer": moved - states}


def _deepspeed(training, predicted, accounts):
    """Signatures of DeepSpeed's constants, the same for every model (BELLE#402, DeepSpeedExamples#123, #336)."""
    bucket = training.deepspeed.reduce_bucket_numel * dtype_bytes(training.compute_dtype)
    words = f"{training.deepspeed.reduce_bucket_numel:,} elements, whatever the model's size"
    if accounts["reduce_scatter"] < bucket:
        yield "reduce-bucket", f"the reduce bucket: {words}", {"buffers": bucket}
    yield "second-bucket", f"a second reduce bucket (overlap_comm): {words}", {"buffers": bucket}
    if training.stage == 3:
        row = next((row for row in predicted.rows if row.what == "gathered and prefetched"), MemoryRow("reserve", "", 0))
        live = min(training.deepspeed.limits.max_live_numel, _numel(training, 0)) * dtype_bytes(training.compute_dtype)
        yield "live-limit", "gathered weights up to stage3_max_live_parameters (DeepSpeed#5305)", {"buffers": live - row.num_bytes}


def _other_settings(training):
    """(key, words, fields): configurations that a run may have had instead."""
    if training.recompute != "none":
        yield "no-recompute", "recompute not in effect", {"recompute": "none"}
    if training.attention == "flash":
        yield "scores-kept", "attention keeps its scores (not the flash kernel; Megatron#525)", {"attention": "eager"}
        yield ("scores-kept-fp32", "attention keeps its scores and their fp32 copy",
               {"attention": "eager-fp32-softmax"})
    if training.loss_chunks > 1:
        yield "whole-logits", "logits not sliced (ms-swift#6966)", {"loss_chunks": 1}
    yield ("half-micro-batch", "half the micro-batch", {"micro_batch_size": max(training.micro_batch_size // 2, 1)})
    yield "double-micro-batch", "twice the micro-batch", {"micro_batch_size": 2 * training.micro_batch_size}
    if not training.hidden_dropout:
        yield "dropout", "dropout masks kept", {"hidden_dropout": True}
    if training.fsdp:
        yield from _fsdp(training)


def _fsdp(training):
    policy = training.fsdp
    if training.stage == 3:
        yield ("kept-gathered", "units not resharded after forward", {
            "stage": 2, "fsdp": FsdpSettings(policy.dp_size, reshard_after_forward=False)})
    yield "deep-prefetch", "several units gathered ahead (pytorch#83666)", {"fsdp": replace(policy, prefetch_depth=4)}
    if training.gradient_accumulation_steps > 1 and not training.accumulate_unsharded:
        yield "no-sync", "no synchronising between micro-batches", {"accumulate_unsharded": True}
