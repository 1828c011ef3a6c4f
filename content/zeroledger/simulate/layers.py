"""The layers of the small models, forward and backward by hand, on one sequence at a time.

A sequence is a list of rows, one row of ``hidden_size`` numbers for each token. ``forward`` returns the output and
what backward needs besides the input; ``backward`` returns the gradient of the input and of every tensor, flat.
"""

from math import exp, log, sqrt, tanh

from ..wrapping import NamedShape
from .arithmetic import add_lists, add_rows, dot, fsum, on_grid, rows_of

NORM_EPS = 1e-5


class Layer:
    """What is gathered, computed and released together; ``name`` prefixes the names of its ``tensors``.

    ``recomputable`` lists, for each kind of recomputation, what need not be kept for backward.
    """

    recomputable = {"none": (), "selective": (), "full": ()}

    def __init__(self, name, shapes, cast):
        self.name, self.cast = name, cast
        self.tensors = tuple(NamedShape(f"{name}.{key}", shape) for key, shape in shapes.items())
        self.keys = tuple(shapes)

    @property
    def numel(self):
        """Parameters of the layer."""
        return sum(tensor.numel for tensor in self.tensors)

    def forward_all(self, weights, samples):
        """Outputs, and what to keep, of each sample."""
        return map(list, zip(*[self.forward(weights, rows) for rows in samples]))

    def backward_all(self, weights, samples, kept, grad_samples):
        """Gradient of each sample's input (None for token ids), and of the tensors summed over the samples."""
        flow, total = [], None
        for rows, names, grad_rows in zip(samples, kept, grad_samples):
            grad_input, grads = self.backward(weights, rows, names, grad_rows)
            flow.append(grad_input)
            total = {key: add_lists(total[key], grads[key]) for key in grads} if total else grads
        return (None if flow[0] is None else flow), total

    def recompute_all(self, weights, samples, kept, mode):
        """What ``mode`` dropped, for each sample, by computing forward again."""
        again = [self.forward(weights, rows)[1] for rows in samples]
        return [{name: values[name] for name in self.recomputable[mode]} for values in again]

    def linear(self, rows, weight, bias=None):
        """rows · weightᵀ + bias, with ``weight`` flat and stored (out, in)."""
        matrix = rows_of(weight, len(rows[0]))
        bias = bias or [0.0] * len(matrix)
        return [self.cast([dot(line, row) + offset for line, offset in zip(matrix, bias)]) for row in rows]

    def linear_backward(self, rows, weight, grad_rows):
        """Gradients of input rows, weight (flat) and bias."""
        columns = list(zip(*rows_of(weight, len(rows[0]))))
        grad_columns, input_columns = list(zip(*grad_rows)), list(zip(*rows))
        grad_input = [self.cast([dot(column, grad) for column in columns]) for grad in grad_rows]
        grad_weight = [on_grid(dot(grad, given)) for grad in grad_columns for given in input_columns]
        return grad_input, grad_weight, [on_grid(fsum(grad)) for grad in grad_columns]


class Embedding(Layer):
    """Token ids to rows: a table, and in the transformer a row for each position."""

    def __init__(self, settings, cast):
        shapes = {"weight": (settings.vocab_size, settings.hidden_size)}
        if settings.model == "transformer":
            shapes["positions"] = (settings.seq_length, settings.hidden_size)
        super().__init__("embed", shapes, cast)
        self.width = settings.hidden_size

    def forward(self, weights, ids):
        """Rows of the table."""
        table = rows_of(weights["weight"], self.width)
        rows = [table[token] for token in ids]
        if "positions" in weights:
            rows = add_rows(rows, rows_of(weights["positions"], self.width))
        return [self.cast(row) for row in rows], {}

    def backward(self, weights, ids, kept, grad_rows):
        """Each token's gradient goes to its row."""
        grad_rows = [[on_grid(value) for value in row] for row in grad_rows]
        grads = {key: [0.0] * len(values) for key, values in weights.items()}
        for position, (token, row) in enumerate(zip(ids, grad_rows)):
            at = token * self.width
            grads["weight"][at:at + self.width] = add_lists(grads["weight"][at:at + self.width], row)
            if "positions" in grads:
                grads["positions"][position * self.width:(position + 1) * self.width] = row
        return None, grads


