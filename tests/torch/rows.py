"""One compared reading of a truth run, as results/truth.json has it (README.md here)."""

import json


def row(group, engine, ranks, setup, quantity, unit, predicted, measured, tolerance="exact", note=""):
    """A row, with its verdict. ``tolerance``: "exact", a percentage (a number), or "at most": ``predicted`` is a bound."""
    predicted, measured = listed(predicted), listed(measured)
    if all(list_ == list_[:1] * len(list_) for list_ in (predicted, measured)) and len(predicted) == len(measured):
        predicted, measured = predicted[:1], measured[:1]  # ranks that do not differ
    pairs = list(zip(predicted, measured, strict=True)) if len(predicted) == len(measured) else []
    if tolerance == "exact":
        ok = bool(pairs) and predicted == measured
    elif tolerance == "at most":
        ok = bool(pairs) and all(found <= bound for bound, found in pairs)
        tolerance = f"at most {max(predicted):g}"
    else:
        ok = bool(pairs) and all(abs(found - expected) <= tolerance / 100 * abs(found) for expected, found in pairs)
        tolerance = f"{tolerance:g} %"
    words = "-".join(f"{group} {engine} {setup} N{ranks} {quantity} {unit}".lower().replace(",", "").split())
    return {"id": words, "group": group, "engine": engine, "ranks": ranks, "setup": setup, "quantity": quantity,
            "unit": unit, "predicted": predicted, "measured": measured, "tolerance": tolerance, "ok": ok, "note": note}


def listed(values):
    """``values`` as a list of plain numbers."""
    return [each for each in values] if isinstance(values, (list, tuple)) else [values]


def show(each):
    """The row as a line of text."""
    verdict = "ok  " if each["ok"] else "FAIL"
    return (f"{verdict} {each['group']:<12} {each['engine']:<24} N={each['ranks']} {each['setup']}: {each['quantity']} "
            f"predicted {short(each['predicted'])} measured {short(each['measured'])} {each['unit']} ({each['tolerance']})"
            + (f"  [{each['note']}]" if each["note"] else ""))


def short(numbers):
    """Numbers for a line: integers with commas."""
    return " ".join(f"{number:,}" if isinstance(number, int) else f"{number:.4g}" for number in numbers)


def write(path, rows):
    """The rows as a JSON file, one a line."""
    path.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n", encoding="utf-8")
