"""What one transformer layer saves for its backward pass, tensor by tensor, for GPT and Llama blocks and their kin.

The block follows from the model's ``TransformerShape``: LayerNorm or RMSNorm, plain or gated MLP, grouped or latent
attention, experts, one, two or four norms. How it runs follows from ``ActivationSettings``.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

from .activation_rows import ActivationSettings
from .attention_ops import attention_ops
from .block_ops import dropout, norm
from .errors import ConfigError, InvalidInput, check_count
from .mlp_ops import mlp_ops

__all__ = ["ActivationSettings", "LayerActivations", "layer_activations", "layer_ops"]


@dataclass(frozen=True)
class LayerActivations:
    """Saved tensors of one layer and one micro-batch: ``rows`` without recompute, ``kept_rows`` with the chosen one."""

    settings: ActivationSettings
    hidden_size: int
    rows: tuple

    @property
    def kept_rows(self):
        """Rows that stay after the layer's forward pass under ``settings.recompute``."""
        return tuple(row for row in self.rows if row.kept_by(self.settings.recompute))

    @cached_property
    def num_bytes(self):
        """Bytes kept on the fullest rank, an exact integer."""
        return sum(row.num_bytes for row in self.kept_rows)

    @property
    def recomputed_bytes(self):
        """Bytes live again while this layer's backward runs (without recompute: ``num_bytes``).

        Full recompute holds everything that is saved without it, plus the checkpoint where it is a tensor of its own.
        """
        kept, again = set(map(id, self.kept_rows)), [row for row in self.rows if row.kept_by("none")]
        return self.num_bytes + sum(row.num_bytes for row in again if id(row) not in kept)

    @property
    def factor_per_sbh(self):
        """``num_bytes`` divided by s·b·h, the figure that papers print (34 + 5as/h …), a float."""
        return self.num_bytes / (self.settings.tokens * self.hidden_size)

    def as_dict(self):
        """Plain data for JSON."""
        return {"bytes": self.num_bytes, "factor_per_sbh": self.factor_per_sbh,
                "rows": [row.as_dict() | {"kept": row.kept_by(self.settings.recompute)} for row in self.rows]}


def layer_activations(shape, settings, layer=0):
    """``LayerActivations`` of layer number ``layer`` (they differ only in models that mix dense and expert layers).

    With ``PAPER`` settings a GPT block keeps sbh(34 + 5as/h), with tensor parallelism sbh(10 + 24/t + 5as/ht), with
    sequence parallelism that over t, with selective recompute without 5as/h, and with full 2sbh (arXiv:2205.05198
    Table 2). Real runs add norm statistics: + 8sb in bf16 on a CPU (measured, torch 2.13), + 16sb on a GPU, whose
    kernels keep them in fp32. Raises ``ConfigError``.
    """
    _check(shape, settings)
    layer = check_count("layer", layer, 0, shape.num_layers - 1, ConfigError)
    return _layer_activations(shape, settings, layer)


@lru_cache(maxsize=4096)
def _layer_activations(shape, settings, layer):
    rows = tuple(row for op in layer_ops(shape, settings, layer) for row in op.saves)
    return LayerActivations(settings, shape.hidden_size, rows)


def layer_ops(shape, settings, layer=0):
    """The layer's ``BlockOp``s in forward order, a tuple. Raises ``ConfigError``."""
    _check(shape, settings)
    layer = check_count("layer", layer, 0, shape.num_layers - 1, ConfigError)
    if shape.norms_per_layer == 1:
        return tuple(_parallel_block(shape, settings, layer))
    return tuple(_serial_block(shape, settings, layer))


def _check(shape, settings):
    if not hasattr(shape, "num_attention_heads"):
        raise InvalidInput("shape", shape, "a TransformerShape, such as model_from_hf_config(…) or preset(…).config")
    if not isinstance(settings, ActivationSettings):
        raise InvalidInput("settings", settings, "an ActivationSettings")
    if settings.tp_size > shape.num_attention_heads:
        raise ConfigError("tp_size", settings.tp_size, f"at most num_attention_heads {shape.num_attention_heads}")


def _serial_block(shape, settings, layer):
    """Norm, attention, sum, norm, MLP, sum; with four norms each half is normed on the way out too (Gemma 2)."""
    post = shape.norms_per_layer == 4
    yield norm(shape, settings, "input_norm", ("normed 1",), shape.hidden_size, is_layer_input=True)
    attention = _half(shape, settings, "attention", post)
    yield from attention_ops(shape, settings, attention.incoming, "normed 1")
    yield from attention.after
    yield norm(shape, settings, "mlp_norm", ("normed 2",), shape.hidden_size)
    mlp = _half(shape, settings, "mlp", post)
    yield from mlp_ops(shape, settings, mlp.incoming, "normed 2", layer)
    yield from mlp.after


def _parallel_block(shape, settings, layer):
    """One norm feeds attention and MLP, whose results are summed (Phi, GPT-J)."""
    yield norm(shape, settings, "input_norm", ("normed 1", "normed 2"), shape.hidden_size, is_layer_input=True)
    attention, mlp = _half(shape, settings, "attention", False), _half(shape, settings, "mlp", False)
    yield from attention_ops(shape, settings, attention.incoming, "normed 1")
    yield from attention.after
    yield from mlp_ops(shape, settings, mlp.incoming, "normed 2", layer, saves_input=False)
    yield from mlp.after


@dataclass(frozen=True)
class _Half:
    """What follows a half's last linear layer, and the gradients that this layer then receives."""

    incoming: tuple
    after: tuple


def _half(shape, settings, name, post_norm):
    after, incoming = [], ()
    if post_norm:
        outer = (f"{name} dropped",) if settings.hidden_dropout else ()
        incoming = (f"{name} out",)
        after.append(norm(shape, settings, f"{name}_post_norm", outer, shape.hidden_size, incoming))
    if settings.hidden_dropout:
        produced = f"{name} dropped" if post_norm else f"{name} out"
        incoming = (f"{name} out",)
        after.append(dropout(settings, f"{name}_out_dropout", (), produced, shape.hidden_size))
    return _Half(incoming, tuple(after))
