"""The two small models as lists of layers, and their first weights."""

from random import Random

from .attention import Block
from .layers import Embedding, FeedForward, Head


def layers_of(settings, cast):
    """Embedding, ``num_layers`` layers or blocks, head."""
    kind = FeedForward if settings.model == "mlp" else Block
    middle = [kind(f"layers.{number}", settings, cast) for number in range(settings.num_layers)]
    return [Embedding(settings, cast), *middle, Head(settings, cast)]


def initial_weights(settings, layers):
    """{tensor name: flat list}: matrices uniform in ±1/√inputs, gains 1, biases 0."""
    random = Random(settings.seed * 1_000_003)
    return {tensor.name: _first_values(tensor, random) for layer in layers for tensor in layer.tensors}


def _first_values(tensor, random):
    if len(tensor.shape) == 1:
        return [1.0 if "norm" in tensor.name else 0.0] * tensor.numel
    width = tensor.shape[1] ** -0.5
    return [width * (2 * random.random() - 1) for _ in range(tensor.numel)]
