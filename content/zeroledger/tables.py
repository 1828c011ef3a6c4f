"""Plain text tables for people."""

from .units import BYTE_UNITS, format_bytes, format_count
from .errors import check_choice, UnitError


def text_table(header, rows, right=()):
    """``header`` and ``rows`` of texts as aligned lines; the columns numbered in ``right`` align right."""
    cells = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    lines = []
    for number, row in enumerate(cells):
        padded = (cell.rjust(width) if column in right else cell.ljust(width)
                  for column, (cell, width) in enumerate(zip(row, widths)))
        lines.append("  ".join(padded).rstrip())
        if number == 0:
            lines.append("  ".join("-" * width for width in widths))
    return "\n".join(lines)


def ledger_table(ledger, unit="GB"):
    """A ``Ledger`` as text: a line per row, the total, and what the total leaves out."""
    check_choice("unit", unit, BYTE_UNITS, UnitError)
    digits = 0 if unit == "B" else 3 if ledger.model_states_bytes_per_rank < BYTE_UNITS[unit] else 2
    rows = []
    for row in ledger.rows:
        stage = f"stage {row.sharded_from_stage}" if row.sharded_from_stage else "never"
        rows.append((row.category, row.dtype, f"{row.bytes_per_param:g}", stage, "yes" if row.sharded else "no",
                     format_bytes(row.bytes_per_rank, unit, digits)))
    total = format_bytes(ledger.model_states_bytes_per_rank, unit, digits)
    rows.append(("model states", "", "", "", "", total))
    title = (f"{format_count(ledger.num_params)} parameters, {ledger.dp_size} rank{'s' * (ledger.dp_size > 1)}, "
             f"ZeRO stage {ledger.stage}, recipe {ledger.recipe}")
    if ledger.layout:
        title += "\n" + ", ".join(f"{name} {value}" for name, value in ledger.layout.items())
    header = ("category", "dtype", "bytes/param", "sharded from", "sharded", "per rank")
    note = "Lower bound: without activations, gathers, buffers, allocator slack."
    return "\n".join((title, "", text_table(header, rows, right=(2, 5)), "", note))


def recipes_table(recipes):
    """Recipes as text: a line each, with bytes per parameter and whom it describes."""
    rows = [(each.name, "by group" if each.bytes_per_param is None else f"{each.bytes_per_param:g}", each.describes)
            for each in recipes]
    return text_table(("name", "bytes/param", "describes"), rows, right=(1,))


def recipe_table(recipe):
    """One ``Recipe`` as text: its rows, then source and whom it describes."""
    rows = [(row.category, row.dtype, f"{row.bytes_per_param:g}", f"+{row.block_bytes}/{row.block_numel}"
             if row.block_numel else "", f"stage {row.sharded_from_stage}" if row.sharded_from_stage else "never",
             row.group) for row in recipe.rows]
    header = ("category", "dtype", "bytes/param", "scales", "sharded from", "group")
    return "\n".join((recipe.name, "", text_table(header, rows, right=(2,)), "", recipe.describes,
                      f"Source: {recipe.source}"))


def tensors_table(title, model):
    """The tensors of a model as text. Layers (and experts) that repeat the one before are summed up in one line."""
    rows, shown_layers = [], {}
    for tensor in model.tensors():
        kind = None if tensor.layer is None else model.is_moe_layer(tensor.layer)
        if kind is not None and shown_layers.setdefault(kind, tensor.layer) != tensor.layer or (tensor.expert or 0) > 0:
            continue
        shape = " × ".join(map(str, tensor.shape))
        times = 1 if kind is None else sum(model.is_moe_layer(layer) == kind for layer in range(model.num_layers))
        times *= model.num_experts if tensor.expert is not None else 1
        rows.append((tensor.name, shape, f"{tensor.numel:,}", tensor.owner, f"{times:,}", f"{times * tensor.numel:,}"))
    rows.append(("all", "", "", "", "", f"{model.num_params:,}"))
    header = ("tensor", "shape", "elements", "owner", "times", "in all")
    return "\n".join((title, "", text_table(header, rows, right=(1, 2, 4, 5))))


def peers_table(answers, unit="GiB"):
    """``peers.Answer`` objects as text: who, how much per GPU in ``unit``, what is counted, what is wrong with it."""
    check_choice("unit", unit, BYTE_UNITS, UnitError)
    rows = [(each.who, "-" if each.num_bytes is None else format_bytes(int(each.num_bytes), unit, 2), each.counts, each.caveat)
            for each in answers]
    return text_table(("who", "per GPU", "counts", "but"), rows, right=(1,))


def reasons_text(comparison, unit="GiB"):
    """A ``peers_reasons.Comparison`` as text: each difference from our states, term by term, and what comes on top."""
    check_choice("unit", unit, BYTE_UNITS, UnitError)

    def signed(size):
        return ("-" if size < 0 else "+") + format_bytes(abs(size), unit, 2)

    from .peers_reasons import REASONS

    lines = [f"From our states, {format_bytes(comparison.states_bytes, unit, 2)}, to the figures of the estimators:"]
    for each in comparison.estimators:
        lines.append(f"{each.who}: " + ("no answer for this stage" if each.num_bytes is None else signed(each.difference_bytes)))
        lines += [f"  {signed(size):>12}  {REASONS[key]}" for key, size in each.terms]
    told = comparison.as_dict()["peak"]
    run = comparison.peak.training
    on_top = ", ".join(f"{name} {format_bytes(size, unit, 2)}" for name, size in told["on_top"].items())
    lines.append(f"None of them holds what comes on top at the peak of {run.micro_batch_size} × {run.seq_length:,} tokens ({told['instant']}): {on_top}. Predicted peak: "
                 f"{format_bytes(told['bytes'], unit, 2)}.")
    return "\n".join(lines)
