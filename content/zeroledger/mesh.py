"""Parallel layouts: what data, tensor, pipeline, context and expert parallelism divide on one rank, and what they do not.

| degree | divides | leaves whole |
| --- | --- | --- |
| dp, cp | what ZeRO shards (one group of dp × cp ranks) | everything else; cp divides the sequence, not parameters |
| tp | matrices by heads, MLP columns or vocabulary rows | norms, routers, biases added after a sum, learned positions |
| pp | layers | first stage: embeddings; last: final norm and head, and its own copy of a tied embedding |
| ep | experts; their states shard over world / (ep × etp × pp) ranks | attention, norms, routers, shared experts |
"""

from dataclasses import dataclass, replace
from functools import lru_cache

from .errors import MeshError, ceil_div, check_count


@dataclass(frozen=True)
class Mesh:
    """Degrees of parallelism, whole numbers from 1. ``etp``, the tensor parallelism inside experts, defaults to ``tp``.

    Raises ``MeshError`` when the expert groups do not divide the ranks they are drawn from.
    """

    dp: int = 1
    tp: int = 1
    pp: int = 1
    cp: int = 1
    ep: int = 1
    etp: int | None = None

    def __post_init__(self):
        for name in ("dp", "tp", "pp", "cp", "ep"):
            object.__setattr__(self, name, check_count(name, getattr(self, name), 1, 10**9, MeshError))
        etp = self.tp if self.etp is None else check_count("etp", self.etp, 1, 10**9, MeshError)
        object.__setattr__(self, "etp", etp)
        per_stage = self.dp * self.cp * self.tp
        if per_stage % (self.ep * etp):
            raise MeshError("ep", self.ep, f"ep × etp = {self.ep * etp} to divide the {per_stage} ranks of a pipeline stage "
                                           f"(dp × cp × tp)")

    @property
    def world_size(self):
        """All ranks: dp × tp × pp × cp. Experts reuse the same ranks."""
        return self.dp * self.tp * self.pp * self.cp

    @property
    def dense_shards(self):
        """Ranks that shard the states of everything but routed experts: dp × cp."""
        return self.dp * self.cp

    @property
    def expert_shards(self):
        """Ranks that shard the states of routed experts: world / (ep × etp × pp)."""
        return self.dp * self.cp * self.tp // (self.ep * self.etp)


def check_fit(model, mesh):
    """Raise ``MeshError`` naming both numbers when ``mesh`` cannot divide ``model``.

    Key/value heads fewer than ``tp`` are copied when they divide it. The vocabulary is padded, not refused.
    """
    if not isinstance(mesh, Mesh):
        raise MeshError("mesh", mesh, "a Mesh(dp=…, tp=…, …)")
    kv_heads = model.num_key_value_heads
    if model.num_attention_heads % mesh.tp:
        raise MeshError("tp", mesh.tp, f"a divisor of num_attention_heads {model.num_attention_heads}")
    if kv_heads % mesh.tp and mesh.tp % kv_heads:
        raise MeshError("tp", mesh.tp, f"a divisor or a multiple of num_key_value_heads {kv_heads}")
    if model.fused_qkv and kv_heads % mesh.tp:
        raise MeshError("tp", mesh.tp, f"a divisor of num_key_value_heads {kv_heads}, as queries, keys and values are one matrix")
    has_dense_mlp = model.num_experts == 0 or bool(model.dense_layers)
    if has_dense_mlp and model.intermediate_size % mesh.tp:
        raise MeshError("tp", mesh.tp, f"a divisor of intermediate_size {model.intermediate_size}")
    if model.shared_expert_intermediate_size % mesh.tp:
        raise MeshError("tp", mesh.tp, f"a divisor of shared_expert_intermediate_size {model.shared_expert_intermediate_size}")
    if model.num_layers % mesh.pp:
        raise MeshError("pp", mesh.pp, f"a divisor of num_layers {model.num_layers}")
    if mesh.ep > 1 and not model.num_experts:
        raise MeshError("ep", mesh.ep, "1, as the model has no experts")
    if model.num_experts and model.num_experts % mesh.ep:
        raise MeshError("ep", mesh.ep, f"a divisor of num_experts {model.num_experts}")
    if model.num_experts and model.moe_intermediate_size % mesh.etp:
        raise MeshError("etp", mesh.etp, f"a divisor of moe_intermediate_size {model.moe_intermediate_size}")


