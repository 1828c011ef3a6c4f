"""Seconds of a step from a model, a device and a link: per layer for ``overlap``, and in closed form.

Everything here is a lower bound while efficiency is 1 and latency 0: peaks are never reached.
"""

from dataclasses import dataclass

from .collectives import interconnect, ring_wire_bytes
from .compute import compute_s, head_forward_flops, layer_flops
from .dtypes import dtype_bytes
from .errors import check_count, check_stage
from .overlap import LayerCost


@dataclass(frozen=True)
class DataParallel:
    """How gradients and weights travel: ZeRO ``stage`` over ``dp_size`` ranks on ``link``, in these formats."""

    dp_size: int
    stage: int
    link: str
    param_dtype: str = "bf16"
    reduce_dtype: str = "bf16"

    def __post_init__(self):
        check_count("dp_size", self.dp_size)
        check_stage(self.stage)
        interconnect(self.link)
        dtype_bytes(self.param_dtype, "param_dtype")
        dtype_bytes(self.reduce_dtype, "reduce_dtype")

    def gather_s(self, numel):
        """Seconds to gather ``numel`` weights."""
        return self._seconds("all_gather", numel, self.param_dtype)

    def reduce_s(self, numel):
        """Seconds to reduce the gradients of ``numel`` weights: an all-reduce at stage 0, else a reduce-scatter."""
        return self._seconds("reduce_scatter" if self.stage else "all_reduce", numel, self.reduce_dtype)

    def _seconds(self, op, numel, dtype):
        link = interconnect(self.link)
        wire_bytes = ring_wire_bytes(op, numel * dtype_bytes(dtype), self.dp_size)
        return wire_bytes / link.bytes_per_s + (link.latency_s if self.dp_size > 1 else 0.0)


def layer_costs(model, micro_batch_size, seq_length, parallel, device, *, efficiency=1.0, recompute="none",
                causal=False):
    """A ``LayerCost`` for the embedding, each layer, and the head of ``model`` on one data-parallel rank of one device.

    ``parallel`` is a ``DataParallel``. At stage 3 each is gathered before forward and again before backward, below it
    never. A tied head is gathered and reduced with the embedding only.
    """
    costs, cache = [], {}
    for name, numel, layer in _parts(model):
        kind = (numel, None if layer is None else model.is_moe_layer(layer), name == "head")
        if kind not in cache:
            forward, backward = _operations(model, micro_batch_size, seq_length, name, layer, recompute, causal)
            gather = parallel.gather_s(numel) if parallel.stage == 3 else 0.0
            cache[kind] = (compute_s(forward, device, efficiency), compute_s(backward, device, efficiency), gather, gather,
                           parallel.reduce_s(numel))
        costs.append(LayerCost(name, *cache[kind]))
    return tuple(costs)


def step_gather_s(model, parallel):
    """Seconds of gathering the updated weights after the optimizer step: stages 1 and 2 only."""
    return parallel.gather_s(model.num_params) if parallel.stage in (1, 2) else 0.0


@dataclass(frozen=True)
class Threshold:
    """From which micro-batch on computing takes longer than communicating.

    ``micro_batch_size`` is the smallest whole number for which it does in the whole step, ``hidden_from`` the smallest
    for which it does in forward and in backward separately, so that overlap can hide all but the ends (None: never,
    because some communication has no computing beside it). ``tokens`` is the exact balance of the whole step.
    """

    micro_batch_size: int
    hidden_from: int | None
    tokens: float
    communication_s: float
    compute_s_per_sequence: float


def communication_threshold(model, seq_length, parallel, device, *, efficiency=1.0, recompute="none", causal=False):
    """The ``Threshold`` of ``model`` (a ``TransformerShape``) at ``seq_length``; closed form, since operations grow in
    proportion to sequences and messages do not grow."""
    costs = layer_costs(model, 1, seq_length, parallel, device, efficiency=efficiency, recompute=recompute, causal=causal)
    forward = sum(cost.forward_s for cost in costs), sum(cost.gather_forward_s for cost in costs)
    backward = (sum(cost.backward_s for cost in costs), sum(cost.gather_backward_s + cost.reduce_s for cost in costs))
    tail = step_gather_s(model, parallel)
    per_sequence, communication = forward[0] + backward[0], forward[1] + backward[1] + tail
    hidden = None if tail else max(_whole(forward[1] / forward[0]), _whole(backward[1] / backward[0]))
    balance = communication / per_sequence
    return Threshold(_whole(balance), hidden, balance * seq_length, communication, per_sequence)


def balance_tokens(dp_size, link, device, *, stage=3, param_bytes=2, reduce_bytes=2, efficiency=1.0):
    """Tokens per rank at which 6 operations a parameter take as long as its bytes: independent of the model's size.

    ZeRO-3 sends 2·param_bytes + reduce_bytes for each parameter, stages 1 and 2 param_bytes + reduce_bytes, stage 0
    2·reduce_bytes, all × (N−1)/N; so tokens = that × peak / (6 × bytes a second). With 2-byte numbers at stage 3 the
    balance is peak × (N−1)/N over bytes a second: 1,040 tokens for an A100 and its NVLink, and many ranks.
    """
    sent = {0: 2 * reduce_bytes, 1: param_bytes + reduce_bytes, 2: param_bytes + reduce_bytes,
            3: 2 * param_bytes + reduce_bytes}[check_stage(stage)]
    dp_size = check_count("dp_size", dp_size)
    operations_per_s = 1 / compute_s(1, device, efficiency)
    return sent * (dp_size - 1) / dp_size * operations_per_s / (6 * interconnect(link).bytes_per_s)


def _parts(model):
    """(name, parameters, layer number or None) of what is gathered and reduced together."""
    from .tensors import embedding_tensors, head_tensors, layer_tensors

    def count(tensors):
        return sum(tensor.numel for tensor in tensors)

    sizes = {}
    yield "embedding", count(embedding_tensors(model)), None
    for layer in range(model.num_layers):
        kind = model.is_moe_layer(layer)
        if kind not in sizes:
            sizes[kind] = count(layer_tensors(model, layer))
        yield f"layer {layer}", sizes[kind], layer
    yield "head", count(head_tensors(model)), None


def _operations(model, micro_batch_size, seq_length, name, layer, recompute, causal):
    """Operations of forward and of backward with what it recomputes."""
    if layer is not None:
        flops = layer_flops(model, micro_batch_size, seq_length, layer, recompute, causal)
        return flops.forward, flops.hardware_flops - flops.forward
    if name == "embedding":
        return 0, 0
    tokens = check_count("micro_batch_size", micro_batch_size) * check_count("seq_length", seq_length)
    forward = head_forward_flops(model, tokens)
    return forward, 2 * forward


def _whole(ratio):
    """The smallest whole micro-batch not below ``ratio``, at least 1."""
    whole = int(ratio)
    return max(whole + (ratio > whole), 1)
