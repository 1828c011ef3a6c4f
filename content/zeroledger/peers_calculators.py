"""What two widely used calculators print, formula by formula: EleutherAI's cookbook and Hugging Face accelerate."""

from dataclasses import dataclass

from .errors import check_choice, check_count, check_number, check_stage

COOKBOOK_BUCKET_NUMEL = 500_000_000  # its zero_allgather_bucket_size, in elements
COOKBOOK_LIVE_NUMEL = 1_000_000_000  # its zero3_max_live_params, in elements


@dataclass(frozen=True)
class CookbookEstimate:
    """Bytes per GPU as the cookbook prints them (in GiB)."""

    activations: float
    params: float
    grads: float
    optimizer: float
    communication: float

    @property
    def total(self):
        """The sum it prints as required for training."""
        return self.activations + self.params + self.grads + self.optimizer + self.communication


def cookbook_estimate(num_layers, hidden_size, num_attention_heads, seq_length=2048, micro_batch_size=1, vocab_size=51200,
                      ffn_expansion=4.0, num_mlp_linears=2, stage=1, num_gpus=1, tp=1, pp=1):
    """EleutherAI/cookbook@827ee3b calc/calc_transformer_mem.py for dense mixed-precision Adam training.

    Kept as it is, faults included: gradients are 4 bytes; a learned position table and both norms' biases are always
    counted; tensor and pipeline parallelism divide the weights only, while gradients, optimizer and activations stay
    whole; and ZeRO divides by *all* GPUs, though the data-parallel degree it computes is num_gpus / (tp × pp). With
    tp = 8 on 8 GPUs the weights are therefore divided by 64. Raises ``InvalidInput``.
    """
    sizes = {"num_layers": num_layers, "hidden_size": hidden_size, "num_attention_heads": num_attention_heads,
             "seq_length": seq_length, "micro_batch_size": micro_batch_size, "vocab_size": vocab_size,
             "num_mlp_linears": num_mlp_linears, "num_gpus": num_gpus, "tp": tp, "pp": pp}
    layers, h, heads, s, b, vocab, linears, gpus, tp, pp = (check_count(*item) for item in sizes.items())
    stage = check_stage(stage)
    check_number("ffn_expansion", ffn_expansion, 0)
    params = 2 * vocab * h + h * s + 8 * h * layers + 2 * h + 4 * layers * h * h + linears * layers * h * h * ffn_expansion
    communication = 0
    if stage >= 1 and gpus > 1:
        communication = 2 * COOKBOOK_BUCKET_NUMEL + (2 * COOKBOOK_LIVE_NUMEL if stage == 3 else 0)
    return CookbookEstimate(
        activations=s * b * h * layers * (34 + 5 * heads * s / h),
        params=2 * params / (tp * pp) / (gpus if stage == 3 else 1),
        grads=4 * params / (gpus if stage >= 2 else 1),
        optimizer=12 * params / (gpus if stage >= 1 else 1),
        communication=communication)


def accelerate_estimate(num_params, dtype="float32"):
    """(size, training) in bytes, as huggingface/accelerate@16cb6eb ``estimate-memory`` prints them for one GPU.

    "Training using Adam" is the *largest* of its parts (model, gradients, optimizer, step), not their sum: 16 bytes per
    parameter in float32, 8 in float16 and bfloat16, where the parts of the same function add up to 18. ``dtype`` is
    "float32", "float16" or "bfloat16".
    """
    params = check_count("num_params", num_params)
    check_choice("dtype", dtype, ("float32", "float16", "bfloat16"))
    whole, half = 4 * params, 2 * params
    if dtype == "float32":
        return whole, max(whole, whole, 2 * whole, 4 * whole)
    return half, max(whole, whole + half, 2 * whole, 2 * whole)
