"""A bar for each amount of memory: drawn in a notebook or a live cell, text everywhere else."""

from dataclasses import dataclass

from .errors import InvalidInput, check_count
from .ledger import Ledger
from .units import format_bytes

ROW_HEIGHT, NAME_WIDTH, BAR_WIDTH, VALUE_WIDTH, TEXT_COLUMNS = 26, 130, 230, 80, 40
MOST_BYTES = 10**30
BAR_COLOUR, INK = "#1673c4", "#1b1f24"


@dataclass(frozen=True)
class Bars:
    """Bytes by name; as the last value of a cell it is a chart (``_repr_svg_``), printed it is text."""

    amounts: tuple[tuple[str, int], ...]

    def __repr__(self):
        width = max((len(name) for name, _ in self.amounts), default=0)
        return "\n".join(f"{name:{width}}  {format_bytes(amount):>12}  {'#' * round(TEXT_COLUMNS * self._share(amount))}".rstrip()
                         for name, amount in self.amounts)

    def _repr_svg_(self):
        width, height = NAME_WIDTH + BAR_WIDTH + VALUE_WIDTH, ROW_HEIGHT * len(self.amounts) + 8
        spoken = "; ".join(f"{name} {format_bytes(amount)}" for name, amount in self.amounts)
        rows = "".join(self._row(number, name, amount) for number, (name, amount) in enumerate(self.amounts))
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
                f' font-family="sans-serif" font-size="14" fill="{INK}"><title>{_escaped(spoken)}</title>{rows}</svg>')

    def _row(self, number, name, amount):
        top, length = 4 + number * ROW_HEIGHT, BAR_WIDTH * self._share(amount)
        return (f'<text x="{NAME_WIDTH - 8}" y="{top + 17}" text-anchor="end">{_escaped(name)}</text>'
                f'<rect x="{NAME_WIDTH}" y="{top + 3}" width="{length:.1f}" height="{ROW_HEIGHT - 6}" fill="{BAR_COLOUR}"/>'
                f'<text x="{NAME_WIDTH + length + 6:.1f}" y="{top + 17}">{_escaped(format_bytes(amount))}</text>')

    def _share(self, amount):
        largest = max(amount for _, amount in self.amounts)
        return amount / largest if largest else 0.0


def bars(amounts):
    """``Bars`` of a ``Ledger`` (bytes per rank by category) or of a dict name → bytes.

    Raises InvalidInput for anything else, for an empty dict, and for bytes that are negative or not whole.
    """
    if isinstance(amounts, Ledger):
        amounts = {row.category: row.bytes_per_rank for row in amounts.rows}
    if not isinstance(amounts, dict) or not amounts:
        raise InvalidInput("amounts", amounts, "a Ledger, or a dict of names and bytes such as {'weights': 14e9}")
    checked = ((str(name), check_count(f"amounts[{name!r}]", amount, 0, MOST_BYTES)) for name, amount in amounts.items())
    return Bars(tuple(checked))


def _escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")
