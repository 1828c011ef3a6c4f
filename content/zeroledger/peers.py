"""One question, many answers: what each well-known calculator says for the same model, and what it counts.

The formulas are in ``peers_*``; here they stand side by side with our own ledger.
"""

from dataclasses import dataclass

from .errors import InvalidInput, check_count, check_stage
from .ledger import ledger
from .models import as_model
from .peers_calculators import accelerate_estimate, cookbook_estimate
from .peers_deepspeed import zero2_estimate, zero3_estimate
from .peers_llm_analysis import llm_analysis
from .peers_megatron import MegatronArgs, activation_bytes_without_sp, weight_and_optimizer_bytes


@dataclass(frozen=True)
class Answer:
    """``who`` says ``num_bytes`` per GPU (None: it cannot answer), counting ``counts``; ``caveat`` is its known fault."""

    who: str
    num_bytes: float | None
    counts: str
    caveat: str


def peer_answers(model, dp_size, stage, seq_length=2048, micro_batch_size=1):
    """Answers for pure data parallelism with mixed-precision Adam, ours first. ``model``: a shape, preset or its name.

    Raises ``InvalidInput``, also for mixtures of experts and latent attention, which most of them do not know.
    """
    model, dp_size, stage = as_model(model), check_count("dp_size", dp_size), check_stage(stage)
    seq_length, micro_batch_size = check_count("seq_length", seq_length), check_count("micro_batch_size", micro_batch_size)
    if model.num_experts or model.kv_lora_rank:
        raise InvalidInput("model", model.family, "a dense model with ordinary attention")
    analysis = llm_analysis(model, seq_length, micro_batch_size, stage, dp_size)
    ours = ledger(model=model, dp_size=dp_size, stage=stage).model_states_bytes_per_rank
    return (
        Answer("zeroledger", ours, "model states, 16 bytes a parameter", "a lower bound: nothing but states"),
        _deepspeed(model, dp_size, stage),
        _megatron(model, dp_size, stage, seq_length, micro_batch_size),
        Answer("llm-analysis", analysis.estimated_peak_memory_per_gpu, "states (fp32 gradients), activations, prefetch",
               "never holds activations and gradients at once; ties every embedding"),
        _cookbook(model, dp_size, stage, seq_length, micro_batch_size),
        Answer("accelerate", accelerate_estimate(model.num_params, "bfloat16")[1], "the largest part of training",
               "the largest part, not the sum; no data parallelism"),
    )


def _deepspeed(model, dp_size, stage):
    caveat = "GiB printed as GB; no reduce bucket, prefetch, live parameters or activations"
    if stage == 3:
        largest = max(tensor.numel for tensor in model.tensors())  # its weight is most of a leaf module
        estimate = zero3_estimate(model.num_params, largest, dp_size)
        return Answer("DeepSpeed estimator", estimate.gpu_bytes, "18P/N and 4 × the largest matrix", caveat)
    if stage == 2:
        return Answer("DeepSpeed estimator", zero2_estimate(model.num_params, dp_size).gpu_bytes, "2P + 18P/N", caveat)
    return Answer("DeepSpeed estimator", None, f"nothing for stage {stage}", "estimates stages 2 and 3 only")


def _megatron(model, dp_size, stage, seq_length, micro_batch_size):
    if stage > 1:
        return Answer("Megatron-LM", None, f"nothing for stage {stage}", "its report knows stages 0 and 1")
    args = MegatronArgs(
        model.hidden_size, model.num_layers, model.num_attention_heads, model.vocab_size, seq_length, micro_batch_size,
        model.intermediate_size, model.head_dim, model.num_key_value_heads, model.gated_mlp,
        "RMSNorm" if model.norm == "rmsnorm" else "LayerNorm", not model.tie_word_embeddings, data_parallel_size=dp_size,
        use_distributed_optimizer=stage == 1)
    total = weight_and_optimizer_bytes(args) + activation_bytes_without_sp(args)
    return Answer("Megatron-LM", total, "18P or (6 + 12/N)P, and 34sbh a layer plus 5%",
                  "no attention scores (5as/h) in its activations; no biases in its parameters")


def _cookbook(model, dp_size, stage, seq_length, micro_batch_size):
    estimate = cookbook_estimate(
        model.num_layers, model.hidden_size, model.num_attention_heads, seq_length, micro_batch_size, model.vocab_size,
        model.intermediate_size / model.hidden_size, 3 if model.gated_mlp else 2, stage, dp_size)
    return Answer("EleutherAI cookbook", estimate.total, "states (fp32 gradients), sbh(34 + 5as/h) a layer, buckets",
                  "buckets of constant size; one head for each query head")
