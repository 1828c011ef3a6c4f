"""A snapshot as plain text for people: meters, a picture of bars, blocks at the peak, the prediction beneath."""

from .budget_tables import shown_bytes
from .errors import UnitError, check_choice
from .explanation_tables import explanation_table
from .snapshot_report import LISTED_GROUPS, explain_snapshot
from .tables import text_table
from .units import BYTE_UNITS

WORDS = {
    "params": "parameters", "grads": "gradients", "optimizer": "optimizer states", "buffers": "buffers",
    "before": "there before recording began", "step": "made in the optimizer step", "other": "made elsewhere",
    "no_stack": "without a stack", "forward": "made in forward", "backward": "made in backward",
}
BAR = 44  # characters
STRETCHES = 24  # lines of the picture


def snapshot_table(timeline, unit="GB"):
    """A ``SnapshotTimeline`` as text in ``unit``."""
    check_choice("unit", unit, BYTE_UNITS, UnitError)

    def show(size):
        return "-" if size is None else shown_bytes(size, unit, 3)

    snapshot, peak = timeline.snapshot, timeline.peak
    meters = [(name, timeline.allocated[at], timeline.reserved[at] if snapshot.has_segments else None) for name, at in (
        ("before the first event", 0), ("peak", peak), ("after the last event", -1))]
    groups = timeline.groups_at(peak)
    rows = [(WORDS[each.kind], each.where or "-", f"{each.count:,}", show(each.num_bytes)) for each in groups[:LISTED_GROUPS]]
    rest = groups[LISTED_GROUPS:]
    if rest:
        rows.append(("others", f"{len(rest):,} places", f"{sum(each.count for each in rest):,}", show(sum(each.num_bytes for each in rest))))
    parts = [f"Snapshot of {snapshot.device or 'a device without a name'}: {len(snapshot.events):,} events; the peak comes after number {peak:,}",
             text_table(("moment", "allocated", "reserved"), [(name, show(one), show(other)) for name, one, other in meters], right=(1, 2)),
             "", _bars(timeline, show), "", "Allocated at the peak, by kind and the user's own line:",
             text_table(("kind", "where", "blocks", "bytes"), rows, right=(2, 3))]
    if timeline.unmatched_bytes:
        parts.append(f"{show(timeline.unmatched_bytes)} were made by the trace and are not in the segments.")
    explanation = explain_snapshot(timeline)
    parts += ["", "The file has no config, so there is no prediction to set beneath." if explanation is None
              else "Prediction for its configuration:\n" + explanation_table(explanation, unit)]
    return "\n".join(parts)


def _bars(timeline, show):
    """A line a stretch of events: its highest allocated bytes as #, reserved beyond as a dot."""
    count, most = len(timeline.allocated), max(*timeline.reserved, timeline.peak_bytes, 1)
    lines, stretches = [], min(STRETCHES, count)
    for column in range(stretches):
        stretch = range(column * count // stretches, (column + 1) * count // stretches)
        highest = max(timeline.allocated[at] for at in stretch)
        reserved = max(timeline.reserved[at] for at in stretch)
        filled, upto = (-(-BAR * size // most) for size in (highest, max(highest, reserved)))
        lines.append((f"{stretch[0]:,}", "#" * filled + "." * (upto - filled), show(highest)))
    return text_table(("event", "allocated # and reserved .", "highest"), lines, right=(0, 2))
