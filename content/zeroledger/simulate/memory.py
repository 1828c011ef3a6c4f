"""A rank's device memory: bytes asked for, bytes reserved by the caching allocator, and the capacity."""

from ..units import format_bytes


class OutOfMemory(Exception):
    """A request that did not fit; ``report`` is plain data."""

    def __init__(self, report):
        self.report = report
        super().__init__(out_of_memory_text(report))


def out_of_memory_text(report):
    """An out-of-memory report as a paragraph: instant, request, the three meters, and what was live."""
    live = ", ".join(f"{category} {format_bytes(size)}" for category, size in report["live"].items())
    reserved_free = report["reserved_bytes"] - report["allocated_bytes"]
    return (f"Out of memory on rank {report['rank']}, step {report['step']}, {report['instant']}: tried to allocate "
            f"{format_bytes(report['request_bytes'])} for {report['category']} of {report['tensor']}. Device "
            f"{format_bytes(report['device_bytes'])}, reserved {format_bytes(report['reserved_bytes'])}, allocated "
            f"{format_bytes(report['allocated_bytes'])} (reserved but unallocated {format_bytes(reserved_free)}). "
            f"Live: {live or 'nothing'}.")


class DevicePool:
    """Meters of one device. ``allocate`` returns a block, or None when nothing is left."""

    def __init__(self, device_bytes=None):
        self.device_bytes = device_bytes
        self.allocated_bytes = self.reserved_bytes = 0

    def allocate(self, num_bytes):
        if self.device_bytes is not None and self.allocated_bytes + num_bytes > self.device_bytes:
            return None
        self.allocated_bytes += num_bytes
        self.reserved_bytes = max(self.reserved_bytes, self.allocated_bytes)
        return (num_bytes,)

    def free(self, block):
        self.allocated_bytes -= block[0]
