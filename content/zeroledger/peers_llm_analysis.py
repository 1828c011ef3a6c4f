"""What cli99/llm-analysis computes for dense training, formula by formula, to set beside ours.

Source: cli99/llm-analysis@d841e40 llm_analysis/analysis.py. Kept as it is: gradients are fp32; embeddings are assumed
tied; norms are divided by tp in the gradients and not in the weights; of a gated MLP's activations the gate is missing;
and the peak never holds activations and gradients at once, which gradient accumulation does.
"""

from dataclasses import dataclass

from .errors import InvalidInput, check_choice, check_count, check_flag, check_stage
from .models import as_model

RECOMPUTE = ("none", "attn_compute", "attn", "norm_attn_norm", "full")


@dataclass(frozen=True)
class LlmAnalysis:
    """Its figures for one GPU, in bytes (floats as there); ``num_params_total`` is a count."""

    num_params_total: float
    weight_memory_per_gpu: float
    gradient_memory_per_gpu: float
    optimizer_state_memory_per_gpu: float
    estimated_fwd_prefetch_memory_per_gpu: float
    estimated_bwd_prefetch_memory_per_gpu: float
    activation_memory_per_gpu: float

    @property
    def estimated_peak_memory_per_gpu(self):
        """Weights, optimizer, the larger of activations and gradients, and the larger prefetch buffer."""
        prefetch = max(self.estimated_fwd_prefetch_memory_per_gpu, self.estimated_bwd_prefetch_memory_per_gpu)
        either = max(self.activation_memory_per_gpu, self.gradient_memory_per_gpu)
        return self.weight_memory_per_gpu + self.optimizer_state_memory_per_gpu + either + prefetch


def llm_analysis(model, seq_length, micro_batch_size=1, stage=0, dp=1, tp=1, pp=1, sp=1, recompute="none", flash=True,
                 softmax_dropout=False):
    """``LlmAnalysis`` of ``model`` (a dense ``TransformerShape``) with 16-bit weights and Adam.

    ``recompute`` is one of ``RECOMPUTE``; ``sp`` the degree of sequence parallelism. Raises ``InvalidInput``.
    """
    model = as_model(model)
    if model.num_experts or model.kv_lora_rank:
        raise InvalidInput("model", model.family, "a dense model with ordinary attention")
    degrees = {"dp": dp, "tp": tp, "pp": pp, "sp": sp, "seq_length": seq_length, "micro_batch_size": micro_batch_size}
    dp, tp, pp, sp, s, b = (check_count(*item) for item in degrees.items())
    stage = check_stage(stage)
    check_choice("recompute", recompute, RECOMPUTE)
    check_flag("flash", flash)
    check_flag("softmax_dropout", softmax_dropout)
    linear, norms, table, last = _counts(model, tp)
    layers = model.num_layers // pp
    weight_shards, grad_shards, state_shards = (dp if stage >= first else 1 for first in (3, 2, 1))
    layer_weights = 2 * linear / tp + 2 * norms
    return LlmAnalysis(
        num_params_total=model.num_layers * (linear + norms) + table + last,
        weight_memory_per_gpu=(layers * layer_weights + 2 * (table + last) / tp) / weight_shards,
        gradient_memory_per_gpu=4 * (layers * (linear + norms) + table + last) / tp / grad_shards,
        optimizer_state_memory_per_gpu=12 * (layers * (linear / tp + norms) + (table + last) / tp) / state_shards,
        estimated_fwd_prefetch_memory_per_gpu=2 * table / tp + layer_weights,
        estimated_bwd_prefetch_memory_per_gpu=2 * layer_weights,
        activation_memory_per_gpu=_activations(model, s, b, tp, sp, recompute, flash, softmax_dropout))


def _counts(model, tp):
    """Parameters of a layer's matrices, its norms, the token table, the last norm."""
    h, kv_heads = model.hidden_size, max(model.num_key_value_heads / tp, 1) * tp
    matrices = (3 if model.gated_mlp else 2) * h * model.intermediate_size
    attention = 2 * h * h + 2 * h * h * kv_heads / model.num_attention_heads
    return attention + matrices, 2 * h, h * model.vocab_size, h


def _activations(model, s, b, tp, sp, recompute, flash, softmax_dropout):
    """All layers (the first pipeline stage holds as many as the model has), embeddings in and out, last norm."""
    sbh, heads = s * b * model.hidden_size, model.num_attention_heads
    norm = 4 * sbh / sp
    if recompute == "full":
        layer = 2 * sbh / tp
    else:
        ratio = model.intermediate_size / model.hidden_size
        layer = 2 * sbh / sp + 4 * ratio * sbh / tp  # MLP
        layer += norm if recompute == "norm_attn_norm" else 2 * norm
        if recompute == "attn":
            layer += 2 * sbh / sp
        elif recompute in ("none", "attn_compute"):
            layer += 2 * (sbh / sp + 4 * sbh / tp) + sbh / sp
        if recompute == "none":
            layer += (2 * (2 * sbh + 4 * heads * s * b) if flash else 4 * heads * s * s * b) / tp
            layer += heads * s * s * b / tp if softmax_dropout else 0
    return model.num_layers * layer + 2 * s * b * (model.hidden_size + model.vocab_size) / tp + norm
