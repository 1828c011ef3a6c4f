"""All accounts of one rank of one configuration: a lower bound, named instants, the peak with its uncertainty, the fit."""

from dataclasses import dataclass, replace
from functools import cached_property

from .allocator import meters
from .cards import CARDS, Card
from .engine_states import training_ledger
from .engines import engine_instants
from .errors import InvalidInput, check_count
from .instants import peak
from .ledger import Ledger
from .mesh import rank_numel
from .training import Training

# Rows that depend on how kernels save and free tensors. They equal FSDPMemTracker's to the byte for the blocks measured
# on a CPU (tests/test_fsdp_timeline.py); GPU kernels and other blocks were not measured.
ESTIMATED_ACCOUNTS = ("activations", "logits", "inputs")
ESTIMATED_TEMPORARIES = frozenset((
    "gradients of activations", "gradient of the layer's input", "workspace", "gradient of head input",
    "gradient of head input, earlier slices"))
# Engine → (per cent by which estimated rows may be off, key of the basis for pages, the basis in words).
UNCERTAINTY = {
    "fsdp2": (5, "basis.fsdp2", "shards, gathers and buffers follow FSDP2's rules to the byte; activations, logits and "
              "temporaries equal FSDPMemTracker's for blocks measured on a CPU and may differ by 5 % elsewhere"),
    "deepspeed": (10, "basis.deepspeed", "states and buffers follow DeepSpeed 0.19's rules; no tracker shows its peaks, so "
                  "activations, logits and temporaries may differ by 10 %"),
    "ideal": (10, "basis.ideal", "a convention, not a run: states as the recipe counts them; activations, logits and "
              "temporaries may differ by 10 %"),
}
FIT = ("fits", "too close to call", "does not fit")


@dataclass(frozen=True)
class Budget:
    """Bytes of the fullest rank of ``training``, which is in pipeline stage ``pp_rank``.

    ``states`` is its ledger (all tiers); ``staying_rows`` what is on the device all the time; ``instants`` the named
    moments of a step. ``low_bytes`` … ``high_bytes`` is the range of the live peak, on the ``basis`` said.
    """

    training: Training
    pp_rank: int
    states: Ledger
    staying_rows: tuple
    instants: tuple
    low_bytes: int
    high_bytes: int

    @cached_property
    def peak(self):
        """The ``Instant`` with most live bytes."""
        return peak(self.instants)

    @property
    def peak_bytes(self):
        """Live bytes at the peak."""
        return self.peak.num_bytes

    @property
    def staying_bytes(self):
        """Bytes that are on the device at every instant: the persistent lower bound."""
        return sum(row.num_bytes for row in self.staying_rows)

    @property
    def largest_account(self):
        """(account, bytes) of the largest account at the peak."""
        accounts = self.peak.by_account()
        name = max(accounts, key=accounts.get)
        return name, accounts[name]

    @property
    def basis(self):
        """{"percent", "key", "text"}: on what the range stands."""
        return dict(zip(("percent", "key", "text"), UNCERTAINTY[self.training.engine]))

    def meters(self, live_bytes=None):
        """``allocator.Meters`` of the peak (or of ``live_bytes``) with the training's fragmentation and context."""
        run = self.training
        live = self.peak_bytes if live_bytes is None else live_bytes
        return meters(live, 0, run.fragmentation, run.context_bytes, run.other_bytes)

    def fits(self, card):
        """A ``Fit``: whether the peak fits ``card`` (a ``Card``, its name, or bytes), three-valued."""
        capacity = card_bytes(card)
        needed = self.meters().device_bytes
        low, high = self.meters(self.low_bytes).device_bytes, self.meters(self.high_bytes).device_bytes
        verdict = FIT[0] if high <= capacity else FIT[2] if low > capacity else FIT[1]
        return Fit(verdict, capacity, capacity - needed, capacity - high, capacity - low)

    @cached_property
    def offload(self):
        """The ``OffloadPlan`` of what left the device, None when nothing did."""
        run = self.training
        if run.placement.optimizer == run.placement.params == "device":
            return None
        return offload_of(run, self.pp_rank)

    def as_dict(self):
        """Plain data for JSON; ``basis.key`` and the names of accounts are stable."""
        name, size = self.largest_account
        tiers = self.offload.as_dict() if self.offload else None
        return {"training": self.training.as_dict(), "pp_rank": self.pp_rank, "states": self.states.as_dict(),
                "staying_bytes": self.staying_bytes, "instants": [instant.as_dict() for instant in self.instants],
                "peak": self.peak.as_dict(), "peak_bytes": self.peak_bytes, "low_bytes": self.low_bytes,
                "high_bytes": self.high_bytes, "basis": self.basis, "meters": self.meters().as_dict(),
                "largest_account": {"account": name, "bytes": size}, "offload": tiers}

    def table(self, unit="GB", card=None):
        """Text for people, in ``unit``; with ``card`` also whether it fits."""
        from .budget_tables import budget_table

        return budget_table(self, unit, card)

    def __str__(self):
        return self.table()


