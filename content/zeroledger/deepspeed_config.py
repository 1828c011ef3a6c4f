"""A DeepSpeed configuration JSON as a ``RunConfig``: stage, buckets, offload, precision, accumulation.

Defaults are DeepSpeed 0.19's (deepspeed/runtime/zero/config.py, offload_config.py, constants.py). "auto", which the
Hugging Face integration fills in at start, stays open and is named. Sizes called "bucket size" are elements.
"""

from .config_reader import ConfigReader
from .deepspeed_stage3 import FetchLimits
from .errors import ConfigError, check_count
from .frameworks import REDUCE_BUCKET_NUMEL
from .json_input import read_object
from .offload import Placement, Staging
from .run_config import RunConfig

SOURCE = "DeepSpeed configuration JSON, defaults of DeepSpeed 0.19"
DTYPES = {"fp32": "fp32", "fp16": "fp16", "bf16": "bf16", "bfp16": "bf16", "float32": "fp32", "float16": "fp16",
          "bfloat16": "bf16"}
DEVICES = {"none": "device", "cpu": "cpu", "nvme": "nvme"}
# Fields that change neither what a rank keeps nor what it sends in a step.
HARMLESS = frozenset("""
    scheduler steps_per_print gradient_clipping wall_clock_breakdown prescale_gradients gradient_predivide_factor
    zero_allow_untested_optimizer zero_force_ds_cpu_optimizer flops_profiler tensorboard wandb csv_monitor comet
    monitor_config aio autotuning comms_logger checkpoint dump_state memory_breakdown elasticity dataloader_drop_last
    seq_parallel_communication_data_type graph_harvesting nebula hybrid_engine timers data_efficiency
    curriculum_learning activation_checkpointing disable_allgather vocabulary_size inference_optimized compile
""".split())
HARMLESS_ZERO = frozenset("""
    contiguous_gradients allgather_partitions allgather_bucket_size load_from_fp32_weights elastic_checkpoint
    gather_16bit_weights_on_model_save stage3_gather_16bit_weights_on_model_save
    stage3_gather_fp16_weights_on_model_save ignore_unused_parameters legacy_stage1 round_robin_gradients
    memory_efficient_linear pipeline_loading_checkpoint override_module_apply log_trace_cache_warnings
    enable_sanity_checks cpu_offload_use_pin_memory mics_hierarchical_params_gather
    stage3_allgather_sequential stage3_use_all_reduce_for_fetch_params
""".split())
HARMLESS_OFFLOAD = frozenset("nvme_path max_in_cpu pipeline_read pipeline_write pipeline fast_init cpuadam_cores_perc".split())
HARMLESS_PRECISION = frozenset("""
    auto_cast loss_scale initial_scale_power loss_scale_window hysteresis consecutive_hysteresis min_loss_scale fused_mode
    immediate_grad_update check_grad_overflow
""".split())


def run_config_from_deepspeed(config, world_size=None):
    """The ``RunConfig`` of ``config``, a DeepSpeed configuration as dict or JSON text.

    ``world_size`` (data-parallel ranks), where known, completes the batch sizes as DeepSpeed does. Raises
    ``ConfigError`` naming the dotted field, its value and what is accepted.
    """
    top = ConfigReader(read_object(config, "deepspeed config"))
    zero = _zero_section(top)
    stage = zero.count("stage", 0, 0, 3)
    compute_dtype, has_master, precision = _precision(top)
    fetch, staging, placement, offload = _placement(zero, stage)
    data_types = top.section("data_types")
    optimizer = top.section("optimizer")
    name = optimizer.text("type")
    batch = _batch(top, world_size)
    settings = dict(
        reduce_dtype=top.choice("communication_data_type", DTYPES),
        grad_accum_dtype=data_types.choice("grad_accum_dtype", DTYPES),
        optimizer=None if name is None else name.lower(),
        reduce_bucket_numel=zero.count("reduce_bucket_size", REDUCE_BUCKET_NUMEL, 1),
        reduce_scatter=zero.flag("reduce_scatter", True),
        multi_rank_bucket_allreduce=zero.flag("use_multi_rank_bucket_allreduce", True),
        overlap_comm=zero.flag("overlap_comm", stage == 3),
        shard_group_size=_group(zero, "mics_shard_size"),
        secondary_shard_size=_group(zero, "zero_hpz_partition_size"),
        world_size=world_size,
    )
    ignored, unrecognised = _left_over([(top, HARMLESS), (zero, HARMLESS_ZERO), (optimizer, {"params", "legacy_fusion"}),
                                        (data_types, ()), *precision, *offload])
    return RunConfig("deepspeed", stage, compute_dtype, has_master_params=has_master, placement=placement, fetch=fetch,
                     staging=staging, **batch, **settings, unknown=tuple(dict.fromkeys(top.unknown)), ignored=ignored,
                     unrecognised=unrecognised, source=SOURCE)


def _zero_section(top):
    """The section "zero_optimization"; true and false are the old way to say stage 1 and 0."""
    if isinstance(top.values.get("zero_optimization"), bool):
        old = {"stage": int(top.flag("zero_optimization"))}
        return ConfigReader(old, "zero_optimization.", top.unknown)
    return top.section("zero_optimization")


