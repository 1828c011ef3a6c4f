"""A snapshot beside the prediction for its configuration, and any measured file as the plain data of a picture."""

from .budgets import stage_budget
from .errors import ConfigError
from .explanation import explain, predicted_instant
from .instants import Instant
from .json_input import read_object
from .measured import CATEGORIES, FORMAT as RUN_FORMAT, VERSION as RUN_VERSION
from .snapshot import FORMAT, LARGEST_TEXT, is_snapshot, read_snapshot, refuse_pickle
from .snapshot_curves import snapshot_timeline

LISTED_GROUPS = 14
MOST_READINGS = 56  # of a run of thousands of ranks: those of the fullest first


def explain_snapshot(timeline):
    """The ``Explanation`` of a ``SnapshotTimeline``'s peak, or None where its file has no configuration."""
    snapshot = timeline.snapshot
    if snapshot.config is None:
        return None
    reserved = timeline.peak_reserved_bytes
    peak = {"name": "peak", "allocated_bytes": timeline.peak_bytes,
            "reserved_bytes": None if reserved is None else max(reserved, timeline.peak_bytes), "by_category": _known(timeline)}
    return explain({"format": RUN_FORMAT, "version": RUN_VERSION, "source": snapshot.source, "versions": snapshot.versions,
                    "config": snapshot.config, "ranks": [{"rank": 0, "instants": [peak]}]})


def _known(timeline):
    """Bytes at the peak of what the export knew by name and what is not made anew in a step.

    Parameters are left out where some of them are gathered in a step: those are new blocks, without a name.
    """
    snapshot, live = timeline.snapshot, timeline.live_at(timeline.peak)
    is_gathered = snapshot.config.get("stage", 3) in (2, 3) and snapshot.config.get("dp", 1) != 1
    tags = {block.category for block in snapshot.held} & ({"optimizer"} if is_gathered else {"params", "optimizer"})
    return {tag: sum(block.num_bytes for block in live if block.kind == tag) for tag in sorted(tags)}


def snapshot_as_dict(timeline):
    """A ``SnapshotTimeline`` as plain data: meters, picture, blocks at the peak, prediction."""
    snapshot, peak = timeline.snapshot, timeline.peak
    groups = timeline.groups_at(peak)
    return {
        "kind": "snapshot", "device": snapshot.device, "source": snapshot.source, "versions": snapshot.versions,
        "num_events": len(snapshot.events), "initial_bytes": timeline.allocated[0], "unmatched_bytes": timeline.unmatched_bytes,
        "peak": {"moment": peak, "allocated_bytes": timeline.peak_bytes, "reserved_bytes": timeline.reserved[peak] if snapshot.has_segments else None},
        "peak_reserved_bytes": timeline.peak_reserved_bytes,
        "end": {"allocated_bytes": timeline.allocated[-1], "reserved_bytes": timeline.reserved[-1] if snapshot.has_segments else None},
        "out_of_memory": [{"moment": at, "asked_bytes": event.num_bytes}
                          for at, event in enumerate(snapshot.events, 1) if event.action == "oom"],
        "curve": timeline.curve(), "num_groups": len(groups),
        "groups": [{"kind": each.kind, "where": each.where, "bytes": each.num_bytes, "count": each.count}
                   for each in groups[:LISTED_GROUPS]],
        **_explained(explain_snapshot(timeline)),
    }


def report(given):
    """Plain data of a measured run or a snapshot (dict, JSON text or bytes): ``kind`` "run" or "snapshot", the readings
    explained, and ``predicted``, a curve over the instants of a step for each pipeline stage that was measured.

    Raises ``ConfigError``, ``PickleRefused`` for a pickle.
    """
    refuse_pickle(given)
    values = read_object(given, "file", LARGEST_TEXT)
    if is_snapshot(values):
        return snapshot_as_dict(snapshot_timeline(read_snapshot(values)))
    if values.get("format") != RUN_FORMAT:
        raise ConfigError("format", values.get("format"), f"{RUN_FORMAT} or {FORMAT}; or PyTorch's snapshot with device_traces")
    explanation = explain(values)
    run = explanation.run
    return {"kind": "run", "source": run.source, "date": run.date, "device": run.device, "versions": run.versions,
            "meters": run.meters, **_explained(explanation)}


def _explained(explanation):
    if explanation is None:
        return {"config": None, "explained": [], "predicted": {}}
    run = explanation.run
    stages = {str(rank.rank): rank.pp_rank for rank in run.ranks}
    fullest = {rank.rank: max(each.num_bytes for each in rank.instants) for rank in run.ranks}
    budgets = {stage: stage_budget(run.training, stage) for stage in sorted(set(stages.values()))}
    told = sorted(explanation.instants, key=lambda each: (-fullest[each.rank], each.rank)) if len(explanation.instants) > MOST_READINGS \
        else explanation.instants
    return {"config": run.training.as_dict(), "explained": [each.as_dict() for each in told[:MOST_READINGS]],
            "num_readings": len(told), "stage_of_rank": stages,
            "predicted": {str(stage): predicted_curve(each) for stage, each in budgets.items()}}


def predicted_curve(budget):
    """The named instants of a ``Budget`` as lists for a picture: ``names``, ``live`` {category: bytes}, ``peak``.

    The moment between two steps, without a name of its own in the budget, comes first as "between steps".
    """
    instants = (Instant("between steps", predicted_instant(budget, "after_step").rows), *budget.instants)
    accounts = [instant.by_account() for instant in instants]
    live = {category: [sum(each[part] for part in parts) for each in accounts] for category, parts in CATEGORIES.items()}
    sizes = [instant.num_bytes for instant in instants]
    return {"names": [instant.name for instant in instants], "phases": [instant.phase for instant in instants],
            "live": {category: column for category, column in live.items() if any(column)}, "peak": sizes.index(max(sizes))}
