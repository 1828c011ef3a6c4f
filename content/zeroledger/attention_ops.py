"""The attention half of a block, operation by operation: projections, core (flash or eager), output projection.

Eager attention keeps keys and values repeated to all heads (as Hugging Face's ``repeat_kv`` does), flash attention
keeps them as they are. Per s·b·h of a GPT block: inputs 2, queries and keys 4, values 2, context 2 bytes, and
2as²b + as²b + 2as²b for probabilities, dropout mask and dropped probabilities (arXiv:2205.05198 sec. 4.1).
"""

from .activation_rows import grad_bytes, saved
from .block_ops import BlockOp, column_numel, linear, norm, row_numel

HEADS = ("tp", "cp")
CORE = ("selective", "full")


def attention_ops(shape, settings, incoming, input_gradient):
    """Operations from the projections' input to the output projection, a tuple of ``BlockOp`` in forward order.

    ``incoming`` names the gradients that the output projection uses up, ``input_gradient`` the one the first makes.
    """
    compressed = shape.kv_lora_rank > 0
    value_dim = shape.v_head_dim if compressed else shape.head_dim
    context = value_dim * shape.num_attention_heads
    before = _latent_ops(shape, settings, input_gradient) if compressed else _plain_ops(shape, settings, input_gradient)
    core = flash_core(shape, settings) if settings.attention == "flash" else eager_core(shape, settings)
    weights = row_numel(settings, context, shape.hidden_size, shape.num_attention_heads, shape.attention_out_bias)
    keeps = () if settings.attention == "flash" else (_heads(settings, "out_proj", "context",
                                                             shape.num_attention_heads, value_dim),)
    made = (("context", grad_bytes(settings, context, HEADS, shape.num_attention_heads)),)
    return (*before, *core, linear(settings, "out_proj", context, incoming, made, weights, keeps))


def _heads(settings, op, tensor, heads, width, element_bytes=None, dropped_by=("full",)):
    return saved(settings, op, tensor, heads * width, element_bytes or settings.element_bytes, HEADS, heads, dropped_by)


def _plain_ops(shape, settings, input_gradient):
    hidden, heads, kv_heads, head_dim = (shape.hidden_size, shape.num_attention_heads, shape.num_key_value_heads,
                                         shape.head_dim)
    weights = (column_numel(settings, hidden, heads * head_dim, heads, shape.qkv_bias)
               + 2 * column_numel(settings, hidden, kv_heads * head_dim, kv_heads, shape.qkv_bias))
    keeps = (saved(settings, "qkv_proj", "input", hidden, settings.element_bytes),)
    used = ("query", "key", "value")
    made = ((input_gradient, grad_bytes(settings, hidden)),)
    yield BlockOp("qkv_proj", keeps, ("joined",) if shape.fused_qkv else used, made, weights)
    if shape.fused_qkv:
        joined = grad_bytes(settings, heads * head_dim, HEADS, heads)
        joined += 2 * grad_bytes(settings, kv_heads * head_dim, HEADS, kv_heads)
        yield BlockOp("split", (), used, (("joined", joined),))
    if shape.qk_norm:
        for name, count in (("query", heads), ("key", kv_heads)):
            yield norm(shape, settings, f"{name}_norm", (name,), head_dim, (name,), width_units=count, divided_by=HEADS)


def _latent_ops(shape, settings, input_gradient):
    """Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434): low-rank queries, keys and values, each normed."""
    hidden, heads, element_bytes = shape.hidden_size, shape.num_attention_heads, settings.element_bytes
    query_dim = shape.qk_nope_head_dim + shape.qk_rope_head_dim
    down = (hidden + shape.qkv_bias) * (shape.kv_lora_rank + shape.qk_rope_head_dim + shape.q_lora_rank)
    keeps = (saved(settings, "latent_proj", "input", hidden, element_bytes),)
    yield BlockOp("latent_proj", keeps, ("kv_latent", "q_latent"), ((input_gradient, grad_bytes(settings, hidden)),),
                  down)
    yield from _from_latent(shape, settings, "kv", shape.kv_lora_rank, ("key", "value"),
                            shape.qk_nope_head_dim + shape.v_head_dim)
    if shape.q_lora_rank:
        yield from _from_latent(shape, settings, "q", shape.q_lora_rank, ("query",), query_dim)
    else:
        yield BlockOp("q_proj", (), ("query",), (("q_latent", grad_bytes(settings, hidden)),),
                      column_numel(settings, hidden, heads * query_dim, heads))


