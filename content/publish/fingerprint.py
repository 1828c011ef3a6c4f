"""A short mark of what a notebook says: its cells' ids, types and sources, not its outputs or metadata.

Each published lesson carries its own mark (`zero.published`). The lab compares it with the copy in a reader's browser
(content/web/src/lab/published.js computes the same; tests/data/fingerprints.json holds both to it).
"""

OFFSET, PRIME, MASK = 0xCBF29CE484222325, 0x100000001B3, 2**64 - 1  # FNV-1a, 64 bits: finds edits, is no proof against forgery


def fingerprint(notebook) -> str:
    """16 hexadecimal digits for the notebook (nbformat 4, cells with ids)."""
    mark = OFFSET
    for cell in notebook["cells"]:
        for part in (cell.get("id", ""), cell["cell_type"], cell["source"]):
            text = part if isinstance(part, str) else "".join(part)
            for byte in f"{text}\0".encode():
                mark = (mark ^ byte) * PRIME & MASK
    return f"{mark:016x}"


def mark_published(notebook):
    """Puts the notebook's own mark into its metadata; the notebook comes back."""
    notebook["metadata"]["zero"]["published"] = fingerprint(notebook)
    return notebook
