"""A small model of PyTorch's caching allocator: best fit, splitting, merging, and no return to the device.

One stream, default settings (no expandable segments, no maximal split size). Feed it the allocations of a timeline and
read ``allocated_bytes`` and ``reserved_bytes`` after each; the gap is fragmentation that really follows from the order.
"""

from bisect import bisect_left, insort
from dataclasses import dataclass, field

from .allocator import BLOCK_BYTES, SMALL_LIMIT_BYTES, block_bytes, segment_bytes
from .errors import InvalidInput, check_count


class OutOfDeviceMemory(InvalidInput):
    """A simulated out-of-memory: says what was asked for, and the meters when it happened."""

    def __init__(self, allocator, request_bytes):
        self.request_bytes, self.allocated_bytes = request_bytes, allocator.allocated_bytes
        self.reserved_bytes, self.capacity_bytes = allocator.reserved_bytes, allocator.capacity_bytes
        accepted = (f"at most what {self.capacity_bytes:,} bytes leave: {self.allocated_bytes:,} are allocated, "
                    f"{self.reserved_bytes - self.allocated_bytes:,} reserved but unallocated")
        super().__init__("request_bytes", request_bytes, accepted)


@dataclass
class Block:
    """A piece of a segment: where it starts, how long it is, its neighbours in the segment, and whether it is free."""

    address: int
    num_bytes: int
    pool: str
    is_free: bool = False
    requested_bytes: int = 0
    before: "Block | None" = field(default=None, repr=False)
    after: "Block | None" = field(default=None, repr=False)


class CachingAllocator:
    """Allocates and frees by handle. ``capacity_bytes`` None: a device without end.

    Meters, in bytes: ``requested_bytes`` of live tensors, ``allocated_bytes`` of their blocks, ``reserved_bytes`` of
    segments, and ``peak_allocated_bytes``, ``peak_reserved_bytes``.
    """

    def __init__(self, capacity_bytes=None):
        self.capacity_bytes = None if capacity_bytes is None else check_count("capacity_bytes", capacity_bytes, 0)
        self.requested_bytes = self.allocated_bytes = self.reserved_bytes = 0
        self.peak_allocated_bytes = self.peak_reserved_bytes = 0
        self._free = {"small": [], "large": []}  # (bytes, address), sorted: best fit is the first that is large enough
        self._by_address = {}
        self._live = {}
        self._next_handle = self._next_address = 0

    def allocate(self, request_bytes):
        """A handle for ``request_bytes`` (0: a tensor without a block).

        Raises ``OutOfDeviceMemory``, or ``InvalidInput`` for a bad size.
        """
        size = block_bytes(request_bytes)
        self._next_handle += 1
        if size == 0:
            self._live[self._next_handle] = Block(-1, 0, "none")
            return self._next_handle
        pool = "small" if size <= SMALL_LIMIT_BYTES else "large"
        block = self._best_fit(pool, size) or self._new_segment(pool, size)
        self._split(block, size)
        block.is_free, block.requested_bytes = False, int(request_bytes)
        self.requested_bytes += block.requested_bytes
        self.allocated_bytes += block.num_bytes
        self.peak_allocated_bytes = max(self.peak_allocated_bytes, self.allocated_bytes)
        self._live[self._next_handle] = block
        return self._next_handle

    def free(self, handle):
        """Give the block of ``handle`` back to the cache; ``reserved_bytes`` does not fall. Raises ``InvalidInput``."""
        block = self._live.pop(handle, None)
        if block is None:
            raise InvalidInput("handle", handle, "a handle from allocate() that was not freed yet")
        if block.num_bytes == 0:
            return
        self.requested_bytes -= block.requested_bytes
        self.allocated_bytes -= block.num_bytes
        for neighbour in (block.before, block.after):
            if neighbour is not None and neighbour.is_free:
                block = self._merge(neighbour, block)
        self._put(block)

    def empty_cache(self):
        """Return every segment that holds no live block to the device; the bytes returned."""
        whole = [block for block in self._by_address.values()
                 if block.is_free and block.before is None and block.after is None]
        for block in whole:
            self._take(block)
            del self._by_address[block.address]
            self.reserved_bytes -= block.num_bytes
        return sum(block.num_bytes for block in whole)

    def blocks(self):
        """Every block of every segment, free or not, a tuple of ``Block``."""
        return tuple(self._by_address.values())

    @property
    def fragmented_bytes(self):
        """Reserved bytes that serve no tensor now."""
        return self.reserved_bytes - self.allocated_bytes

    def _best_fit(self, pool, size):
        place = bisect_left(self._free[pool], (size, -1))
        if place == len(self._free[pool]):
            return None
        block = self._by_address[self._free[pool][place][1]]
        self._take(block)
        return block

    def _new_segment(self, pool, size):
        length = segment_bytes(size)
        if self._is_too_much(length):
            self.empty_cache()  # PyTorch frees its cache and tries once more before it gives up
            if self._is_too_much(length):
                raise OutOfDeviceMemory(self, size)
        block = Block(self._next_address, length, pool)
        self._next_address += length
        self._by_address[block.address] = block
        self.reserved_bytes += length
        self.peak_reserved_bytes = max(self.peak_reserved_bytes, self.reserved_bytes)
        return block

    def _is_too_much(self, length):
        return self.capacity_bytes is not None and self.reserved_bytes + length > self.capacity_bytes

    def _split(self, block, size):
        """Cut the rest off when it is worth keeping: 512 bytes in the small pool, more than 1 MiB in the large one."""
        rest = block.num_bytes - size
        if rest < BLOCK_BYTES or (block.pool == "large" and rest <= SMALL_LIMIT_BYTES):
            return
        tail = Block(block.address + size, rest, block.pool, before=block, after=block.after)
        if block.after is not None:
            block.after.before = tail
        block.after, block.num_bytes = tail, size
        self._by_address[tail.address] = tail
        self._put(tail)

    def _merge(self, free_block, block):
        """One block of a free block and its neighbour, in the order of their addresses."""
        self._take(free_block)
        first, second = sorted((free_block, block), key=lambda each: each.address)
        first.num_bytes += second.num_bytes
        first.after = second.after
        if second.after is not None:
            second.after.before = first
        del self._by_address[second.address]
        return first

    def _put(self, block):
        block.is_free = True
        insort(self._free[block.pool], (block.num_bytes, block.address))

    def _take(self, block):
        block.is_free = False
        del self._free[block.pool][bisect_left(self._free[block.pool], (block.num_bytes, block.address))]