def _from_latent(shape, settings, name, rank, used, head_width):
    heads, latent = shape.num_attention_heads, f"{name}_latent"
    yield norm(shape, settings, f"{name}_norm", (f"{latent}_normed",), rank, (latent,))
    keeps = (saved(settings, f"{name}_up_proj", "latent", rank, settings.element_bytes),)
    weights = column_numel(settings, rank, heads * head_width, heads)
    yield linear(settings, f"{name}_up_proj", rank, used, f"{latent}_normed", weights, keeps)


def _core_dims(shape, settings):
    """Heads and widths of queries, keys and values as the core sees them: (heads, kv heads, key width, value width)."""
    if shape.kv_lora_rank:
        return (shape.num_attention_heads, shape.num_attention_heads,
                shape.qk_nope_head_dim + shape.qk_rope_head_dim, shape.v_head_dim)
    kv_heads = shape.num_key_value_heads
    # selective recompute keeps what enters the core, before keys and values are repeated
    if settings.attention != "flash" and settings.recompute != "selective":
        kv_heads = shape.num_attention_heads
    return shape.num_attention_heads, kv_heads, shape.head_dim, shape.head_dim


def flash_core(shape, settings):
    """One fused operation that keeps q, k, v, the output and the fp32 log-sum-exp of each row of scores.

    Its backward also holds the fp32 accumulator of the query gradients and one fp32 number a row, as the
    flash-attention 2 kernels do (arXiv:2307.08691).
    """
    heads, kv_heads, key_dim, value_dim = _core_dims(shape, settings)
    rows = (_heads(settings, "flash_attention", "queries", heads, key_dim),
            _heads(settings, "flash_attention", "keys", kv_heads, key_dim),
            _heads(settings, "flash_attention", "values", kv_heads, value_dim),
            _heads(settings, "flash_attention", "context", heads, value_dim),
            _heads(settings, "flash_attention", "log-sum-exp", heads, 1, 4, CORE))
    made = (("query", rows[0].num_bytes), ("key", rows[1].num_bytes), ("value", rows[2].num_bytes))
    accumulator = 4 * rows[0].numel_per_rank + rows[4].num_bytes
    return (BlockOp("flash_attention", rows, ("context",), made, 0, accumulator, True),)


def eager_core(shape, settings):
    """Scores, softmax, dropout and weighted sum as separate operations; probabilities are a·s² elements a sequence."""
    heads, kv_heads, key_dim, value_dim = _core_dims(shape, settings)
    fp32, element_bytes = settings.attention == "eager-fp32-softmax", settings.element_bytes

    def scores(op, tensor, each):
        return saved(settings, op, tensor, heads * settings.seq_length, each, HEADS, heads, CORE)

    keys = [_heads(settings, "scores", "queries", heads, key_dim),
            _heads(settings, "scores", "keys", kv_heads, key_dim)]
    values = [_heads(settings, "weighted_sum", "values", kv_heads, value_dim)]
    if shape.fused_qkv and settings.micro_batch_size == 1 and kv_heads == shape.num_key_value_heads:
        keys, values = keys + values, []  # views of one tensor: its storage goes when the last of the three does
    size = scores("", "", element_bytes).num_bytes
    made = (("query", keys[0].num_bytes), ("key", keys[1].num_bytes))
    yield BlockOp("scores", tuple(keys), ("scaled scores",), made, core=True)
    yield BlockOp("scale", (), ("scores",), (("scaled scores", size),), core=True)
    upcast = 2 * scores("", "", 4).num_bytes if fp32 else 0  # fp32 gradients in and out of the softmax
    yield BlockOp("softmax", (scores("softmax", "probabilities", 4 if fp32 else element_bytes),), ("probabilities",),
                  (("scores", size),), temporary_bytes=upcast, core=True)
    weights = "probabilities"
    if settings.attention_dropout:
        mask = scores("attention_dropout", "mask", 1)
        yield BlockOp("attention_dropout", (mask,), ("dropped",), ((weights, size),), temporary_bytes=size, core=True)
        weights = "dropped"
    if settings.attention_dropout or fp32:
        name = "dropped probabilities" if settings.attention_dropout else f"probabilities in {settings.dtype}"
        values.insert(0, scores("weighted_sum", name, element_bytes))
    value_grad = _heads(settings, "", "", kv_heads, value_dim).num_bytes
    yield BlockOp("weighted_sum", tuple(values), ("context",), ((weights, size), ("value", value_grad)), core=True)
