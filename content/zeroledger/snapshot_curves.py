"""What a snapshot's events say: allocated and reserved bytes after each, the peak, and which blocks stood there.

A block's kind is the category the export knew it by, else the phase that made it; what was there before recording began
is a kind of its own.
"""

from dataclasses import dataclass

from .allocator import block_bytes
from .snapshot import FREES, SEGMENTS, TAGS, Snapshot

# From the bottom of the picture to its top: what tends to stay, then what comes and goes.
KINDS = (*TAGS, "before", "step", "other", "no_stack", "forward", "backward")
POINTS = 700  # columns of a picture, each with up to four moments


@dataclass(frozen=True)
class LiveBlock:
    """A block while it is allocated: ``num_bytes`` of the block (not of the request)."""

    __slots__ = ("address", "num_bytes", "kind", "where")
    address: int
    num_bytes: int
    kind: str
    where: str


@dataclass(frozen=True)
class BlockGroup:
    """Blocks of one kind made at the same place in the user's code: "train.py:41 loss"."""

    kind: str
    where: str
    num_bytes: int
    count: int


@dataclass(frozen=True)
class SnapshotTimeline:
    """The meters after each event; moment 0 is before the first, so that lists have one entry more than events.

    ``changes`` are (live blocks added, taken away) a moment, ``initial`` the blocks that were there before.
    ``unmatched_bytes`` are live after the last event by the trace, and not in the segments.
    """

    snapshot: Snapshot
    initial: tuple
    changes: tuple
    allocated: tuple
    reserved: tuple
    unmatched_bytes: int

    @property
    def peak(self):
        """The first moment with most allocated bytes."""
        return max(range(len(self.allocated)), key=self.allocated.__getitem__)

    @property
    def peak_bytes(self):
        """Allocated bytes then."""
        return self.allocated[self.peak]

    @property
    def peak_reserved_bytes(self):
        """The most that was reserved; None where the allocator has no segments."""
        return max(self.reserved) if self.snapshot.has_segments else None

    def live_at(self, moment):
        """The blocks allocated after ``moment``, oldest first."""
        live = {block.address: block for block in self.initial}
        for added, gone in self.changes[:moment + 1]:
            for block in gone:
                del live[block.address]
            live.update((block.address, block) for block in added)
        return tuple(live.values())

    def groups_at(self, moment):
        """``BlockGroup`` of the blocks live after ``moment``, the largest first."""
        totals = {}
        for block in self.live_at(moment):
            size, count = totals.get((block.kind, block.where), (0, 0))
            totals[block.kind, block.where] = size + block.num_bytes, count + 1
        groups = [BlockGroup(*key, *total) for key, total in totals.items()]
        return tuple(sorted(groups, key=lambda each: -each.num_bytes))

    def curve(self, points=POINTS):
        """Plain lists for a picture: ``at`` (moments), ``live`` {kind: bytes}, ``reserved`` (None without segments).

        Of each of ``points`` stretches the extremes and the last moment stay, so that no peak is lost.
        """
        kept = _kept(self.allocated, self.reserved, points)
        live, rows, wanted = dict.fromkeys(KINDS, 0), {kind: [] for kind in KINDS}, set(kept)
        for block in self.initial:
            live[block.kind] += block.num_bytes
        for moment, (added, gone) in enumerate(self.changes):
            for block in gone:
                live[block.kind] -= block.num_bytes
            for block in added:
                live[block.kind] += block.num_bytes
            if moment in wanted:
                for kind in KINDS:
                    rows[kind].append(live[kind])
        return {"at": kept, "live": {kind: rows[kind] for kind in KINDS if any(rows[kind])},
                "reserved": [self.reserved[at] for at in kept] if self.snapshot.has_segments else None}


def snapshot_timeline(snapshot):
    """The ``SnapshotTimeline`` of a ``Snapshot``."""
    at_end = {block.address: block for block in snapshot.blocks}
    last_made, unknown_frees = _first_pass(snapshot.events)
    initial = _initial(snapshot, last_made, unknown_frees)
    live = {block.address: block for block in initial}
    allocated, reserved = sum(block.num_bytes for block in initial), _reserved_before(snapshot)
    changes, totals, segments = [((), ())], [allocated], [reserved]
    for at, event in enumerate(snapshot.events):
        added, gone = (), ()
        if event.action == "alloc":
            gone = tuple(filter(None, (live.pop(event.address, None),)))  # its release was not recorded
            stays = at_end.get(event.address) if last_made.get(event.address) == at else None
            size = stays.num_bytes if stays else _block_bytes(snapshot, event.num_bytes)
            live[event.address] = LiveBlock(event.address, size, event.phase, event.where)
            added = (live[event.address],)
        elif event.action in FREES and event.address in live:
            gone = (live.pop(event.address),)
        reserved += SEGMENTS.get(event.action, 0) * event.num_bytes
        allocated += sum(block.num_bytes for block in added) - sum(block.num_bytes for block in gone)
        changes.append((added, gone))
        totals.append(allocated)
        segments.append(reserved)
    unmatched = sum(live[address].num_bytes for address in live.keys() - at_end.keys()) if at_end else 0
    return SnapshotTimeline(snapshot, initial, tuple(changes), tuple(totals), tuple(segments), unmatched)


def _first_pass(events):
    """(number of the last allocation of each address that is not released after it, first releases of unknown blocks)."""
    made, unknown = {}, {}
    for at, event in enumerate(events):
        if event.action == "alloc":
            made[event.address] = at
        elif event.action in FREES and made.pop(event.address, None) is None and event.action != "free_completed":
            unknown.setdefault(event.address, event)  # a free_completed alone ends a wait for another stream
    return made, unknown


def _initial(snapshot, last_made, unknown_frees):
    """Blocks from before the first event: released later, there at the end and never made, or known to the export."""
    tags = {block.address: block.category for block in snapshot.held}
    found = {}
    for address, event in unknown_frees.items():
        found[address] = LiveBlock(address, _block_bytes(snapshot, event.num_bytes), tags.get(address, "before"), "")
    for block in (*snapshot.blocks, *(() if snapshot.has_segments else snapshot.held)):
        if block.address not in found and block.address not in last_made:
            found[block.address] = LiveBlock(block.address, block.num_bytes, tags.get(block.address, "before"), block.where)
    rest = (snapshot.start_bytes or 0) - sum(block.num_bytes for block in found.values())
    if rest > 0 and not snapshot.blocks:
        found[-1] = LiveBlock(-1, rest, "before", "")
    return tuple(found.values())


def _block_bytes(snapshot, requested):
    return block_bytes(requested) if snapshot.has_segments else requested  # a CPU's allocator has no such blocks


def _reserved_before(snapshot):
    grown = sum(SEGMENTS.get(event.action, 0) * event.num_bytes for event in snapshot.events)
    return max(snapshot.reserved_bytes - grown, 0)


def _kept(allocated, reserved, points):
    """Moments to draw, in order."""
    count = len(allocated)
    if count <= 3 * points:
        return list(range(count))
    kept = {0, count - 1}
    for column in range(points):
        stretch = range(column * count // points, (column + 1) * count // points)
        kept |= {max(stretch, key=allocated.__getitem__), min(stretch, key=allocated.__getitem__),
                 max(stretch, key=reserved.__getitem__), stretch[-1]}
    return sorted(kept)
