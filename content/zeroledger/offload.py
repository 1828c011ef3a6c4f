"""Where offloading puts each array: device, host memory or NVMe, in bytes per rank and per node.

What a recipe keeps is what is placed; copies that only exist because of offloading have rows of their own, marked
``extra``. Times and verdict: ``offload_time``. Refuses what DeepSpeed and FSDP cannot do.
"""

from dataclasses import dataclass

from .allocator import pinned_host_bytes
from .errors import InvalidInput, ceil_div, check_choice, check_count, check_flag
from .ledger import ledger
from .recipes import recipe as find_recipe

TIERS = ("device", "cpu", "nvme")
ROLES = ("params", "grads", "optimizer")


@dataclass(frozen=True)
class Placement:
    """The tier of each role: "device", "cpu" or "nvme". ``pin_memory`` page-locks what lies in host memory.

    Gradients follow the optimizer unless said otherwise; no framework offloads them without it.
    """

    optimizer: str = "device"
    params: str = "device"
    grads: str | None = None
    pin_memory: bool = True

    def __post_init__(self):
        check_flag("pin_memory", self.pin_memory)
        check_choice("optimizer", self.optimizer, TIERS)
        if self.grads is None:
            object.__setattr__(self, "grads", self.optimizer)
        for role in ROLES:
            check_choice(role, getattr(self, role), TIERS)
        if self.optimizer == "device" and self.grads != "device":
            raise InvalidInput("grads", self.grads, "device while the optimizer stays on the device")


@dataclass(frozen=True)
class Staging:
    """Host buffers through which NVMe is read and written, in elements; DeepSpeed's defaults.

    ``offload_param`` has ``buffer_count`` buffers of ``buffer_size``; the optimizer swaps ``sub_group_size`` elements at
    a time through four fp32 buffers (parameter, gradient, two moments).
    """

    param_buffers: int = 5
    param_buffer_numel: int = 100_000_000
    optimizer_buffers: int = 4
    sub_group_numel: int = 1_000_000_000

    def __post_init__(self):
        for field, value in vars(self).items():
            object.__setattr__(self, field, check_count(field, value, 0))


@dataclass(frozen=True)
class OffloadRow:
    """One array on one rank: ``num_bytes`` of data; ``extra`` rows exist only because of offloading."""

    category: str
    role: str
    tier: str
    num_bytes: int
    extra: bool = False
    pinned: bool = False

    @property
    def allocated_bytes(self):
        """Bytes taken from the tier: pinned host memory is rounded up to a power of two."""
        return pinned_host_bytes(self.num_bytes) if self.pinned else self.num_bytes


@dataclass(frozen=True)
class OffloadPlan:
    """All rows of one rank, and what they were made from. Bytes are exact; nothing but model states is counted.

    ``update_bytes`` gives, for each role, the bytes that one rank updates: its share, also of arrays kept whole.
    """

    rows: tuple
    update_bytes: dict
    placement: Placement
    num_params: int
    dp_size: int
    stage: int
    recipe: str
    ranks_per_node: int

    def bytes_per_rank(self, tier):
        """Bytes one rank takes from ``tier``, pinned rounding included."""
        check_choice("tier", tier, TIERS)
        return sum(row.allocated_bytes for row in self.rows if row.tier == tier)

    def bytes_per_node(self, tier):
        """Bytes all ranks of a node take from ``tier``."""
        return self.ranks_per_node * self.bytes_per_rank(tier)

    def role_bytes(self, role, extra=None):
        """Data bytes of ``role`` on one rank, on any tier; only extra or only recipe rows when asked."""
        return sum(row.num_bytes for row in self.rows if row.role == role and extra in (None, row.extra))

    @property
    def capacity_gained_bytes(self):
        """Device bytes that a rank has free which it would use without offloading."""
        return sum(row.num_bytes for row in self.rows if not row.extra and row.tier != "device")

    def as_dict(self):
        """Plain data for JSON: rows, and bytes per tier for a rank and a node."""
        rows = [{**vars(row), "allocated_bytes": row.allocated_bytes} for row in self.rows]
        return {"rows": rows, "per_rank": {tier: self.bytes_per_rank(tier) for tier in TIERS},
                "per_node": {tier: self.bytes_per_node(tier) for tier in TIERS},
                "capacity_gained_bytes": self.capacity_gained_bytes}


