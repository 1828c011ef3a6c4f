"""What the chart says in words and numbers: labels, title, text alternative. No matplotlib here."""

from zeroledger import GB, GIB, format_bytes, format_count

from .i18n import text

UNIT_BYTES = {"GB": GB, "GiB": GIB}
STAGES = (0, 1, 2, 3)


def category_name(category: str, lang: str | None = None) -> str:
    """A ledger category in the reader's words, "master_params" -> "master weights"."""
    return text(f"term.{category}", lang)


def title(ledger, lang: str | None = None) -> str:
    """The chart's title line: which P and N it shows."""
    return text("kit.chart.title", lang, num_params=format_count(ledger.num_params), dp_size=ledger.dp_size)


def alternative(ledger, unit: str, lang: str | None = None) -> str:
    """One sentence that says what the highlighted bar shows, for those who do not see the picture."""
    parts = text("kit.chart.list_separator", lang).join(
        text("kit.chart.alt_part", lang, category=category_name(row.category, lang), amount=format_bytes(row.bytes_per_rank, unit))
        for row in ledger.rows
    )
    total = format_bytes(ledger.model_states_bytes_per_rank, unit)
    return text("kit.chart.alt", lang, total=total, stage=ledger.stage, parts=parts)
