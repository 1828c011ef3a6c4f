"""Budgets, levers and plans as plain text for people."""

from .errors import UnitError, check_choice, check_count
from .tables import text_table
from .units import BYTE_UNITS, format_bytes, format_count


def shown_bytes(num_bytes, unit, digits=2):
    """``num_bytes`` in ``unit`` with a sign where it is negative."""
    digits = 0 if unit == "B" else digits
    return ("-" if num_bytes < 0 else "") + format_bytes(abs(num_bytes), unit, digits)


def title_of(training):
    """One line that names the configuration."""
    mesh = training.mesh
    degrees = " × ".join(f"{name} {getattr(mesh, name)}" for name in ("dp", "tp", "pp", "cp", "ep")
                         if getattr(mesh, name) > 1 or name == "dp")
    return (f"{format_count(training.model.num_params)} parameters, {degrees}, ZeRO stage {training.stage}, engine "
            f"{training.engine}, recipe {training.recipe.name}, {training.micro_batch_size} × {training.seq_length:,} tokens, "
            f"recompute {training.recompute}")


def budget_table(budget, unit="GB", card=None):
    """A ``Budget``: the peak account by account, the instants, the meters, the range, and the fit."""
    check_choice("unit", unit, BYTE_UNITS, UnitError)
    peak = [(row.account, row.what, shown_bytes(row.num_bytes, unit, 3)) for row in budget.peak.rows if row.num_bytes]
    peak.append(("live at the peak", budget.peak.name, shown_bytes(budget.peak_bytes, unit, 3)))
    parts = [title_of(budget.training), f"Fullest rank: pipeline stage {budget.pp_rank}", "",
             text_table(("account", "what", "bytes"), peak, right=(2,)), "", _instants(budget, unit), "",
             _meters(budget, unit), "", _range(budget, unit)]
    if budget.offload:
        parts.append(_tiers(budget.offload, unit))
    if card is not None:
        parts.append(fit_line(budget.fits(card), unit))
    return "\n".join(parts)


def _instants(budget, unit):
    """The largest instant of each phase."""
    best = {}
    for instant in budget.instants:
        if instant.phase not in best or instant.num_bytes > best[instant.phase].num_bytes:
            best[instant.phase] = instant
    rows = [("all the time", "persistent lower bound", shown_bytes(budget.staying_bytes, unit, 3))]
    rows += [(phase, instant.name, shown_bytes(instant.num_bytes, unit, 3)) for phase, instant in best.items()]
    return text_table(("phase", "largest instant", "live"), rows, right=(2,))


def _meters(budget, unit):
    readings = budget.meters()
    rows = [(name, shown_bytes(size, unit, 3)) for name, size in (
        ("live", readings.live_bytes), ("reserved", readings.reserved_bytes), ("device", readings.device_bytes))]
    note = "" if budget.training.fragmentation or budget.training.context_bytes else (
        "\nFragmentation and CUDA context are 0 until you give them.")
    return text_table(("meter", "at the peak"), rows, right=(1,)) + note


def _range(budget, unit):
    low, high = (shown_bytes(size, unit, 2) for size in (budget.low_bytes, budget.high_bytes))
    return f"Peak between {low} and {high}: {budget.basis['text']}."


def _tiers(plan, unit):
    return (f"Off the device: {shown_bytes(plan.bytes_per_rank('cpu'), unit)} of host memory and "
            f"{shown_bytes(plan.bytes_per_rank('nvme'), unit)} of NVMe a rank; "
            f"{shown_bytes(plan.bytes_per_node('cpu'), unit)} and {shown_bytes(plan.bytes_per_node('nvme'), unit)} a node.")


def fit_line(fit, unit="GB"):
    """A ``Fit`` in one line."""
    capacity = shown_bytes(fit.capacity_bytes, unit)
    if fit.verdict == "does not fit":
        return f"Does not fit {capacity}: {shown_bytes(-fit.margin_bytes, unit)} too many."
    if fit.verdict == "fits":
        return f"Fits {capacity}: {shown_bytes(fit.margin_bytes, unit)} left, {shown_bytes(fit.worst_margin_bytes, unit)} at worst."
    return (f"Too close to call on {capacity}: between {shown_bytes(fit.worst_margin_bytes, unit)} and "
            f"{shown_bytes(fit.best_margin_bytes, unit)} left.")


def levers_table(levers, account, unit="GB"):
    """``Lever``s as text, with their prices."""
    from .lever_search import cost_words

    if not levers:
        return f"Nothing we know shrinks the largest account, {account}."
    rows = [(lever.key, lever.words, shown_bytes(lever.saved_bytes, unit), cost_words(lever)) for lever in levers]
    table = text_table(("lever", "change", "saved at the peak", "costs"), rows, right=(2,))
    return f"What shrinks the largest account, {account}:\n{table}"


def plans_table(plans, unit="GB", limit=20):
    """``Plans`` as text: the best ones, the counts, and why the fastest that does not fit fails."""
    check_choice("unit", unit, BYTE_UNITS, UnitError)
    limit = check_count("limit", limit, 0)
    header = ("step s", "stage", "dp", "tp", "pp", "micro", "accum.", "recompute", "seq. par.", "offload", "peak")
    rows = [(f"{each.step_s:.3f}", each.stage, each.dp, each.tp, each.pp, each.micro_batch_size,
             each.gradient_accumulation_steps, each.recompute, "yes" if each.sequence_parallel else "no", each.offload,
             shown_bytes(each.peak_bytes, unit)) for each in plans.fitting[:limit]]
    lines = [f"{plans.considered:,} configurations: {len(plans.fitting):,} fit, {plans.close:,} too close to call, "
             f"{plans.over:,} do not fit, {plans.host_over:,} need more host memory, "
             f"{sum(plans.invalid.values()):,} cannot be run", "",
             text_table(header, rows, right=(0, 1, 2, 3, 4, 5, 6, 10)) if rows else "None fits."]
    lines += [f"Cannot be run, {count:,}: {reason}" for reason, count in plans.invalid.items()]
    reason = plans.failure_reason
    if reason:
        failed = plans.failure
        lines.append(f"The fastest that does not fit (stage {failed.stage}, dp {failed.dp}, tp {failed.tp}, pp {failed.pp}, "
                     f"micro-batch {failed.micro_batch_size}, recompute {failed.recompute}) is at least "
                     f"{shown_bytes(reason['bytes_over'], unit)} over; its largest account is {reason['account']}, "
                     f"{shown_bytes(reason['account_bytes'], unit)}, at {reason['instant']}.")
    return "\n".join(lines)
