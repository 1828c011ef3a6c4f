"""Floating-point operations of a training step, counted matrix by matrix, and the least time they take.

A multiply and an add are two operations. Norms, softmax, dropout and activation functions are left out, as everybody
leaves them out: counts are a lower bound. Backward of a matrix product is two products of the same size.
"""

from dataclasses import dataclass

from .errors import InvalidInput, check_choice, check_count, check_flag, check_number

RECOMPUTE = ("none", "selective", "full")


@dataclass(frozen=True)
class FlopRow:
    """Operations of one part of the model for one micro-batch: forward, backward and what recomputation repeats."""

    part: str
    forward: int
    recompute: int = 0

    @property
    def backward(self):
        """Twice forward: gradients of the input and of the weight (or of both factors)."""
        return 2 * self.forward

    @property
    def total(self):
        """Operations executed, recomputation included."""
        return self.forward + self.backward + self.recompute


@dataclass(frozen=True)
class Flops:
    """Rows of one or more micro-batches; all counts exact integers."""

    rows: tuple
    tokens: int

    @property
    def model_flops(self):
        """Operations the mathematics needs: forward and backward, no recomputation (the M of MFU)."""
        return sum(row.forward + row.backward for row in self.rows)

    @property
    def hardware_flops(self):
        """Operations executed (the H of HFU)."""
        return sum(row.total for row in self.rows)

    @property
    def forward(self):
        """Operations of the forward pass."""
        return sum(row.forward for row in self.rows)

    @property
    def recompute(self):
        """Operations that recomputation repeats during backward."""
        return sum(row.recompute for row in self.rows)

    def as_dict(self):
        """Plain data for JSON."""
        rows = [{"part": row.part, "forward": row.forward, "backward": row.backward, "recompute": row.recompute}
                for row in self.rows]
        return {"tokens": self.tokens, "rows": rows, "model_flops": self.model_flops,
                "hardware_flops": self.hardware_flops}


def layer_flops(model, micro_batch_size, seq_length, layer=0, recompute="none", causal=False):
    """``Flops`` of layer number ``layer`` of ``model`` (a ``TransformerShape``) for one micro-batch.

    ``causal`` counts only the half of the score matrix a causal kernel computes (s(s+1)/2 pairs; papers count s²).
    Recomputation "selective" repeats the attention core, "full" the whole layer. Raises ``InvalidInput``.
    """
    check_choice("recompute", recompute, RECOMPUTE)
    tokens = _tokens(micro_batch_size, seq_length)
    pairs = int(micro_batch_size) * _pairs_per_sequence(int(seq_length), causal)
    per_token = layer_matrix_numel(model, layer)
    rows = [FlopRow(part, 2 * numel * tokens, 2 * numel * tokens if recompute == "full" else 0)
            for part, numel in per_token.items()]
    core = 2 * pairs * model.num_attention_heads * sum(core_head_dims(model))
    rows.insert(1, FlopRow("attention core", core, core if recompute != "none" else 0))
    return Flops(tuple(rows), tokens)


def step_flops(model, micro_batch_size, seq_length, recompute="none", causal=False, gradient_accumulation_steps=1):
    """``Flops`` of the whole ``model`` for all micro-batches of a step on one data-parallel rank (all its devices).

    Embedding look-ups multiply nothing; the output projection does, tied or not.
    """
    times = check_count("gradient_accumulation_steps", gradient_accumulation_steps)
    totals = {}
    for layer, count in layer_kinds(model):
        for row in layer_flops(model, micro_batch_size, seq_length, layer, recompute, causal).rows:
            forward, repeated = totals.get(row.part, (0, 0))
            totals[row.part] = (forward + count * times * row.forward, repeated + count * times * row.recompute)
    tokens = times * _tokens(micro_batch_size, seq_length)
    totals["output projection"] = (head_forward_flops(model, 1) * tokens, 0)
    return Flops(tuple(FlopRow(part, *pair) for part, pair in totals.items()), tokens)


def head_forward_flops(model, tokens):
    """Operations of the output projection for ``tokens`` tokens."""
    return 2 * model.vocab_size * model.hidden_size * tokens


