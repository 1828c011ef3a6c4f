"""What to simulate: model, ranks, ZeRO stage, schedule of gathers and reductions, arithmetic, and the mistakes to make."""

from dataclasses import dataclass, field, fields, replace

from ..collectives import Interconnect, interconnect
from ..compute import RECOMPUTE
from ..errors import InvalidInput, check_choice, check_count, check_flag, check_number, check_stage
from ..recipes import NEVER, Recipe, recipe
from ..units import parse_bytes
from .arithmetic import CASTS

MODELS = ("mlp", "transformer")
OFFLOADS = ("none", "optimizer", "params")  # "params": optimizer, gradients and parameters
SHARDINGS = ("even", "rows")  # ceil(numel/N) of each tensor as DeepSpeed 3; or of its rows, as FSDP2
BREAKS = {
    "mean_of_means": "average the micro-batches' mean losses, whatever their numbers of tokens",
    "no_accumulation_division": "average over ranks, but forget to divide by the accumulation steps",
    "schedule_per_rank": "advance the learning-rate schedule once for each rank at every step",
    "extra_adam_step": "step Adam once on zero gradients before training, as if to initialise it",
    "skip_reduce": "never add up the ranks' gradients",
}
ADAM_CATEGORIES = ("params", "grads", "main_grads", "master_params", "exp_avg", "exp_avg_sq")
LARGEST_WORK = 100_000_000  # multiplications of a run: minutes of pure Python


@dataclass(frozen=True)
class Costs:
    """The cost model: operations and bytes a second. One simulated multiplication or byte costs as much as a real one."""

    flops_per_s: float = 2e12  # 100e12 of a real device, divided by 50: a toy sequence has so many tokens fewer
    link: Interconnect = field(default_factory=lambda: interconnect("nvlink-a100"))
    host_bytes_per_s: float = 31.5e9  # PCIe 4 × 16, one direction
    host_adam_bytes_per_s: float = 50e9  # memory traffic of a vectorised Adam on the CPU
    device_bytes_per_s: float = 1.5e12  # memory traffic of Adam on the device

    def __post_init__(self):
        object.__setattr__(self, "link", interconnect(self.link))
        for name in ("flops_per_s", "host_bytes_per_s", "host_adam_bytes_per_s", "device_bytes_per_s"):
            if check_number(name, getattr(self, name)) <= 0:
                raise InvalidInput(name, getattr(self, name), "a number above 0")


