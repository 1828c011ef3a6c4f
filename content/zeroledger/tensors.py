"""The parameter tensors of a ``TransformerShape``, one by one, and their count without listing every layer.

Tensors carry the names, shapes and order of the checkpoints on the Hugging Face hub (mixtures: one tensor an expert).
"""

from .models import Tensor

# Canonical names are Llama's; a family says what it writes instead.
RENAMED = {
    "gpt2": (
        ("model.layers.", "transformer.h."), ("self_attn.qkv_proj", "attn.c_attn"), ("self_attn.o_proj", "attn.c_proj"),
        ("mlp.up_proj", "mlp.c_fc"), ("mlp.down_proj", "mlp.c_proj"), ("input_layernorm", "ln_1"),
        ("post_attention_layernorm", "ln_2"), ("model.embed_tokens", "transformer.wte"),
        ("model.embed_positions", "transformer.wpe"), ("model.norm", "transformer.ln_f"),
    ),
    "mixtral": (
        ("mlp.experts.", "block_sparse_moe.experts."), ("mlp.gate.", "block_sparse_moe.gate."),
        ("gate_proj", "w1"), ("up_proj", "w3"), ("down_proj", "w2"),
    ),
    "phi": (
        ("self_attn.o_proj", "self_attn.dense"), ("mlp.up_proj", "mlp.fc1"), ("mlp.down_proj", "mlp.fc2"),
        ("model.norm", "model.final_layernorm"),
    ),
    "gpt_neox": (
        ("model.layers.", "gpt_neox.layers."), ("self_attn.qkv_proj", "attention.query_key_value"),
        ("self_attn.o_proj", "attention.dense"), ("mlp.up_proj", "mlp.dense_h_to_4h"),
        ("mlp.down_proj", "mlp.dense_4h_to_h"), ("model.embed_tokens", "gpt_neox.embed_in"),
        ("model.norm", "gpt_neox.final_layer_norm"), ("lm_head", "embed_out"),
    ),
    "starcoder2": (("mlp.up_proj", "mlp.c_fc"), ("mlp.down_proj", "mlp.c_proj")),
    "qwen2_moe": (("mlp.shared_experts.", "mlp.shared_expert."),),
}
NORM_NAMES = {
    1: ("input_layernorm",),
    2: ("input_layernorm", "post_attention_layernorm"),
    4: ("input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm"),
}
# Families whose modules register in another order than Llama's.
NORM_BEFORE_EACH = ("gpt2",)  # each norm before its sublayer
NORMS_BEFORE_ALL = ("gpt_neox",)
OUTPUT_FIRST = ("phi3",)  # attention's output matrix before the fused input matrix
DOWN_SECOND = ("mixtral",)  # w1, w2, w3: gate, down, up
ROUTER_AFTER_EXPERTS = ("deepseek",)


def emit_tensors(shape):
    """Yield every ``Tensor`` of ``shape``: embeddings, layers from 0, final norm and head."""
    yield from embedding_tensors(shape)
    for layer in range(shape.num_layers):
        yield from layer_tensors(shape, layer)
    yield from head_tensors(shape)


def count_params(shape):
    """Parameters of ``shape``, an exact integer, from one layer of each kind."""
    total = _numel(embedding_tensors(shape)) + _numel(head_tensors(shape))
    moe_layers = [layer for layer in range(shape.num_layers) if shape.is_moe_layer(layer)]
    dense_layers = [layer for layer in range(shape.num_layers) if not shape.is_moe_layer(layer)]
    for kind in (moe_layers, dense_layers):
        if kind:
            total += len(kind) * _numel(layer_tensors(shape, kind[0]))
    return total


def embedding_tensors(shape):
    """Yield the token table and, where positions are learned, the position table."""
    yield _tensor(shape, "model.embed_tokens.weight", (shape.vocab_size, shape.hidden_size), "embedding", "embedding",
                  tp_dim=0, tp_units=shape.vocab_size)
    if shape.max_position_embeddings:
        yield _tensor(shape, "model.embed_positions.weight", (shape.max_position_embeddings, shape.hidden_size),
                      "embedding", "position")


