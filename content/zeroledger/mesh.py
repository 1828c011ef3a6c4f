"""Parallel layouts: what data, tensor, pipeline, context and expert parallelism divide on one rank, and what not.

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

    ``replicas`` > 1 is hybrid sharding (HSDP): so many groups of dp × cp / replicas ranks hold the same shards.
    ``pp_layers`` gives each pipeline stage its layers where they are not shared out evenly. Raises ``MeshError`` when
    a group does not divide the ranks it is drawn from.
    """

    dp: int = 1
    tp: int = 1
    pp: int = 1
    cp: int = 1
    ep: int = 1
    etp: int | None = None
    replicas: int = 1
    pp_layers: tuple | None = None

    def __post_init__(self):
        for name in ("dp", "tp", "pp", "cp", "ep", "replicas"):
            object.__setattr__(self, name, check_count(name, getattr(self, name), 1, 10**9, MeshError))
        etp = self.tp if self.etp is None else check_count("etp", self.etp, 1, 10**9, MeshError)
        object.__setattr__(self, "etp", etp)
        per_stage = self.dp * self.cp * self.tp
        if per_stage % (self.ep * etp):
            raise MeshError("ep", self.ep, f"ep × etp = {self.ep * etp} to divide the dp × cp × tp = {per_stage} ranks "
                                           "of a pipeline stage")
        expert_ranks = per_stage // (self.ep * etp)
        for ranks, what in ((self.dp * self.cp, "dp × cp"), (expert_ranks, "dp × cp × tp / (ep × etp)")):
            if ranks % self.replicas:
                raise MeshError("replicas", self.replicas, f"a divisor of the {ranks} ranks of {what}")
        if self.pp_layers is not None:
            object.__setattr__(self, "pp_layers", _checked_layers(self.pp_layers, self.pp))

    @property
    def world_size(self):
        """All ranks: dp × tp × pp × cp. Experts reuse the same ranks."""
        return self.dp * self.tp * self.pp * self.cp

    @property
    def dense_shards(self):
        """Ranks that shard the states of everything but routed experts: dp × cp / replicas."""
        return self.dp * self.cp // self.replicas

    @property
    def expert_shards(self):
        """Ranks that shard the states of routed experts: world / (ep × etp × pp × replicas)."""
        return self.dp * self.cp * self.tp // (self.ep * self.etp * self.replicas)


def _checked_layers(layers, pp):
    if not isinstance(layers, (list, tuple)) or len(layers) != pp:
        raise MeshError("pp_layers", layers, f"{pp} numbers of layers, one a pipeline stage")
    return tuple(check_count("pp_layers", count, 0, 10**9, MeshError) for count in layers)


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
        raise MeshError("tp", mesh.tp, f"a divisor of num_key_value_heads {kv_heads}, as one matrix holds q, k and v")
    has_dense_mlp = model.num_experts == 0 or bool(model.dense_layers)
    if has_dense_mlp and model.intermediate_size % mesh.tp:
        raise MeshError("tp", mesh.tp, f"a divisor of intermediate_size {model.intermediate_size}")
    shared = model.shared_expert_intermediate_size
    if shared % mesh.tp:
        raise MeshError("tp", mesh.tp, f"a divisor of shared_expert_intermediate_size {shared}")
    if mesh.pp_layers is None and model.num_layers % mesh.pp:
        raise MeshError("pp", mesh.pp, f"a divisor of num_layers {model.num_layers}, or pp_layers by hand")
    if mesh.pp_layers is not None and sum(mesh.pp_layers) != model.num_layers:
        raise MeshError("pp_layers", mesh.pp_layers, f"numbers that add up to num_layers {model.num_layers}")
    if mesh.ep > 1 and not model.num_experts:
        raise MeshError("ep", mesh.ep, "1, as the model has no experts")
    if model.num_experts and model.num_experts % mesh.ep:
        raise MeshError("ep", mesh.ep, f"a divisor of num_experts {model.num_experts}")
    if model.num_experts and model.moe_intermediate_size % mesh.etp:
        raise MeshError("etp", mesh.etp, f"a divisor of moe_intermediate_size {model.moe_intermediate_size}")


def stage_layers(model, mesh, pp_rank=0):
    """The ``range`` of layer numbers that pipeline stage ``pp_rank`` holds. Raises ``MeshError``."""
    pp_rank = check_count("pp_rank", pp_rank, 0, mesh.pp - 1, MeshError)
    counts = mesh.pp_layers or (model.num_layers // mesh.pp,) * mesh.pp
    first = sum(counts[:pp_rank])
    return range(first, first + counts[pp_rank])


def rank_tensors(model, mesh, pp_rank=0):
    """The ``Tensor`` objects, with their local shapes, that one rank of pipeline stage ``pp_rank`` holds before ZeRO.

    Of the experts, those of the first expert-parallel rank (all ranks hold as many). Raises ``MeshError``.
    """
    check_fit(model, mesh)
    layers = stage_layers(model, mesh, pp_rank)
    return _rank_tensors(model, mesh.tp, mesh.ep, mesh.etp, layers, pp_rank == 0, pp_rank == mesh.pp - 1)


@lru_cache(maxsize=64)
def _rank_tensors(model, tp, ep, etp, layers, is_first, is_last):
    from .tensors import layer_tensors

    first, last = _edges(model, is_first, is_last)
    held = [tensor for layer in layers for tensor in layer_tensors(model, layer) if _is_local_expert(tensor, model, ep)]
    held = first + held + last
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
    layers = stage_layers(model, mesh, pp_rank)
    return _rank_numel(model, mesh.tp, mesh.ep, mesh.etp, layers, pp_rank == 0, pp_rank == mesh.pp - 1)


@lru_cache(maxsize=4096)
def _rank_numel(model, tp, ep, etp, layers, is_first, is_last):
    moe_layers = sum(map(model.is_moe_layer, layers)) if model.num_experts else 0
    first, last = _edges(model, is_first, is_last)
    dense, expert = sum(_cut(tensor, tp).numel for tensor in first + last), 0
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


def _edges(model, is_first, is_last):
    """(before the layers, after them): embeddings on the first stage, final norm and head on the last.

    A tied head needs its own copy of the embedding when it sits on another stage; an all-reduce keeps them equal.
    """
    from .tensors import embedding_tensors, head_tensors

    first = list(embedding_tensors(model)) if is_first else []
    copies = [next(embedding_tensors(model))] if is_last and not is_first and model.tie_word_embeddings else []
    return first, copies + list(head_tensors(model)) if is_last else []
