"""The ledger of one rank of a mesh: model states after tensor, pipeline and expert parallelism, then ZeRO."""

from .errors import check_stage
from .groups import local_group_numel
from .ledger import Ledger, LedgerRow
from .mesh import check_fit, rank_numel, rank_tensors
from .models import as_model
from .recipes import recipe as find_recipe


def mesh_ledger(model, mesh, stage=0, recipe="adam-mixed", pp_rank=None, trained_params=None):
    """The ``Ledger`` of a rank in pipeline stage ``pp_rank`` (None: the fullest stage) of ``mesh``.

    Sharded rows hold the ideal ceil(elements / ranks of the group): dp × cp for most parameters, world / (ep × etp ×
    pp) for routed experts, both by the mesh's replicas. ``trained_params`` (LoRA) are
    this rank's own. Raises ``InvalidInput``, ``MeshError``.
    """
    model, stage, rules = as_model(model), check_stage(stage), find_recipe(recipe)
    check_fit(model, mesh)
    if pp_rank is None:
        pp_rank = fullest_stage(model, mesh, stage, rules, trained_params)
    rows = tuple(_row(row, model, mesh, stage, pp_rank, trained_params) for row in rules.rows)
    degrees = ("dp", "tp", "pp", "cp", "ep", "etp", "replicas")
    layout = {name: getattr(mesh, name) for name in degrees} | {"pp_rank": pp_rank}
    return Ledger(model.num_params, mesh.dense_shards, stage, rules.name, rows, layout)


def mesh_states_bytes(model, mesh, stage, recipe, pp_rank=0):
    """``mesh_ledger(…).model_states_bytes_per_rank`` without the rows, quick enough for a planner.

    Only for a ``Recipe`` whose rows count all parameters (``groups == ("all",)``); ``model`` must be a shape.
    """
    dense, expert = rank_numel(model, mesh, pp_rank)
    shard = -(-dense // mesh.dense_shards) - (-expert // mesh.expert_shards)
    return sum(row.bytes_for(shard if row.is_sharded(stage) else dense + expert) for row in recipe.rows)


def fullest_stage(model, mesh, stage=0, recipe="adam-mixed", trained_params=None):
    """The pipeline stage whose ranks hold most model states (the first of equals)."""
    candidates = {rank_numel(model, mesh, pp_rank): pp_rank for pp_rank in reversed(range(mesh.pp))}
    books = {pp_rank: mesh_ledger(model, mesh, stage, recipe, pp_rank, trained_params) for pp_rank in candidates.values()}
    return max(sorted(books), key=lambda pp_rank: books[pp_rank].model_states_bytes_per_rank)


def _row(row, model, mesh, stage, pp_rank, trained_params):
    dense, expert = _numels(row.group, model, mesh, pp_rank, trained_params)
    sharded = row.is_sharded(stage)
    local = -(-dense // mesh.dense_shards) - (-expert // mesh.expert_shards) if sharded else dense + expert
    return LedgerRow(row.category, row.dtype, row.bytes_per_param, row.sharded_from_stage, local, row.bytes_for(local),
                     row.bytes_for(dense + expert), sharded)


def _numels(group, model, mesh, pp_rank, trained_params):
    """(dense, expert) elements of ``group`` on the rank before ZeRO."""
    if group in ("all", "frozen"):
        return rank_numel(model, mesh, pp_rank)
    if group == "trained":
        return local_group_numel((), group, trained_params), 0
    tensors = rank_tensors(model, mesh, pp_rank)
    dense = [tensor for tensor in tensors if tensor.owner != "expert"]
    experts = [tensor for tensor in tensors if tensor.owner == "expert"]
    return local_group_numel(dense, group), local_group_numel(experts, group)
