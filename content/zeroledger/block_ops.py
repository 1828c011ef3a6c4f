"""What a block is made of: an operation, the tensors it saves, the gradients its backward makes and uses up."""

from dataclasses import dataclass

from .activation_rows import grad_bytes, saved
from .errors import ceil_div


@dataclass(frozen=True)
class BlockOp:
    """One operation of a layer, in forward order.

    ``saves`` are ``ActivationRow``s; a tensor that two operations need stands at the one whose backward runs last.
    Backward uses up the gradients named in ``consumes`` and makes those in ``produces``, (name, bytes on the rank),
    the gradients of ``weight_numel`` elements of weights, and ``temporary_bytes`` that are gone when it is done.
    ``core`` marks the attention core, which selective recompute runs again.
    """

    name: str
    saves: tuple = ()
    consumes: tuple = ()
    produces: tuple = ()
    weight_numel: int = 0
    temporary_bytes: int = 0
    core: bool = False


def column_numel(settings, inputs, outputs, units=None, bias=False):
    """Elements per rank of a weight whose outputs are cut over tp in ``units`` parts, its bias included."""
    units = outputs if units is None else units
    return (inputs + bias) * (outputs // units) * ceil_div(units, settings.tp_size)


def row_numel(settings, inputs, outputs, units=None, bias=False):
    """Elements per rank of a weight whose inputs are cut over tp in ``units`` parts; the bias stays whole."""
    units = inputs if units is None else units
    return (inputs // units) * ceil_div(units, settings.tp_size) * outputs + bias * outputs


def linear(settings, name, inputs, consumes, produces, weight_numel, saves=()):
    """A linear layer over ``inputs`` elements a position; ``produces`` names the gradient of its input (or is None)."""
    made = ((produces, grad_bytes(settings, inputs)),) if isinstance(produces, str) else tuple(produces)
    return BlockOp(name, tuple(saves), tuple(consumes), made, weight_numel)


def dropout(settings, name, consumes, produces, width):
    """Dropout of ``width`` elements a position: a one-byte mask, and in backward a product on the way."""
    size = grad_bytes(settings, width)
    mask = saved(settings, name, "mask", width, 1)
    return BlockOp(name, (mask,), tuple(consumes), ((produces, size),), temporary_bytes=size)


def norm(shape, settings, name, consumes, width, produces=(), is_layer_input=False, width_units=1,
         divided_by=("sp", "cp")):
    """A norm over ``width`` elements, ``width_units`` of them a position (heads, for norms on queries and keys).

    Fused LayerNorm and RMSNorm keep their input and two or one statistics. A composite RMSNorm keeps the input upcast
    to fp32 and the normalised fp32 tensor: 8 bytes an element, as measured on torch.nn.RMSNorm (CPU, torch 2.13).
    """
    composite = shape.norm == "rmsnorm" and settings.norm_kernel == "composite"
    elements, element_bytes = width * width_units, settings.element_bytes
    kept = () if is_layer_input else ("full",)
    rows = []
    if is_layer_input:
        rows.append(_layer_input(settings, name, elements, only_full=composite))
    if composite:
        for tensor in ("input in fp32", "normalised, fp32"):
            rows.append(saved(settings, name, tensor, elements, 4, divided_by, width_units))
    elif not is_layer_input:
        rows.append(saved(settings, name, "input", elements, element_bytes, divided_by, width_units, kept))
    statistics = 1 if shape.norm == "rmsnorm" else 2
    stat_bytes = 4 if composite and settings.stat_bytes else settings.stat_bytes
    if stat_bytes:
        rows.append(saved(settings, name, "rstd" if statistics == 1 else "mean and rstd", statistics * width_units,
                          stat_bytes, divided_by))
    size = grad_bytes(settings, elements, divided_by, width_units)
    made = tuple((gradient, size) for gradient in produces)
    # without a gradient of its own the norm feeds the residual stream: its result, and the sum that replaces the old
    extra = 0 if made else 2 * size
    if composite:
        extra = max(extra, composite_backward_bytes(settings, size))
    return BlockOp(name, tuple(rows), tuple(consumes), made, width * (1 if shape.norm == "rmsnorm" else 2), extra)


def composite_backward_bytes(settings, gradient_bytes):
    """What the backward of a composite RMSNorm holds besides its saved tensors and the gradient it uses up.

    At its peak five fp32 tensors, the upcast gradient among them, when the normalised tensor it saved is gone already
    (measured, tests/torch/measure.py).
    """
    return (5 - 1) * 4 * (gradient_bytes // settings.element_bytes) - gradient_bytes


def _layer_input(settings, name, width, only_full):
    divided_by = ("sp", "cp")
    if settings.partition_checkpoints and settings.recompute == "full" and not settings.sequence_parallel:
        divided_by = ("tp", "cp")
    return saved(settings, name, "layer input", width, settings.element_bytes, divided_by,
                 dropped_by=("none", "selective") if only_full else ())
