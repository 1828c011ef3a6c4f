"""The ledger: how many bytes of model states each rank holds, row by row, for a recipe, a ZeRO stage and ranks.

The ideal split: a sharded row holds ceil(elements / ranks). It is a lower bound on persistent state, not the peak:
gathered weights, activations, buffers and allocator slack come on top. ``sharding`` has the rules of real frameworks.
"""

from dataclasses import dataclass

from .errors import InvalidInput, ceil_div, check_count, check_stage
from .groups import group_numel
from .models import as_model
from .recipes import recipe as find_recipe
from .sharding import hybrid_group


@dataclass(frozen=True)
class LedgerRow:
    """One array of a recipe on the fullest rank. ``bytes_*`` are bytes, ``numel_per_rank`` elements."""

    category: str
    dtype: str
    bytes_per_param: int | float
    sharded_from_stage: int | None
    numel_per_rank: int
    bytes_per_rank: int
    bytes_unsharded: int
    sharded: bool = False


@dataclass(frozen=True)
class Ledger:
    """All rows of one rank, and the inputs they came from."""

    num_params: int
    dp_size: int
    stage: int
    recipe: str
    rows: tuple
    layout: dict | None = None  # the mesh and group sizes, where there is more than plain data parallelism

    @property
    def model_states_bytes_per_rank(self):
        """Bytes of params, grads and optimizer states on the fullest rank, exact."""
        return sum(row.bytes_per_rank for row in self.rows)

    @property
    def model_states_bytes_unsharded(self):
        """The same bytes with nothing sharded (stage 0)."""
        return sum(row.bytes_unsharded for row in self.rows)

    def __getitem__(self, category):
        for row in self.rows:
            if row.category == category:
                return row
        raise InvalidInput("category", category, "one of " + ", ".join(row.category for row in self.rows))

    def as_dict(self):
        """Plain data for JSON: inputs, rows, and the two totals in bytes."""
        inputs = {"num_params": self.num_params, "dp_size": self.dp_size, "stage": self.stage, "recipe": self.recipe}
        if self.layout:
            inputs["layout"] = dict(self.layout)
        return {
            "inputs": inputs,
            "rows": [dict(vars(row)) for row in self.rows],
            "model_states_bytes_per_rank": self.model_states_bytes_per_rank,
            "model_states_bytes_unsharded": self.model_states_bytes_unsharded,
        }

    def table(self, unit="GB"):
        """The rows as an aligned text table in ``unit`` (any of ``units.BYTE_UNITS``)."""
        from .tables import ledger_table

        return ledger_table(self, unit)

    def __str__(self):
        return self.table()


def ledger(num_params=None, dp_size=1, stage=0, recipe="adam-mixed", *, model=None, trained_params=None,
           shard_size=None, hpz_size=None):
    """The ``Ledger`` of ``num_params`` parameters on ``dp_size`` ranks at ZeRO ``stage``.

    ``recipe`` is a ``Recipe``, its name, or a dict. ``model`` (a ``TransformerShape``, a preset or its name) may
    stand in for ``num_params`` and is needed by recipes that treat some tensors differently (Muon, Adafactor);
    ``trained_params`` by those that freeze the rest (LoRA). Hybrid sharding: ``shard_size`` ranks share one copy and
    the others hold the same (HSDP, MiCS); ``hpz_size`` ranks share a second copy of the 16-bit parameters at stage 3
    (ZeRO++ hpZ). Raises ``InvalidInput`` (a ``ValueError``).
    """
    rules, dp_size, stage = find_recipe(recipe), check_count("dp_size", dp_size), check_stage(stage)
    if model is not None:
        model = as_model(model)
        num_params = model.num_params if num_params is None else num_params
    num_params = check_count("num_params", num_params)
    if model is not None and num_params != model.num_params:
        raise InvalidInput("num_params", num_params, f"the model's own {model.num_params:,}, or None")
    group = dp_size if shard_size is None else hybrid_group(dp_size, shard_size, "shard_size")[0]
    rows = [_row(row, group_numel(row.group, num_params, model, trained_params), group, stage) for row in rules.rows]
    if hpz_size is not None:
        rows.append(_second_copy(num_params, dp_size, stage, hpz_size))
    layout = {name: int(size) for name, size in (("shard_size", shard_size), ("hpz_size", hpz_size)) if size is not None}
    return Ledger(num_params, dp_size, stage, rules.name, tuple(rows), layout or None)


def _row(row, numel, group, stage):
    sharded = row.is_sharded(stage)
    local = ceil_div(numel, group) if sharded else numel
    return LedgerRow(row.category, row.dtype, row.bytes_per_param, row.sharded_from_stage, local, row.bytes_for(local),
                     row.bytes_for(numel), sharded)


def _second_copy(num_params, dp_size, stage, hpz_size):
    """ZeRO++ hpZ (arXiv:2306.10209 sec. 3.2): parameters again, over a group that fits in a node."""
    if stage != 3:
        raise InvalidInput("hpz_size", hpz_size, f"stage 3 (the stage is {stage})")
    group, _ = hybrid_group(dp_size, hpz_size, "hpz_size")
    local = ceil_div(num_params, group)
    return LedgerRow("secondary_params", "bf16", 2, 3, local, 2 * local, 2 * num_params, True)