def _precision(top):
    """(compute dtype or None, whether fp32 master weights exist, the sections with their harmless fields)."""
    bf16 = top.section("bf16") if "bf16" in top.values else top.section("bfloat16")
    fp16, amp = top.section("fp16"), top.section("amp")
    on = {"bf16": bf16.flag("enabled"), "fp16": fp16.flag("enabled")}
    if on["bf16"] and on["fp16"]:
        raise ConfigError("fp16.enabled", True, "false while bf16.enabled is true")
    sections = [(bf16, HARMLESS_PRECISION), (fp16, HARMLESS_PRECISION), (amp, {"opt_level"})]
    no_master = bf16.flag("bf16_master_weights_and_grads") or fp16.flag("fp16_master_weights_and_grads")
    amp_on = amp.flag("enabled")
    chosen = next((dtype for dtype, value in on.items() if value), None)
    if chosen:
        return chosen, not no_master, sections
    if None in on.values() or amp_on:  # "auto", or Apex, which keeps what its opt_level says
        if amp_on:
            top.unknown.append("amp.enabled")
        return None, None, sections
    return "fp32", True, sections


def _placement(zero, stage):
    """(``FetchLimits`` or None, ``Staging``, ``Placement`` or None, the offload sections with their harmless fields)."""
    limits = {field: zero.count((f"stage3_{name}", name), default) for field, name, default in (
        ("max_live_numel", "max_live_parameters", FetchLimits.max_live_numel),
        ("max_reuse_numel", "max_reuse_distance", FetchLimits.max_reuse_numel),
        ("prefetch_numel", "prefetch_bucket_size", FetchLimits.prefetch_numel),
        ("persistence_numel", "param_persistence_threshold", FetchLimits.persistence_numel),
        ("model_persistence_numel", "model_persistence_threshold", FetchLimits.model_persistence_numel))}
    known = stage == 3 and None not in limits.values()
    optimizer, params = zero.section("offload_optimizer"), zero.section("offload_param")
    old_optimizer, old_params = zero.flag("cpu_offload", False), zero.flag("cpu_offload_param", False)
    tiers = {"optimizer": optimizer.choice("device", DEVICES, "cpu" if old_optimizer else "device"),
             "params": params.choice("device", DEVICES, "cpu" if old_params else "device")}
    pinned = {"optimizer": optimizer.flag("pin_memory"), "params": params.flag("pin_memory")}
    staging = {"param_buffers": params.count("buffer_count", Staging.param_buffers),
               "param_buffer_numel": params.count("buffer_size", Staging.param_buffer_numel),
               "optimizer_buffers": optimizer.count("buffer_count", Staging.optimizer_buffers),
               "sub_group_numel": zero.count("sub_group_size", Staging.sub_group_numel)}
    if stage is not None and stage < 3:
        tiers["params"] = "device"  # DeepSpeed reads offload_param at stage 3 only
    if stage == 0 and tiers["optimizer"] not in ("device", None):
        raise ConfigError("zero_optimization.offload_optimizer.device", tiers["optimizer"], "none at stage 0")
    used = [pinned[role] for role, tier in tiers.items() if tier in ("cpu", "nvme")]
    placement = None
    if None not in tiers.values() and None not in used:
        placement = Placement(tiers["optimizer"], tiers["params"], pin_memory=any(used))
    sections = [(optimizer, HARMLESS_OFFLOAD), (params, HARMLESS_OFFLOAD)]
    built = {field: value for field, value in staging.items() if value is not None}
    return FetchLimits(**limits) if known else None, Staging(**built), placement, sections


def _group(zero, name):
    """A group size in ranks; DeepSpeed's −1, 0 and 1 mean none."""
    size = zero.count(name, -1, -1)
    return size if size is not None and size > 1 else None


def _batch(top, world_size):
    """The three batch sizes, the missing ones completed as DeepSpeed does (train = micro × accumulation × ranks)."""
    if world_size is not None:
        world_size = check_count("world_size", world_size, error=ConfigError)
    opened = len(top.unknown)
    train, micro, steps = (top.count(name, None, 1) for name in (
        "train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"))
    if len(top.unknown) == opened:  # nothing is "auto": what is missing follows
        if steps is None and None in (train, micro):
            steps = 1
        elif steps is None and world_size:
            steps = _exactly(train, micro * world_size)
        if micro is None and train is not None and world_size:
            micro = _exactly(train, steps * world_size)
        if train is None and micro is not None and world_size:
            train = micro * steps * world_size
    if None not in (train, micro, steps):
        ranks = _exactly(train, micro * steps)
        if world_size and ranks != world_size:
            raise ConfigError("train_batch_size", train, f"micro-batch {micro} × accumulation {steps} × {world_size} ranks")
    return {"micro_batch_size": micro, "gradient_accumulation_steps": steps, "global_batch_size": train}


def _exactly(train, divisor):
    if train % divisor:
        raise ConfigError("train_batch_size", train, f"a multiple of {divisor:,}, the product of the other factors")
    return train // divisor


def _left_over(readers):
    ignored, unrecognised = [], []
    for reader, harmless in readers:
        known, rest = reader.left_over(harmless)
        ignored += known
        unrecognised += rest
    return tuple(ignored), tuple(unrecognised)
