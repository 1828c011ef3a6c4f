"""PyTorch's memory snapshot as JSON: what the allocator held at the end, and the events that led there.

Two forms are read. One is what ``torch.cuda.memory._snapshot()`` returns, written by ``json.dump``: an object with
``segments`` and ``device_traces``. The other, smaller and with what the allocator cannot know, is written by the measure
kit (``content/measure``, described in tests/torch/README.md)::

    {"format": "zeroledger-snapshot", "version": 1, "source": "…", "versions": {"torch": "…"}, "config": {…},
     "start_bytes": 0, "held": [{"address": 1, "num_bytes": 4, "category": "params"}],
     "events": [{"action": "alloc", "address": 9, "num_bytes": 4, "where": "train.py:31 forward"}],
     "marks": [{"event": 812, "name": "end_of_forward"}], "segments": [{"address", "num_bytes", "blocks": […]}]}

``config`` is that of a measured run; ``held`` are tensors known when the record began. Sizes of events are bytes asked
for, as PyTorch records them (c10/cuda/CUDACachingAllocator.cpp, torch 2.13). A pickle is refused: reading one can run code.
"""

from dataclasses import dataclass

from .config_reader import ConfigReader
from .errors import ConfigError, shown
from .json_input import read_object
from .snapshot_stacks import PhaseOfMarks, Stacks

FORMAT, VERSION = "zeroledger-snapshot", 1
LARGEST_TEXT = 64_000_000
MOST_EVENTS = 1_000_000
TAGS = ("params", "grads", "optimizer", "buffers")
FREES = ("free", "free_requested", "free_completed")
SEGMENTS = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
KNOWN = ("alloc", *FREES, *SEGMENTS, "oom")
ALLOCATED = "active_allocated"  # a block's state; the others wait to be freed, or are free
PICKLE_REASON = ("JSON. This is a pickle or an archive with one, and reading a pickle can run any code in it, so it is refused. "
                 "Where the run was made, write JSON: Measure(…, snapshot='snapshot.json') of zeroledger_measure.py, or "
                 "json.dump(torch.cuda.memory._snapshot(), open('snapshot.json', 'w'))")
_FIELDS = {True: ("addr", "size", "total_size", "size", "requested_size"),  # PyTorch's names, and the kit's
           False: ("address", "num_bytes", "num_bytes", "num_bytes", "requested_bytes")}


class PickleRefused(ConfigError):
    """A file that would have to be unpickled."""


@dataclass(frozen=True)
class Event:
    """``action`` at ``address``, ``num_bytes`` asked for, ``where`` in the user's code, in which ``phase``."""

    __slots__ = ("action", "address", "num_bytes", "where", "phase")
    action: str
    address: int
    num_bytes: int
    where: str
    phase: str


@dataclass(frozen=True)
class Block:
    """Allocated at the end (or ``held`` at the start): its own ``num_bytes``, and a category of ``TAGS`` or None."""

    address: int
    num_bytes: int
    where: str = ""
    category: str | None = None


@dataclass(frozen=True)
class Snapshot:
    """One device's snapshot. ``blocks`` are those allocated at the end, ``reserved_bytes`` the segments then.

    ``has_segments`` False: the allocator has none (a CPU's), and blocks that outlive the record are known from ``held``
    alone. ``start_bytes`` is what was live before the first event where the file says it. ``config`` may be None.
    """

    device: str
    events: tuple
    blocks: tuple
    held: tuple
    start_bytes: int | None
    reserved_bytes: int
    has_segments: bool
    config: dict | None
    versions: dict
    source: str


def read_snapshot(given, device=None):
    """The ``Snapshot`` of a dict, or of JSON text or bytes; of ``device``, or of the first that has events or segments.

    Raises ``ConfigError`` that names field, value and what is accepted, ``PickleRefused`` for a pickle.
    """
    refuse_pickle(given)
    top = read_object(given, "snapshot", LARGEST_TEXT)
    snapshot = _of_kit(top) if top.get("format") == FORMAT else _of_torch(top, device)
    if not snapshot.events and not snapshot.blocks:
        raise ConfigError("events", [], "events of at least one device: record them with the kit's snapshot=…, or with "
                          "torch.cuda.memory._record_memory_history() before the steps to be seen")
    return snapshot


def refuse_pickle(given):
    """Raises ``PickleRefused`` where ``given`` begins as a pickle or a zip archive does."""
    head = given[:8].encode("utf-8", "replace") if isinstance(given, str) else given[:8] if isinstance(given, (bytes, bytearray)) else b""
    if head[:1] == b"\x80" or head[:2] == b"PK" or head[:3] == b"(dp":
        raise PickleRefused("snapshot", bytes(head), PICKLE_REASON)


