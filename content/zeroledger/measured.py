"""The measured-run JSON: what a real run held at named instants, rank by rank, with its configuration and versions.

Format "zeroledger-run", version 1::

    {"format": "zeroledger-run", "version": 1, "source": "who measured, how",
     "date": "2026-11-29", "device": "NVIDIA H100 80GB HBM3", "versions": {"torch": "2.13.0"},
     "meters": {"allocated_bytes": "torch.cuda.memory_allocated", "device_bytes": "not read: no GPU"},
     "config": {"model": "llama-2-7b", "dp": 8, "stage": 3, "engine": "fsdp2", "seq_length": 2048, …},
     "ranks": [{"rank": 0, "pp_rank": 0, "instants": [
        {"name": "peak", "allocated_bytes": 1, "reserved_bytes": 2, "device_bytes": 3, "by_category": {"params": 1}}]}]}

A meter that was not read is null or absent; one is needed. ``config`` is read by ``training_from_dict``. ``date``,
``device`` and ``meters`` (how each meter was read, or why not) are optional texts. ``content/measure`` writes this.
"""

from dataclasses import dataclass, field

from .config_reader import ConfigReader
from .errors import ConfigError
from .json_input import read_object
from .training import Training
from .training_inputs import training_from_dict

FORMAT, VERSION = "zeroledger-run", 1
MOST_RANKS, MOST_INSTANTS = 4096, 1000
# Name → what is read then. "peak…" are maxima over the phase (torch.cuda.max_memory_allocated), the others moments.
INSTANT_NAMES = {
    "after_init": "model and optimizer made, before the first step",
    "end_of_forward": "the loss is there, backward has not started",
    "end_of_backward": "after the last backward of a step, before the optimizer's",
    "after_step": "after the optimizer's step and zero_grad(set_to_none=True)",
    "peak_forward": "most during forward", "peak_backward": "most during backward", "peak_step": "most during the step",
    "peak": "most during one whole step, not the first",
}
METERS = ("allocated_bytes", "reserved_bytes", "device_bytes")
# What a measuring tool can tell apart, and the accounts it comprises.
CATEGORIES = {
    "params": ("sharded_params", "unsharded_params"), "grads": ("sharded_grads", "unsharded_grads"),
    "optimizer": ("master_params", "optimizer_states"), "buffers": ("all_gather", "reduce_scatter"),
    "activations": ("activations", "logits", "inputs"), "temporary": ("temporary",),
}
OTHER = "other"  # whatever belongs to none of them


def by_category(instant):
    """Bytes of an ``Instant`` in each of ``CATEGORIES`` and in ``OTHER``, a dict."""
    accounts = instant.by_account()
    sizes = {category: sum(accounts.pop(part) for part in parts) for category, parts in CATEGORIES.items()}
    return {**sizes, OTHER: sum(accounts.values())}


@dataclass(frozen=True)
class MeasuredInstant:
    """One reading in bytes; meters that were not read are None. ``by_category`` maps ``CATEGORIES`` to bytes."""

    name: str
    allocated_bytes: int | None
    reserved_bytes: int | None
    device_bytes: int | None
    by_category: dict

    @property
    def meter(self):
        """The meter nearest to live tensors that was read: "allocated", "reserved" or "device"."""
        return next(name for name in METERS if getattr(self, name) is not None).removesuffix("_bytes")

    @property
    def num_bytes(self):
        """Its reading."""
        return getattr(self, f"{self.meter}_bytes")


@dataclass(frozen=True)
class MeasuredRank:
    """The readings of one rank, which is in pipeline stage ``pp_rank``."""

    rank: int
    pp_rank: int
    instants: tuple


@dataclass(frozen=True)
class MeasuredRun:
    """A run as measured: ``training`` is its configuration. ``meters`` maps each meter to how it was read, in words."""

    training: Training
    ranks: tuple
    versions: dict
    source: str
    date: str = ""
    device: str = ""
    meters: dict = field(default_factory=dict)


def measured_run(given):
    """The ``MeasuredRun`` of a dict or JSON text in this module's format.

    Raises ``ConfigError`` naming the dotted field, its value and what is accepted; unknown fields are refused.
    """
    top = ConfigReader(read_object(given, "measured run"))
    top.choice("format", (FORMAT,)) or _missing("format", FORMAT)
    version = top.count("version", None)
    if version != VERSION:
        raise ConfigError("version", version, f"{VERSION}")
    source, date, device = (top.text(name, "") for name in ("source", "date", "device"))
    training = training_from_dict(top.section("config").values)
    ranks = tuple(_rank(*each, training) for each in _objects(top, "ranks", MOST_RANKS))
    seen = [each.rank for each in ranks]
    if len(set(seen)) < len(seen):
        raise ConfigError("ranks", seen, "each rank once")
    versions, meters = _texts(top.section("versions")), top.section("meters")
    how = {meter: meters.text(meter, "") for meter in METERS}
    _refuse_unknown(meters)
    _refuse_unknown(top)
    return MeasuredRun(training, ranks, versions, source, date, device, {meter: words for meter, words in how.items() if words})


def _texts(section):
    return {str(name): section.text(name, "") for name in section.values}


def _missing(name, accepted):
    raise ConfigError(name, None, accepted)


def _objects(reader, name, most):
    """(reader, path) of each object in the list under ``name``."""
    listed = reader.values.get(name)
    reader.asked.add(name)
    if not isinstance(listed, list) or not listed or len(listed) > most:
        raise ConfigError(reader.prefix + name, listed, f"a list of 1 to {most:,} objects")
    for at, each in enumerate(listed):
        path = f"{reader.prefix}{name}[{at}]"
        if not isinstance(each, dict):
            raise ConfigError(path, each, "an object {…}")
        yield ConfigReader(each, path + "."), path


def _rank(reader, path, training):
    number = reader.count("rank", 0, 0, training.mesh.world_size - 1)
    pp_rank = reader.count("pp_rank", 0, 0, training.mesh.pp - 1)
    instants = tuple(_instant(*each) for each in _objects(reader, "instants", MOST_INSTANTS))
    _refuse_unknown(reader)
    return MeasuredRank(number, pp_rank, instants)


def _instant(reader, path):
    name = reader.choice("name", tuple(INSTANT_NAMES)) or _missing(f"{path}.name", "one of " + ", ".join(INSTANT_NAMES))
    readings = {meter: reader.count(meter, None, 0, 10**18) for meter in METERS}
    known = [size for size in readings.values() if size is not None]
    if not known:
        raise ConfigError(path, None, "at least one of " + ", ".join(METERS))
    if known != sorted(known):
        raise ConfigError(path, known, "allocated_bytes ≤ reserved_bytes ≤ device_bytes")
    section = reader.section("by_category")
    categories = {each: section.count(each, None, 0, 10**18) for each in CATEGORIES}
    _refuse_unknown(section)
    _refuse_unknown(reader)
    return MeasuredInstant(name, **readings, by_category={each: size for each, size in categories.items() if size is not None})


def _refuse_unknown(reader):
    unknown = reader.left_over(())[1]
    if unknown:
        raise ConfigError(unknown[0], reader.values[unknown[0].removeprefix(reader.prefix)],
                          "no such field (known: " + ", ".join(sorted(reader.asked)) + ")")
    if reader.unknown:
        raise ConfigError(reader.unknown[0], "auto", "a value that was measured")
