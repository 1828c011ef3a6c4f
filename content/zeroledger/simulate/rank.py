"""One virtual rank: the numbers it holds, its memory meters, and the clocks of its lanes."""

from ..caching_allocator import CachingAllocator, OutOfDeviceMemory
from .memory import OutOfMemory


class Rank:
    """Numbers by tensor name, live buffers by (category, tensor), and the time each lane is free again, in seconds."""

    def __init__(self, index, log, device_bytes=None):
        self.index, self.log = index, log
        self.params, self.grads, self.optimizer = {}, {}, {}  # own pieces, or whole where the stage does not shard
        self.whole, self.unreduced = {}, {}  # gathered weights; whole gradients that wait for their reduction
        self.ids = self.targets = ()
        self.flow, self.inputs, self.kept = None, {}, {}  # what travels between layers, and what backward will need
        self.live, self.allocator = {}, CachingAllocator(device_bytes)
        self.now = self.wire_free = self.host_free = 0.0

    @property
    def num_tokens(self):
        """Tokens of the micro-batch in place."""
        return sum(map(len, self.targets))

    def allocate(self, category, tensor, numel, num_bytes, event="allocate", tier="device"):
        """Take memory for a buffer; raises ``OutOfMemory`` when the device has no room."""
        if tier == "device":
            self.live[category, tensor] = (numel, num_bytes, self._handle(category, tensor, numel, num_bytes))
        self._record(event, tensor, category, numel, num_bytes, tier)

    def free(self, category, tensor, event="free"):
        """Give a buffer's memory back to the allocator."""
        numel, num_bytes, handle = self.live.pop((category, tensor))
        self.allocator.free(handle)
        self._record(event, tensor, category, numel, -num_bytes, "device")

    def compute(self, event, layer, numel, seconds):
        """Occupy the compute lane."""
        start, self.now = self.now, self.now + seconds
        self._record(event, layer.name, "", numel, 0, "", "compute", start, self.now)

    def communicate(self, event, tensor, category, numel, num_bytes, start, end):
        """Occupy the communication lane; every rank of a collective is told the same times."""
        self.wire_free = end
        self._record(event, tensor, category, numel, num_bytes, "", "communication", start, end)

    def move(self, event, tensor, category, numel, num_bytes, seconds):
        """Occupy the host lane: a copy to or from the host, or work there; it waits for what was computed before."""
        start = max(self.now, self.host_free)
        self.host_free = start + seconds
        self._record(event, tensor, category, numel, num_bytes, "", "host", start, self.host_free)

    def live_by_category(self):
        """Bytes live on the device by category."""
        totals = {}
        for (category, _), (_, num_bytes, _) in self.live.items():
            totals[category] = totals.get(category, 0) + num_bytes
        return totals

    def _handle(self, category, tensor, numel, num_bytes):
        meters = self.allocator
        try:
            return meters.allocate(num_bytes)
        except OutOfDeviceMemory:
            self._record("out_of_memory", tensor, category, numel, num_bytes, "device")
            raise OutOfMemory({
                "rank": self.index, "step": self.log.step, "micro_batch": self.log.micro_batch,
                "instant": self.log.instant(), "tensor": tensor, "category": category, "request_bytes": num_bytes,
                "device_bytes": meters.capacity_bytes, "reserved_bytes": meters.reserved_bytes,
                "allocated_bytes": meters.allocated_bytes, "live_bytes": meters.requested_bytes,
                "live": self.live_by_category(), "line": self.log.events[-1].line}) from None

    def _record(self, event, tensor, category, numel, num_bytes, tier, lane="", start=None, end=None):
        at = self.now if start is None else start
        self.log.record(self.index, event, tensor, category, numel, num_bytes, tier, lane, at, at if end is None else end,
                        self.allocator.requested_bytes, self.allocator.reserved_bytes)
