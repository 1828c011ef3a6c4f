"""FSDP2's step on one rank as named instants: gathered units, prefetched gathers, reduce-scatter buffers, shards.

While a layer's backward runs there are, besides shards and activations: the root and the layer gathered, the next
layer being gathered, the reduce-scatter input of the layer before it, and what autograd makes. With b and r the bytes
of the compute and the reduce dtype: b·(root + layer) + b·layer + r·layer. Source: behaviour of torch 2.13
distributed/fsdp/_fully_shard; every category checked to the byte against FSDPMemTracker (tests/test_fsdp_timeline.py).
"""

from dataclasses import dataclass
from itertools import accumulate

from .activation_stack import Stack
from .dtypes import dtype_bytes
from .errors import ConfigError, check_choice, check_count
from .instants import Instant, MemoryRow
from .wrapping import wrap_units

RESHARDS = ("default", True, False)
BACKENDS = ("nccl", "gloo")


@dataclass(frozen=True)
class FsdpSettings:
    """How FSDP2 runs. ``dp_size`` is the group that shards; dtypes as in its mixed-precision policy.

    ``reshard_after_forward``: "default" keeps only the root gathered between forward and backward, True nothing, False
    everything. ``prefetch_depth`` units are gathered ahead (1 unless set by hand). ``backend`` "gloo" holds a copy of
    the reduce-scatter input. ``wrap`` "none" shards the root alone. Raises ``ConfigError``.
    """

    dp_size: int
    param_dtype: str = "bf16"
    reduce_dtype: str = "fp32"
    storage_dtype: str = "fp32"
    reshard_after_forward: object = "default"
    prefetch_depth: int = 1
    backend: str = "nccl"
    wrap: str = "layer"

    def __post_init__(self):
        object.__setattr__(self, "dp_size", check_count("dp_size", self.dp_size, 1, 10**6, ConfigError))
        object.__setattr__(self, "prefetch_depth", check_count("prefetch_depth", self.prefetch_depth, 0, 10**4,
                                                               ConfigError))
        if not isinstance(self.reshard_after_forward, bool):
            check_choice("reshard_after_forward", self.reshard_after_forward, RESHARDS, ConfigError)
        check_choice("backend", self.backend, BACKENDS, ConfigError)
        check_choice("wrap", self.wrap, ("layer", "none"), ConfigError)
        for name in ("param_dtype", "reduce_dtype", "storage_dtype"):
            dtype_bytes(getattr(self, name), name)


def fsdp_instants(stack, fsdp, tensors=None):
    """Every ``Instant`` of one step up to the end of backward, in order, a tuple; bytes on the fullest rank.

    ``tensors`` are those of the rank before FSDP shards them (``mesh.rank_tensors``); None: all of the model's, which
    tensor parallelism and pipeline stages do not allow. Weight shards are rows of every instant; optimizer states are
    not (add them with ``instants.with_rows``), nor gradients of earlier micro-batches. Raises ``ConfigError``.
    """
    if not isinstance(stack, Stack):
        raise ConfigError("stack", stack, "a Stack")
    whole = stack.has_embedding and stack.loss is not None and stack.settings.tp_size == 1
    if tensors is None and not whole:
        raise ConfigError("tensors", None, "the rank's own (mesh.rank_tensors) under tensor or pipeline parallelism")
    timeline = FsdpTimeline(stack, fsdp, stack.shape if tensors is None else tensors)
    return tuple(Instant(name, (timeline.shards(), *rows), phase) for name, rows, phase in timeline.moments())


