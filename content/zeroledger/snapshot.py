"""PyTorch's memory snapshot as JSON: what the caching allocator held at the end, and the events that led there.

Read is what ``torch.cuda.memory._snapshot()`` returns, written by ``json.dump``: an object with ``segments`` and
``device_traces``. It may also come wrapped, which adds what the allocator cannot know::

    {"format": "zeroledger-snapshot", "version": 1, "source": "…", "versions": {"torch": "…"}, "config": {…},
     "categories": {"140245": "params"}, "stacks": [[["train.py", 12, "step"], …], …], "snapshot": {"segments": …}}

``config`` is that of a measured run; ``categories`` maps addresses live at the end to ``TAGS``; an event or block may
give ``stack``, an index into ``stacks``, in place of its own ``frames``. Sizes of events are the bytes asked for, as
PyTorch records them (c10/cuda/CUDACachingAllocator.cpp, torch 2.13). A pickle is refused: reading one can run code.
"""

from dataclasses import dataclass

from .config_reader import ConfigReader
from .errors import ConfigError
from .json_input import read_object

FORMAT, VERSION = "zeroledger-snapshot", 1
LARGEST_TEXT = 64_000_000
MOST_EVENTS = 1_000_000
TAGS = ("params", "grads", "optimizer", "buffers")
ALLOCATIONS = ("alloc", "free_requested", "free_completed")
SEGMENTS = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
WITHOUT_ADDRESS = ("oom",)
ALLOCATED = "active_allocated"  # a block's state; the others are waiting to be freed, or free
PICKLE_REASON = ("JSON. This is a pickle or an archive with one, and reading a pickle can run any code in it, so it is refused. "
                 "Where the run was made, export JSON: json.dump(torch.cuda.memory._snapshot(), open('snapshot.json', 'w'))")


class PickleRefused(ConfigError):
    """A file that would have to be unpickled."""


@dataclass(frozen=True)
class Event:
    """``action`` as PyTorch calls it, at ``address``, of ``num_bytes`` asked for; ``stack`` indexes ``Snapshot.stacks``."""

    __slots__ = ("action", "address", "num_bytes", "time_us", "stack")
    action: str
    address: int
    num_bytes: int
    time_us: int | None
    stack: int | None


@dataclass(frozen=True)
class Block:
    """A block that serves a tensor at the end: its own ``num_bytes``, and what was asked for."""

    address: int
    num_bytes: int
    requested_bytes: int
    stack: int | None


@dataclass(frozen=True)
class Snapshot:
    """One device's snapshot. ``blocks`` are those allocated at the end, ``reserved_bytes`` the segments then.

    ``stacks`` are tuples of (file, line, function), innermost first; ``categories`` maps addresses to ``TAGS``;
    ``config`` is that of a measured run, or None.
    """

    device: int
    events: tuple
    blocks: tuple
    reserved_bytes: int
    stacks: tuple
    categories: dict
    config: dict | None
    versions: dict
    source: str


def read_snapshot(given, device=None):
    """The ``Snapshot`` of a dict, or of JSON text or bytes; of ``device``, or of the first that has events or segments.

    Raises ``ConfigError`` that names field, value and what is accepted, ``PickleRefused`` for a pickle.
    """
    refuse_pickle(given)
    top = read_object(given, "snapshot", LARGEST_TEXT)
    wrapper, inner, path = _unwrapped(top)
    stacks = Stacks(wrapper.get("stacks"))
    traces, segments = (_list(inner, name, path) for name in ("device_traces", "segments"))
    chosen = _device(traces, segments, device, path)
    events = tuple(_events(traces, chosen, stacks, f"{path}device_traces"))
    blocks, reserved = _blocks(segments, chosen, stacks, f"{path}segments")
    if not events and not blocks:
        raise ConfigError(f"{path}device_traces", traces, "events of at least one device: record them with "
                          "torch.cuda.memory._record_memory_history() before the steps to be seen")
    reader = ConfigReader(wrapper)
    versions = reader.section("versions")
    return Snapshot(chosen, events, blocks, reserved, stacks.found(), _categories(wrapper), wrapper.get("config"),
                    {str(name): versions.text(name, "") for name in versions.values}, reader.text("source", ""))


def refuse_pickle(given):
    """Raises ``PickleRefused`` where ``given`` begins as a pickle or a zip archive does."""
    head = given[:8] if isinstance(given, (bytes, bytearray)) else given[:8].encode("utf-8", "replace") if isinstance(given, str) else b""
    if head[:1] == b"\x80" or head[:2] == b"PK" or head[:3] == b"(dp":
        raise PickleRefused("snapshot", bytes(head), PICKLE_REASON)


def is_snapshot(values):
    """Whether a dict is a snapshot rather than a measured run."""
    return values.get("format") == FORMAT or "device_traces" in values


