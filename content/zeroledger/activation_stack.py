"""A stack of layers with its embeddings and head: rows that are live at the end of the forward pass and while each
layer's backward runs, on a device that holds the whole stack (or one pipeline stage of it)."""

from dataclasses import dataclass, field, replace
from itertools import accumulate

from .activation_rows import ActivationSettings, grad_bytes, saved
from .activations import layer_activations
from .backward_walk import layer_backward
from .block_ops import norm
from .dtypes import dtype_bytes
from .errors import ConfigError, check_count, check_flag
from .instants import Instant, MemoryRow
from .logits import INDEX_BYTES, SCALARS, LossSettings, loss_account


@dataclass(frozen=True)
class Stack:
    """Layers of ``shape`` run with ``settings``; ``loss`` None leaves head and loss out.

    ``has_embedding`` None follows ``loss``: a whole model has both, bare layers neither. A pipeline stage is a ``Stack``
    of ``stage_shape`` with one of them or none, and ``waiting_layers``: layers × micro-batches that wait for their
    backward besides (``layers_in_flight`` less the stage's own; of the heaviest kind where layers differ).
    ``rng_state_bytes`` are kept with every checkpoint of full recompute (5,056 on a CPU; a GPU's 16 bytes sit on the
    host). ``workspace_bytes`` is what a matrix product's library takes while it runs (oneDNN: depends on the number of
    threads; cuBLAS: a fixed buffer); 0 unless you measured it.
    """

    shape: object
    settings: ActivationSettings
    loss: LossSettings | None = None
    has_embedding: bool | None = None
    waiting_layers: int = 0
    rng_state_bytes: int = 0
    workspace_bytes: int = 0
    _cache: dict = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self):
        if self.has_embedding is None:
            object.__setattr__(self, "has_embedding", self.loss is not None)
        check_flag("has_embedding", self.has_embedding, ConfigError)
        for name in ("rng_state_bytes", "workspace_bytes", "waiting_layers"):
            object.__setattr__(self, name, check_count(name, getattr(self, name), 0))
        expected = self.settings.tokens_per_rank
        if self.loss is not None and self.loss.tokens != expected:
            raise ConfigError("loss.tokens", self.loss.tokens, f"the micro-batch's {expected:,}")
        learned = self.shape.max_position_embeddings
        if learned and self.settings.seq_length > learned:
            raise ConfigError("seq_length", self.settings.seq_length, f"at most max_position_embeddings {learned:,}")

    def _once(self, kind, layer, compute):
        """``compute()`` once for every kind of layer; layers of a kind are alike."""
        key = kind, self.shape.is_moe_layer(layer)
        if key not in self._cache:
            self._cache[key] = compute()
        return self._cache[key]

    def layer_bytes(self, layer):
        """Bytes that layer ``layer`` keeps after its forward, a checkpoint's random state included."""
        layer_kept = self._once("kept", layer, lambda: layer_activations(self.shape, self.settings, layer).num_bytes)
        return layer_kept + (self.rng_state_bytes if self.settings.recompute == "full" else 0)

    def working_bytes(self, layer):
        """Bytes of layer ``layer`` while it runs, forward or again in backward."""
        return self._once("working", layer,
                          lambda: layer_activations(self.shape, self.settings, layer).recomputed_bytes)

    def walk(self, layer):
        """``WalkStep``s of layer ``layer`` (``backward_walk.layer_backward``)."""
        return self._once("walk", layer, lambda: layer_backward(self.shape, self.settings, layer))

    def kept_before(self, layer):
        """One row for the activations of all layers below ``layer``."""
        if "below" not in self._cache:
            self._cache["below"] = [0, *accumulate(map(self.layer_bytes, range(self.shape.num_layers)))]
        return MemoryRow("activations", f"layers below {layer}", self._cache["below"][layer])

    def input_rows(self):
        """Rows that stay through the whole step: token ids, targets, the loss, and micro-batches that wait."""
        size, rows = self.settings.tokens_per_rank * INDEX_BYTES, []
        if self.has_embedding:
            rows.append(MemoryRow("inputs", "token ids", size))
        if self.loss is not None:
            rows.append(MemoryRow("inputs", "targets", size))
            scalars = len(SCALARS) * self.loss.loss_bytes
            rows.append(MemoryRow("activations", "loss and sum of target weights", scalars))
        if self.waiting_layers:
            heaviest = max(map(self.layer_bytes, range(self.shape.num_layers)))
            rows.append(MemoryRow("activations", "layers of waiting micro-batches", self.waiting_layers * heaviest))
        return tuple(rows)

    def edge_rows(self):
        """``input_rows`` and what the embedding keeps until its own backward: positions and dropout mask."""
        rows = self.input_rows()
        if not self.has_embedding:
            return rows
        rows = (*rows, self._position_row(self.settings.positions_per_rank(("cp",))))
        if not self.settings.hidden_dropout:
            return rows
        mask = saved(self.settings, "embedding", "mask", self.shape.hidden_size, 1)
        return (*rows, MemoryRow("activations", "embedding dropout mask", mask.num_bytes))

    def _position_row(self, positions):
        """What positions keep: their ids for a learned table, else one pair of rotary tables that all layers share."""
        if self.shape.max_position_embeddings:
            return MemoryRow("activations", "position ids", positions * INDEX_BYTES)
        rotary_dim = self.shape.qk_rope_head_dim or self.shape.head_dim
        size = 2 * positions * rotary_dim * self.settings.element_bytes
        return MemoryRow("activations", "rotary cosines and sines", size)

    def final_norm_op(self):
        """The norm before the head as a ``BlockOp``."""
        return norm(self.shape, self.settings, "final norm", ("normed",), self.shape.hidden_size)

    def final_norm_row(self):
        """What the norm before the head keeps, one row."""
        return MemoryRow("activations", "final norm", sum(row.num_bytes for row in self.final_norm_op().saves))

    def loss_instants(self):
        """Instants of head and loss with every layer's activations live: forward, end of forward, loss backward."""
        if self.loss is None:
            rows = (*self.edge_rows(), self.kept_before(self.shape.num_layers))
            return (Instant("end of forward", rows, "forward"),)
        account = loss_account(self.loss)
        head_input = account.input_rows[0]
        rows = (*self.edge_rows(), self.kept_before(self.shape.num_layers), self.final_norm_row(), head_input)
        return tuple(Instant(each.name, rows + tuple(row for row in each.rows if not _is_scalar(row)), each.phase)
                     for each in account.instants)

    def final_norm_instant(self, grad_dtype):
        """Backward of the norm between head and last layer: every layer's activations live, no logits any more."""
        op = self.final_norm_op()
        incoming = grad_bytes(self.settings, self.shape.hidden_size)
        head = MemoryRow("unsharded_grads", "head and final norm", self.head_grad_numel() * dtype_bytes(grad_dtype))
        return Instant("backward of final norm", (
            *self.edge_rows(), self.kept_before(self.shape.num_layers), self.final_norm_row(), head,
            MemoryRow("temporary", "gradients of activations", incoming + op.temporary_bytes)), "backward")

    def head_grad_numel(self):
        """Elements of the gradients that head and final norm have made before the layers' backward starts."""
        norm = self.shape.hidden_size * (1 if self.shape.norm == "rmsnorm" else 2)
        return 0 if self.loss is None else self.loss.head_numel + norm

    def backward_rows(self, layer, step, grad_dtype, accumulates=False):
        """Rows of one ``WalkStep`` of ``layer``, with those of the layers below and the edges."""
        workspace = (MemoryRow("temporary", "workspace", self.workspace_bytes),) if self.workspace_bytes else ()
        own = self.rng_state_bytes if self.settings.recompute == "full" else 0
        kept = MemoryRow("activations", "random state of this layer", own)
        return (*self.edge_rows(), self.kept_before(layer), kept, *step.rows(grad_dtype, accumulates), *workspace)


