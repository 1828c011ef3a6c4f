"""Logits and loss: what the head keeps for backward, and what is live at each instant of the loss, eager or chunked.

Measured on torch 2.13 (CPU, bf16), per token and vocabulary entry: with an fp32 upcast 4 bytes are kept and 14 are live
at the peak (12 when nothing refers to the bf16 logits any more); without upcast 2 kept and 8 (6). The 4 bytes that
estimators print are what is *kept*. Transformers' older models add a shifted copy on top, which is not modelled.
"""

from dataclasses import dataclass

from .dtypes import dtype_bytes
from .errors import ConfigError, ceil_div, check_count, check_flag
from .instants import Instant, MemoryRow, peak

INDEX_BYTES = 8  # token ids and targets are int64
SUM_DTYPE_BYTES = 4


@dataclass(frozen=True)
class LossSettings:
    """How the head and the cross-entropy run on one rank. ``tokens`` is s·b; sizes are elements.

    ``tp_size`` cuts the vocabulary (vocabulary-parallel loss). ``num_chunks`` > 1 runs head and loss on that many
    slices of the tokens, each recomputed in backward, so that no logits outlive their slice. ``keep_logits``: the
    caller's output object still refers to the low-precision logits. Raises ``ConfigError``.
    """

    tokens: int
    vocab_size: int
    hidden_size: int
    dtype: str = "bf16"
    upcast: bool = True
    keep_logits: bool = True
    tp_size: int = 1
    num_chunks: int = 1

    def __post_init__(self):
        for field in ("tokens", "vocab_size", "hidden_size", "tp_size", "num_chunks"):
            object.__setattr__(self, field, check_count(field, getattr(self, field), 1, 10**15, ConfigError))
        for field in ("upcast", "keep_logits"):
            check_flag(field, getattr(self, field), ConfigError)
        dtype_bytes(self.dtype)
        if self.num_chunks > self.tokens:
            raise ConfigError("num_chunks", self.num_chunks, f"at most as many as tokens {self.tokens}")

    @property
    def element_bytes(self):
        """Bytes of one logit as the head writes it."""
        return dtype_bytes(self.dtype)

    @property
    def loss_bytes(self):
        """Bytes of one element inside the loss: 4 with upcast (fp32), else those of the dtype."""
        return max(4, self.element_bytes) if self.upcast else self.element_bytes

    @property
    def casts(self):
        """Whether the loss works on a copy of another dtype."""
        return self.loss_bytes != self.element_bytes

    @property
    def chunk_tokens(self):
        """Tokens of the largest slice."""
        return ceil_div(self.tokens, self.num_chunks)

    @property
    def logits_numel(self):
        """Logits of one slice on one rank."""
        return self.chunk_tokens * ceil_div(self.vocab_size, self.tp_size)

    @property
    def head_numel(self):
        """Elements of the head's matrix on one rank."""
        return ceil_div(self.vocab_size, self.tp_size) * self.hidden_size


@dataclass(frozen=True)
class LossAccount:
    """``kept_rows`` stay from forward to backward, ``input_rows`` are the head's input and the targets among them;
    ``instants`` are what the head and the loss hold over everything else, inputs left out."""

    settings: LossSettings
    input_rows: tuple
    kept_rows: tuple
    instants: tuple

    @property
    def saved_bytes(self):
        """Bytes that autograd saves: inputs and kept rows (what ``saved_tensors_hooks`` counts)."""
        return sum(row.num_bytes for row in self.input_rows + self.kept_rows)

    @property
    def peak(self):
        """The ``Instant`` with most live bytes."""
        return peak(self.instants)

    @property
    def peak_bytes(self):
        """Live bytes at the peak over what was live before the head ran (its input, the targets, the weights)."""
        return self.peak.num_bytes


def loss_account(settings):
    """The ``LossAccount`` of ``LossSettings``: bytes on one rank, exact integers."""
    inputs = (MemoryRow("activations", "head input", settings.tokens * settings.hidden_size * settings.element_bytes),
              MemoryRow("activations", "targets", settings.tokens * INDEX_BYTES))
    return LossAccount(settings, inputs, tuple(_kept(settings)), tuple(_instants(settings)))


def _logits(settings, what, element_bytes):
    return MemoryRow("logits", what, settings.logits_numel * element_bytes)


def _scalar(settings, what):
    """The loss, or the sum of target weights that the negative log-likelihood saves."""
    return MemoryRow("activations", what, settings.num_chunks * settings.loss_bytes)


def _kept(settings):
    if settings.num_chunks == 1:
        yield _logits(settings, "log-probabilities", settings.loss_bytes)
        yield _scalar(settings, "sum of target weights")


def _instants(settings):
    """Forward and backward of the loss, of the largest slice when there are several."""
    keeps = settings.keep_logits and settings.num_chunks == 1  # a slice's logits die with the function that made them
    held = [_logits(settings, "logits", settings.element_bytes)] if keeps else []
    upcast = [_logits(settings, "logits in fp32", settings.loss_bytes)] if settings.casts else []
    fresh = [_logits(settings, "logits", settings.element_bytes)]
    scalars = [_scalar(settings, "loss"), _scalar(settings, "sum of target weights")]
    probabilities = _logits(settings, "log-probabilities", settings.loss_bytes)
    gradient = _logits(settings, "gradient of logits", settings.element_bytes)
    wide = _logits(settings, "gradient of fp32 logits", settings.loss_bytes) if settings.casts else gradient
    rest = _between_chunks(settings)

    def at(name, *rows):
        return Instant(name, (*rest, *(row for group in rows for row in group)))

    yield at("loss forward", fresh, upcast, [probabilities])
    if settings.num_chunks == 1:
        yield at("end of forward", held, [probabilities], scalars)
    yield at("loss backward: log-softmax", held, [probabilities, wide], scalars,
             [_logits(settings, "gradient of log-probabilities", settings.loss_bytes)])
    if settings.casts:
        yield at("loss backward: cast", held, [wide, gradient], scalars)
    yield at("loss backward: head", held, [gradient, *_head_gradients(settings)], scalars)


def _hidden_gradient(settings):
    return MemoryRow("temporary", "gradient of head input",
                     settings.tokens * settings.hidden_size * settings.element_bytes)


def _head_gradients(settings):
    """What the head's backward makes; sliced runs already hold the gradient of the whole input (``_between_chunks``)."""
    rows = [] if settings.num_chunks > 1 else [_hidden_gradient(settings)]
    return rows + [MemoryRow("unsharded_grads", "head weight", settings.head_numel * settings.element_bytes)]


def _between_chunks(settings):
    """Gradients that grow slice by slice: of the head's input and of its weight, each whole."""
    if settings.num_chunks == 1:
        return ()
    return (_hidden_gradient(settings),
            MemoryRow("unsharded_grads", "head weight so far", settings.head_numel * settings.element_bytes))