def head_tensors(shape):
    """Yield the final norm and, unless it is tied to the embedding, the output matrix."""
    yield from _norm(shape, "model.norm", shape.hidden_size, "head")
    if not shape.tie_word_embeddings:
        yield _tensor(shape, "lm_head.weight", (shape.vocab_size, shape.hidden_size), "head", "head",
                      tp_dim=0, tp_units=shape.vocab_size)
    if shape.lm_head_bias:
        yield _tensor(shape, "lm_head.bias", (shape.vocab_size,), "head", "head", tp_dim=0, tp_units=shape.vocab_size)


def layer_tensors(shape, layer):
    """Yield the tensors of layer number ``layer`` (from 0), experts included."""
    prefix = f"model.layers.{layer}."
    norms = [tensor for name in _norm_names(shape)
             for tensor in _norm(shape, prefix + name, shape.hidden_size, "layer", layer)]
    first = 0
    if shape.family in NORM_BEFORE_EACH:
        first = len(norms) // shape.norms_per_layer
    elif shape.family in NORMS_BEFORE_ALL:
        first = len(norms)
    yield from norms[:first]
    yield from _attention(shape, prefix, layer)
    if shape.family in NORM_BEFORE_EACH:
        yield from norms[first:]
    yield from _feed_forward(shape, prefix, layer)
    if shape.family not in NORM_BEFORE_EACH:
        yield from norms[first:]


def _norm_names(shape):
    if shape.norms_per_layer in NORM_NAMES:
        return NORM_NAMES[shape.norms_per_layer]
    return tuple(f"norm_{number}" for number in range(shape.norms_per_layer))


def _attention(shape, prefix, layer):
    at = prefix + "self_attn."
    heads, kv_heads, width = shape.num_attention_heads, shape.num_key_value_heads, shape.head_dim
    if shape.kv_lora_rank:
        yield from _latent_attention(shape, at, layer)
        return
    output = list(_linear(shape, at + "o_proj", heads * width, shape.hidden_size, "attention", layer,
                          shape.attention_out_bias, "row", heads))
    if shape.family in OUTPUT_FIRST:
        yield from output
    if shape.fused_qkv:
        # A fused matrix is cut by groups: a key/value head with the queries it serves.
        yield from _linear(shape, at + "qkv_proj", shape.hidden_size, (heads + 2 * kv_heads) * width, "attention",
                           layer, shape.qkv_bias, "column", kv_heads)
    else:
        for name, count in (("q_proj", heads), ("k_proj", kv_heads), ("v_proj", kv_heads)):
            yield from _linear(shape, at + name, shape.hidden_size, count * width, "attention", layer,
                               shape.qkv_bias, "column", count)
    if shape.family not in OUTPUT_FIRST:
        yield from output
    if shape.qk_norm:
        yield from _norm(shape, at + "q_norm", width, "layer", layer)
        yield from _norm(shape, at + "k_norm", width, "layer", layer)


def _latent_attention(shape, at, layer):
    """DeepSeek-V2/V3: keys and values come from one short latent vector per token (arXiv:2405.04434 sec. 2.1)."""
    heads, hidden = shape.num_attention_heads, shape.hidden_size
    query = heads * (shape.qk_nope_head_dim + shape.qk_rope_head_dim)
    if shape.q_lora_rank:
        yield from _linear(shape, at + "q_a_proj", hidden, shape.q_lora_rank, "attention", layer, shape.qkv_bias)
        yield from _norm(shape, at + "q_a_layernorm", shape.q_lora_rank, "layer", layer)
        yield from _linear(shape, at + "q_b_proj", shape.q_lora_rank, query, "attention", layer, False, "column", heads)
    else:
        yield from _linear(shape, at + "q_proj", hidden, query, "attention", layer, False, "column", heads)
    yield from _linear(shape, at + "kv_a_proj_with_mqa", hidden, shape.kv_lora_rank + shape.qk_rope_head_dim,
                       "attention", layer, shape.qkv_bias)
    yield from _norm(shape, at + "kv_a_layernorm", shape.kv_lora_rank, "layer", layer)
    yield from _linear(shape, at + "kv_b_proj", shape.kv_lora_rank,
                       heads * (shape.qk_nope_head_dim + shape.v_head_dim), "attention", layer, False, "column", heads)
    yield from _linear(shape, at + "o_proj", heads * shape.v_head_dim, hidden, "attention", layer,
                       shape.attention_out_bias, "row", heads)


