"""Memory of common accelerator cards.

A card sold as "80 GB" carries 80 GiB (the driver of an A100-80GB lists 81,920 MiB), so ``memory_bytes`` counts GiB. A
process gets less: error correction, driver and CUDA context take from a few hundred MiB to over 1 GiB.
"""

from dataclasses import dataclass

from .units import GIB


@dataclass(frozen=True)
class Card:
    """``name`` as sold, physical ``memory_bytes``, and cards of that size."""

    name: str
    memory_bytes: int
    examples: str


CARDS = (
    Card("16 GB", 16 * GIB, "V100-16GB, T4, RTX 4080"),
    Card("24 GB", 24 * GIB, "RTX 3090, RTX 4090, A10, L4"),
    Card("40 GB", 40 * GIB, "A100-40GB"),
    Card("80 GB", 80 * GIB, "A100-80GB, H100"),
)
