"""The instants of a ``Stack`` at chosen layers, with weight gradients treated as an engine treats them.

All layers of a kind weigh the same and everything else changes by equal steps from layer to layer, so the largest
instant is at one end of the stack: ``end_layers`` is enough for a peak, exactly.
"""

from functools import lru_cache

from .dtypes import dtype_bytes
from .instants import Instant, MemoryRow

# How weight gradients live: added into ones counted elsewhere; whole for one layer, then reduced; whole until the end.
GRADIENT_MODES = ("accumulate", "layer", "grow")


def end_layers(shape, margin=0):
    """Numbers of the layers at both ends, ``margin`` + 1 at each; every layer where layers differ in kind."""
    last = shape.num_layers - 1
    if len({shape.is_moe_layer(layer) for layer in range(shape.num_layers)}) > 1:
        return tuple(range(last + 1))
    return tuple(sorted({*range(min(margin, last) + 1), *range(max(last - margin, 0), last + 1)}))


@lru_cache(maxsize=64)
def walked_instants(stack, grad_dtype, mode, layers):
    """``Instant``s of forward, loss and backward at ``layers`` (numbers, ascending), a tuple in the order of the step.

    With every layer and mode "grow" they are ``stack_instants``; with "accumulate" those with ``accumulates``.
    """
    instants = [_forward(stack, layer) for layer in layers]
    instants += stack.loss_instants()
    if stack.loss is not None:
        instants.append(_norm_instant(stack, grad_dtype, mode))
    size = dtype_bytes(grad_dtype, "grad_dtype")
    for layer in reversed(layers):
        made = _later_numel(stack, layer) * size if mode == "grow" else 0
        later = (MemoryRow("unsharded_grads", "weight gradients of later layers", made),) if made else ()
        for step in stack.walk(layer):
            rows = stack.backward_rows(layer, step, grad_dtype, mode == "accumulate")
            instants.append(Instant(f"backward of layer {layer}: {step.op}", rows + later, "backward"))
    return tuple(instants)


def _forward(stack, layer):
    working = MemoryRow("activations", f"layer {layer}", stack.working_bytes(layer))
    return Instant(f"forward of layer {layer}", (*stack.edge_rows(), stack.kept_before(layer), working), "forward")


def _norm_instant(stack, grad_dtype, mode):
    instant = stack.final_norm_instant(grad_dtype)
    if mode != "accumulate":
        return instant
    return Instant(instant.name, tuple(row for row in instant.rows if row.account != "unsharded_grads"), instant.phase)


def _later_numel(stack, layer):
    """Elements of the weight gradients that head and later layers have made before ``layer`` runs backward."""
    above = range(layer + 1, stack.shape.num_layers)
    moe = sum(map(stack.shape.is_moe_layer, above))
    numel = stack.head_grad_numel()
    for is_moe, count in ((True, moe), (False, len(above) - moe)):
        if count:
            example = next(each for each in above if stack.shape.is_moe_layer(each) == is_moe)
            numel += count * stack.walk(example)[-1].weight_numel
    return numel
