"""The MLP half of a block, operation by operation: plain, gated, and a mixture of experts with balanced routing.

A GPT block's MLP keeps 2 + 8 + 8 bytes per s·b·h at width 4h; an eager gated one keeps four tensors of its width:
gate, silu(gate), up and their product (8 bytes an element in bf16); a fused one leaves out silu(gate).
"""

from .activation_rows import grad_bytes, saved
from .block_ops import BlockOp, column_numel, row_numel
from .errors import ceil_div

COLUMNS = ("tp", "cp")


def mlp_ops(shape, settings, incoming, input_gradient, layer, saves_input=True):
    """Operations of the MLP of ``layer``, a tuple of ``BlockOp`` in forward order.

    ``incoming`` names the gradients that the last uses up, ``input_gradient`` the one that the first makes;
    ``saves_input`` is False where attention already keeps the same input (parallel block).
    """
    if shape.is_moe_layer(layer):
        return tuple(_mixture(shape, settings, incoming, input_gradient, saves_input))
    made = (input_gradient, grad_bytes(settings, shape.hidden_size))
    keeps = (_input(shape, settings),) if saves_input else ()
    return tuple(_dense(shape, settings, shape.intermediate_size, incoming, made, keeps))


def _input(shape, settings):
    return saved(settings, "up_proj", "input", shape.hidden_size, settings.element_bytes)


def _wide(settings, op, tensor, width, copies=1):
    """A row as wide as the MLP; ``copies`` is how many experts each token visits."""
    row = saved(settings, op, tensor, width, settings.element_bytes, COLUMNS)
    return row if copies == 1 else _repeated(row, copies)


def _repeated(row, copies):
    from dataclasses import replace

    return replace(row, numel=row.numel * copies, numel_per_rank=row.numel_per_rank * copies)


def _dense(shape, settings, width, incoming, made, keeps, copies=1, stored=1, prefix=""):
    """Up, activation and down; ``stored`` is how many such MLPs the rank holds the weights of (experts)."""
    hidden, bias = shape.hidden_size, shape.mlp_bias
    ups = 2 if shape.gated_mlp else 1
    wide = _wide(settings, "", "", width, copies).num_bytes
    up_weights = ups * stored * column_numel(settings, hidden, width, bias=bias)
    used = (f"{prefix}gate", f"{prefix}up") if shape.gated_mlp else (f"{prefix}up",)
    yield BlockOp(f"{prefix}up_proj", tuple(keeps), used, (made,), up_weights)
    if shape.gated_mlp:
        yield from _gate(settings, width, copies, prefix, wide)
    else:
        row = _wide(settings, f"{prefix}activation", "input", width, copies)
        yield BlockOp(f"{prefix}activation", (row,), (f"{prefix}product",), ((f"{prefix}up", wide),))
    down = stored * row_numel(settings, width, hidden, bias=bias)
    yield BlockOp(f"{prefix}down_proj", (_wide(settings, f"{prefix}down_proj", "input", width, copies),), incoming,
                  ((f"{prefix}product", wide),), down)


def _gate(settings, width, copies, prefix, wide):
    gate, product = f"{prefix}gate", f"{prefix}product"
    act = f"{prefix}activation"
    if settings.fused_gated_mlp:
        rows = (_wide(settings, act, "gate", width, copies), _wide(settings, act, "up", width, copies))
        yield BlockOp(act, rows, (product,), ((gate, wide), (f"{prefix}up", wide)))
        return
    yield BlockOp(act, (_wide(settings, act, "gate", width, copies),), (f"{prefix}activated",), ((gate, wide),))
    name = f"{prefix}gating"
    rows = (_wide(settings, name, "activated gate", width, copies), _wide(settings, name, "up", width, copies))
    yield BlockOp(name, rows, (product,), ((f"{prefix}activated", wide), (f"{prefix}up", wide)))


def _mixture(shape, settings, incoming, input_gradient, saves_input):
    """Router, permuted copies of the tokens, experts, weighted sum; shared experts run on every token besides.

    Every expert is taken to get its equal share, so that each rank holds k copies of its tokens whatever ep is; real
    routing is uneven and the fullest rank holds more.
    """
    hidden, experts, chosen = shape.hidden_size, shape.num_experts, shape.num_experts_per_tok
    copies_bytes = chosen * grad_bytes(settings, hidden)
    input_size = grad_bytes(settings, hidden)
    keeps = [saved(settings, "router", "probabilities", experts, 4)]  # fp32 softmax in every implementation seen
    keeps += [_input(shape, settings)] if saves_input else []
    routing = experts * (hidden + shape.router_bias) + hidden * shape.shared_expert_gate
    used = ("routing", "routed input", "shared")
    yield BlockOp("router", tuple(keeps), used, ((input_gradient, input_size),), routing)
    if shape.shared_expert_intermediate_size:
        yield from _dense(shape, settings, shape.shared_expert_intermediate_size, incoming, ("shared", input_size), (),
                          prefix="shared_")
    index = saved(settings, "dispatch", "indices", chosen, 8)
    yield BlockOp("dispatch", (index,), ("dispatched",), (("routed input", input_size),))
    permuted = saved(settings, "expert_up_proj", "permuted input", hidden * chosen, settings.element_bytes)
    yield from _dense(shape, settings, shape.moe_intermediate_size, ("expert output",), ("dispatched", copies_bytes),
                      (permuted,), chosen, ceil_div(experts, settings.ep_size), "expert_")
    outputs = saved(settings, "combine", "expert outputs", hidden * chosen, settings.element_bytes)
    weights = saved(settings, "combine", "weights", chosen, settings.element_bytes)
    yield BlockOp("combine", (outputs, weights), incoming,
                  (("expert output", copies_bytes), ("routing", 4 * weights.numel_per_rank)))
