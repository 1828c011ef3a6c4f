"""Precision recipes: which arrays training keeps for each parameter, in which dtype, sharded from which ZeRO stage.

A recipe is a named tuple of rows; nothing is hidden in a total. ``RECIPES`` holds ours, ``recipe()`` finds one or
builds your own from a dict.
"""

from dataclasses import dataclass

from .errors import RecipeError, check_choice, check_count, check_number, shown

NEVER = None  # sharded_from_stage of an array that every rank keeps whole at every stage

# Which elements a row counts. "all" needs only the number of parameters; others a model or a count of their own.
GROUPS = {
    "all": "every parameter",
    "trained": "parameters that receive a gradient (adapters)",
    "frozen": "parameters that do not",
    "matrices": "two-dimensional parameters of the layers (Muon)",
    "others": "embeddings, head, norms and biases (what Muon leaves to Adam)",
    "factors": "row and column statistics of a factored second moment (Adafactor)",
}


@dataclass(frozen=True)
class RecipeRow:
    """One array: ``bytes_per_param`` for each element of ``group``, whole on every rank below ``sharded_from_stage``.

    Block-wise quantised arrays add ``block_bytes`` for every ``block_numel`` elements (their scales).
    """

    category: str
    dtype: str
    bytes_per_param: int | float
    sharded_from_stage: int | None = NEVER
    group: str = "all"
    block_numel: int = 0
    block_bytes: int = 0

    def __post_init__(self):
        if not isinstance(self.category, str) or not self.category:
            raise RecipeError("category", self.category, "a name")
        if not isinstance(self.dtype, str) or not self.dtype:
            raise RecipeError(f"dtype of {self.category}", self.dtype, "a name")
        check_number(f"bytes_per_param of {self.category}", self.bytes_per_param, 0, 1024, RecipeError)
        if (8 * self.bytes_per_param) % 1:
            raise RecipeError(f"bytes_per_param of {self.category}", self.bytes_per_param, "a whole number of bits")
        check_choice(f"sharded_from_stage of {self.category}", self.sharded_from_stage, (1, 2, 3, NEVER), RecipeError)
        check_choice(f"group of {self.category}", self.group, GROUPS, RecipeError)
        check_count(f"block_numel of {self.category}", self.block_numel, 0, error=RecipeError)
        check_count(f"block_bytes of {self.category}", self.block_bytes, 0, error=RecipeError)

    def bytes_for(self, numel):
        """Exact bytes of ``numel`` elements; a last partial byte or block counts whole."""
        bits = int(8 * self.bytes_per_param) * numel
        blocks = -(-numel // self.block_numel) if self.block_numel else 0
        return -(-bits // 8) + blocks * self.block_bytes

    def is_sharded(self, stage):
        """Whether ranks split this array at ZeRO stage ``stage``."""
        return self.sharded_from_stage is not NEVER and stage >= self.sharded_from_stage


@dataclass(frozen=True)
class Recipe:
    """Rows of one convention, the ``source`` it is read from, and in ``describes`` whose runs it is true of."""

    name: str
    rows: tuple
    source: str
    describes: str

    @property
    def bytes_per_param(self):
        """Bytes per parameter before sharding, when every row counts all parameters; else None. Scales included."""
        if any(row.group != "all" for row in self.rows):
            return None
        total = sum(row.bytes_per_param + (row.block_bytes / row.block_numel if row.block_numel else 0)
                    for row in self.rows)
        return int(total) if total == int(total) else total

    @property
    def groups(self):
        """The element groups its rows count, in order of appearance."""
        return tuple(dict.fromkeys(row.group for row in self.rows))


def recipe(which):
    """The ``Recipe`` named ``which``, ``which`` itself if it is one, or one built from a dict.

    The short dict is {category: bytes per parameter}, such as {"params": 2, "grads": 2, "optimizer": 12}: there
    "params" shard from stage 3, "grads" from 2, all else from 1. The full one holds ``rows`` (each a dict or a sequence
    of ``RecipeRow``'s fields, at least category, dtype and bytes_per_param) and may hold ``name``, ``source`` and
    ``describes``. Raises ``RecipeError``.
    """
    if isinstance(which, Recipe):
        return which
    if isinstance(which, dict):
        return _from_dict(which)
    from .recipe_book import RECIPES

    check_choice("recipe", which, RECIPES, RecipeError)
    return RECIPES[which]


SHORT_STAGES = {"params": 3, "grads": 2}  # of the short form; every other category from stage 1


def _from_dict(given):
    if given and all(_is_number(size) for size in given.values()):
        given = {"rows": [(category, f"{8 * size:g}-bit", size, SHORT_STAGES.get(category, 1))
                          for category, size in given.items()]}
    unknown = [key for key in given if key not in ("name", "rows", "source", "describes")]
    if unknown:
        raise RecipeError("recipe", unknown[0], "only the keys name, rows, source, describes")
    rows = given.get("rows")
    if not isinstance(rows, (list, tuple)) or not rows or len(rows) > 100:
        raise RecipeError("rows", rows, "a list of 1 to 100 rows")
    texts = {key: given.get(key, default) for key, default in
             (("name", "own recipe"), ("source", "given by you"), ("describes", "your own run"))}
    for key, text in texts.items():
        if not isinstance(text, str):
            raise RecipeError(key, text, "text")
    built = tuple(_row(row) for row in rows)
    names = [row.category for row in built]
    if len(set(names)) < len(names):
        raise RecipeError("rows", names, "categories that differ from each other")
    return Recipe(rows=built, **texts)


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _row(given):
    try:
        if isinstance(given, RecipeRow):
            return given
        if isinstance(given, dict):
            return RecipeRow(**given)
        if isinstance(given, (list, tuple)):
            return RecipeRow(*given)
    except TypeError:  # missing or unknown fields
        pass
    raise RecipeError("row", given, "category, dtype, bytes_per_param, and optionally sharded_from_stage, group, "
                                    f"block_numel, block_bytes (got {shown(type(given).__name__)})")