def is_snapshot(values):
    """Whether a dict is a snapshot rather than a measured run."""
    return values.get("format") == FORMAT or "device_traces" in values


def _of_torch(top, device):
    stacks, segments, traces = Stacks(), _list(top, "segments", ""), _list(top, "device_traces", "", [])
    used = {at for at, trace in enumerate(traces) if trace} | {each.get("device", 0) for each in segments if isinstance(each, dict)}
    if device is not None and device not in used:
        raise ConfigError("device", device, "one of " + (", ".join(map(shown, used)) or "none: the snapshot is empty"))
    chosen = min((each for each in used if isinstance(each, int)), default=0) if device is None else device
    trace = _list({"trace": traces[chosen]} if chosen < len(traces) else {"trace": []}, "trace", f"device_traces[{chosen}].")
    events = tuple(_events(trace, f"device_traces[{chosen}]", True, stacks.of))
    own = [(at, each) for at, each in enumerate(segments) if not isinstance(each, dict) or each.get("device", 0) == chosen]
    blocks, reserved = _blocks(own, True, lambda values, path: stacks.of(values, path)[0])
    return Snapshot(f"device {chosen}", events, blocks, (), None, reserved, True, None, {}, "torch.cuda.memory._snapshot()")


def _of_kit(top):
    reader = ConfigReader(top)
    if top.get("version") != VERSION:
        raise ConfigError("version", top.get("version"), f"{VERSION}")
    config = top.get("config")
    if config is not None and not isinstance(config, dict):
        raise ConfigError("config", config, "an object {…}, as in a measured run")
    phases = PhaseOfMarks(_list(top, "marks", "", []))
    segments = list(enumerate(_list(top, "segments", "", [])))
    events = tuple(_events(_list(top, "events", ""), "events", False, lambda values, path: (_where(values, path), phases.next())))
    blocks, reserved = _blocks(segments, False, _where)
    versions = reader.section("versions")
    return Snapshot(reader.text("device", ""), events, blocks, tuple(_held(top)), reader.count("start_bytes", 0), reserved, bool(segments),
                    config, {str(name): versions.text(name, "") for name in versions.values}, reader.text("source", ""))


def _list(values, name, path, default=None):
    found = values.get(name, default)
    if not isinstance(found, list) or len(found) > MOST_EVENTS:
        raise ConfigError(path + name, found, f"a list of at most {MOST_EVENTS:,} entries")
    return found


def _events(trace, path, is_torch, place):
    """``place(event, path)`` gives (where, phase)."""
    address_name, size_name = _FIELDS[is_torch][:2]
    for at, event in enumerate(trace):
        here = f"{path}[{at}]"
        _check_object(event, here)
        action = event.get("action")
        if not isinstance(action, str):
            raise ConfigError(f"{here}.action", action, "one of " + ", ".join(KNOWN))
        where, phase = place(event, here)
        if action in KNOWN:
            address = 0 if action == "oom" else _size(event, address_name, here)
            yield Event(action, address, _size(event, size_name, here), where, phase)


def _blocks(segments, is_torch, where):
    """(the allocated blocks, bytes of all segments) of numbered ``segments``."""
    total, size_name = _FIELDS[is_torch][2:4]
    found, reserved = [], 0
    for at, segment in segments:
        here = f"segments[{at}]"
        _check_object(segment, here)
        reserved += _size(segment, total, here)
        address = _size(segment, "address", here)
        for number, block in enumerate(_list(segment, "blocks", here + ".")):
            place = f"{here}.blocks[{number}]"
            _check_object(block, place)
            size = _size(block, size_name, place)
            if block.get("state") == ALLOCATED:
                found.append(Block(address, size, where(block, place)))
            address += size  # blocks follow one another; not every snapshot says their addresses
    return tuple(found), reserved


def _held(top):
    for at, each in enumerate(_list(top, "held", "", [])):
        here = f"held[{at}]"
        _check_object(each, here)
        if each.get("category") not in TAGS:
            raise ConfigError(f"{here}.category", each.get("category"), "one of " + ", ".join(TAGS))
        yield Block(_size(each, "address", here), _size(each, "num_bytes", here), "", each["category"])


def _where(values, path):
    where = values.get("where", "")
    if not isinstance(where, str):
        raise ConfigError(f"{path}.where", where, 'a text such as "train.py:31 forward"')
    return where


def _check_object(value, path):
    if not isinstance(value, dict):
        raise ConfigError(path, value, "an object {…}")


def _size(values, name, path):
    value = values.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**64:
        raise ConfigError(f"{path}.{name}", value, "a whole number from 0")
    return value