class FeedForward(Layer):
    """rows + down(tanh(up(rows))): the MLP model's layer, and the second half of the transformer's."""

    recomputable = {"none": (), "full": ("inner",)}

    def __init__(self, name, settings, cast):
        hidden, inner = settings.hidden_size, settings.intermediate_size
        super().__init__(name, {"up": (inner, hidden), "up_bias": (inner,), "down": (hidden, inner), "down_bias": (hidden,)},
                         cast)

    def forward(self, weights, rows):
        """Keeps the inner activations."""
        added, inner = feed_forward(self, weights, rows)
        return add_rows(rows, added), {"inner": inner}

    def backward(self, weights, rows, kept, grad_rows):
        """The residual passes the gradient on."""
        grad_input, grads = feed_forward_backward(self, weights, rows, kept["inner"], grad_rows)
        return add_rows(grad_rows, grad_input), grads


def feed_forward(layer, weights, rows):
    """down(tanh(up(rows))), and the inner activations."""
    inner = [layer.cast([tanh(value) for value in row]) for row in layer.linear(rows, weights["up"], weights["up_bias"])]
    return layer.linear(inner, weights["down"], weights["down_bias"]), inner


def feed_forward_backward(layer, weights, rows, inner, grad_rows):
    """Gradients of rows and of the four tensors; tanh' = 1 − tanh²."""
    grad_inner, grad_down, grad_down_bias = layer.linear_backward(inner, weights["down"], grad_rows)
    grad_inner = [[grad * (1 - value * value) for grad, value in zip(*pair)] for pair in zip(grad_inner, inner)]
    grad_input, grad_up, grad_up_bias = layer.linear_backward(rows, weights["up"], grad_inner)
    return grad_input, {"up": grad_up, "up_bias": grad_up_bias, "down": grad_down, "down_bias": grad_down_bias}


class Head(Layer):
    """Logits and softmax; the loss is the summed cross-entropy of a sequence."""

    def __init__(self, settings, cast):
        super().__init__("head", {"weight": (settings.vocab_size, settings.hidden_size)}, cast)

    def forward(self, weights, rows):
        """Probabilities of the next token; they are kept, for loss and backward, and go nowhere else."""
        probabilities = [softmax(row) for row in self.linear(rows, weights["weight"])]
        return probabilities, {"probabilities": probabilities}

    def backward(self, weights, rows, kept, grad_rows):
        """``grad_rows`` is the gradient of the logits (``cross_entropy_grad``)."""
        grad_input, grad_weight, _ = self.linear_backward(rows, weights["weight"], grad_rows)
        return grad_input, {"weight": grad_weight}


def softmax(row):
    """Probabilities from logits."""
    top = max(row)
    powers = [exp(value - top) for value in row]
    total = fsum(powers)
    return [power / total for power in powers]


def cross_entropy(probabilities, targets):
    """Σ −log p(target) in nats."""
    return fsum(-log(max(row[target], 1e-300)) for row, target in zip(probabilities, targets))


def cross_entropy_grad(probabilities, targets, scale=1.0):
    """d loss / d logits of each token: (p − onehot) · scale."""
    grads = [[value * scale for value in row] for row in probabilities]
    for row, target in zip(grads, targets):
        row[target] -= scale
    return grads


def norm(rows, weight):
    """RMS norm; returns (output rows, normalised rows, 1/rms of each row)."""
    inverse = [1 / sqrt(dot(row, row) / len(row) + NORM_EPS) for row in rows]
    normal = [[value * factor for value in row] for row, factor in zip(rows, inverse)]
    return [[value * gain for value, gain in zip(row, weight)] for row in normal], normal, inverse


def norm_backward(normal, inverse, weight, grad_rows):
    """Gradients of the input rows and of the gain."""
    grad_normal = [[grad * gain for grad, gain in zip(row, weight)] for row in grad_rows]
    means = [dot(grad, row) / len(row) for grad, row in zip(grad_normal, normal)]
    grad_input = [[factor * (grad - value * mean) for grad, value in zip(grads, row)]
                  for grads, row, mean, factor in zip(grad_normal, normal, means, inverse)]
    gains = [on_grid(dot(grads, values)) for grads, values in zip(zip(*grad_rows), zip(*normal))]
    return grad_input, gains