class FsdpTimeline:
    """Walks one step, layer by layer; a rank without root still has its layers."""

    def __init__(self, stack, fsdp, tensors):
        self.stack, self.fsdp = stack, fsdp
        units = wrap_units(tensors, fsdp.wrap)
        self.root = units[0] if units[0].is_root else None  # a middle stage of a pipeline has none
        self.layers = [unit for unit in units if not unit.is_root]
        if self.layers and len(self.layers) != stack.shape.num_layers:
            raise ConfigError("tensors", f"{len(self.layers)} layers", f"the stack's {stack.shape.num_layers}")
        self.last = stack.shape.num_layers - 1
        self.param_bytes = dtype_bytes(fsdp.param_dtype)
        self.reduce_bytes = dtype_bytes(fsdp.reduce_dtype)
        self.keeps_layers = fsdp.reshard_after_forward is False
        self.root_padded = self.root.padded_numel(fsdp.dp_size) if self.root else 0
        padded = [unit.padded_numel(fsdp.dp_size) for unit in self.layers] or [0] * stack.shape.num_layers
        self.below = [0, *accumulate(padded)]  # padded elements of all layers below the one at that place

    def padded(self, first, last):
        """Padded elements of layers ``first`` to ``last`` − 1."""
        return self.below[last] - self.below[first] if last > first else 0

    def shards(self):
        size = (self.root_padded + self.below[-1]) // self.fsdp.dp_size
        return MemoryRow("sharded_params", "weight shards", size * dtype_bytes(self.fsdp.storage_dtype))

    def gathered(self, first, last, root=True):
        """Weights of layers ``first`` to ``last`` − 1 and of the root."""
        names = ["root"] * root + [f"layers {first} to {last - 1}"] * (last > first)
        numel = self.root_padded * root + self.padded(first, last)
        return MemoryRow("unsharded_params", "gathered: " + (", ".join(names) or "nothing"), self.param_bytes * numel)

    def gathering(self, first, last):
        return MemoryRow("all_gather", "gather buffers", self.param_bytes * self.padded(first, last))

    def reducing(self, numel, what):
        return MemoryRow("reduce_scatter", f"input: {what}", self.reduce_bytes * numel)

    def reduced(self, first, root=False):
        """Gradient shards of the layers from ``first`` on, and of the root."""
        numel = self.padded(first, self.last + 1) + self.root_padded * root
        size = numel // self.fsdp.dp_size * dtype_bytes(self.fsdp.storage_dtype)
        return MemoryRow("sharded_grads", "reduced gradients", size)

    def root_grads(self):
        """Gradients of head and final norm, whole until the root is reduced last."""
        return MemoryRow("unsharded_grads", "head and final norm", self.stack.head_grad_numel() * self.param_bytes)

    def moments(self, layers=None):
        """(name, rows, phase) of every instant in order; with ``layers`` (ascending numbers) of those layers only."""
        layers = range(self.last + 1) if layers is None else layers
        for name, rows in self.forward(layers):
            yield name, rows, "forward"
        yield from self.loss()
        for layer in reversed(layers):
            for name, rows in self.backward(layer):
                yield name, rows, "backward"
        for name, rows in self.reduce_root():
            yield name, rows, "backward"

    def forward(self, layers):
        """A layer's gathered flat buffer lives beside the weights copied out of it until the next layer's copy-out."""
        for layer in layers:
            whole = self.gathered(0 if self.keeps_layers else layer, layer + 1)
            buffers = self.gathering(layer, min(layer + max(1, self.fsdp.prefetch_depth), self.last + 1))
            working = MemoryRow("activations", f"layer {layer}", self.stack.working_bytes(layer))
            yield f"forward of layer {layer}", (*self.stack.edge_rows(), self.stack.kept_before(layer), working,
                                                whole, buffers)

    def loss(self):
        """Forward and backward of head and loss; the root's backward starts the gather of the last layer."""
        kept = self.last + 1 if self.keeps_layers else 0
        for instant in self.stack.loss_instants():
            in_backward = instant.name == "loss backward: head"
            root = in_backward or instant.name == "loss forward" or self.fsdp.reshard_after_forward is not True
            ahead = [self.ahead(self.last + 1)] if in_backward else []
            yield instant.name, (*instant.rows, self.gathered(0, kept, root), *ahead), instant.phase
        if self.stack.loss is None:
            return
        norm = self.stack.final_norm_instant(self.fsdp.param_dtype)
        yield norm.name, (*norm.rows, self.gathered(0, kept), self.ahead(self.last + 1)), norm.phase

    def ahead(self, layer):
        """Layers being gathered while ``layer`` runs backward."""
        return self.gathering(layer if self.keeps_layers else max(0, layer - self.fsdp.prefetch_depth), layer)

    def backward(self, layer):
        ahead, done = self.ahead(layer), self.reduced(layer + 1)
        whole = self.gathered(0 if self.keeps_layers else layer, layer + 1)
        previous = [self.reducing(self.padded(layer + 1, layer + 2), f"layer {layer + 1}")] if layer < self.last else []
        for step in self.stack.walk(layer):
            rows = self.stack.backward_rows(layer, step, self.fsdp.param_dtype)
            yield f"backward of layer {layer}: {step.op}", (
                *rows, whole, ahead, *previous, done, *self.outer_grads(layer))
        if self.layers:
            yield from self.reduce_layer(layer, ahead, done)

    def outer_grads(self, layer):
        """Whole gradients outside the layer: the root's, and with it the later layers' when nothing wraps them."""
        yield self.root_grads()
        if not self.layers:
            later = sum(self.stack.walk(each)[-1].weight_numel for each in range(layer + 1, self.last + 1))
            yield MemoryRow("unsharded_grads", "later layers", later * self.param_bytes)

    def reduce_layer(self, layer, ahead, done):
        """The layer is resharded; its gradients are copied into one buffer and reduced."""
        unit, numel = self.layers[layer], self.padded(layer, layer + 1)
        residual = MemoryRow("temporary", "gradient of the layer's input", self.stack.walk(layer)[-1].residual_bytes)
        common = (*self.stack.edge_rows(), self.stack.kept_before(layer), residual,
                  self.gathered(0, layer if self.keeps_layers else 0), ahead, self.reducing(numel, f"layer {layer}"),
                  done, self.root_grads())
        whole = MemoryRow("unsharded_grads", f"layer {layer}", unit.numel * self.param_bytes)
        yield f"reduce-scatter of layer {layer}: copy in", (*common, whole)
        yield f"reduce-scatter of layer {layer}", (*common, *self.reduce_buffers(unit, numel))

    def reduce_buffers(self, unit, numel):
        """Output, gloo's copy of the input, and the last gradient, which a loop variable of FSDP still refers to."""
        size = numel * self.reduce_bytes
        yield MemoryRow("temporary", "reduce-scatter output", size // self.fsdp.dp_size)
        if self.fsdp.backend == "gloo":
            yield MemoryRow("temporary", "gloo's copy of the input", size)
        yield MemoryRow("temporary", "last gradient", unit.tensors[-1].numel * self.param_bytes)

    def reduce_root(self):
        if self.root:
            yield from self._reduce_root()
        yield "end of backward", (*self.stack.input_rows(), self.reduced(0, root=True))

    def _reduce_root(self):
        whole = MemoryRow("unsharded_grads", "root", self.root.numel * self.param_bytes)
        common = (*self.stack.input_rows(), self.reducing(self.root_padded, "root"), self.reduced(0))
        yield "reduce-scatter of root: copy in", (*common, whole)
        yield "reduce-scatter of root", (*common, *self.reduce_buffers(self.root, self.root_padded))