@dataclass(frozen=True)
class Settings:
    """One simulated training run. Sizes are elements; raises ``InvalidInput`` naming the field.

    ``prefetch_depth`` counts layers gathered ahead, ``reduce_bucket_numel`` elements reduced at once. ``scale``: every
    stored number stands for that many in the log's elements and bytes and in the bucket, so that a toy fills megabytes.
    ``device_bytes``: capacity of a rank, None for no limit. ``breaks`` are names of ``BREAKS``.
    """

    model: str = "mlp"
    num_layers: int = 4
    hidden_size: int = 8
    intermediate_size: int = 16
    vocab_size: int = 16
    num_attention_heads: int = 2
    seq_length: int = 6
    unequal_lengths: bool = True
    dp_size: int = 4
    stage: int = 3
    micro_batch_size: int = 1
    gradient_accumulation_steps: int = 2
    num_steps: int = 2
    prefetch_depth: int = 1
    reduce_bucket_numel: int = 2_000_000
    overlap: bool = True
    recompute: str = "none"
    offload: str = "none"
    sharding: str = "even"
    recipe: Recipe = "adam-mixed"
    precision: str = "fp64"
    learning_rate: float = 0.01
    schedule_steps: int = 20
    seed: int = 0
    breaks: tuple = ()
    scale: int = 4096
    device_bytes: int | None = None
    costs: Costs = Costs()

    def __post_init__(self):
        for name, most in (("num_layers", 64), ("hidden_size", 512), ("intermediate_size", 2048), ("vocab_size", 1024),
                           ("num_attention_heads", 64), ("seq_length", 256), ("dp_size", 64), ("micro_batch_size", 64),
                           ("gradient_accumulation_steps", 256), ("num_steps", 1000), ("reduce_bucket_numel", 10**12),
                           ("schedule_steps", 10**6), ("scale", 10**12)):
            self._set(name, check_count(name, getattr(self, name), 1, most))
        self._set("prefetch_depth", check_count("prefetch_depth", self.prefetch_depth, 0, 64))
        self._set("seed", check_count("seed", self.seed, 0, 2**53))
        self._set("stage", check_stage(self.stage))
        for name, choices in (("model", MODELS), ("recompute", RECOMPUTE), ("offload", OFFLOADS),
                              ("sharding", SHARDINGS), ("precision", CASTS)):
            check_choice(name, getattr(self, name), choices)
        for name in ("unequal_lengths", "overlap"):
            check_flag(name, getattr(self, name))
        if not isinstance(self.costs, Costs):
            raise InvalidInput("costs", self.costs, "a Costs")
        check_number("learning_rate", self.learning_rate, 0, 10)
        self._set("recipe", recipe(self.recipe))
        if not isinstance(self.breaks, (list, tuple, set, frozenset)):
            self._set("breaks", (self.breaks,))
        self._set("breaks", tuple(self.breaks))
        for name in self.breaks:
            check_choice("breaks", name, BREAKS)
        if self.device_bytes is not None:
            self._set("device_bytes", parse_bytes(self.device_bytes, "device_bytes"))
        self._check_together()

    def _set(self, name, value):
        object.__setattr__(self, name, value)

    def _check_together(self):
        if self.model == "transformer" and self.hidden_size % self.num_attention_heads:
            raise InvalidInput("num_attention_heads", self.num_attention_heads, f"a divisor of hidden_size {self.hidden_size}")
        if self.model == "mlp" and self.recompute == "selective":
            raise InvalidInput("recompute", "selective", "none or full for the mlp, which has no attention")
        least = {"none": 0, "optimizer": 1, "params": 3}[self.offload]
        if self.stage < least:
            raise InvalidInput("stage", self.stage, f"{least} or more with offload {self.offload!r}")
        for row in self.recipe.rows:
            if row.category not in ADAM_CATEGORIES or row.group != "all" or (row.sharded_from_stage is NEVER):
                raise InvalidInput("recipe", self.recipe.name, "an Adam recipe of " + ", ".join(ADAM_CATEGORIES)
                                   + f", all sharded from some stage (got {row.category})")
        missing = [name for name in ("params", "exp_avg", "exp_avg_sq") if name not in self.categories]
        if missing or not self.grad_category:
            raise InvalidInput("recipe", self.recipe.name, f"a recipe with {(missing or ['grads or main_grads'])[0]}")
        if self.work > LARGEST_WORK:
            raise InvalidInput("settings", f"{self.work:,} multiplications",
                               f"a run of at most {LARGEST_WORK:,}: fewer or smaller layers, samples or steps")

    @property
    def categories(self):
        """Names of the recipe's rows."""
        return tuple(row.category for row in self.recipe.rows)

    @property
    def grad_category(self):
        """The row that backward adds to: "grads", or "main_grads" where a recipe has only those."""
        return next((name for name in ("grads", "main_grads") if name in self.categories), None)

    def bytes_per_param(self, category):
        """Bytes of one element of a recipe row."""
        return next(row.bytes_per_param for row in self.recipe.rows if row.category == category)

    @property
    def samples_per_step(self):
        """Sequences in a global batch."""
        return self.dp_size * self.gradient_accumulation_steps * self.micro_batch_size

    @property
    def work(self):
        """About how many multiplications the run takes."""
        per_layer = 2 * self.hidden_size * self.intermediate_size
        if self.model == "transformer":
            per_layer += 4 * self.hidden_size**2 + 2 * self.hidden_size * self.seq_length
        per_token = self.num_layers * per_layer + self.vocab_size * self.hidden_size
        copies = self.dp_size if self.stage == 0 else 1
        return self.num_steps * (3 * self.samples_per_step * self.seq_length * per_token + 10 * copies * per_token)

    def as_baseline(self):
        """The same training on one rank: all micro-batches one after the other, nothing sharded, no mistake."""
        return replace(self, dp_size=1, stage=0, offload="none", breaks=(), device_bytes=None,
                       gradient_accumulation_steps=self.gradient_accumulation_steps * self.dp_size)

    def as_dict(self):
        """Plain data for JSON."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        costs = {**vars(self.costs), "link": dict(vars(self.costs.link))}
        return {**plain, "recipe": self.recipe.name, "breaks": list(self.breaks), "costs": costs}
