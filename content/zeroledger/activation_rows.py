"""The settings that decide what autograd keeps, and one row for each tensor that it saves for the backward pass."""

from dataclasses import dataclass, replace

from .dtypes import dtype_bytes
from .errors import ConfigError, ceil_div, check_choice, check_count, check_flag

ATTENTIONS = ("flash", "eager", "eager-fp32-softmax")
RECOMPUTES = ("none", "selective", "full")
NORM_STATS = ("fp32", "input", "none")
NORM_KERNELS = ("fused", "composite")
GROUPS = ("tp", "sp", "cp")


@dataclass(frozen=True)
class ActivationSettings:
    """One micro-batch on one rank. Sizes are elements (sequences, tokens) or ranks.

    The defaults are what a GPU does today: flash attention, fused norms with fp32 statistics, no dropout. ``PAPER``
    holds the conventions of arXiv:2205.05198. Raises ``ConfigError`` naming the field.
    """

    micro_batch_size: int
    seq_length: int
    dtype: str = "bf16"
    # flash keeps output and log-sum-exp; eager keeps the probabilities; eager-fp32-softmax also their fp32 original,
    # as Hugging Face's eager attention does
    attention: str = "flash"
    hidden_dropout: bool = False
    attention_dropout: bool = False
    recompute: str = "none"  # "selective" redoes the attention core, "full" the whole layer
    tp_size: int = 1
    sequence_parallel: bool = False
    cp_size: int = 1
    ep_size: int = 1  # ranks that share a mixture's experts: fewer expert weights each, as many routed tokens
    # mean and rstd of a norm: CUDA kernels keep fp32, the CPU's LayerNorm the input's dtype, papers nothing
    norm_stats: str = "fp32"
    norm_kernel: str = "fused"  # "composite": RMSNorm written out in fp32, as torch.nn.RMSNorm runs on a CPU
    fused_gated_mlp: bool = False  # True: silu(gate) is recomputed in backward (Liger, Transformer Engine)
    partition_checkpoints: bool = False  # layer inputs kept by full recompute are split over tp ("Pa" in ZeRO)

    def __post_init__(self):
        for field, limit in (("micro_batch_size", 10**6), ("seq_length", 10**9), ("tp_size", 10**6), ("cp_size", 10**6),
                             ("ep_size", 10**6)):
            object.__setattr__(self, field, check_count(field, getattr(self, field), 1, limit, ConfigError))
        for field, choices in (("attention", ATTENTIONS), ("recompute", RECOMPUTES), ("norm_stats", NORM_STATS),
                               ("norm_kernel", NORM_KERNELS)):
            check_choice(field, getattr(self, field), choices, ConfigError)
        for field in ("hidden_dropout", "attention_dropout", "sequence_parallel", "fused_gated_mlp",
                      "partition_checkpoints"):
            check_flag(field, getattr(self, field), ConfigError)
        dtype_bytes(self.dtype)

    @property
    def element_bytes(self):
        """Bytes of one activation element."""
        return dtype_bytes(self.dtype)

    @property
    def stat_bytes(self):
        """Bytes of one norm statistic (mean or rstd); 0 when they are left out."""
        return {"fp32": 4, "input": self.element_bytes, "none": 0}[self.norm_stats]

    @property
    def tokens(self):
        """Tokens of the micro-batch over all ranks that share it."""
        return self.micro_batch_size * self.seq_length

    @property
    def tokens_per_rank(self):
        """Tokens of the micro-batch that one rank reads and predicts: context parallelism cuts sequences."""
        return self.micro_batch_size * self.positions_per_rank(("cp",))

    def positions_per_rank(self, groups):
        """Positions of each sequence on the fullest rank when those of ``groups`` that cut sequences do."""
        parts = 1
        if "sp" in groups and self.sequence_parallel:
            parts *= self.tp_size
        if "cp" in groups:
            parts *= self.cp_size
        return ceil_div(self.seq_length, parts)

    def changed(self, **fields):
        """A copy with ``fields`` replaced."""
        return replace(self, **fields)


# What arXiv:2205.05198 counts: unfused attention, dropout everywhere, no norm statistics ("negligible").
PAPER = {"attention": "eager", "hidden_dropout": True, "attention_dropout": True, "norm_stats": "none"}


@dataclass(frozen=True)
class ActivationRow:
    """One saved tensor: ``numel`` elements for the whole micro-batch, and its share on the fullest rank.

    ``divided_by`` lists the groups that cut it ("tp" heads or columns, "sp" and "cp" positions); ``dropped_by`` the
    recompute modes that do not keep it.
    """

    op: str
    tensor: str
    numel: int
    bytes_per_element: int
    divided_by: tuple
    dropped_by: tuple
    numel_per_rank: int

    @property
    def num_bytes(self):
        """Bytes on the fullest rank."""
        return self.numel_per_rank * self.bytes_per_element

    def kept_by(self, recompute):
        """Whether a layer run with ``recompute`` still holds the tensor after its forward pass."""
        return recompute not in self.dropped_by

    def as_dict(self):
        """Plain data for JSON."""
        return {"op": self.op, "tensor": self.tensor, "numel": self.numel, "bytes_per_element": self.bytes_per_element,
                "divided_by": list(self.divided_by), "dropped_by": list(self.dropped_by),
                "numel_per_rank": self.numel_per_rank, "bytes": self.num_bytes}


def saved(settings, op, tensor, per_position, bytes_per_element, divided_by=("sp", "cp"), units=None,
          dropped_by=("full",)):
    """An ``ActivationRow`` of ``per_position`` elements for every position of every sequence.

    ``units`` is the number of parts that tensor parallelism cannot cut (heads; None: single elements).
    """
    units = per_position if units is None else units
    share = per_position // units * ceil_div(units, settings.tp_size) if "tp" in divided_by else per_position
    positions = settings.positions_per_rank(divided_by)
    return ActivationRow(op, tensor, settings.tokens * per_position, bytes_per_element, divided_by, dropped_by,
                         settings.micro_batch_size * positions * share)


def grad_bytes(settings, per_position, divided_by=("sp", "cp"), units=None):
    """Bytes on the fullest rank of the gradient of such a tensor, in the activations' dtype."""
    return saved(settings, "", "", per_position, settings.element_bytes, divided_by, units).num_bytes