def rank_tensors(model, mesh, pp_rank=0):
    """The ``Tensor`` objects, with their local shapes, that one rank of pipeline stage ``pp_rank`` holds before ZeRO.

    Of the experts, those of the first expert-parallel rank (all ranks hold as many). Raises ``MeshError``.
    """
    check_fit(model, mesh)
    pp_rank = check_count("pp_rank", pp_rank, 0, mesh.pp - 1, MeshError)
    return _rank_tensors(model, mesh.tp, mesh.pp, mesh.ep, mesh.etp, pp_rank)


@lru_cache(maxsize=64)
def _rank_tensors(model, tp, pp, ep, etp, pp_rank):
    from .tensors import embedding_tensors, head_tensors, layer_tensors

    layers = model.num_layers // pp
    held = list(embedding_tensors(model)) if pp_rank == 0 else []
    for layer in range(pp_rank * layers, (pp_rank + 1) * layers):
        held += [tensor for tensor in layer_tensors(model, layer) if _is_local_expert(tensor, model, ep)]
    if pp_rank == pp - 1:
        if model.tie_word_embeddings and pp > 1:
            held.append(next(embedding_tensors(model)))  # the head's copy, kept equal by an all-reduce
        held += head_tensors(model)
    return tuple(_cut(tensor, etp if tensor.owner == "expert" else tp) for tensor in held)


def _is_local_expert(tensor, model, ep):
    return tensor.expert is None or tensor.expert < model.num_experts // ep


def _cut(tensor, tp):
    """``tensor`` with its tensor-parallel dimension divided by ``tp``; fewer units than ranks are copied."""
    if tensor.tp_dim is None or tp == 1:
        return tensor
    length = tensor.shape[tensor.tp_dim]
    unit = length // tensor.tp_units
    local = unit * ceil_div(tensor.tp_units, tp)
    shape = tensor.shape[:tensor.tp_dim] + (local,) + tensor.shape[tensor.tp_dim + 1:]
    return replace(tensor, shape=shape)


def rank_numel(model, mesh, pp_rank=0):
    """(dense, expert): parameters that one rank holds before ZeRO, routed experts apart, as they shard differently.

    Exact, and quick enough for a planner: one layer of each kind is counted. Raises ``MeshError``.
    """
    check_fit(model, mesh)
    pp_rank = check_count("pp_rank", pp_rank, 0, mesh.pp - 1, MeshError)
    return _rank_numel(model, mesh.tp, mesh.pp, mesh.ep, mesh.etp, pp_rank)


@lru_cache(maxsize=4096)
def _rank_numel(model, tp, pp, ep, etp, pp_rank):
    layers = range(pp_rank * (model.num_layers // pp), (pp_rank + 1) * (model.num_layers // pp))
    moe_layers = sum(map(model.is_moe_layer, layers)) if model.num_experts else 0
    edges = _edge_numel(model, tp, pp, pp_rank)
    dense, expert = edges, 0
    for is_moe, count in ((True, moe_layers), (False, len(layers) - moe_layers)):
        if count:
            in_layer, in_experts = _layer_numel(model, tp, ep, etp, is_moe)
            dense, expert = dense + count * in_layer, expert + count * in_experts
    return dense, expert


@lru_cache(maxsize=1024)
def _layer_numel(model, tp, ep, etp, is_moe):
    from .tensors import layer_tensors

    layer = next(layer for layer in range(model.num_layers) if model.is_moe_layer(layer) == is_moe)
    dense = expert = 0
    for tensor in layer_tensors(model, layer):
        if tensor.owner != "expert":
            dense += _cut(tensor, tp).numel
        elif _is_local_expert(tensor, model, ep):
            expert += _cut(tensor, etp).numel
    return dense, expert


def _edge_numel(model, tp, pp, pp_rank):
    from .tensors import embedding_tensors, head_tensors

    held = list(embedding_tensors(model)) if pp_rank == 0 else []
    if pp_rank == pp - 1:
        if model.tie_word_embeddings and pp > 1:
            held.append(next(embedding_tensors(model)))
        held += head_tensors(model)
    return sum(_cut(tensor, tp).numel for tensor in held)
