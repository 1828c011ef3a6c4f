"""The ledger of a recipe under a framework's own sharding rule instead of the ideal P/N, for one rank.

``sharding`` has the rules; ``frameworks`` the accounts of measured runs. Here any recipe meets any rule.
"""

from .errors import InvalidInput, check_choice, check_count, check_stage
from .groups import is_hidden_matrix, local_group_numel
from .ledger import Ledger, LedgerRow
from .models import as_model
from .recipes import recipe as find_recipe
from .sharding import (PERSISTENCE_THRESHOLD, flat_gradient_numels, flat_shards, fsdp2_shards, ideal_shards,
                       persistent_numel, stage3_shards, zero_redundancy_shards)

# rule → the ZeRO stages it implements
RULES = {"ideal": (0, 1, 2, 3), "fsdp2": (3,), "zero_redundancy": (1,), "deepspeed": (0, 1, 2, 3)}
GRADIENT_STAGE = 2


def rule_ledger(model, num_ranks, stage, recipe="adam-mixed", rule="fsdp2", rank=None, trained_params=None,
                persistence_threshold=PERSISTENCE_THRESHOLD):
    """The ``Ledger`` of ``rank`` (None: the fullest) when ``num_ranks`` ranks shard ``model`` by ``rule``.

    ``rule`` is one of ``RULES``: "fsdp2" is stage 3, "zero_redundancy" stage 1. DeepSpeed at stage 3 adds a row for
    the small tensors (at most ``persistence_threshold`` elements) that stay whole. Rows of groups that no rule cuts by
    tensor (factors, adapters) are split ideally. Raises ``InvalidInput``.
    """
    model = as_model(model)
    num_ranks, stage, rules = check_count("num_ranks", num_ranks), check_stage(stage), find_recipe(recipe)
    check_choice("rule", rule, RULES)
    if stage not in RULES[rule]:
        raise InvalidInput("stage", stage, f"{' or '.join(map(str, RULES[rule]))} with rule {rule}")
    threshold = check_count("persistence_threshold", persistence_threshold, 0)
    columns = [_numels(row, model, num_ranks, stage, rule, trained_params) for row in rules.rows]
    if rank is None:
        totals = [sum(row.bytes_for(numels[each]) for row, numels in zip(rules.rows, columns)) for each in range(num_ranks)]
        rank = totals.index(max(totals))
    rank = check_count("rank", rank, 0, num_ranks - 1)
    rows = [_row(row, numels[rank], _whole(row, model, trained_params), stage) for row, numels in zip(rules.rows, columns)]
    if rule == "deepspeed" and stage == 3 and num_ranks > 1:
        rows.append(_persistent_row(rules, model, threshold, num_ranks))
    layout = {"rule": rule, "rank": rank}
    return Ledger(model.num_params, num_ranks, stage, rules.name, tuple(rows), layout)


def _numels(row, model, num_ranks, stage, rule, trained_params):
    """Stored elements of ``row`` on each rank."""
    if not row.is_sharded(stage):
        return [_whole(row, model, trained_params)] * num_ranks
    if row.group in ("trained", "factors"):
        whole = _whole(row, model, trained_params)
        return [-(-whole // num_ranks)] * num_ranks
    shapes = [tensor.shape for tensor in model.tensors() if _in_group(tensor, row.group)]
    if rule == "fsdp2":
        padded = row.sharded_from_stage >= GRADIENT_STAGE
        return [shard.stored_numel if padded else shard.numel for shard in fsdp2_shards(shapes, num_ranks)]
    if rule == "deepspeed" and stage < 3 and row.sharded_from_stage == GRADIENT_STAGE:
        return list(flat_gradient_numels(shapes, num_ranks))
    shards = {"ideal": ideal_shards, "zero_redundancy": zero_redundancy_shards,
              "deepspeed": stage3_shards if stage == 3 else flat_shards}[rule]
    return [shard.stored_numel for shard in shards(shapes, num_ranks)]


def _in_group(tensor, group):
    return group in ("all", "frozen") or is_hidden_matrix(tensor) == (group == "matrices")


def _whole(row, model, trained_params):
    if row.group in ("all", "frozen"):
        return model.num_params
    return local_group_numel(model.tensors(), row.group, trained_params)


def _row(row, local, whole, stage):
    return LedgerRow(row.category, row.dtype, row.bytes_per_param, row.sharded_from_stage, local, row.bytes_for(local),
                     row.bytes_for(whole), row.is_sharded(stage))


def _persistent_row(rules, model, threshold, num_ranks):
    """Small parameters stay gathered beside their shards, in the dtype of the parameters."""
    params = next((row for row in rules.rows if row.sharded_from_stage == 3), rules.rows[0])
    shapes = [tensor.shape for tensor in model.tensors()]
    numel = persistent_numel(shapes, threshold, num_shards=num_ranks)
    size = params.bytes_for(numel)
    return LedgerRow("persistent_params", params.dtype, params.bytes_per_param, None, numel, size, size, False)