def _feed_forward(shape, prefix, layer):
    if not shape.is_moe_layer(layer):
        yield from _mlp(shape, prefix + "mlp.", layer, shape.intermediate_size)
        return
    if shape.family not in ROUTER_AFTER_EXPERTS:
        yield from _router(shape, prefix, layer)
    for expert in range(shape.num_experts):
        yield from _mlp(shape, f"{prefix}mlp.experts.{expert}.", layer, shape.moe_intermediate_size, expert)
    if shape.family in ROUTER_AFTER_EXPERTS:
        yield from _router(shape, prefix, layer)
    if shape.shared_expert_intermediate_size:
        yield from _mlp(shape, prefix + "mlp.shared_experts.", layer, shape.shared_expert_intermediate_size)
    if shape.shared_expert_gate:
        yield _tensor(shape, prefix + "mlp.shared_expert_gate.weight", (1, shape.hidden_size), "layer", "router", layer)


def _router(shape, prefix, layer):
    gate = prefix + "mlp.gate."
    yield _tensor(shape, gate + "weight", (shape.num_experts, shape.hidden_size), "layer", "router", layer)
    if shape.router_bias:
        yield _tensor(shape, gate + "e_score_correction_bias", (shape.num_experts,), "layer", "router", layer)


def _mlp(shape, at, layer, width, expert=None):
    if shape.gated_mlp and shape.fused_gate_up:
        names = ("gate_up_proj", "down_proj")
    elif shape.gated_mlp:
        names = ("gate_proj", "up_proj", "down_proj")
    else:
        names = ("up_proj", "down_proj")
    if shape.family in DOWN_SECOND:
        names = ("gate_proj", "down_proj", "up_proj")
    for name in names:
        ends = (width, shape.hidden_size) if name == "down_proj" else (shape.hidden_size, width)
        if name == "gate_up_proj":
            ends = (shape.hidden_size, 2 * width)
        cut = "row" if name == "down_proj" else "column"
        yield from _linear(shape, at + name, *ends, "mlp", layer, shape.mlp_bias, cut, width, expert)


def _linear(shape, name, inputs, outputs, role, layer, bias, cut=None, units=1, expert=None):
    """A matrix stored (out, in), or (in, out) for Conv1D; cut by its outputs ("column"), inputs ("row") or not."""
    stored, cut_dim = (outputs, inputs), {"column": 0, "row": 1}.get(cut)
    if shape.transposed_linear:
        stored, cut_dim = stored[::-1], None if cut_dim is None else 1 - cut_dim
    owner = "layer" if expert is None else "expert"
    yield _tensor(shape, name + ".weight", stored, owner, role, layer, expert, cut_dim, units)
    if bias:
        is_cut = cut == "column"  # a row-parallel bias is added once, after the sum
        yield _tensor(shape, name + ".bias", (outputs,), owner, role, layer, expert, 0 if is_cut else None, units)


def _norm(shape, name, width, owner, layer=None):
    yield _tensor(shape, name + ".weight", (width,), owner, "norm", layer)
    if shape.norm == "layernorm":
        yield _tensor(shape, name + ".bias", (width,), owner, "norm", layer)


def _tensor(shape, name, sizes, owner, role, layer=None, expert=None, tp_dim=None, tp_units=1):
    for canonical, written in RENAMED.get(shape.family, ()):
        name = name.replace(canonical, written)
    return Tensor(name, sizes, owner, role, layer, expert, tp_dim, tp_units if tp_dim is not None else 1)


def _numel(tensors):
    return sum(tensor.numel for tensor in tensors)