def _unwrapped(top):
    """(what surrounds the snapshot, the snapshot, its path for errors)."""
    if top.get("format") != FORMAT:
        return {}, top, ""
    if top.get("version") != VERSION:
        raise ConfigError("version", top.get("version"), f"{VERSION}")
    if not isinstance(top.get("snapshot"), dict):
        raise ConfigError("snapshot", top.get("snapshot"), "an object with segments and device_traces")
    if top.get("config") is not None and not isinstance(top["config"], dict):
        raise ConfigError("config", top["config"], "an object {…}, as in a measured run")
    return top, top["snapshot"], "snapshot."


def _list(values, name, path):
    found = values.get(name, [] if name == "device_traces" else None)
    if not isinstance(found, list):
        raise ConfigError(path + name, found, "a list, as torch.cuda.memory._snapshot() gives")
    return found


def _device(traces, segments, device, path):
    used = {at for at, trace in enumerate(traces) if trace}
    used |= {each.get("device", 0) for each in segments if isinstance(each, dict)}
    if device is None:
        return min((each for each in used if isinstance(each, int)), default=0)
    if device not in used:
        raise ConfigError("device", device, "one of " + (", ".join(map(str, sorted(used))) or "none: the snapshot is empty"))
    return device


def _events(traces, device, stacks, path):
    trace = traces[device] if device < len(traces) else []
    if not isinstance(trace, list) or len(trace) > MOST_EVENTS:
        raise ConfigError(f"{path}[{device}]", trace, f"a list of at most {MOST_EVENTS:,} events")
    for at, event in enumerate(trace):
        where = f"{path}[{device}][{at}]"
        if not isinstance(event, dict):
            raise ConfigError(where, event, "an object {…}")
        action = event.get("action")
        if not isinstance(action, str):
            raise ConfigError(f"{where}.action", action, "alloc, free_requested, …")
        if action in ALLOCATIONS or action in SEGMENTS or action in WITHOUT_ADDRESS:
            address = 0 if action in WITHOUT_ADDRESS else _size(event, "addr", where)
            time_us = event.get("time_us")
            yield Event(action, address, _size(event, "size", where), time_us if isinstance(time_us, int) else None,
                        stacks.index(event, where))


def _blocks(segments, device, stacks, path):
    """(the allocated blocks of ``device``, bytes of its segments)."""
    found, reserved = [], 0
    for at, segment in enumerate(segments):
        where = f"{path}[{at}]"
        if not isinstance(segment, dict):
            raise ConfigError(where, segment, "an object {…}")
        if segment.get("device", 0) != device:
            continue
        reserved += _size(segment, "total_size", where)
        address = _size(segment, "address", where)
        for number, block in enumerate(_list(segment, "blocks", where + ".")):
            place = f"{where}.blocks[{number}]"
            if not isinstance(block, dict):
                raise ConfigError(place, block, "an object {…}")
            size = _size(block, "size", place)
            if block.get("state") == ALLOCATED:
                asked = _size(block, "requested_size", place) if "requested_size" in block else size
                found.append(Block(address, size, asked, stacks.index(block, place)))
            address += size  # blocks follow one another; older snapshots do not say their addresses
    return tuple(found), reserved


def _size(values, name, path):
    value = values.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**64:
        raise ConfigError(f"{path}.{name}", value, "a whole number from 0")
    return value


def _categories(wrapper):
    given = wrapper.get("categories") or {}
    if not isinstance(given, dict):
        raise ConfigError("categories", given, "an object of addresses and " + ", ".join(TAGS))
    for address, tag in given.items():
        if tag not in TAGS or not address.isdecimal():
            raise ConfigError(f"categories.{address}", tag, "an address with one of " + ", ".join(TAGS))
    return {int(address): tag for address, tag in given.items()}


class Stacks:
    """Stacks of frames, each kept once."""

    def __init__(self, listed):
        self._numbers = {}
        if listed is not None and not isinstance(listed, list):
            raise ConfigError("stacks", listed, "a list of stacks")
        self._given = [self._number(frames, f"stacks[{at}]") for at, frames in enumerate(listed or ())]

    def index(self, values, path):
        """The number of the stack of an event or a block; None where it has none."""
        at = values.get("stack")
        if at is None:
            return self._number(values["frames"], f"{path}.frames") if values.get("frames") else None
        if isinstance(at, bool) or not isinstance(at, int) or not 0 <= at < len(self._given):
            raise ConfigError(f"{path}.stack", at, f"a number below {len(self._given)}, the length of stacks")
        return self._given[at]

    def found(self):
        """All stacks, by number."""
        return tuple(self._numbers)

    def _number(self, frames, path):
        if not isinstance(frames, list):
            raise ConfigError(path, frames, "a list of frames")
        stack = tuple(_frame(frame, path) for frame in frames)
        return self._numbers.setdefault(stack, len(self._numbers))


def _frame(frame, path):
    if isinstance(frame, dict):
        frame = [frame.get("filename"), frame.get("line"), frame.get("name")]
    if not isinstance(frame, list) or len(frame) != 3 or not isinstance(frame[0], str) or not isinstance(frame[2], str):
        raise ConfigError(path, frame, 'frames {"filename", "line", "name"} or [filename, line, name]')
    return frame[0], frame[1] if isinstance(frame[1], int) else 0, frame[2]
