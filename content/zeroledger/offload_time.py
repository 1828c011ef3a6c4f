"""What offloading moves in a step, how long that takes at least, and the verdict: capacity against throughput."""

from dataclasses import dataclass

from .collectives import Interconnect, interconnect
from .errors import InvalidInput, check_count, check_number
from .offload import OffloadPlan

DIRECTIONS = ("device to host", "host to device", "host to NVMe", "NVMe to host", "CPU update")


@dataclass(frozen=True)
class Machine:
    """One node's links: ``pcie`` for one rank and direction, the others for the whole node; each says its source.

    ``cpu_update`` is the rate at which the optimizer on the CPU reads and writes its arrays; ``numa`` the memory
    bandwidth that all transfers to and from the device and NVMe share. Capacities in bytes, None where unknown.
    """

    pcie: Interconnect | str
    numa: Interconnect
    cpu_update: Interconnect
    nvme_read: Interconnect | None = None
    nvme_write: Interconnect | None = None
    host_bytes: int | None = None
    nvme_bytes: int | None = None

    def __post_init__(self):
        object.__setattr__(self, "pcie", interconnect(self.pcie))
        for field in ("numa", "cpu_update", "nvme_read", "nvme_write"):
            link = getattr(self, field)
            if not isinstance(link, Interconnect) and not (link is None and field.startswith("nvme")):
                raise InvalidInput(field, link, "an Interconnect")
        for field in ("host_bytes", "nvme_bytes"):
            if getattr(self, field) is not None:
                object.__setattr__(self, field, check_count(field, getattr(self, field)))


# An ordinary 8-GPU server of 2020: two sockets with eight DDR4-3200 channels each, four drives. Peaks, not readings: a
# CPU update that is not vectorised, or whose threads wander between sockets, is far slower (DeepSpeed#7474, #1635).
SERVER_2020 = Machine(
    "pcie4-x16",
    Interconnect("ddr4-3200 × 16", 409.6e9, "JEDEC DDR4-3200: 25.6 GB/s a channel × 16 channels"),
    Interconnect("cpu adam", 409.6e9, "no faster than memory: the update does 1–2 operations a byte"),
    Interconnect("4 NVMe read", 28e9, "PCIe 4.0 ×4: at most 7 GB/s a drive × 4, as data sheets print"),
    Interconnect("4 NVMe write", 20e9, "data sheets of PCIe 4.0 drives: about 5 GB/s × 4"),
    host_bytes=2**40, nvme_bytes=15 * 10**12,
)


@dataclass(frozen=True)
class Transfer:
    """Bytes that one rank moves in a step, summed over the step: ``what``, in which of ``DIRECTIONS``."""

    what: str
    direction: str
    num_bytes: int


def offload_transfers(plan, gradient_accumulation_steps=1):
    """The ``Transfer`` rows of an ``OffloadPlan`` for one optimizer step on one rank.

    Gradients go down after every micro-batch from stage 2 on (stage 1 reduces once). Updated parameters come back once;
    parameters that live off the device come up for every forward and backward pass. The CPU update reads and writes
    optimizer states, reads gradients and writes parameters.
    """
    if not isinstance(plan, OffloadPlan):
        raise InvalidInput("plan", plan, "an OffloadPlan")
    steps, place = check_count("gradient_accumulation_steps", gradient_accumulation_steps), plan.placement
    rows = _update_transfers(plan, steps) if place.optimizer != "device" else []
    params = plan.update_bytes["params"]
    if place.params == "device":
        return tuple(rows + [Transfer("updated params", "host to device", params)] * bool(rows))
    stored = sum(row.num_bytes for row in plan.rows if row.role == "params" and row.tier != "device" and not row.extra)
    rows.append(Transfer("params for each pass", "host to device", 2 * steps * stored))
    if place.optimizer == "device":
        rows.append(Transfer("updated params", "device to host", params))
    if place.params == "nvme":
        rows += [Transfer("params for each pass", "NVMe to host", 2 * steps * stored),
                 Transfer("updated params", "host to NVMe", params)]
    return tuple(rows)


