"""Which tensors a framework gathers together: one unit for each layer, and a root unit for the rest (FSDP's usual wrap)."""

from dataclasses import dataclass

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
        total = 1
        for length in self.shape:
            total *= length
        return total


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
