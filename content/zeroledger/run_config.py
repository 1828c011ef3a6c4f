"""What a training configuration file says, in this package's words."""

from dataclasses import dataclass

from .errors import ConfigError, InvalidInput, check_count
from .offload import Placement, Staging

FRAMEWORKS = ("deepspeed", "fsdp1", "fsdp2", "ddp", "single")


@dataclass(frozen=True)
class RunConfig:
    """One run's settings. ``None`` means that the file leaves the value open; ``unknown`` then names the field.

    ``stage`` is the ZeRO stage a setting amounts to; sizes ending in ``_numel`` are elements. ``ignored`` lists fields
    we know to change neither bytes nor calls, ``unrecognised`` those we do not know at all.
    """

    framework: str
    stage: int | None
    compute_dtype: str | None  # what is gathered and multiplied: "bf16", "fp16", "fp32"
    reduce_dtype: str | None = None  # what gradients travel in
    grad_accum_dtype: str | None = None  # None: the framework's default
    has_master_params: bool | None = True  # an fp32 copy beside 16-bit weights
    optimizer: str | None = None  # lower case, as named in the file; None where the script makes it
    micro_batch_size: int | None = None
    gradient_accumulation_steps: int | None = 1
    global_batch_size: int | None = None
    world_size: int | None = None
    placement: Placement | None = Placement()
    staging: Staging = Staging()
    reduce_bucket_numel: int | None = None
    reduce_scatter: bool | None = True
    multi_rank_bucket_allreduce: bool | None = True
    overlap_comm: bool | None = None
    fetch: object = None  # a deepspeed_stage3.FetchLimits at stage 3
    shard_group_size: int | None = None  # MiCS, HSDP: ranks that share one copy; None: all
    secondary_shard_size: int | None = None  # ZeRO++ hpZ: ranks that share the second copy of the weights
    reshard_after_forward: bool | int | None = None
    wrap: str | None = None  # "layer" or "none"; None where it depends on sizes or classes
    recompute: str | None = None  # None: the script decides
    prefetch_depth: int | None = None
    unknown: tuple = ()
    ignored: tuple = ()
    unrecognised: tuple = ()
    source: str = ""

    def require(self, *fields):
        """The values of ``fields``; ``ConfigError`` names the first that the file leaves open."""
        values = []
        for field in fields:
            value = getattr(self, field)
            if value is None:
                open_fields = ", ".join(self.unknown) or "none"
                raise ConfigError(field, None, f"a value that the file does not give (left open: {open_fields})")
            values.append(value)
        return values[0] if len(values) == 1 else tuple(values)

    @property
    def dp_size(self):
        """Data-parallel ranks, from the batch sizes when all are given; else ``world_size`` (None if that is open)."""
        parts = (self.micro_batch_size, self.gradient_accumulation_steps)
        if self.global_batch_size and all(parts):
            return self.global_batch_size // (parts[0] * parts[1])
        return self.world_size

    @property
    def recipe_name(self):
        """The name in ``RECIPES`` of what such a run keeps, or None where the file does not decide it."""
        if self.compute_dtype is None or self.has_master_params is None:
            return None
        adam = self.optimizer in (None, "adam", "adamw", "fusedadam", "cpuadam")
        if self.framework != "deepspeed":
            return "adam-fp32" if adam else None  # accelerate keeps fp32 weights and casts what it gathers
        if self.compute_dtype == "fp32":
            return {True: "adam-fp32"}.get(adam, {"sgd": "sgd-momentum-fp32"}.get(self.optimizer))
        if not self.has_master_params:
            return None  # what the moments are kept in then depends on the optimizer's class
        return "adam-mixed" if adam else {"lion": "lion", "muon": "muon", "sgd": "sgd-momentum"}.get(self.optimizer)

    def communication(self, tensors, dp_size=None, tied=None):
        """The ``collectives.Communication`` of one optimizer step of ``tensors`` under these settings.

        ``tied`` as in ``deepspeed_communication.deepspeed``, which alone needs it.
        Raises ``ConfigError`` where the file leaves a needed value open and ``InvalidInput`` for a bad ``dp_size``.
        """
        ranks = check_count("dp_size", dp_size if dp_size is not None else self.require("dp_size"))
        steps = self.require("gradient_accumulation_steps")
        if self.framework == "deepspeed":
            return self._deepspeed_communication(tensors, ranks, steps, tied)
        if self.framework in ("ddp", "single") or self.stage == 0:
            from .communication import ddp

            return ddp(tensors, ranks, "fp32", steps)
        from .communication import fsdp2

        shards = self.shard_group_size or ranks
        if ranks % shards:
            raise InvalidInput("dp_size", ranks, f"a multiple of the shard group, {shards}")
        return fsdp2(tensors, shards, self.reshard_after_forward, self.require("compute_dtype"),
                     self.require("reduce_dtype"), self.require("wrap"), steps, no_sync=True,
                     replicate_size=ranks // shards)  # accelerate's accumulate() skips the other reductions

    def _deepspeed_communication(self, tensors, ranks, steps, tied):
        from .deepspeed_communication import deepspeed

        stage, dtype = self.require("stage", "compute_dtype")
        bucket, scatter, multi = self.require("reduce_bucket_numel", "reduce_scatter", "multi_rank_bucket_allreduce")
        return deepspeed(tensors, ranks, stage, dtype=dtype, reduce_dtype=self.reduce_dtype,
                         gradient_accumulation_steps=steps, reduce_bucket_numel=bucket, reduce_scatter=scatter,
                         multi_rank_bucket_allreduce=multi, tied=tied, **self._stage_options(stage))

    def _stage_options(self, stage):
        if stage < 3:
            return {"overlap_comm": self.require("overlap_comm")}
        return {"fetch": self.require("fetch"), "secondary_shard_size": self.secondary_shard_size,
                "shard_group_size": self.shard_group_size}