def _update_transfers(plan, steps):
    """What an update on the CPU moves, but for the parameters that come back."""
    grads, params = plan.update_bytes["grads"], plan.update_bytes["params"]
    states = sum(row.num_bytes for row in plan.rows if row.role == "optimizer" and not row.extra)
    down = grads * (steps if plan.stage >= 2 else 1)
    rows = [Transfer("grads", "device to host", down),
            Transfer("states, grads and params", "CPU update", 2 * states + grads + params)]
    if plan.placement.optimizer == "nvme":
        rows += [Transfer("optimizer states", "NVMe to host", states), Transfer("optimizer states", "host to NVMe", states)]
    if plan.placement.grads == "nvme" and plan.stage >= 2:
        rows += [Transfer("grads", "host to NVMe", down), Transfer("grads", "NVMe to host", grads)]
    return rows


@dataclass(frozen=True)
class Verdict:
    """What offloading gains and costs, as data. Bytes are of one rank, or of a node where the name says so.

    ``step_s_at_least`` supposes that everything overlaps perfectly, so that the slowest resource alone counts;
    ``step_s_in_turn`` that the update with its NVMe traffic follows backward, and updated parameters follow the update,
    as they do without speculation. ``busy_s`` gives each resource its seconds, ``bottleneck`` names the largest.
    """

    capacity_gained_bytes: int
    device_bytes: int
    host_bytes_per_node: int
    nvme_bytes_per_node: int
    fits_host: bool | None
    fits_nvme: bool | None
    compute_s: float
    busy_s: dict
    bottleneck: str
    step_s_at_least: float
    step_s_in_turn: float

    @property
    def slowdown_at_least(self):
        """How many times longer a step takes at least than its computing alone."""
        return self.step_s_at_least / self.compute_s

    def steps_per_s_at_most(self):
        """Upper bound on optimizer steps a second."""
        return 1 / self.step_s_at_least

    def as_dict(self):
        """Plain data for JSON."""
        return {**vars(self), "busy_s": dict(self.busy_s), "slowdown_at_least": self.slowdown_at_least}


def offload_verdict(plan, machine, compute_s, gradient_accumulation_steps=1):
    """The ``Verdict`` on an ``OffloadPlan`` for a step that computes ``compute_s`` seconds on the device.

    Raises ``InvalidInput``, also when the plan uses NVMe and ``machine`` states no rate for it.
    """
    if not isinstance(machine, Machine):
        raise InvalidInput("machine", machine, "a Machine")
    if check_number("compute_s", compute_s) <= 0:
        raise InvalidInput("compute_s", compute_s, "a number of seconds above 0")
    moved = dict.fromkeys(DIRECTIONS, 0)
    for row in offload_transfers(plan, gradient_accumulation_steps):
        moved[row.direction] += row.num_bytes
    busy = _busy_s(moved, machine, plan.ranks_per_node, compute_s)
    bottleneck = max(busy, key=busy.get)
    up_after_update = plan.placement.params == "device"
    passes = max(compute_s, busy["PCIe down"], 0.0 if up_after_update else busy["PCIe up"])
    update = max(busy["CPU update"], busy["NVMe read"], busy["NVMe write"])
    in_turn = passes + update + (busy["PCIe up"] if up_after_update else 0.0)
    return Verdict(
        plan.capacity_gained_bytes, plan.bytes_per_rank("device"), plan.bytes_per_node("cpu"), plan.bytes_per_node("nvme"),
        _fits(plan.bytes_per_node("cpu"), machine.host_bytes), _fits(plan.bytes_per_node("nvme"), machine.nvme_bytes),
        compute_s, busy, bottleneck, busy[bottleneck], max(in_turn, busy[bottleneck]))


def _busy_s(moved, machine, ranks, compute_s):
    """Seconds each resource works in a step; PCIe runs both ways at once, host memory serves every transfer."""
    through_host = sum(num_bytes for direction, num_bytes in moved.items() if direction != "CPU update")
    busy = {"compute": compute_s,
            "PCIe down": moved["device to host"] / machine.pcie.bytes_per_s,
            "PCIe up": moved["host to device"] / machine.pcie.bytes_per_s,
            "CPU update": ranks * moved["CPU update"] / machine.cpu_update.bytes_per_s,
            "NUMA memory": ranks * through_host / machine.numa.bytes_per_s}
    for name, link, direction in (("NVMe read", machine.nvme_read, "NVMe to host"),
                                  ("NVMe write", machine.nvme_write, "host to NVMe")):
        if moved[direction] and link is None:
            raise InvalidInput(name.lower().replace(" ", "_"), None, "an Interconnect, because the plan uses NVMe")
        busy[name] = ranks * moved[direction] / link.bytes_per_s if moved[direction] else 0.0
    return busy


def _fits(num_bytes, capacity):
    return None if capacity is None else num_bytes <= capacity
