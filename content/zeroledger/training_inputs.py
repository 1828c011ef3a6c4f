"""A ``Training`` out of plain data or an imported configuration file, with what the file left open said by name."""

from dataclasses import dataclass

from .config_reader import ConfigReader
from .deepspeed_stage3 import FetchLimits
from .deepspeed_transients import DeepSpeedBuffers
from .errors import ConfigError, check_count
from .fsdp_timeline import FsdpSettings
from .hf_config import model_from_hf_config
from .mesh import Mesh
from .models import as_model
from .offload import Placement
from .run_config import RunConfig
from .training import ENGINES, Training

DEGREES = ("dp", "tp", "pp", "cp", "ep", "replicas")
TIERS = ("device", "cpu", "nvme")


@dataclass(frozen=True)
class ImportedTraining:
    """``training`` made from a file; ``assumed`` names each field the file left open with the value taken instead,
    (name, value) pairs; ``unrecognised`` the file's fields that we do not know."""

    training: Training
    assumed: tuple
    unrecognised: tuple = ()


def training_from_run_config(config, model, dp_size=None, **fields):
    """The ``ImportedTraining`` of a ``RunConfig``; ``fields`` are further ``Training`` fields and win over the file.

    What neither says is taken as ``Training``'s default and listed. FSDP1 is counted by FSDP2's rules, DDP as the ideal
    engine at stage 0. Raises ``ConfigError`` when the file leaves the stage, the precision or the ranks open.
    """
    if not isinstance(config, RunConfig):
        raise ConfigError("config", config, "a RunConfig (run_config_from_deepspeed, run_config_from_accelerate)")
    stage, dtype = config.require("stage", "compute_dtype")
    ranks = check_count("dp_size", config.require("dp_size") if dp_size is None else dp_size, error=ConfigError)
    taken = {"engine": {"deepspeed": "deepspeed", "fsdp1": "fsdp2", "fsdp2": "fsdp2"}.get(config.framework, "ideal"),
             "stage": stage, "compute_dtype": dtype, "mesh": _mesh(config, ranks)}
    assumed = []
    for field, value, default in (
            ("recipe", config.recipe_name, None), ("micro_batch_size", config.micro_batch_size, 1),
            ("gradient_accumulation_steps", config.gradient_accumulation_steps, 1),
            ("recompute", config.recompute, "none"), ("placement", config.placement, Placement()), ("seq_length", None, 2048)):
        if field in fields:
            continue
        if value is None:
            assumed.append((field, default))
        taken[field] = default if value is None else value
    if taken["engine"] == "fsdp2":
        if stage < 2:
            taken["engine"] = "ideal"
        else:
            taken["fsdp"] = _fsdp(config, ranks, stage)
            taken["accumulate_unsharded"] = taken.get("gradient_accumulation_steps", 1) > 1  # accelerate's accumulate()
    if taken["engine"] == "deepspeed":
        taken["deepspeed"] = _buffers(config)
    if config.framework == "fsdp1":
        assumed.append(("framework", "fsdp1 counted as fsdp2"))
    return ImportedTraining(Training(model, **(taken | fields)), tuple(assumed), config.unrecognised)


