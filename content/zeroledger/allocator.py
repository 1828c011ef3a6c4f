"""Live, reserved and device memory are three meters: the rules that lead from one to the next, all explicit.

*Live* (``memory_allocated``) is tensors, each rounded up to 512 bytes. *Reserved* (``memory_reserved``) is the segments
that the caching allocator took from the device and does not give back. *Device* (nvidia-smi) adds the CUDA context and
what other libraries hold. Source: constants of PyTorch's CUDACachingAllocator (c10/cuda, torch 2.13 and 2.14).
"""

from dataclasses import dataclass

from .errors import ceil_div, check_count, check_number
from .units import MIB

BLOCK_BYTES = 512  # every block is a multiple of this
SMALL_LIMIT_BYTES = 1 * MIB  # largest request served from the small pool
SMALL_SEGMENT_BYTES = 2 * MIB
LARGE_SEGMENT_BYTES = 20 * MIB  # segment for requests above the small limit and below ``OWN_SEGMENT_BYTES``
OWN_SEGMENT_BYTES = 10 * MIB  # requests from here on get a segment of their own size
SEGMENT_ROUNDING_BYTES = 2 * MIB
LARGEST_REQUEST_BYTES = 2**60

# nvidia-smi with nothing but a context: 1,343 MiB on a V100 (huggingface/transformers@249ef816
# model_memory_anatomy.md). Newer cards and lazy loading give 300 to 600 MiB: measure yours and pass it.
V100_CONTEXT_BYTES = 1343 * MIB


def block_bytes(request_bytes):
    """Bytes of the block that serves a request: the next multiple of 512; an empty tensor takes none.

    Raises ``InvalidInput``.
    """
    request = check_count("request_bytes", request_bytes, 0, LARGEST_REQUEST_BYTES)
    return ceil_div(request, BLOCK_BYTES) * BLOCK_BYTES


def segment_bytes(request_bytes):
    """Bytes taken from the device for a request that no cached block can serve.

    2 MiB up to 1 MiB; 20 MiB below 10 MiB; else the next multiple of 2 MiB; none for an empty tensor. Raises
    ``InvalidInput``.
    """
    size = block_bytes(request_bytes)
    if size == 0:
        return 0
    if size <= SMALL_LIMIT_BYTES:
        return SMALL_SEGMENT_BYTES
    if size < OWN_SEGMENT_BYTES:
        return LARGE_SEGMENT_BYTES
    return ceil_div(size, SEGMENT_ROUNDING_BYTES) * SEGMENT_ROUNDING_BYTES


def pinned_host_bytes(request_bytes):
    """Bytes of page-locked host memory that a request takes: the next power of two.

    PyTorch's pinned allocator rounds each block so: 8,292 MiB become 16,384 (pytorch issue 95823), 129.5 become 256
    (150517). 0 for an empty request. Raises ``InvalidInput``.
    """
    request = check_count("request_bytes", request_bytes, 0, LARGEST_REQUEST_BYTES)
    return 1 << (request - 1).bit_length() if request else 0


@dataclass(frozen=True)
class Meters:
    """The three readings of one moment, bytes: ``live`` ≤ ``reserved`` ≤ ``device``; ``rows`` say what lies between."""

    live_bytes: int
    reserved_bytes: int
    device_bytes: int
    rows: tuple

    def as_dict(self):
        """Plain data for JSON."""
        return {"live_bytes": self.live_bytes, "reserved_bytes": self.reserved_bytes,
                "device_bytes": self.device_bytes, "rows": [{"what": what, "bytes": size} for what, size in self.rows]}


def meters(live_bytes, rounding_bytes=0, fragmentation=0.0, context_bytes=0, other_bytes=0):
    """``Meters`` of a peak of ``live_bytes``, every step between the meters an explicit, adjustable row.

    ``rounding_bytes`` is what blocks add (``rounding_of`` gives it for a list of tensors). ``fragmentation`` is the
    share of live bytes that lies unused in segments: 0 by default because no rule gives it; observed runs reserve from
    1 % (ZeRO-2, 36.2 of 36.5 GB) to 60 % (FSDP, 43.9 of 70.1) more than is live (OpenTau issue 273). ``context_bytes``
    and ``other_bytes`` (NCCL, cuBLAS) are outside the allocator. Raises ``InvalidInput``.
    """
    live = check_count("live_bytes", live_bytes, 0)
    rounding = check_count("rounding_bytes", rounding_bytes, 0)
    share = check_number("fragmentation", fragmentation, 0.0, 100.0)
    context, other = check_count("context_bytes", context_bytes, 0), check_count("other_bytes", other_bytes, 0)
    numerator, denominator = float(share).as_integer_ratio()
    reserve = ceil_div(live * numerator, denominator)
    reserved = live + rounding + reserve
    rows = (("live tensors", live), ("block rounding", rounding), ("fragmentation reserve", reserve),
            ("CUDA context", context), ("other libraries", other))
    return Meters(live, reserved, reserved + context + other, rows)


def rounding_of(request_sizes):
    """Bytes that rounding to blocks adds over tensors of ``request_sizes`` bytes. Raises ``InvalidInput``."""
    return sum(block_bytes(size) - size for size in request_sizes)
