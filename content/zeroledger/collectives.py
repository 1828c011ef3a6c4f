"""Collectives: how many bytes one rank puts on the wire, and the least time that takes.

A row counts the *full buffer* (what an all-gather has at its end and a reduce-scatter at its start), as nccl-tests
and torch's own counters do; the ring factor turns it into bytes that each rank sends.
"""

from dataclasses import dataclass

from .dtypes import dtype_bytes
from .errors import InvalidInput, ceil_div, check_choice, check_count, check_number

# Bytes sent per rank and byte of full buffer, as (numerator, denominator) in the number of ranks n.
# Source: NVIDIA/nccl-tests@03a204a doc/PERFORMANCE.md ("bus bandwidth"); send_recv: one hop.
RING_FACTORS = {
    "all_reduce": lambda n: (2 * (n - 1), n),
    "reduce_scatter": lambda n: (n - 1, n),
    "all_gather": lambda n: (n - 1, n),
    "all_to_all": lambda n: (n - 1, n),
    "broadcast": lambda n: (1, 1) if n > 1 else (0, 1),
    "reduce": lambda n: (1, 1) if n > 1 else (0, 1),
    "send_recv": lambda n: (1, 1) if n > 1 else (0, 1),
}


def ring_factor(op, ranks):
    """Bytes on the wire per rank for each byte of full buffer, a float; 0 for one rank.

    ``op`` is a key of ``RING_FACTORS``. Raises ``InvalidInput``.
    """
    above, below = RING_FACTORS[check_choice("op", op, RING_FACTORS)](check_count("ranks", ranks))
    return above / below


def ring_wire_bytes(op, num_bytes, ranks):
    """Bytes that each rank sends for a full buffer of ``num_bytes``: an exact integer, rounded up to a whole byte."""
    above, below = RING_FACTORS[check_choice("op", op, RING_FACTORS)](check_count("ranks", ranks))
    return ceil_div(above * check_count("num_bytes", num_bytes, 0, 10**24), below)


@dataclass(frozen=True)
class Interconnect:
    """A link: ``bytes_per_s`` one rank can send at once in one direction, and where the figure comes from.

    ``latency_s`` is added once a call; 0 keeps every time a lower bound.
    """

    name: str
    bytes_per_s: float
    source: str
    latency_s: float = 0.0

    def __post_init__(self):
        if check_number(f"bytes_per_s of {self.name}", self.bytes_per_s) <= 0:
            raise InvalidInput(f"bytes_per_s of {self.name}", self.bytes_per_s, "a number above 0")
        check_number(f"latency_s of {self.name}", self.latency_s)


# Peak rates of one device in one direction; makers print the sum of both directions. Nothing sustains a peak.
INTERCONNECTS = {each.name: each for each in (
    Interconnect("nvlink-v100", 150e9, "NVIDIA V100 data sheet: NVLink 300 GB/s, both directions"),
    Interconnect("nvlink-a100", 300e9, "NVIDIA A100 data sheet: NVLink 600 GB/s, both directions"),
    Interconnect("nvlink-h100", 450e9, "NVIDIA H100 data sheet: NVLink 900 GB/s, both directions"),
    Interconnect("pcie3-x16", 15.75e9, "PCI-SIG: 8 GT/s × 16 lanes, 128b/130b"),
    Interconnect("pcie4-x16", 31.5e9, "PCI-SIG: 16 GT/s × 16 lanes, 128b/130b"),
    Interconnect("pcie5-x16", 63.0e9, "PCI-SIG: 32 GT/s × 16 lanes, 128b/130b"),
    Interconnect("infiniband-hdr", 25e9, "InfiniBand HDR: 200 Gb/s a port"),
    Interconnect("infiniband-ndr", 50e9, "InfiniBand NDR: 400 Gb/s a port"),
    Interconnect("ethernet-100g", 12.5e9, "IEEE 802.3: 100 Gb/s"),
    Interconnect("ethernet-25g", 3.125e9, "IEEE 802.3: 25 Gb/s"),
)}


