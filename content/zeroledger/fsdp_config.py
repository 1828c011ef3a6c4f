"""An accelerate configuration (as JSON) as a ``RunConfig``: FSDP1, FSDP2, DDP, or accelerate's DeepSpeed section.

Field names with and without the prefix ``fsdp_`` are read (the Trainer's ``fsdp_config`` has none). Source:
huggingface/accelerate docs/source/usage_guides/fsdp.md, concept_guides/fsdp1_vs_fsdp2.md and
src/accelerate/utils/constants.py.
"""

from dataclasses import replace

from .config_reader import ConfigReader
from .deepspeed_config import run_config_from_deepspeed
from .errors import ConfigError
from .json_input import read_object
from .offload import Placement
from .run_config import RunConfig

SOURCE = "accelerate configuration"
DISTRIBUTED = ("FSDP", "DEEPSPEED", "MULTI_GPU", "MULTI_CPU", "MULTI_XPU", "MULTI_NPU", "NO")
# FSDP1's strategies by name and number: (stage, reshard after forward, hybrid).
STRATEGIES = {"FULL_SHARD": (3, True, False), "1": (3, True, False), "SHARD_GRAD_OP": (2, False, False),
              "2": (2, False, False), "NO_SHARD": (0, None, False), "3": (0, None, False),
              "HYBRID_SHARD": (3, True, True), "4": (3, True, True), "HYBRID_SHARD_ZERO2": (2, False, True),
              "5": (2, False, True)}
MIXED_PRECISION = {"no": "fp32", "fp16": "fp16", "bf16": "bf16", "fp8": "fp8"}
PREFETCH = {"BACKWARD_PRE": 1, "1": 1, "BACKWARD_POST": 0, "2": 0, "NO_PREFETCH": 0, "3": 0}
WRAPS = {"TRANSFORMER_BASED_WRAP": "layer", "SIZE_BASED_WRAP": "size", "NO_WRAP": "none"}
HARMLESS = frozenset("""
    compute_environment debug downcast_bf16 machine_rank main_process_ip main_process_port main_training_function
    num_machines rdzv_backend same_network tpu_env tpu_use_cluster tpu_use_sudo tpu_name tpu_zone use_cpu gpu_ids
    enable_cpu_affinity dynamo_config dynamo_backend command_file commands
""".split())
HARMLESS_FSDP = frozenset("""
    state_dict_type sync_module_states use_orig_params cpu_ram_efficient_loading transformer_layer_cls_to_wrap
    forward_prefetch limit_all_gathers min_num_params ignored_modules xla xla_fsdp_v2 xla_fsdp_grad_ckpt
""".split())
PREFIX = "fsdp_"


def run_config_from_accelerate(config, gpus_per_node=None):
    """The ``RunConfig`` of ``config``, an accelerate configuration as dict or JSON text, or a bare ``fsdp_config``.

    ``gpus_per_node`` is the shard group of HYBRID_SHARD (without it, ``num_processes`` / ``num_machines``). Raises
    ``ConfigError`` naming the dotted field, its value and what is accepted.
    """
    values = read_object(config, "accelerate config")
    top = ConfigReader(values)
    if "fsdp_config" not in values and "distributed_type" not in values and _looks_like_fsdp(values):
        top = ConfigReader({"distributed_type": "FSDP", "fsdp_config": values})
    kind = top.choice("distributed_type", DISTRIBUTED, "NO" if "fsdp_config" not in top.values else "FSDP")
    common = {"world_size": top.count("num_processes", None, 1), "compute_dtype": _precision(top),
              "gradient_accumulation_steps": top.count("gradient_accumulation_steps", 1, 1)}
    machines = top.count("num_machines", 1, 1)
    if kind == "DEEPSPEED":
        return _through_deepspeed(top, common)
    if kind == "FSDP":
        return _fsdp(top, common, gpus_per_node, machines)
    top.section("fsdp_config"), top.section("deepspeed_config")  # present in some files, unused without FSDP
    ignored, unrecognised = top.left_over(HARMLESS)
    single = kind == "NO"
    return RunConfig("single" if single else "ddp", 0, reduce_dtype="fp32", unknown=tuple(top.unknown), ignored=ignored,
                     unrecognised=unrecognised, source=SOURCE, **common | ({"world_size": 1} if single else {}))


def _looks_like_fsdp(values):
    return any(str(name).startswith(PREFIX) for name in values) or "reshard_after_forward" in values


def _precision(top):
    """16-bit or fp32; fp8 multiplies in 8 bits but gathers and reduces in bf16."""
    dtype = top.choice("mixed_precision", MIXED_PRECISION, "fp32")
    return "bf16" if dtype == "fp8" else dtype


