"""A measured run beside its prediction as plain text for people."""

from .budget_tables import shown_bytes, title_of
from .errors import UnitError, check_choice
from .tables import text_table
from .units import BYTE_UNITS

MOST_CANDIDATES = 5


def explanation_table(explanation, unit="GB"):
    """An ``Explanation``: for every reading the accounts, the remainder, the meters and the candidates."""
    check_choice("unit", unit, BYTE_UNITS, UnitError)
    run = explanation.run
    versions = ", ".join(f"{name} {value}" for name, value in run.versions.items()) or "versions not said"
    parts = [title_of(run.training), f"{run.source or 'source not said'}; {versions}"]
    for each in explanation.instants:
        parts += ["", _instant(each, unit)]
    return "\n".join(parts)


def _instant(each, unit):
    def show(size):
        return "-" if size is None else shown_bytes(size, unit, 3)

    rows = [(name, *map(show, sizes)) for name, *sizes in each.rows]
    rows.append(("all", show(each.predicted_bytes), show(each.measured_bytes), show(each.difference_bytes)))
    lines = [f"rank {each.rank}, {each.name} (meter: {each.meter}; predicted instant: {each.predicted.name})",
             text_table(("account", "predicted", "measured", "difference"), rows, right=(1, 2, 3)),
             f"Left unexplained: {show(each.remainder_bytes)}. "
             + ("Within" if each.is_within_range else "Outside")
             + f" the prediction's range, {show(each.low_bytes)} to {show(each.high_bytes)}."]
    if each.reserve_bytes is not None:
        lines.append(f"Reserved but not allocated: {show(each.reserve_bytes)} (fragmentation and cache).")
    if each.outside_bytes is not None:
        lines.append(f"Outside the allocator: {show(each.outside_bytes)} (CUDA context, NCCL, libraries).")
    if each.candidates and not each.is_within_range:
        apart = any(row[2] is not None for row in each.rows)
        lines.append("Candidates, none of them proven" + ("; those that the rows contradict are left out:" if apart else ":"))
        lines += [f"  {show(candidate.num_bytes):>12}  {candidate.words}; would leave {show(candidate.remainder_bytes)}"
                  + (" - consistent" if candidate.is_consistent else "") for candidate in each.candidates[:MOST_CANDIDATES]]
    return "\n".join(lines)
