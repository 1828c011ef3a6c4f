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
SCALARS = ("loss", "sum of target weights")


@dataclass(frozen=True)
class LossSettings:
    """How the head and the cross-entropy run on one rank. ``tokens`` is s·b on the rank; sizes are elements.

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
    sequence_parallel: bool = False  # the head's input is kept cut over tp and gathered again in backward

    def __post_init__(self):
        for field in ("tokens", "vocab_size", "hidden_size", "tp_size", "num_chunks"):
            object.__setattr__(self, field, check_count(field, getattr(self, field), 1, 10**15, ConfigError))
        for field in ("upcast", "keep_logits", "sequence_parallel"):
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


def loss_settings(shape, settings, **options):
    """``LossSettings`` of a ``TransformerShape`` run with ``ActivationSettings``; ``options`` are further fields."""
    fields = {"tokens": settings.tokens_per_rank, "vocab_size": shape.vocab_size, "hidden_size": shape.hidden_size,
              "dtype": settings.dtype, "tp_size": settings.tp_size, "sequence_parallel": settings.sequence_parallel}
    return LossSettings(**(fields | options))


def loss_account(settings):
    """The ``LossAccount`` of ``LossSettings``: bytes on one rank, exact integers."""
    kept_tokens = ceil_div(settings.tokens, settings.tp_size) if settings.sequence_parallel else settings.tokens
    inputs = (MemoryRow("activations", "head input", kept_tokens * settings.hidden_size * settings.element_bytes),
              MemoryRow("activations", "targets", settings.tokens * INDEX_BYTES))
    return LossAccount(settings, inputs, tuple(_kept(settings)), tuple(_instants(settings)))


def _logits(settings, what, element_bytes):
    return MemoryRow("logits", what, settings.logits_numel * element_bytes)


def _scalars(settings):
    """The loss, and the sum of target weights that the negative log-likelihood saves."""
    return [MemoryRow("activations", what, settings.loss_bytes) for what in SCALARS]


def _kept(settings):
    if settings.num_chunks == 1:
        yield _logits(settings, "log-probabilities", settings.loss_bytes)
        yield _scalars(settings)[1]


def _instants(settings):
    """Forward and backward of the loss; of the last slice that backward reaches when there are several."""
    sliced = settings.num_chunks > 1
    # a slice's logits die with the function that made them
    held = [_logits(settings, "logits", settings.element_bytes)] if settings.keep_logits and not sliced else []
    probabilities = _logits(settings, "log-probabilities", settings.loss_bytes)
    fresh = [_logits(settings, "logits", settings.element_bytes), probabilities]
    gradient = _logits(settings, "gradient of logits", settings.element_bytes)
    wide = _logits(settings, "gradient of fp32 logits", settings.loss_bytes) if settings.casts else gradient
    if settings.casts:
        fresh.append(_logits(settings, "logits in fp32", settings.loss_bytes))
    scalars, earlier = _scalars(settings), _gradients_of_earlier_slices(settings)
    yield Instant("loss forward", tuple(fresh), "forward")
    if sliced:
        yield Instant("end of forward", tuple(scalars), "forward")
        yield Instant("loss forward again", (*fresh, *scalars, *earlier), "backward")
    else:
        yield Instant("end of forward", (*held, probabilities, *scalars), "forward")
    incoming = _logits(settings, "gradient of log-probabilities", settings.loss_bytes)
    rest = (*held, *scalars, *earlier)
    yield Instant("loss backward: log-softmax", (probabilities, incoming, wide, *rest), "backward")
    if settings.casts:
        yield Instant("loss backward: cast", (wide, gradient, *rest), "backward")
    yield Instant("loss backward: head", (gradient, *_head_gradients(settings), *rest), "backward")


def _head_gradients(settings):
    """What the head's backward makes: of its input (the slice's part), and of its weight."""
    return (MemoryRow("temporary", "gradient of head input",
                      settings.chunk_tokens * settings.hidden_size * settings.element_bytes),
            MemoryRow("unsharded_grads", "head weight", settings.head_numel * settings.element_bytes))


def _gradients_of_earlier_slices(settings):
    """Gradients that grow slice by slice, before the last one: of the head's input, and of its weight (whole)."""
    if settings.num_chunks == 1:
        return ()
    tokens = settings.tokens - settings.chunk_tokens
    return (MemoryRow("temporary", "gradient of head input, earlier slices",
                      tokens * settings.hidden_size * settings.element_bytes),
            MemoryRow("unsharded_grads", "head weight so far", settings.head_numel * settings.element_bytes))
