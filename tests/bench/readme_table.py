"""Puts the figures of a run into tests/bench/README.md, between its two marks."""

from pathlib import Path

README = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->"
HEAD = "| what | measured | baseline in the same run | ratio | target |\n| --- | --- | --- | --- | --- |\n"


def write_table(machine: dict, figures: dict[str, list[dict]], quick: bool) -> None:
    """Replaces the table that stands there."""
    before, _, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    load = "" if machine["load"] is None else f", load {machine['load']:.1f} at the start"
    where = f"{machine['date']}, {machine['cpu']}, {machine['cores']} cores{load}, Chromium {machine['chromium']}{'; one round of each' if quick else ''}.\n\n"
    table = HEAD + "".join(line(row) for rows in figures.values() for row in rows)
    README.write_text(before + BEGIN + where + table + END + after, encoding="utf-8")


def line(row: dict) -> str:
    """A row of the table; one without a target explains the one above it."""
    what, target = row["what"], ""
    if row["target"] is not None:
        target = f"{'≥' if row['at_least'] else '≤'} {row['target']:g}×{'' if row['verdict'] == 'meets' else ', missed'}"
    name = f"&nbsp;&nbsp;{what.strip()}" if what.startswith(" ") else what
    measured, baseline = (f"{row[key]:,.4g} {row['unit']}".strip() for key in ("value", "baseline_value"))
    return f"| {name} | {measured} | {row['baseline']}: {baseline} | {row['ratio']:.3f}× | {target} |\n"