def layer_kinds(model):
    """(a layer's number, how many layers are like it): one pair for dense and one for mixture layers."""
    kinds = {}
    for layer in range(model.num_layers):
        kinds.setdefault(model.is_moe_layer(layer), []).append(layer)
    return tuple((layers[0], len(layers)) for layers in kinds.values())


def layer_matrix_numel(model, layer):
    """Elements of the matrices one token is multiplied with in ``layer``, by part; idle experts do not count."""
    from .tensors import layer_tensors

    parts = {"attention projections": 0, "mlp": 0, "router": 0}
    for tensor in layer_tensors(model, layer):
        if len(tensor.shape) != 2 or (tensor.expert is not None and tensor.expert >= model.num_experts_per_tok):
            continue
        part = "attention projections" if tensor.role == "attention" else tensor.role
        parts[part] = parts.get(part, 0) + tensor.numel
    return {part: numel for part, numel in parts.items() if numel or part != "router"}


def core_head_dims(model):
    """Elements per head of a query·key product and of a value: they differ only in latent attention."""
    if model.kv_lora_rank:
        return model.qk_nope_head_dim + model.qk_rope_head_dim, model.v_head_dim
    return model.head_dim, model.head_dim


def six_p_flops(num_params, tokens):
    """The rule of thumb: 6 operations per parameter and token (arXiv:2001.08361 sec. 2.1); no attention core."""
    return 6 * check_count("num_params", num_params) * check_count("tokens", tokens, 0)


@dataclass(frozen=True)
class Accelerator:
    """A device: ``peak_flops`` dense 16-bit operations a second with 32-bit accumulation, and who says so."""

    name: str
    peak_flops: float
    source: str

    def __post_init__(self):
        if check_number(f"peak_flops of {self.name}", self.peak_flops) <= 0:
            raise InvalidInput(f"peak_flops of {self.name}", self.peak_flops, "a number above 0")


# Dense rates; data sheets of the newer cards print twice as much, "with sparsity".
ACCELERATORS = {each.name: each for each in (
    Accelerator("v100", 125e12, "NVIDIA V100 data sheet, FP16 tensor cores"),
    Accelerator("a100", 312e12, "NVIDIA A100 data sheet, BF16"),
    Accelerator("h100", 989.4e12, "NVIDIA H100 SXM data sheet, BF16 1,979 TFLOPS with sparsity, halved"),
    Accelerator("h200", 989.4e12, "NVIDIA H200 data sheet, BF16 1,979 TFLOPS with sparsity, halved"),
    Accelerator("l4", 121e12, "NVIDIA L4 data sheet, BF16 242 TFLOPS with sparsity, halved"),
    Accelerator("rtx-4090", 165.2e12, "NVIDIA Ada architecture paper, BF16 with FP32 accumulate"),
)}


def accelerator(which):
    """The ``Accelerator`` named ``which``, or ``which`` itself if it is one. Raises ``InvalidInput``."""
    if isinstance(which, Accelerator):
        return which
    return ACCELERATORS[check_choice("accelerator", which, ACCELERATORS)]


def compute_s(flops, device, efficiency=1.0):
    """Seconds ``device`` needs for ``flops`` operations at ``efficiency`` × its peak; 1.0 makes it a lower bound."""
    if not check_number("efficiency", efficiency, 0, 1):
        raise InvalidInput("efficiency", efficiency, "a number above 0, at most 1")
    return check_count("flops", flops, 0, 10**40) / (accelerator(device).peak_flops * efficiency)


def utilisation(flops, seconds, devices, device):
    """Share of the peak: MFU when ``flops`` are model operations, HFU when they are executed ones (1.0 is all)."""
    if check_number("seconds", seconds) <= 0:
        raise InvalidInput("seconds", seconds, "a number above 0")
    return flops / (seconds * check_count("devices", devices) * accelerator(device).peak_flops)


def _tokens(micro_batch_size, seq_length):
    return check_count("micro_batch_size", micro_batch_size, 1, 10**9) * check_count("seq_length", seq_length, 1, 10**9)


def _pairs_per_sequence(seq_length, causal):
    """Query-key pairs whose product is computed."""
    return seq_length * (seq_length + 1) // 2 if check_flag("causal", causal) else seq_length**2