def _is_scalar(row):
    return row.what in SCALARS  # counted once in ``edge_rows``


def stage_shape(shape, layers):
    """``shape`` with only the layers of ``layers``, a ``range`` of numbers (``mesh.stage_layers``)."""
    if not isinstance(layers, range) or not len(layers) or not 0 <= layers.start < layers.stop <= shape.num_layers:
        raise ConfigError("layers", layers, f"a range within the model's {shape.num_layers} layers")
    dense = tuple(layer - layers.start for layer in shape.dense_layers if layer in layers)
    return replace(shape, num_layers=len(layers), dense_layers=dense)


def stack_instants(stack, grad_dtype="bf16", accumulates=False):
    """Every ``Instant`` of forward and backward of a ``Stack`` that is not sharded, in order.

    Weight gradients, in ``grad_dtype``, appear during backward and stay (the first micro-batch after ``zero_grad``);
    with ``accumulates`` they exist before, counted elsewhere, and only each operation's own result comes on top.
    """
    instants = [*_forward(stack), *stack.loss_instants()]
    if stack.loss is not None:
        instants.append(_accumulated(stack.final_norm_instant(grad_dtype), accumulates))
    made, size = stack.head_grad_numel(), dtype_bytes(grad_dtype, "grad_dtype")
    for layer in reversed(range(stack.shape.num_layers)):
        later = () if accumulates else (MemoryRow("unsharded_grads", "weight gradients of later layers", made * size),)
        for step in stack.walk(layer):
            rows = stack.backward_rows(layer, step, grad_dtype, accumulates)
            instants.append(Instant(f"backward of layer {layer}: {step.op}", rows + later, "backward"))
        made += stack.walk(layer)[-1].weight_numel
    return tuple(instants)


def _accumulated(instant, accumulates):
    """The instant without weight gradients that exist before, when they do."""
    rows = tuple(row for row in instant.rows if not accumulates or row.account != "unsharded_grads")
    return Instant(instant.name, rows, instant.phase)


def _forward(stack):
    for layer in range(stack.shape.num_layers):
        working = MemoryRow("activations", f"layer {layer}", stack.working_bytes(layer))
        yield Instant(f"forward of layer {layer}", (*stack.edge_rows(), stack.kept_before(layer), working), "forward")
