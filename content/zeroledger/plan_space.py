"""The space a planner searches: layouts of a number of cards, micro-batches of a global batch, offload choices."""

from functools import lru_cache

from .errors import check_count
from .offload import Placement

# What leaves the device, and to where.
OFFLOADS = {"none": Placement(), "optimizer": Placement("cpu"), "all": Placement("cpu", "cpu"),
            "nvme": Placement("nvme", "nvme")}


def layouts(num_gpus, gpus_per_node=8):
    """(dp, tp, pp) with dp × tp × pp = ``num_gpus`` and tp within a node that tensor groups share evenly."""
    node = min(check_count("gpus_per_node", gpus_per_node, 1, 10**6), num_gpus)
    for tp in divisors(num_gpus):
        if tp <= node and node % tp == 0:
            for pp in divisors(num_gpus // tp):
                yield num_gpus // tp // pp, tp, pp


def micro_batches(global_batch_size, dp, largest):
    """((micro-batch, accumulation steps), …) whose product with ``dp`` is the global batch; empty when dp does not divide."""
    if global_batch_size % dp:
        return ()
    per_rank = global_batch_size // dp
    return tuple((micro, per_rank // micro) for micro in divisors(per_rank) if micro <= largest)


@lru_cache(maxsize=4096)
def divisors(number):
    """All divisors of ``number``, ascending."""
    small = [each for each in range(1, int(number**0.5) + 1) if number % each == 0]
    return tuple(dict.fromkeys(small + [number // each for each in reversed(small)]))
