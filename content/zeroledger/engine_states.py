"""The model states of one rank of a ``Training`` as its engine cuts them, and where each lies on the device."""

from functools import lru_cache

from .deepspeed_stage3 import persistent_names
from .errors import ceil_div
from .groups import is_hidden_matrix, local_group_numel
from .instants import MemoryRow
from .ledger import Ledger, LedgerRow
from .mesh import rank_tensors
from .mesh_states import mesh_ledger
from .offload import role_of
from .sharding import flat_gradient_numels

GRADIENT_STAGE = 2


def training_ledger(training, pp_rank=0):
    """The ``Ledger`` of the fullest rank of pipeline stage ``pp_rank``: all model states, on any tier.

    Engine "ideal": ``mesh_ledger``; the others: the rules of ``sharding`` on the rank's own tensors (checked against
    ``rule_ledger`` and, through it, measured bytes).
    """
    mesh, stage, rules = training.mesh, training.stage, training.recipe
    if training.engine == "ideal":
        return mesh_ledger(training.model, mesh, stage, rules, pp_rank, training.trained_params)
    rows = _rows_by_rule(training.engine, stage, training.model, mesh, rules, training.deepspeed, pp_rank)
    layout = {"engine": training.engine, "tp": mesh.tp, "pp": mesh.pp, "pp_rank": pp_rank}
    return Ledger(training.model.num_params, mesh.dense_shards, stage, rules.name, rows, layout)


@lru_cache(maxsize=64)
def _rows_by_rule(engine, stage, model, mesh, rules, deepspeed, pp_rank):
    tensors = rank_tensors(model, mesh, pp_rank)
    stage = 3 if engine == "fsdp2" else stage  # it always cuts; stage 2 only keeps what it gathered
    rows = tuple(_row(row, tensors, engine, stage, mesh.dense_shards) for row in rules.rows)
    if engine == "deepspeed" and stage == 3 and mesh.dense_shards > 1:
        rows += (_persistent_row(rules, deepspeed, tensors, mesh.dense_shards),)
    return rows


def _row(row, tensors, engine, stage, shards):
    whole, sharded = _whole(row, tensors), row.is_sharded(stage)
    local = _cut(row, tensors, engine, stage, shards) if sharded else whole
    return LedgerRow(row.category, row.dtype, row.bytes_per_param, row.sharded_from_stage, local, row.bytes_for(local),
                     row.bytes_for(whole), sharded)


def _whole(row, tensors):
    if row.group == "all":
        return sum(tensor.numel for tensor in tensors)
    return local_group_numel(tensors, row.group)


def _cut(row, tensors, engine, stage, shards):
    """Elements of ``row`` on the fullest rank; FSDP2's first rank holds a full chunk of everything."""
    if row.group == "factors":
        return ceil_div(_whole(row, tensors), shards)
    held = [tensor for tensor in tensors if row.group == "all" or is_hidden_matrix(tensor) == (row.group == "matrices")]
    if engine == "fsdp2":
        return sum(ceil_div(tensor.shape[0], shards) * (tensor.numel // tensor.shape[0]) for tensor in held)
    if stage == 3:
        return sum(ceil_div(tensor.numel, shards) for tensor in held)
    if row.sharded_from_stage == GRADIENT_STAGE:
        return max(flat_gradient_numels([tensor.shape for tensor in held], shards))
    return 2 * ceil_div(sum(tensor.numel for tensor in held), 2 * shards)


def _persistent_row(rules, deepspeed, tensors, shards):
    """Small tensors that stay whole beside their shards."""
    kept = persistent_names(tensors, deepspeed.limits)
    numel = sum(shards * ceil_div(tensor.numel, shards) for tensor in tensors if tensor.name in kept)
    params = next(row for row in rules.rows if role_of(row.category) == "params")
    size = params.bytes_for(numel)
    return LedgerRow("persistent_params", params.dtype, params.bytes_per_param, None, numel, size, size, False)


def state_rows(ledger, placement):
    """(rows but gradients, gradient rows) of a ``Ledger`` that lie on the device, tuples of ``MemoryRow``.

    What is not sharded stays on the device whatever ``placement`` says. DeepSpeed's persistent small parameters are
    left out, because its transients list them.
    """
    kept, gradients = [], []
    for row in ledger.rows:
        role = role_of(row.category)
        if row.category == "persistent_params" or (row.sharded and getattr(placement, role) != "device"):
            continue
        (gradients if role == "grads" else kept).append(
            MemoryRow(account_of(row), row.category, row.bytes_per_rank))
    return tuple(kept), tuple(gradients)


def account_of(row):
    """The account (``instants.ACCOUNTS``) of a ``LedgerRow``."""
    role = role_of(row.category)
    if role == "optimizer":
        return "master_params" if row.category.startswith("master") else "optimizer_states"
    return f"{'sharded' if row.sharded else 'unsharded'}_{'params' if role == 'params' else 'grads'}"
