"""The transformer's block: x + attention(norm(x)), then the same with the feed-forward part. Causal, several heads."""

from math import sqrt

from .arithmetic import add_rows, dot
from .layers import Layer, feed_forward, feed_forward_backward, norm, norm_backward, softmax


class Block(Layer):
    """One pre-norm transformer block."""

    kept_names = ("normal1", "inverse1", "q", "k", "v", "attention", "mixed", "normal2", "inverse2", "inner")
    recomputable = {"none": (), "selective": ("attention",), "full": kept_names}

    def __init__(self, name, settings, cast):
        hidden, inner = settings.hidden_size, settings.intermediate_size
        square = (hidden, hidden)
        super().__init__(name, {"norm1": (hidden,), "q": square, "k": square, "v": square, "o": square, "norm2": (hidden,),
                                "up": (inner, hidden), "up_bias": (inner,), "down": (hidden, inner),
                                "down_bias": (hidden,)}, cast)
        self.heads = settings.num_attention_heads

    def forward(self, weights, rows):
        """Keeps normed rows, q, k, v, attention weights, mixed values, and the second half's own."""
        normed, normal1, inverse1 = norm(rows, weights["norm1"])
        q, k, v = (self.linear(normed, weights[key]) for key in "qkv")
        attention = self._weights(q, k)
        mixed = self._mix(attention, v)
        middle = add_rows(rows, self.linear(mixed, weights["o"]))
        normed2, normal2, inverse2 = norm(middle, weights["norm2"])
        added, inner = feed_forward(self, weights, normed2)
        flat_attention = [row for head in attention for row in head]
        kept = (normal1, [inverse1], q, k, v, flat_attention, mixed, normal2, [inverse2], inner)
        return add_rows(middle, added), dict(zip(self.kept_names, kept))

    def recompute_all(self, weights, samples, kept, mode):
        """Selective: attention weights from the kept q and k; full: the whole block again."""
        if mode == "full":
            return super().recompute_all(weights, samples, kept, mode)
        return [{"attention": [row for head in self._weights(each["q"], each["k"]) for row in head]} for each in kept]

    def backward(self, weights, rows, kept, grad_rows):
        """From the output back to the input, the second half first."""
        normal1, (inverse1,), q, k, v, flat_attention, mixed, normal2, (inverse2,), inner = (
            kept[name] for name in self.kept_names)
        length = len(q)
        attention = [flat_attention[at:at + length] for at in range(0, len(flat_attention), length)]
        normed2 = _scaled(normal2, weights["norm2"])
        grad, grads = feed_forward_backward(self, weights, normed2, inner, grad_rows)
        grad, grads["norm2"] = norm_backward(normal2, inverse2, weights["norm2"], grad)
        grad_middle = add_rows(grad_rows, grad)

        grad_mixed, grads["o"], _ = self.linear_backward(mixed, weights["o"], grad_middle)
        grad_q, grad_k, grad_v = self._attention_backward(q, k, v, attention, grad_mixed)
        normed = _scaled(normal1, weights["norm1"])
        grad_normed = None
        for key, part in (("q", grad_q), ("k", grad_k), ("v", grad_v)):
            grad, grads[key], _ = self.linear_backward(normed, weights[key], part)
            grad_normed = grad if grad_normed is None else add_rows(grad_normed, grad)
        grad, grads["norm1"] = norm_backward(normal1, inverse1, weights["norm1"], grad_normed)
        return add_rows(grad_middle, grad), {key: grads[key] for key in self.keys}

    def _head(self, rows, head):
        width = len(rows[0]) // self.heads
        return [row[head * width:(head + 1) * width] for row in rows]

    def _weights(self, q, k):
        """Softmax of q·k/√width for each head; a token sees itself and what came before (zeros after it)."""
        scale = 1 / sqrt(len(q[0]) // self.heads)
        result = []
        for head in range(self.heads):
            queries, keys = self._head(q, head), self._head(k, head)
            result.append([self.cast(softmax([dot(query, key) * scale for key in keys[:at + 1]]))
                           + [0.0] * (len(keys) - at - 1) for at, query in enumerate(queries)])
        return result

    def _mix(self, attention, v):
        """Values averaged by the attention weights, heads side by side."""
        parts = []
        for head, weights in enumerate(attention):
            columns = list(zip(*self._head(v, head)))
            parts.append([self.cast([dot(row, column) for column in columns]) for row in weights])
        return [[value for row in rows for value in row] for rows in zip(*parts)]

    def _attention_backward(self, q, k, v, attention, grad_mixed):
        scale = 1 / sqrt(len(q[0]) // self.heads)
        parts = {"q": [], "k": [], "v": []}
        for head, weights in enumerate(attention):
            queries, keys, values = (self._head(rows, head) for rows in (q, k, v))
            grad_out = self._head(grad_mixed, head)
            grad_columns = list(zip(*grad_out))
            parts["v"].append([[dot(column, grad) for grad in grad_columns] for column in zip(*weights)])
            grad_scores = []
            for row, grad in zip(weights, grad_out):
                grad_row = [dot(grad, value) for value in values]
                mean = dot(row, grad_row)
                grad_scores.append([weight * (each - mean) * scale for weight, each in zip(row, grad_row)])
            parts["q"].append([[dot(row, column) for column in zip(*keys)] for row in grad_scores])
            parts["k"].append([[dot(column, query) for query in zip(*queries)] for column in zip(*grad_scores)])
        return ([self.cast([value for row in rows for value in row]) for rows in zip(*heads)] for heads in parts.values())


def _scaled(rows, weight):
    return [[value * gain for value, gain in zip(row, weight)] for row in rows]
