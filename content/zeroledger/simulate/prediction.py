"""What the log should show, from sizes alone: the live bytes at each instant of a step, and the peak.

Nothing is run. Sizes of activations are formulas in the tokens of a micro-batch; the order of gathers, buckets and
frees is that of ``training_loop``. ``predicted_peak`` equals the log's peak exactly for these models, with any
schedule: memory is taken and given back in the order of the program, and time does not change that order.
"""

from ..instants import Instant, MemoryRow, peak
from ..offload import role_of
from .batches import micro_batches
from .layout import OFFLOADED_ROLES, chunk_numel
from .model import layers_of


class Sizes:
    """Elements of one layer for a micro-batch of sequences of ``lengths`` tokens."""

    def __init__(self, settings, layer, position, lengths):
        tokens, last = sum(lengths), settings.num_layers + 1
        self.name, self.numel = layer.name, layer.numel
        self.chunk = sum(chunk_numel(settings, tensor) for tensor in layer.tensors)
        self.input = tokens * (settings.hidden_size if position else 1)
        self.kept = kept_numel(settings, position, lengths)
        dropped = settings.recompute if 0 < position < last else "none"
        self.retained = self.kept if dropped == "none" else 0
        if dropped == "selective":
            self.retained = self.kept - settings.num_attention_heads * sum(length**2 for length in lengths)
        self.grad_in = tokens * (settings.vocab_size if position == last else settings.hidden_size)
        self.grad_out = tokens * settings.hidden_size if position else 0


def kept_numel(settings, position, lengths):
    """Elements that layer number ``position`` (0: embedding) keeps for backward besides its input."""
    tokens = sum(lengths)
    if position == 0:
        return 0
    if position == settings.num_layers + 1:
        return tokens * settings.vocab_size  # probabilities
    if settings.model == "mlp":
        return tokens * settings.intermediate_size
    # Two normed inputs, q, k, v, mixed values; two 1/rms; the inner activations; attention weights of every head.
    return (tokens * (6 * settings.hidden_size + 2 + settings.intermediate_size)
            + settings.num_attention_heads * sum(length**2 for length in lengths))


def predicted_instants(settings, lengths, rank=0):
    """Every ``Instant`` of one micro-batch on ``rank`` (padding makes ranks differ), a tuple; bytes are exact."""
    layers = layers_of(settings, None)
    sizes = [Sizes(settings, layer, position, lengths) for position, layer in enumerate(layers)]
    states = _state_rows(settings, layers, rank)
    walk = [*_forward(settings, sizes), *_backward(settings, sizes)]
    return tuple(Instant(name, (*states, *_rows(settings, numel))) for name, numel in walk)


def predicted_peak(settings):
    """The highest ``Instant`` of all ranks, steps and micro-batches."""
    found = set()
    for step in range(settings.num_steps):
        for batch in micro_batches(settings, step):
            found |= {(rank if settings.sharding == "rows" else 0, tuple(len(ids) for ids, _ in samples))
                      for rank, samples in enumerate(batch)}
    return peak(peak(predicted_instants(settings, lengths, rank)) for rank, lengths in sorted(found))


ACCOUNTS = {"params": "sharded_params", "grads": "sharded_grads", "main_grads": "sharded_grads",
            "master_params": "master_params", "exp_avg": "optimizer_states", "exp_avg_sq": "optimizer_states",
            "gathered_params": "unsharded_params", "staging": "all_gather", "unreduced_grads": "unsharded_grads",
            "activations": "activations", "activation_grads": "temporary"}


def _state_rows(settings, layers, rank):
    rows = []
    for row in settings.recipe.rows:
        sharded = row.is_sharded(settings.stage)
        if sharded and role_of(row.category) in OFFLOADED_ROLES[settings.offload]:
            continue
        size = sum(row.bytes_for(settings.scale * _stored_numel(settings, row, tensor, rank, sharded))
                   for layer in layers for tensor in layer.tensors)
        rows.append(MemoryRow(ACCOUNTS[row.category], row.category, size))
    return rows


def _stored_numel(settings, row, tensor, rank, sharded):
    if not sharded:
        return tensor.numel
    chunk = chunk_numel(settings, tensor)
    padded = settings.sharding == "even" or role_of(row.category) != "optimizer"
    return chunk if padded else max(0, min(chunk, tensor.numel - rank * chunk))


def _rows(settings, numel):
    """Transient rows of an instant from elements by category."""
    for category, count in numel.items():
        as_row = settings.grad_category if category == "unreduced_grads" else "params"
        yield MemoryRow(ACCOUNTS[category], category, int(count * settings.scale * settings.bytes_per_param(as_row)))


def _gathered(settings, sizes, ahead):
    """Gathered weights of the layer being computed and those prefetched, before and after waiting for its gather.

    Staged pieces of offloaded parameters go when a layer's gather has been waited for.
    """
    if settings.stage < 3:
        return {}, {}
    layers = ahead[:settings.prefetch_depth + 1]
    whole = {"gathered_params": settings.dp_size * sum(sizes[each].chunk for each in layers)}
    if settings.offload != "params":
        return whole, whole
    return ({**whole, "staging": sum(sizes[each].chunk for each in layers)},
            {**whole, "staging": sum(sizes[each].chunk for each in layers[1:])})


def _forward(settings, sizes):
    last = len(sizes) - 1
    held = sizes[0].input
    for position, size in enumerate(sizes):
        before, after = _gathered(settings, sizes, list(range(position, last + 1)))
        output = sizes[position + 1].input if position < last else 0
        name = f"forward of {size.name}"
        yield name, {"activations": held, **before}
        yield name, {"activations": held + size.kept + output, **after}
        held += size.retained + output
    yield f"forward of {sizes[-1].name}", {"activations": held, "activation_grads": sizes[-1].grad_in}


def _backward(settings, sizes):
    held = sum(size.input + size.retained for size in sizes)
    bucket, reducing = 0, 0  # elements in the open bucket, and in the one being reduced
    for position in reversed(range(len(sizes))):
        size = sizes[position]
        before, after = _gathered(settings, sizes, list(range(position, -1, -1)))
        common = {"activations": held, "activation_grads": size.grad_in}
        name = f"backward of {size.name}"
        yield name, {**common, "unreduced_grads": bucket + reducing, **before}
        if settings.stage >= 2 and bucket and settings.scale * (bucket + size.numel) > settings.reduce_bucket_numel:
            bucket, reducing = 0, bucket
        own = size.numel if settings.stage >= 2 else 0
        yield name, {"activations": held + size.kept - size.retained, "activation_grads": size.grad_in + size.grad_out,
                     "unreduced_grads": bucket + own + reducing, **after}
        bucket += own
        held -= size.input + size.retained
