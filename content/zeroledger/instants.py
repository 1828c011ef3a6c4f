"""Named instants of a training step: what is live at each, row by row, and which one is the peak.

A peak is the largest *instant*. Adding up the maxima of the accounts would count bytes that never live together.
"""

from dataclasses import dataclass

from .errors import InvalidInput, check_count

# Accounts in the order of tables and pictures.
ACCOUNTS = (
    "sharded_params", "unsharded_params", "master_params", "all_gather", "sharded_grads", "unsharded_grads",
    "reduce_scatter", "optimizer_states", "activations", "logits", "temporary", "inputs", "reserve",
)


@dataclass(frozen=True)
class MemoryRow:
    """Bytes live on one rank: ``account`` is one of ``ACCOUNTS``, ``what`` says which tensor or buffer."""

    account: str
    what: str
    num_bytes: int

    def __post_init__(self):
        if self.account not in ACCOUNTS:
            raise InvalidInput("account", self.account, "one of " + ", ".join(ACCOUNTS))
        object.__setattr__(self, "num_bytes", check_count(f"bytes of {self.what}", self.num_bytes, 0))


PHASES = ("forward", "backward", "optimizer step")


@dataclass(frozen=True)
class Instant:
    """One moment of a step: ``name``, the rows live then (a tuple of ``MemoryRow`` on one rank), and its ``phase``.

    ``phase`` is one of ``PHASES``, or None where the maker does not say.
    """

    name: str
    rows: tuple
    phase: str | None = None

    @property
    def num_bytes(self):
        """Live bytes of the instant, an exact integer."""
        return sum(row.num_bytes for row in self.rows)

    def by_account(self):
        """Bytes of every account, 0 where nothing is live: a dict in the order of ``ACCOUNTS``."""
        totals = dict.fromkeys(ACCOUNTS, 0)
        for row in self.rows:
            totals[row.account] += row.num_bytes
        return totals

    def plus(self, rows):
        """The same instant with ``rows`` live as well (persistent rows, say)."""
        return Instant(self.name, tuple(rows) + self.rows, self.phase)

    def as_dict(self):
        """Plain data for JSON: name, bytes, bytes by account (only those above 0) and rows."""
        accounts = {account: total for account, total in self.by_account().items() if total}
        return {"name": self.name, "phase": self.phase, "bytes": self.num_bytes, "by_account": accounts,
                "rows": [{"account": row.account, "what": row.what, "bytes": row.num_bytes} for row in self.rows]}


def peak(instants):
    """The instant with most live bytes; the earliest where several tie. Raises ``InvalidInput`` when there is none."""
    instants = tuple(instants)
    if not instants:
        raise InvalidInput("instants", instants, "at least one Instant")
    return max(instants, key=lambda instant: instant.num_bytes)


def with_rows(instants, rows):
    """Every instant with the persistent ``rows`` added, a tuple of ``Instant``."""
    rows = tuple(rows)
    return tuple(instant.plus(rows) for instant in instants)


def overlay(instants, transients):
    """``instants`` with the rows of the transient instant of the same phase added, those without one unchanged.

    ``transients`` are one ``Instant`` a phase (``deepspeed_transients``). A phase that only they know (the optimizer
    step) is appended, so that nothing is lost. Raises ``InvalidInput`` for a phase that is missing or said twice.
    """
    by_phase = {}
    for transient in transients:
        if transient.phase not in PHASES or transient.phase in by_phase:
            raise InvalidInput("phase", transient.phase, f"each of {', '.join(PHASES)} at most once")
        by_phase[transient.phase] = transient
    known = {instant.phase for instant in instants}
    alone = tuple(transient for phase, transient in by_phase.items() if phase not in known)
    return tuple(instant.plus(by_phase[instant.phase].rows) if instant.phase in by_phase else instant
                 for instant in instants) + alone
