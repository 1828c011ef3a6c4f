"""One training configuration: model, layout, ZeRO stage, engine, batch, recompute, offload; checked as a whole."""

from dataclasses import dataclass, replace
from functools import lru_cache

from .activation_rows import ActivationSettings
from .activation_stack import Stack, stage_shape
from .deepspeed_transients import DeepSpeedBuffers
from .errors import ConfigError, MeshError, check_choice, check_count, check_flag, check_number, check_stage
from .fsdp_timeline import FsdpSettings
from .logits import loss_settings
from .mesh import Mesh, check_fit, rank_tensors, stage_layers
from .models import TransformerShape, as_model
from .offload import Placement, role_of
from .optimizer_step import IMPLEMENTATIONS
from .recipes import Recipe, recipe as find_recipe

ENGINES = ("ideal", "fsdp2", "deepspeed")
ENGINE_RECIPES = {"ideal": "adam-mixed", "fsdp2": "adam-fp32", "deepspeed": "adam-mixed"}
ENGINE_KERNELS = {"ideal": "fused", "fsdp2": "foreach", "deepspeed": "fused"}
FSDP_STAGES = {2: False, 3: "default"}  # stage → reshard_after_forward


@dataclass(frozen=True)
class Training:
    """What one run does. Sizes are sequences, tokens or ranks; bytes where the name says so.

    ``model``: a ``TransformerShape``, preset or its name; ``mesh``: a ``Mesh``, or a number of data-parallel ranks.
    ``engine``: "ideal" counts as the ZeRO paper does (every array of the recipe always there, P/N shards, one layer
    gathered ahead); "fsdp2" and "deepspeed" follow the frameworks' rules. ``recipe`` None: adam-mixed, for FSDP2
    adam-fp32 (its shards stay fp32 under mixed precision). ``compute_dtype`` None: bf16, or fp32 where the recipe's
    weights are fp32 and the engine casts nothing. ``optimizer_kernel``: how Adam runs ("foreach", "fused").
    ``accumulate_unsharded``: FSDP2 without synchronising until the last micro-batch. ``fragmentation``,
    ``context_bytes`` and ``other_bytes`` are 0 until you say otherwise (``allocator.meters``). Raises ``ConfigError``,
    ``MeshError`` or another ``InvalidInput`` naming field, value and what is accepted.
    """

    model: TransformerShape
    mesh: Mesh = Mesh()
    stage: int = 3
    engine: str = "ideal"
    recipe: Recipe | None = None
    micro_batch_size: int = 1
    seq_length: int = 2048
    gradient_accumulation_steps: int = 1
    recompute: str = "none"
    attention: str = "flash"
    sequence_parallel: bool = False
    hidden_dropout: bool = False
    loss_chunks: int = 1
    loss_upcast: bool = True
    keep_logits: bool = True
    compute_dtype: str | None = None
    placement: Placement = Placement()
    fsdp: FsdpSettings | None = None
    deepspeed: DeepSpeedBuffers | None = None
    optimizer_kernel: str | None = None
    accumulate_unsharded: bool = False
    trained_params: int | None = None
    ranks_per_node: int = 8
    fragmentation: float = 0.0
    context_bytes: int = 0
    other_bytes: int = 0

    def __post_init__(self):
        fill = _filler(self)
        fill("model", as_model(self.model))
        fill("mesh", self.mesh if isinstance(self.mesh, Mesh) else Mesh(dp=self.mesh))
        fill("stage", check_stage(self.stage))
        check_choice("engine", self.engine, ENGINES, ConfigError)
        fill("recipe", find_recipe(ENGINE_RECIPES[self.engine] if self.recipe is None else self.recipe))
        for field in ("micro_batch_size", "gradient_accumulation_steps", "ranks_per_node"):
            fill(field, check_count(field, getattr(self, field), 1, 10**6, ConfigError))
        for field in ("context_bytes", "other_bytes"):
            fill(field, check_count(field, getattr(self, field), 0, error=ConfigError))
        check_number("fragmentation", self.fragmentation, 0.0, 100.0, ConfigError)
        check_flag("accumulate_unsharded", self.accumulate_unsharded, ConfigError)
        fill("compute_dtype", self._compute_dtype())
        fill("optimizer_kernel", self.optimizer_kernel or ENGINE_KERNELS[self.engine])
        check_choice("optimizer_kernel", self.optimizer_kernel, IMPLEMENTATIONS[:2], ConfigError)
        self._check_layout()
        self._check_placement()
        self._check_engine()
        fill("fsdp", self._fsdp() if self.engine == "fsdp2" else None)
        fill("deepspeed", (self.deepspeed or DeepSpeedBuffers()) if self.engine == "deepspeed" else None)
        for pp_rank in {0, self.mesh.pp - 1}:  # activations and loss check their own fields
            self.stack(pp_rank)

    def _compute_dtype(self):
        if self.compute_dtype is not None:
            return check_choice("compute_dtype", self.compute_dtype, ("bf16", "fp16", "fp32"), ConfigError)
        weights = {row.dtype for row in self.recipe.rows if role_of(row.category) == "params"}
        return "fp32" if weights == {"fp32"} and self.engine != "fsdp2" else "bf16"

    def _check_layout(self):
        check_fit(self.model, self.mesh)
        if self.mesh.pp > 1 and 0 in (self.mesh.pp_layers or ()):
            raise MeshError("pp_layers", self.mesh.pp_layers, "at least one layer in every pipeline stage")
        if self.sequence_parallel is True and self.mesh.tp == 1:
            raise ConfigError("sequence_parallel", True, "false while tp is 1")

    def _check_placement(self):
        if not isinstance(self.placement, Placement):
            raise ConfigError("placement", self.placement, "a Placement(optimizer=…, params=…)")
        for role, needed in (("optimizer", 1), ("params", 3)):
            if getattr(self.placement, role) != "device" and self.stage < needed:
                raise ConfigError("stage", self.stage, f"{needed} or more when {role} leave the device")

    def _check_engine(self):
        groups = set(self.recipe.groups)
        if self.engine != "ideal" and groups & {"trained", "frozen"}:
            raise ConfigError("recipe", self.recipe.name, f"a recipe that trains every parameter with engine {self.engine}")
        if self.engine != "ideal" and self.mesh.ep > 1:
            raise ConfigError("ep", self.mesh.ep, f"1 with engine {self.engine} (engine ideal knows expert parallelism)")
        if self.engine != "fsdp2" and self.accumulate_unsharded:
            raise ConfigError("accumulate_unsharded", True, "false without engine fsdp2; recipe "
                                                            "adam-mixed-accumulate-unsharded says it for the others")
        if self.engine == "deepspeed" and self.mesh.pp > 1 and self.stage > 1:
            raise ConfigError("stage", self.stage, "0 or 1 with pp above 1: DeepSpeed's pipeline engine refuses ZeRO-2 and 3")
        if self.engine == "deepspeed" and self.mesh.replicas > 1 and self.stage < 3:
            raise ConfigError("replicas", self.mesh.replicas, "1 below stage 3 (MiCS shards parameters)")
        if self.engine == "fsdp2":
            self._check_fsdp()

    def _check_fsdp(self):
        if self.stage not in FSDP_STAGES:
            raise ConfigError("stage", self.stage, "3, or 2 for reshard_after_forward=False, with engine fsdp2")
        if any(row.category.startswith(("master", "main")) for row in self.recipe.rows):
            raise ConfigError("recipe", self.recipe.name, "one without master weights with engine fsdp2, whose own weights "
                                                          "are the master copy (adam-fp32, adam-bf16-pure)")
        if self.storage_dtype not in ("fp32", "bf16", "fp16"):
            raise ConfigError("recipe", self.recipe.name, "one whose params are fp32, bf16 or fp16 with engine fsdp2")
        if "device" in (self.placement.params, self.placement.optimizer) and self.placement != Placement(
                pin_memory=self.placement.pin_memory):
            raise ConfigError("placement", self.placement, "everything or nothing on the host: FSDP2's CPUOffloadPolicy "
                                                           "moves parameters, gradients and optimizer together")

    def _fsdp(self):
        shards, default = self.mesh.dense_shards, FSDP_STAGES[self.stage]
        given = self.fsdp or FsdpSettings(shards, reshard_after_forward=default)
        if not isinstance(given, FsdpSettings):
            raise ConfigError("fsdp", given, "an FsdpSettings")
        if (given.reshard_after_forward is False) != (self.stage == 2):
            given = replace(given, reshard_after_forward=default)
        return replace(given, dp_size=shards, param_dtype=self.compute_dtype, storage_dtype=self.storage_dtype)

    @property
    def storage_dtype(self):
        """Format of the weights that a rank keeps between steps."""
        return next(row.dtype for row in self.recipe.rows if role_of(row.category) == "params")

    @property
    def global_batch_size(self):
        """Sequences of one optimizer step over all ranks."""
        return self.micro_batch_size * self.gradient_accumulation_steps * self.mesh.dp

    @property
    def activations(self):
        """The ``ActivationSettings`` of one micro-batch."""
        return ActivationSettings(
            self.micro_batch_size, self.seq_length, self.compute_dtype, self.attention, self.hidden_dropout,
            recompute=self.recompute, tp_size=self.mesh.tp, sequence_parallel=self.sequence_parallel,
            cp_size=self.mesh.cp, ep_size=self.mesh.ep)

    def stack(self, pp_rank=0):
        """The ``Stack`` that ranks of pipeline stage ``pp_rank`` run; earlier stages hold waiting micro-batches (1F1B)."""
        layers, run = stage_layers(self.model, self.mesh, pp_rank), self.activations
        loss = None
        if pp_rank == self.mesh.pp - 1:
            loss = loss_settings(self.model, run, upcast=self.loss_upcast, keep_logits=self.keep_logits,
                                 num_chunks=self.loss_chunks)
        return Stack(_stage_shape(self.model, layers), run, loss, has_embedding=pp_rank == 0,
                     waiting_layers=(self.in_flight(pp_rank) - 1) * len(layers))

    def in_flight(self, pp_rank=0):
        """Micro-batches whose activations pipeline stage ``pp_rank`` holds at once under 1F1B."""
        return min(self.mesh.pp - pp_rank, self.gradient_accumulation_steps)

    def tensors(self, pp_rank=0):
        """The ``Tensor`` objects of a rank of pipeline stage ``pp_rank`` before ZeRO."""
        return rank_tensors(self.model, self.mesh, pp_rank)

    def changed(self, **fields):
        """A copy with ``fields`` replaced, checked again."""
        return replace(self, **fields)

    def as_dict(self):
        """Plain data for JSON: the choices with their defaults filled in; of the model its number of parameters."""
        plain = {field: getattr(self, field) for field in PLAIN_FIELDS}
        mesh = {name: getattr(self.mesh, name) for name in ("dp", "tp", "pp", "cp", "ep", "etp", "replicas")}
        return {"num_params": self.model.num_params, "mesh": mesh, "recipe": self.recipe.name, **plain,
                "placement": dict(vars(self.placement)), "global_batch_size": self.global_batch_size}


PLAIN_FIELDS = ("stage", "engine", "micro_batch_size", "seq_length", "gradient_accumulation_steps", "recompute",
                "attention", "sequence_parallel", "hidden_dropout", "loss_chunks", "loss_upcast", "keep_logits",
                "compute_dtype", "optimizer_kernel", "accumulate_unsharded", "trained_params", "ranks_per_node",
                "fragmentation", "context_bytes", "other_bytes")


@lru_cache(maxsize=256)
def _stage_shape(model, layers):
    """``stage_shape``, checked once a layout: planners ask for the same ones again and again."""
    return stage_shape(model, layers)


def _filler(instance):
    return lambda field, value: object.__setattr__(instance, field, value)
