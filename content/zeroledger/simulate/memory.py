"""The end of a simulated device's memory, told as PyTorch tells it: the request, the instant, every meter, what was live."""

from ..units import format_bytes


class OutOfMemory(Exception):
    """A request that did not fit; ``report`` is plain data. Caught by ``simulate``, which returns the run until then."""

    def __init__(self, report):
        self.report = report
        super().__init__(out_of_memory_text(report))


def out_of_memory_text(report):
    """An out-of-memory report as a paragraph."""
    size = {name: format_bytes(value) for name, value in report.items() if name.endswith("_bytes")}
    unused = format_bytes(report["reserved_bytes"] - report["allocated_bytes"])
    live = ", ".join(f"{category} {format_bytes(total)}" for category, total in report["live"].items())
    return (f"Out of memory on rank {report['rank']}, step {report['step']}, {report['instant']}: tried to allocate "
            f"{size['request_bytes']} for {report['category']} of {report['tensor']}. The device has {size['device_bytes']}; "
            f"{size['reserved_bytes']} are reserved, {size['allocated_bytes']} of them allocated in blocks for "
            f"{size['live_bytes']} of live tensors, {unused} unused in no block that fits. Live: {live or 'nothing'}.")