@dataclass(frozen=True)
class Fit:
    """``verdict`` (one of ``FIT``) on ``capacity_bytes``; margins are bytes left, negative when too many, at the
    estimated peak and at the ``worst`` and ``best`` end of its range."""

    verdict: str
    capacity_bytes: int
    margin_bytes: int
    worst_margin_bytes: int
    best_margin_bytes: int

    def as_dict(self):
        """Plain data for JSON."""
        return dict(vars(self))


def budget(training, *, every_layer=False, **fields):
    """The ``Budget`` of a ``Training``, or of ``Training(training, **fields)`` for a model or its name.

    ``every_layer`` lists the instants of all layers instead of those at both ends (the peak is the same). Pipeline
    stages are compared and the one with the highest peak is returned. Raises ``InvalidInput``.
    """
    if not isinstance(training, Training):
        training = Training(training, **fields)
    elif fields:
        training = training.changed(**fields)
    built = [stage_budget(training, pp_rank, every_layer) for pp_rank in candidate_stages(training)]
    fullest = max(built, key=lambda each: each.peak_bytes)
    return replace(fullest, low_bytes=max(each.low_bytes for each in built),
                   high_bytes=max(each.high_bytes for each in built))


def candidate_stages(training):
    """Pipeline stages of which one is the fullest: of stages alike the first, which holds most micro-batches."""
    from .mesh import stage_layers

    model, mesh, seen = training.model, training.mesh, {}
    for pp_rank in range(mesh.pp):
        layers = stage_layers(model, mesh, pp_rank)
        kind = pp_rank == 0, pp_rank == mesh.pp - 1, tuple(map(model.is_moe_layer, layers))
        seen.setdefault(kind, pp_rank)
    return tuple(seen.values())


def stage_budget(training, pp_rank, every_layer=False):
    """The ``Budget`` of the ranks of pipeline stage ``pp_rank`` alone."""
    staying, instants = engine_instants(training, pp_rank, every_layer)
    percent = UNCERTAINTY[training.engine][0]
    totals = [(instant.num_bytes, estimated_bytes(instant) * percent // 100) for instant in instants]
    return Budget(training, pp_rank, training_ledger(training, pp_rank), staying, instants,
                  max(live - off for live, off in totals), max(live + off for live, off in totals))


def is_estimated(row):
    """Whether the uncertainty applies to ``row``."""
    return row.account in ESTIMATED_ACCOUNTS or row.what in ESTIMATED_TEMPORARIES


def estimated_bytes(instant):
    """Bytes of the rows of ``instant`` to which the uncertainty applies."""
    return sum(row.num_bytes for row in instant.rows if is_estimated(row))


def card_bytes(card):
    """Bytes of a ``Card``, of the card sold under that name ("80 GB"), or of a number or text with a binary unit."""
    if isinstance(card, Card):
        return card.memory_bytes
    if isinstance(card, str):
        named = {each.name.replace(" ", "").lower(): each for each in CARDS}
        known = named.get(card.replace(" ", "").lower())
        if known:
            return known.memory_bytes
        from .units import parse_bytes

        return parse_bytes(card, "card")
    return check_count("card", card)


def offload_of(training, pp_rank=0):
    """The ``OffloadPlan`` of one rank of pipeline stage ``pp_rank``. Raises ``InvalidInput``."""
    from .offload import offload_plan

    common = dict(dp_size=training.mesh.dense_shards, stage=training.stage, placement=training.placement,
                  recipe=training.recipe)
    if training.mesh.world_size == training.mesh.dp:
        plan = offload_plan(model=training.model, trained_params=training.trained_params, **common)
    elif training.recipe.groups == ("all",):
        plan = offload_plan(sum(rank_numel(training.model, training.mesh, pp_rank)), **common)
    else:
        raise InvalidInput("recipe", training.recipe.name, "one whose rows count every parameter, with offload under tp or pp")
    return replace(plan, ranks_per_node=min(training.ranks_per_node, training.mesh.world_size))