def _fsdp(top, common, gpus_per_node, machines):
    fsdp = top.section("fsdp_config")
    version = fsdp.choice(_both("version"), {"1": 1, "2": 2}, _version_of(fsdp.values))
    stage, reshard, hybrid = _sharding(fsdp, version)
    offload = fsdp.flag((*_both("offload_params"), *_both("cpu_offload")), False)
    checkpointing = fsdp.flag(_both("activation_checkpointing"), False)
    wrap = fsdp.choice(_both("auto_wrap_policy"), WRAPS, "none")
    if wrap == "size":  # units depend on sizes this package does not know
        fsdp.unknown.append("fsdp_config.fsdp_auto_wrap_policy")
        wrap = None
    group = None
    if hybrid:
        group = gpus_per_node or (common["world_size"] // machines if common["world_size"] else None)
        if group is None:
            fsdp.unknown.append("num_processes")
    prefetch = fsdp.choice(_both("backward_prefetch"), PREFETCH, 1 if version == 2 else 0)
    placement = None if offload is None else Placement("cpu", "cpu") if offload else Placement()
    ignored, unrecognised = top.left_over(HARMLESS)
    known, rest = fsdp.left_over({name for plain in HARMLESS_FSDP for name in _both(plain)})
    return RunConfig(f"fsdp{version}", stage, reduce_dtype=common["compute_dtype"], placement=placement,
                     reshard_after_forward=reshard, shard_group_size=group, wrap=wrap, prefetch_depth=prefetch,
                     recompute=None if checkpointing is None else "full" if checkpointing else "none",
                     unknown=tuple(dict.fromkeys(top.unknown)), ignored=ignored + known,
                     unrecognised=unrecognised + rest, source=SOURCE, **common)


def _both(name):
    return PREFIX + name, name


def _version_of(values):
    """The version a file without the field means: a true or false for reshard_after_forward is FSDP2's, else 1."""
    return 2 if any(isinstance(values.get(name), bool) for name in _both("reshard_after_forward")) else 1


def _sharding(fsdp, version):
    """(stage it amounts to, reshard after forward, hybrid). Without resharding weights are whole from forward to
    backward, as at stage 2, though they are cut between steps."""
    reshard_names, strategy_names = _both("reshard_after_forward"), _both("sharding_strategy")
    if version == 2:
        fsdp.asked.update(strategy_names)  # replaced in FSDP2 and without effect there
        name, value = fsdp._find(reshard_names)
        if isinstance(value, bool) or value is None:
            return (3, True, False) if value in (True, None) else (2, False, False)
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return (3, True, False) if value.lower() == "true" else (2, False, False)
        raise ConfigError(fsdp.prefix + name, value, "true or false")
    return fsdp.choice((*strategy_names, *reshard_names), STRATEGIES, STRATEGIES["FULL_SHARD"]) or (None, None, False)


def _through_deepspeed(top, common):
    """accelerate's own DeepSpeed section, translated to the fields of a DeepSpeed file."""
    section = top.section("deepspeed_config")
    if "deepspeed_config_file" in section.values:
        raise ConfigError("deepspeed_config.deepspeed_config_file", section.values["deepspeed_config_file"],
                          "the fields themselves; import that file with run_config_from_deepspeed")
    zero = {"stage": _or_auto(section.count("zero_stage", 2, 0, 3))}
    for role in ("offload_optimizer", "offload_param"):
        zero[role] = {"device": _or_auto(section.choice(f"{role}_device", ("none", "cpu", "nvme"), "none"))}
    steps = section.count("gradient_accumulation_steps", common["gradient_accumulation_steps"], 1)
    translated = {"zero_optimization": zero, "gradient_accumulation_steps": _or_auto(steps)}
    if common["compute_dtype"] in ("bf16", "fp16"):
        translated[common["compute_dtype"]] = {"enabled": True}
    read = run_config_from_deepspeed(translated)
    ignored, unrecognised = top.left_over(HARMLESS)
    known, rest = section.left_over({"zero3_init_flag", "zero3_save_16bit_model", "gradient_clipping",
                                     "deepspeed_multinode_launcher", "offload_optimizer_nvme_path",
                                     "offload_param_nvme_path"})
    return replace(read, world_size=common["world_size"], compute_dtype=common["compute_dtype"],
                   unknown=tuple(dict.fromkeys(top.unknown)), ignored=ignored + known,
                   unrecognised=unrecognised + rest, source=SOURCE)


def _or_auto(value):
    return "auto" if value is None else value