def offload_plan(num_params=None, dp_size=1, stage=3, placement=Placement(), recipe="adam-mixed", *, ranks_per_node=8,
            staging=Staging(), model=None, trained_params=None):
    """The ``OffloadPlan`` of a ``ledger`` whose roles lie where ``placement`` says, for the fullest rank.

    Extra rows: the gradients that a host-side update needs but the device keeps, the parameters it updates when the
    recipe has no master copy, and the NVMe ``staging`` buffers. A node holds ``ranks_per_node`` ranks, or ``dp_size`` if
    that is fewer. What is not sharded stays on the device. Raises ``InvalidInput``: offloading the optimizer needs
    stage 1 or more, parameters stage 3.
    """
    book = ledger(num_params, dp_size, stage, recipe, model=model, trained_params=trained_params)
    for role, needed in (("optimizer", 1), ("params", 3)):
        if getattr(placement, role) != "device" and book.stage < needed:
            raise InvalidInput("stage", book.stage, f"{needed} or more when {role} leave the device")
    rows, shares = [], dict.fromkeys(ROLES, 0)
    for row, rule in zip(book.rows, find_recipe(recipe).rows):
        role = role_of(row.category)
        tier = getattr(placement, role) if row.sharded else "device"
        rows.append(_row(row.category, role, tier, row.bytes_per_rank, placement))
        if rule.group != "frozen":
            shares[role] += share_bytes(row, rule, book.dp_size)
    rows += _extra_rows(rows, shares, placement, staging, book, recipe)
    on_node = min(check_count("ranks_per_node", ranks_per_node), book.dp_size)
    return OffloadPlan(tuple(rows), shares, placement, book.num_params, book.dp_size, book.stage, book.recipe, on_node)


def share_bytes(row, rule, dp_size):
    """Bytes of the part of a ledger ``row`` that one of ``dp_size`` ranks updates, sharded or not."""
    return row.bytes_per_rank if row.sharded else rule.bytes_for(ceil_div(row.numel_per_rank, dp_size))


def role_of(category):
    """"params", "grads" or "optimizer" (master weights, moments) for a recipe's ``category``."""
    if "grads" in category:
        return "grads"
    return "params" if category.startswith(("params", "adapter_params", "quant_scale")) else "optimizer"


def _row(category, role, tier, num_bytes, placement, extra=False):
    return OffloadRow(category, role, tier, num_bytes, extra, tier == "cpu" and placement.pin_memory)


def _extra_rows(rows, shares, placement, staging, book, recipe):
    """Copies and buffers in host memory that offloading itself needs."""
    needed, on_cpu = [], placement.optimizer != "device"
    if on_cpu and all(row.tier == "device" for row in rows if row.role == "grads"):
        needed.append(("grads for the update", "grads", shares["grads"]))
    has_master = any(row.category.startswith("master") for row in rows)
    if on_cpu and not has_master and placement.params == "device":
        needed.append(("params for the update", "params", shares["params"]))
    if placement.params == "nvme":
        width = max(rule.bytes_per_param for rule in find_recipe(recipe).rows if role_of(rule.category) == "params")
        numel = staging.param_buffers * staging.param_buffer_numel
        needed.append(("NVMe staging of params", "params", -(-int(8 * width) * numel // 8)))
    if placement.optimizer == "nvme":
        numel = min(staging.sub_group_numel, ceil_div(book.num_params, book.dp_size))
        needed.append(("NVMe staging of the optimizer", "optimizer", 4 * staging.optimizer_buffers * numel))
    return [_row(category, role, "cpu", num_bytes, placement, extra=True) for category, role, num_bytes in needed
            if num_bytes]


PAPER_PARTS = {"p16": 2, "g16": 2, "update": 12}  # bytes a parameter; update: fp32 parameter, momentum, variance


def zero_offload_device_bytes_per_param(offloaded):
    """Device bytes per parameter when the graph nodes ``offloaded`` ("g16", "update", "p16") lie on the CPU.

    arXiv:2101.06840 Table 1: nothing 16, gradients 14, update 4, both 2. Forward and backward run on the device, so a
    16-bit copy of the parameters is there whatever the table's p16 column says.
    """
    for part in offloaded:
        check_choice("offloaded", part, PAPER_PARTS)
    return sum(size for part, size in PAPER_PARTS.items() if part == "p16" or part not in offloaded)