def _mesh(config, ranks):
    group = config.shard_group_size or ranks
    if ranks % group:
        raise ConfigError("dp_size", ranks, f"a multiple of the shard group, {group}")
    return Mesh(dp=ranks, replicas=ranks // group)


def _fsdp(config, ranks, stage):
    depth = 1 if config.prefetch_depth is None else config.prefetch_depth
    return FsdpSettings(ranks, reduce_dtype=config.reduce_dtype or "fp32", prefetch_depth=depth,
                        reshard_after_forward=stage == 3, wrap=config.wrap if config.wrap in ("layer", "none") else "layer")


def _buffers(config):
    given = {"overlap_comm": config.overlap_comm, "limits": config.fetch or FetchLimits(),
             "sub_group_numel": max(config.staging.sub_group_numel, 1)}
    if config.reduce_bucket_numel is not None:
        given["reduce_bucket_numel"] = config.reduce_bucket_numel
    return DeepSpeedBuffers(**given)


def training_from_dict(values, field="config"):
    """The ``Training`` of plain data, as a measured run carries it.

    ``model`` is a preset's name or a Hugging Face config; degrees "dp", "tp", "pp", "cp", "ep", "replicas"; "offload"
    {"optimizer", "params"}; "fsdp" {"reshard_after_forward", "prefetch_depth", "reduce_dtype"}; "deepspeed"
    {"reduce_bucket_numel", "overlap_comm"}; and ``Training``'s plain fields. Raises ``ConfigError`` naming the field.
    """
    reader = ConfigReader(values, f"{field}.")
    model = values.get("model")
    reader.asked.add("model")
    if not isinstance(model, (str, dict)):
        raise ConfigError(f"{field}.model", model, "a preset's name or a Hugging Face config {…}")
    model = as_model(model, f"{field}.model") if isinstance(model, str) else model_from_hf_config(model)
    mesh = Mesh(**{name: reader.count(name, 1, 1, 10**9) for name in DEGREES})
    engine = reader.choice("engine", ENGINES, "ideal")
    given = {
        "stage": reader.count("stage", 3, 0, 3), "recipe": reader.text("recipe"),
        **{name: reader.count(name, default, 1) for name, default in (
            ("micro_batch_size", 1), ("seq_length", 2048), ("gradient_accumulation_steps", 1), ("loss_chunks", 1),
            ("ranks_per_node", 8))},
        **{name: reader.text(name, default) for name, default in (
            ("recompute", "none"), ("attention", "flash"), ("compute_dtype", None), ("optimizer_kernel", None))},
        **{name: reader.flag(name, default) for name, default in (
            ("sequence_parallel", False), ("hidden_dropout", False), ("loss_upcast", True), ("keep_logits", True),
            ("accumulate_unsharded", False))},
        "trained_params": reader.count("trained_params", None, 1), "context_bytes": reader.count("context_bytes", 0),
        "other_bytes": reader.count("other_bytes", 0), "fragmentation": reader.number("fragmentation", 0.0, 0.0, 100.0),
        "placement": _placement(reader.section("offload"))}
    fsdp, deepspeed = reader.section("fsdp"), reader.section("deepspeed")
    if fsdp.values and engine == "fsdp2":
        given["fsdp"] = FsdpSettings(
            mesh.dense_shards, reshard_after_forward=fsdp.values.get("reshard_after_forward", "default"),
            prefetch_depth=fsdp.count("prefetch_depth", 1), reduce_dtype=fsdp.text("reduce_dtype", "fp32"))
        fsdp.asked.add("reshard_after_forward")
    if deepspeed.values and engine == "deepspeed":
        bucket = deepspeed.count("reduce_bucket_numel", DeepSpeedBuffers.reduce_bucket_numel, 1)
        given["deepspeed"] = DeepSpeedBuffers(bucket, deepspeed.flag("overlap_comm", None))
    for each in (reader, fsdp, deepspeed):
        _nothing_left(each)
    if reader.unknown:
        raise ConfigError(reader.unknown[0], "auto", "the value that the run used")
    return Training(model, mesh, engine=engine, **given)


def _placement(reader):
    tiers = {role: reader.choice(role, TIERS, "device") for role in ("optimizer", "params")}
    placement = Placement(**tiers, pin_memory=reader.flag("pin_memory", True))
    _nothing_left(reader)
    return placement


def _nothing_left(reader):
    unknown = reader.left_over(())[1]
    if unknown:
        raise ConfigError(unknown[0], reader.values[unknown[0].removeprefix(reader.prefix)],
                          "no such field (known: " + ", ".join(sorted(reader.asked)) + ")")
