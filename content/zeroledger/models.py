"""The shape of a transformer: its fields by their Hugging Face names, and every tensor that follows from them.

``TransformerShape`` is frozen and hashable. Counts are elements, never bytes.
"""

from dataclasses import dataclass, fields
from functools import lru_cache
from math import prod

from .errors import ConfigError, check_choice, check_count, check_flag

OWNERS = ("embedding", "layer", "expert", "head")


@dataclass(frozen=True)
class Tensor:
    """One stored parameter tensor.

    ``owner`` is "embedding", "layer", "expert" or "head" (the final norm belongs to the head); ``role`` says what it
    does there ("attention", "mlp", "norm", "router", "embedding", "position", "head"). ``layer`` and ``expert`` are
    indices or None. Tensor parallelism cuts dimension ``tp_dim`` (None: every rank keeps a copy), which consists of
    ``tp_units`` parts that stay whole (attention heads, rows of the vocabulary, columns of the MLP).
    """

    name: str
    shape: tuple
    owner: str
    role: str
    layer: int | None = None
    expert: int | None = None
    tp_dim: int | None = None
    tp_units: int = 1

    @property
    def numel(self):
        """Elements in the tensor."""
        return prod(self.shape)


@dataclass(frozen=True)
class TransformerShape:
    """A decoder-only transformer. All sizes are elements; ``None`` sizes are filled in from the others.

    Raises ``ConfigError`` naming the field when a size is missing, not whole, or does not fit the others.
    """

    hidden_size: int
    num_layers: int
    num_attention_heads: int
    vocab_size: int
    num_key_value_heads: int | None = None  # None: as many as attention heads (no grouping)
    head_dim: int | None = None  # None: hidden_size / num_attention_heads
    intermediate_size: int | None = None  # None: 4 × hidden_size
    gated_mlp: bool = True  # gate, up and down projections instead of two matrices
    activation: str = "silu"  # the function's name; "silu" and "gelu" keep one input each
    norm: str = "rmsnorm"  # "rmsnorm" (weight only) or "layernorm" (weight and bias)
    norms_per_layer: int = 2  # 1: parallel block (Phi); 4: norms after the sublayers too (Gemma 2 and 3)
    qk_norm: bool = False  # a norm of head_dim elements on queries and one on keys (Qwen3, Gemma 3)
    max_position_embeddings: int = 0  # rows of a *learned* position table; 0 for rotary or none
    tie_word_embeddings: bool = False  # the head reuses the embedding matrix
    qkv_bias: bool = False
    attention_out_bias: bool = False
    mlp_bias: bool = False
    lm_head_bias: bool = False
    fused_qkv: bool = False  # one stored tensor for queries, keys and values
    fused_gate_up: bool = False
    transposed_linear: bool = False  # weights stored (in, out), as GPT-2's Conv1D does
    # mixture of experts
    num_experts: int = 0
    num_experts_per_tok: int = 0
    moe_intermediate_size: int | None = None  # None: intermediate_size
    shared_expert_intermediate_size: int = 0  # all shared experts together; 0 for none
    shared_expert_gate: bool = False
    router_bias: bool = False
    dense_layers: frozenset = frozenset()  # numbers of the layers that keep a dense MLP in a mixture model
    # multi-head latent attention (DeepSeek)
    kv_lora_rank: int = 0  # 0: ordinary attention
    q_lora_rank: int = 0  # 0: queries are not compressed
    qk_nope_head_dim: int = 0
    qk_rope_head_dim: int = 0
    v_head_dim: int = 0
    family: str = "llama"  # how Hugging Face names the tensors

    def __post_init__(self):
        for field in ("hidden_size", "num_layers", "num_attention_heads", "vocab_size", "norms_per_layer"):
            self._fill(field, check_count(field, getattr(self, field), 1, 10**9, ConfigError))
        if self.num_layers > 100_000:  # tensor lists are built one by one
            raise ConfigError("num_layers", self.num_layers, "at most 100,000 layers")
        self._default("num_key_value_heads", self.num_attention_heads)
        self._default("intermediate_size", 4 * self.hidden_size)
        self._default("moe_intermediate_size", self.intermediate_size)
        self._default_head_dim()
        optional = ("max_position_embeddings", "num_experts", "num_experts_per_tok", "shared_expert_intermediate_size",
                    "kv_lora_rank", "q_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
        for field in optional:
            self._fill(field, check_count(field, getattr(self, field), 0, 10**9, ConfigError))
        for field in fields(self):
            if field.type in ("bool", bool):
                check_flag(field.name, getattr(self, field.name), ConfigError)
        check_choice("norm", self.norm, ("rmsnorm", "layernorm"), ConfigError)
        self._check_heads()
        self._check_experts()

    def _fill(self, field, value):
        object.__setattr__(self, field, value)

    def _default(self, field, value):
        given = getattr(self, field)
        self._fill(field, value if given is None else check_count(field, given, 1, 10**9, ConfigError))

    def _default_head_dim(self):
        heads, hidden = self.num_attention_heads, self.hidden_size
        if self.head_dim is None and not self.kv_lora_rank and hidden % heads:
            raise ConfigError("num_attention_heads", heads,
                              f"a divisor of hidden_size {hidden}, or head_dim given on its own")
        self._default("head_dim", max(hidden // heads, 1))

    def _check_heads(self):
        if self.num_attention_heads % self.num_key_value_heads:
            raise ConfigError("num_key_value_heads", self.num_key_value_heads,
                              f"a divisor of num_attention_heads {self.num_attention_heads}")
        if self.kv_lora_rank and not (self.qk_nope_head_dim and self.v_head_dim):
            raise ConfigError("qk_nope_head_dim, v_head_dim", (self.qk_nope_head_dim, self.v_head_dim),
                              "both above 0 when kv_lora_rank is given")

    def _check_experts(self):
        if self.num_experts > 10_000:
            raise ConfigError("num_experts", self.num_experts, "at most 10,000 experts")
        if self.num_experts_per_tok > self.num_experts:
            raise ConfigError("num_experts_per_tok", self.num_experts_per_tok,
                              f"at most num_experts {self.num_experts}")
        if not isinstance(self.dense_layers, (list, tuple, set, frozenset)):
            raise ConfigError("dense_layers", self.dense_layers, "a collection of layer numbers")
        last = self.num_layers - 1
        self._fill("dense_layers", frozenset(check_count("dense_layers", layer, 0, last, ConfigError)
                                             for layer in self.dense_layers))

    def is_moe_layer(self, layer):
        """Whether layer number ``layer`` (from 0) routes its tokens to experts."""
        return self.num_experts > 0 and layer not in self.dense_layers

    def tensors(self):
        """Every parameter tensor in the order the model registers them, as a tuple of ``Tensor``."""
        return _tensors(self)

    @property
    def num_params(self):
        """Parameters of the model, an exact integer; a tied head counts once."""
        return _num_params(self)

    @property
    def num_active_params(self):
        """Parameters that one token touches: all but the experts it is not routed to."""
        idle = _expert_numel(self) * (self.num_experts - self.num_experts_per_tok)
        return self.num_params - idle * sum(map(self.is_moe_layer, range(self.num_layers)))


def as_model(given, field="model"):
    """The ``TransformerShape`` that ``given`` is, holds (a ``ModelPreset``) or names ("llama-2-7b").

    Raises ``ConfigError`` for anything else.
    """
    shape = getattr(given, "model", given)
    if isinstance(given, str):
        from .presets import preset

        shape = preset(given).model
    if not isinstance(shape, TransformerShape):
        raise ConfigError(field, given, "a TransformerShape, a preset or the name of a preset")
    return shape


@lru_cache(maxsize=32)
def _tensors(shape):
    from .tensors import emit_tensors  # imports Tensor from here

    return tuple(emit_tensors(shape))


@lru_cache(maxsize=256)
def _num_params(shape):
    from .tensors import count_params

    return count_params(shape)


def _expert_numel(shape):
    matrices = 3 if shape.gated_mlp else 2
    return matrices * shape.hidden_size * shape.moe_intermediate_size if shape.num_experts else 0
