"""The backward pass of one layer, operation by operation: what is live while each runs.

Follows PyTorch's autograd engine: an operation's saved tensors go when its backward is done, a gradient when it has
been used, weight gradients stay. Checked to the byte against FSDPMemTracker runs and, with one CPU thread, against the
profiler (tests/test_fsdp_timeline.py, tests/test_activation_stack.py).
"""

from dataclasses import dataclass

from .activation_rows import grad_bytes
from .activations import layer_ops
from .dtypes import dtype_bytes
from .instants import MemoryRow


@dataclass(frozen=True)
class WalkStep:
    """While ``op`` runs backward: live bytes by kind on the fullest rank.

    ``saved_bytes`` of the layer's activations, ``grad_bytes`` of activation gradients with the kernel's temporaries,
    ``weight_numel`` elements of weight gradients made so far in this layer, ``own_weight_numel`` of them by ``op``.
    """

    op: str
    saved_bytes: int
    grad_bytes: int
    weight_numel: int
    own_weight_numel: int
    residual_bytes: int  # the gradient of the layer's output, later of its input: part of ``grad_bytes``

    def rows(self, grad_dtype="bf16", accumulates=False):
        """The step's rows, a tuple of ``MemoryRow``, with weight gradients in ``grad_dtype``.

        ``accumulates``: gradients are added into ones that exist already, so that only the operation's own are new.
        """
        numel = self.own_weight_numel if accumulates else self.weight_numel
        what = "weight gradients of this operation" if accumulates else "weight gradients of this layer"
        size = numel * dtype_bytes(grad_dtype, "grad_dtype")
        return (MemoryRow("activations", "saved by this layer", self.saved_bytes),
                MemoryRow("temporary", "gradients of activations", self.grad_bytes),
                MemoryRow("unsharded_grads", what, size))


def layer_backward(shape, settings, layer=0):
    """A ``WalkStep`` for every operation of the layer in the order their backward runs, a tuple.

    Full recompute has run the layer's forward again before; selective recompute runs the attention core again when
    backward reaches it. Raises ``ConfigError``.
    """
    ops = layer_ops(shape, settings, layer)
    selective = settings.recompute == "selective"
    live = sum(row.num_bytes for op in ops for row in op.saves if not (selective and not row.kept_by("selective")))
    live -= _checkpoint_beside(ops, settings)
    residual = grad_bytes(settings, shape.hidden_size)
    steps, gradients, weights, recomputed = [], {"residual": residual}, 0, not selective
    for op in reversed(ops):
        if op.core and not recomputed:
            live += sum(row.num_bytes for each in ops for row in each.saves if not row.kept_by("selective"))
            recomputed = True
        for name, size in op.produces:
            gradients[name] = max(gradients.get(name, 0), size)
        weights += op.weight_numel
        steps.append(WalkStep(op.name, live, sum(gradients.values()) + op.temporary_bytes, weights,
                              op.weight_numel, residual))
        live -= sum(row.num_bytes for row in op.saves)
        for name in op.consumes:
            if name not in dict(op.produces):
                gradients.pop(name, None)
    return tuple(steps)


def _checkpoint_beside(ops, settings):
    """Bytes of rows that only full recompute keeps, when it is not in use."""
    return sum(row.num_bytes for op in ops for row in op.saves
               if settings.recompute != "full" and not row.kept_by(settings.recompute) and not row.kept_by("none"))
