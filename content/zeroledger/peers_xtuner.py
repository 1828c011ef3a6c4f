"""xtuner's memory calculator: three named instants of a ZeRO-3 step of a dense model, to set beside ours.

Source: InternLM/xtuner@a24e81b5 xtuner/tools/llm_calc. Its timeline is the best of the calculators; what it leaves out
or counts otherwise, and what this module repeats so that its figures come out:
prefetch buffers are missing (one gathered layer only); the SwiGLU input and the down projection's input are counted at
the hidden instead of the MLP width; the log-sum-exp has 2 bytes instead of 4; the inputs of the rotary embedding are
kept; weights of query and key norms are missing; ``chunk_loss_size`` replaces the vocabulary; "B" means 2³⁰ parameters.
"""

from .errors import ConfigError, ceil_div, check_count, check_flag
from .instants import Instant, MemoryRow

ELEMENT_BYTES = 2
OPTIMIZER_BYTES, MASTER_GRAD_BYTES = 12, 4  # fp32 master weight and two moments; fp32 gradient


def xtuner_instants(shape, dp_size, micro_batch_size, seq_length, recompute=True, chunk_loss_size=0):
    """The instants "micro1_forward_last", "micro1_backward_last" and "micro2_forward_last" on one rank, a tuple.

    ``shape`` is a dense ``TransformerShape`` with a gated MLP; flash attention; no tensor or pipeline parallelism.
    Raises ``ConfigError``.
    """
    if shape.num_experts or shape.kv_lora_rank or not shape.gated_mlp:
        raise ConfigError("shape", shape.family, "a dense model with a gated MLP and ordinary attention")
    dp_size = check_count("dp_size", dp_size, 1, error=ConfigError)
    tokens = (check_count("micro_batch_size", micro_batch_size, 1, error=ConfigError)
              * check_count("seq_length", seq_length, 1, error=ConfigError))
    check_flag("recompute", recompute, ConfigError)
    chunk = check_count("chunk_loss_size", chunk_loss_size, 0, error=ConfigError)
    states = _sharded(shape, dp_size, OPTIMIZER_BYTES, "optimizer_states", "master weights and moments")
    gradients = _sharded(shape, dp_size, MASTER_GRAD_BYTES, "sharded_grads", "master gradients")
    forward = (*_layer_rows(shape, tokens), *_head_rows(shape, tokens, chunk), _kept_row(shape, tokens, recompute))
    backward = (*_layer_rows(shape, tokens), _weights("gathered embedding", shape.vocab_size * shape.hidden_size),
                MemoryRow("inputs", "token ids", tokens * ELEMENT_BYTES),
                MemoryRow("reduce_scatter", "gradients of the layer before", _layer_numel(shape) * ELEMENT_BYTES))
    return (Instant("micro1_forward_last", (states, *forward), "forward"),
            Instant("micro1_backward_last", (states, gradients, *backward), "backward"),
            Instant("micro2_forward_last", (states, gradients, *forward), "forward"))


def xtuner_num_params(shape):
    """Parameters as it counts them (query and key norms left out)."""
    edges = 2 * shape.vocab_size * shape.hidden_size + shape.hidden_size
    return shape.num_layers * _layer_numel(shape) + edges


def _widths(shape):
    return shape.num_attention_heads * shape.head_dim, shape.num_key_value_heads * shape.head_dim


def _layer_numel(shape):
    query, key = _widths(shape)
    hidden = shape.hidden_size
    return hidden * (2 * query + 2 * key) + 3 * hidden * shape.intermediate_size + 2 * hidden


def _sharded(shape, dp_size, bytes_per_param, account, what):
    return MemoryRow(account, what, ceil_div(xtuner_num_params(shape) * bytes_per_param, dp_size))


def _weights(what, numel):
    return MemoryRow("unsharded_params", what, numel * ELEMENT_BYTES)


def _layer_elements(shape):
    """Elements a token that one layer keeps."""
    query, key = _widths(shape)
    pairs = (query + key) * (3 if shape.qk_norm else 2)  # inputs of norm, of rotary embedding and of the scores
    attention = 2 * shape.hidden_size + pairs + shape.num_attention_heads + key + query
    return attention + 4 * shape.hidden_size + 2 * shape.intermediate_size


def _layer_rows(shape, tokens):
    return (_weights("gathered layer", _layer_numel(shape)),
            MemoryRow("activations", "one layer", tokens * _layer_elements(shape) * ELEMENT_BYTES))


def _head_rows(shape, tokens, chunk_loss_size):
    hidden = shape.hidden_size
    logits = 2 * (chunk_loss_size or shape.vocab_size)
    return (_weights("gathered head and norm", hidden * (shape.vocab_size + 1)),
            MemoryRow("activations", "inputs of final norm and head", tokens * 2 * hidden * ELEMENT_BYTES),
            MemoryRow("logits", "softmax in and out", tokens * logits * ELEMENT_BYTES))


def _kept_row(shape, tokens, recompute):
    """All layers but the last: their inputs with recompute, else everything and the embedding's ids."""
    if recompute:
        per_layer, ids = shape.hidden_size, 0
    else:
        per_layer, ids = _layer_elements(shape), 1
    elements = per_layer * (shape.num_layers - 1) + ids
    return MemoryRow("activations", "checkpoints" if recompute else "other layers", tokens * elements * ELEMENT_BYTES)
