"""What a snapshot's events say: allocated and reserved bytes after each, the peak, and which blocks stood there.

PyTorch records neither categories nor phases. A block's kind is the tag that its export gave, else the phase in which
its stack says that it was made; blocks that were there before recording began are a kind of their own.
"""

from dataclasses import dataclass

from .allocator import block_bytes
from .snapshot import ALLOCATIONS, SEGMENTS, TAGS, Snapshot

# From the bottom of the picture to its top: what tends to stay, then what comes and goes.
KINDS = (*TAGS, "before", "step", "other", "no_stack", "forward", "backward")
POINTS = 1200  # columns of a picture, each with up to three moments


@dataclass(frozen=True)
class LiveBlock:
    """A block while it is allocated: ``num_bytes`` of the block (not of the request)."""

    __slots__ = ("address", "num_bytes", "kind", "stack")
    address: int
    num_bytes: int
    kind: str
    stack: int | None


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
    ``unmatched_bytes`` are live after the last event by the trace, not by the segments, or the other way round.
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
        """The most that was reserved."""
        return max(self.reserved)

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
            key = block.kind, own_frame(self.snapshot, block.stack)
            size, count = totals.get(key, (0, 0))
            totals[key] = size + block.num_bytes, count + 1
        groups = [BlockGroup(*key, *total) for key, total in totals.items()]
        return tuple(sorted(groups, key=lambda each: -each.num_bytes))

    def curve(self, points=POINTS):
        """Plain lists for a picture: ``at`` (moments), ``live`` {kind: bytes}, ``reserved``.

        Of each of ``points`` stretches the highest, the lowest and the last moment stay, so that no extreme is lost.
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
        used = [kind for kind in KINDS if any(rows[kind])]
        return {"at": kept, "live": {kind: rows[kind] for kind in used}, "reserved": [self.reserved[at] for at in kept]}


def snapshot_timeline(snapshot):
    """The ``SnapshotTimeline`` of a ``Snapshot``."""
    sizes = {block.address: block for block in snapshot.blocks}
    made_last, initial_frees = _first_pass(snapshot.events)
    initial = _initial(snapshot, sizes, made_last, initial_frees)
    live = {block.address: block for block in initial}
    allocated, reserved = sum(block.num_bytes for block in initial), _reserved_before(snapshot)
    changes, totals, segments = [((), ())], [allocated], [reserved]
    for at, event in enumerate(snapshot.events):
        added, gone = (), ()
        if event.action == "alloc":
            gone = tuple(filter(None, (live.pop(event.address, None),)))  # its release was not recorded
            at_end = sizes.get(event.address) if made_last.get(event.address) == at else None
            block = LiveBlock(event.address, at_end.num_bytes if at_end else block_bytes(event.num_bytes),
                              _kind(snapshot, event.stack, event.address if at_end else None), event.stack)
            live[event.address], added = block, (block,)
        elif event.action in ALLOCATIONS and event.address in live:
            gone = (live.pop(event.address),)
        reserved += SEGMENTS.get(event.action, 0) * event.num_bytes
        allocated += sum(block.num_bytes for block in added) - sum(block.num_bytes for block in gone)
        changes.append((added, gone))
        totals.append(allocated)
        segments.append(reserved)
    unmatched = sum(live[address].num_bytes for address in live.keys() - sizes.keys()) if sizes else 0
    return SnapshotTimeline(snapshot, initial, tuple(changes), tuple(totals), tuple(segments), unmatched)


def _first_pass(events):
    """(number of the last allocation of each address that is not released after it, releases of unknown blocks)."""
    made, pending, initial = {}, set(), {}
    for at, event in enumerate(events):
        if event.action == "alloc":
            made[event.address] = at
        elif event.action == "free_requested":
            pending.add(event.address)
            if made.pop(event.address, None) is None and event.address not in initial:
                initial[event.address] = event
        elif event.action == "free_completed":
            if event.address in pending:
                pending.discard(event.address)
            else:
                made.pop(event.address, None)
    return made, initial


def _initial(snapshot, at_end, made_last, initial_frees):
    """Blocks that were there before the first event: released later, or there at the end and never made."""
    found = [LiveBlock(event.address, block_bytes(event.num_bytes), "before", event.stack) for event in initial_frees.values()]
    seen = set(initial_frees) | set(made_last)
    for block in at_end.values():
        if block.address not in seen:
            found.append(LiveBlock(block.address, block.num_bytes, snapshot.categories.get(block.address, "before"), block.stack))
    return tuple(found)


def _reserved_before(snapshot):
    grown = sum(SEGMENTS.get(event.action, 0) * event.num_bytes for event in snapshot.events)
    return max(snapshot.reserved_bytes - grown, 0)


def _kind(snapshot, stack, address):
    tag = snapshot.categories.get(address)
    return tag or made_in(snapshot.stacks[stack] if stack is not None else ())


def made_in(stack):
    """The phase in which a stack of (file, line, function) allocates: step, backward, forward, other or no_stack."""
    if not stack:
        return "no_stack"
    files = [frame[0].replace("\\", "/") for frame in stack]
    names = {frame[2] for frame in stack}
    if any("torch/optim/" in file for file in files):
        return "step"
    if names & {"backward", "_engine_run_backward", "recompute_fn"} or any("autograd::" in name for name in names):
        return "backward"
    return "forward" if names & {"forward", "_call_impl"} else "other"


def own_frame(snapshot, stack):
    """"file:line function" of the innermost frame that is not a library's; of the innermost where all are; "" without."""
    frames = [frame for frame in (snapshot.stacks[stack] if stack is not None else ()) if frame[0] not in ("", "??")]
    if not frames:
        return ""
    own = next((frame for frame in frames if not _is_library(frame[0])), frames[0])
    return f"{own[0].replace(chr(92), '/').rsplit('/', 1)[-1]}:{own[1]} {own[2]}"


def _is_library(file):
    path = file.replace("\\", "/")
    return "site-packages/" in path or "dist-packages/" in path or "/torch/" in path or path.startswith("<") or path.endswith((".cpp", ".h"))


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
