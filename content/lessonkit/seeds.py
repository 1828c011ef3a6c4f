"""Draws by a seed, the same as the pages (content/web/src/page/seed.js); tests/data/seeds.json holds both to it."""

MASK = 2**32 - 1


def variant_for(seed: str, item_id: str, count: int) -> int:
    """The index of the variant, 0 … count − 1, that `seed` draws for the item: FNV-1a over both, then mixed."""
    mark = 0x811C9DC5
    for byte in f"{seed}\n{item_id}".encode():
        mark = (mark ^ byte) * 0x01000193 & MASK
    mark = (mark ^ mark >> 15) * 0x2C1B3C6D & MASK  # the low bits of FNV alone repeat
    return (mark ^ mark >> 13) % count
