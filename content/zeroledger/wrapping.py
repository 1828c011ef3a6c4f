"""Which tensors a framework gathers together: one unit for each layer, and a root unit for the rest (FSDP's usual wrap)."""

from dataclasses import dataclass
from math import prod

from .errors import InvalidInput, check_choice
from .sharding import fsdp2_unsharded_numel

WRAPS = ("layer", "none")


@dataclass(frozen=True)
class NamedShape:
    """A parameter tensor known only by ``name`` and ``shape`` (elements); ``models.Tensor`` serves as well."""

    name: str
    shape: tuple

    @property
    def numel(self):
        """Elements in the tensor."""
        return prod(self.shape)


@dataclass(frozen=True)
class Unit:
    """Tensors gathered by one call. The root unit holds what no layer owns."""

    name: str
    tensors: tuple
    is_root: bool = False

    @property
    def numel(self):
        """Elements of all tensors, unpadded."""
        return sum(tensor.numel for tensor in self.tensors)

    def padded_numel(self, num_shards):
        """Elements after each tensor's first dimension is padded to a multiple of ``num_shards`` (FSDP2's gather)."""
        return fsdp2_unsharded_numel(self.tensors, num_shards)


def as_tensors(tensors):
    """``tensors`` as a tuple of objects with ``name``, ``shape`` and ``numel``.

    Takes a model (anything with ``tensors()``), tensors, or (name, shape) pairs. Raises ``InvalidInput``.
    """
    listed = tensors.tensors() if callable(getattr(tensors, "tensors", None)) else tensors
    try:
        built = tuple(each if hasattr(each, "numel") else NamedShape(each[0], tuple(each[1])) for each in listed)
    except (TypeError, IndexError):
        built = ()
    if not built:
        raise InvalidInput("tensors", tensors, "a model, or at least one tensor as a (name, shape) pair")
    return built


def layer_of(tensor):
    """The layer a tensor belongs to: its ``layer``, else the first number among the dotted parts of its name, else None."""
    if hasattr(tensor, "layer"):
        return tensor.layer
    return next((int(part) for part in tensor.name.split(".") if part.isdecimal()), None)


def wrap_units(tensors, wrap="layer"):
    """The gather units, a tuple of ``Unit``: the root first, then the layers in order.

    ``wrap`` "layer" makes a unit of each layer, "none" one root unit of everything. Raises ``InvalidInput``.
    """
    tensors = as_tensors(tensors)
    check_choice("wrap", wrap, WRAPS)
    if wrap == "none":
        return (Unit("root", tensors, True),)
    layers = {}
    for tensor in tensors:
        layers.setdefault(layer_of(tensor), []).append(tensor)
    root = tuple(layers.pop(None, ()))
    units = tuple(Unit(f"layer {layer}", tuple(layers[layer])) for layer in sorted(layers))
    return ((Unit("root", root, True),) if root else ()) + units


# What a layer's modules are called, in the order a transformer runs them; models register them in other orders.
RUN_ORDER = (
    ("ln1", "ln_1", "norm1", "norm_0", "input_layernorm", "attention_norm"),
    ("self_attn", "attn", "attention", "self_attention", "qkv", "qkv_proj", "q_proj", "k_proj", "v_proj", "o_proj", "proj"),
    ("ln2", "ln_2", "norm2", "norm_1", "post_attention_layernorm", "pre_feedforward_layernorm", "ffn_norm"),
)


def execution_order(tensors):
    """``tensors`` in the order forward uses them: what precedes the layers, each layer's parts, the rest.

    Inside a layer known names are put in ``RUN_ORDER`` and all others, the MLP's, follow; otherwise the order given is
    kept. Gradients become ready in the reverse of this order, not in the reverse of registration.
    """
    tensors = as_tensors(tensors)
    layers = [layer_of(tensor) for tensor in tensors]
    first = next((at for at, layer in enumerate(layers) if layer is not None), len(tensors))

    def key(at):
        if layers[at] is None:
            return (-1 if at < first else len(tensors) + max(filter(None, layers), default=0), 0)
        return layers[at], _run_rank(tensors[at].name)

    return tuple(tensors[at] for at in sorted(range(len(tensors)), key=key))


def _run_rank(name):
    """Place of the module right below the layer in ``RUN_ORDER``; last where it is not known."""
    parts = name.split(".")
    below = next((parts[at + 1] for at, part in enumerate(parts[:-1]) if part.isdecimal()), "")
    return next((rank for rank, names in enumerate(RUN_ORDER) if below in names), len(RUN_ORDER))