def interconnect(which):
    """The ``Interconnect`` named ``which``, or ``which`` itself if it is one. Raises ``InvalidInput``."""
    if isinstance(which, Interconnect):
        return which
    return INTERCONNECTS[check_choice("interconnect", which, INTERCONNECTS)]


@dataclass(frozen=True)
class CollectiveRow:
    """All calls of one kind in one optimizer step on one rank.

    ``numel`` is the sum of full-buffer elements over ``calls`` (None where the number of calls is not modelled);
    ``group`` names the ranks that take part ("dp", "shard", "replicate", "tp" …) and ``ranks`` counts them;
    ``payload`` is what travels and ``phase`` when: "forward", "backward", "step" or "micro-batch" (forward and backward).
    """

    op: str
    group: str
    ranks: int
    calls: int | None
    numel: int
    dtype: str
    payload: str
    phase: str

    @property
    def num_bytes(self):
        """Full-buffer bytes, exact."""
        return self.numel * dtype_bytes(self.dtype)

    @property
    def wire_bytes(self):
        """Bytes each rank sends, by the ring factor, rounded up."""
        return ring_wire_bytes(self.op, self.num_bytes, self.ranks)

    def as_dict(self):
        """Plain data for JSON: the fields, ``bytes`` and ``wire_bytes``."""
        return {**vars(self), "bytes": self.num_bytes, "wire_bytes": self.wire_bytes}


@dataclass(frozen=True)
class Communication:
    """The collectives of one optimizer step on one rank, for one ``strategy``; ``source`` says where the rule is from."""

    strategy: str
    rows: tuple
    source: str

    @property
    def wire_bytes(self):
        """Bytes one rank sends in a step, over all groups."""
        return sum(row.wire_bytes for row in self.rows)

    def total(self, op=None, group=None, phase=None):
        """``{"calls", "numel", "bytes", "wire_bytes"}`` summed over the rows that match; calls None if any is unknown."""
        rows = [row for row in self.rows
                if op in (None, row.op) and group in (None, row.group) and phase in (None, row.phase)]
        unknown = any(row.calls is None for row in rows)
        return {"calls": None if unknown else sum(row.calls for row in rows), "numel": sum(row.numel for row in rows),
                "bytes": sum(row.num_bytes for row in rows), "wire_bytes": sum(row.wire_bytes for row in rows)}

    def lower_bound_s(self, links):
        """Seconds that the wire alone needs: each group at its link's full rate, groups one after the other.

        ``links`` is one ``Interconnect`` (or its name), or a dict from group name to one.
        """
        return sum(row_lower_bound_s(row, _link_of(links, row.group)) for row in self.rows)

    def plus(self, other):
        """One ``Communication`` with the rows of both."""
        return Communication(f"{self.strategy} + {other.strategy}", self.rows + other.rows,
                             f"{self.source}; {other.source}")

    def as_dict(self):
        """Plain data for JSON."""
        return {"strategy": self.strategy, "source": self.source, "rows": [row.as_dict() for row in self.rows],
                "wire_bytes": self.wire_bytes}

    def table(self, unit="GB"):
        """The rows as an aligned text table in ``unit`` (any of ``units.BYTE_UNITS``)."""
        from .tables import text_table
        from .units import format_bytes

        header = ("collective", "group", "ranks", "calls", "elements", "dtype", "payload", "phase", "on the wire")
        rows = [(row.op, row.group, row.ranks, "?" if row.calls is None else row.calls, f"{row.numel:,}", row.dtype,
                 row.payload, row.phase, format_bytes(row.wire_bytes, unit)) for row in self.rows]
        rows.append(("all", "", "", "", "", "", "", "", format_bytes(self.wire_bytes, unit)))
        return text_table(header, rows, right=(2, 3, 4, 8))

    def __str__(self):
        return self.table()


def row_lower_bound_s(row, link):
    """Seconds that ``link`` needs at least for ``row``."""
    link = interconnect(link)
    return row.wire_bytes / link.bytes_per_s + (row.calls or 0) * link.latency_s * (row.ranks > 1)


def _link_of(links, group):
    if not isinstance(links, dict):
        return links
    if group not in links:
        raise InvalidInput("links", sorted(links), f"an interconnect for group {group!r}")
    return links[group]
