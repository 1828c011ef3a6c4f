"""Ledger and feedback as small HTML tables."""

from html import escape

from zeroledger import format_bytes

from .chart_text import category_name
from .i18n import text


def table_html(ledger, unit: str, lang: str | None = None) -> str:
    """The ledger's rows and their sum, amounts in `unit` ("GB" or "GiB")."""
    columns = ("category", "dtype", "bytes_per_param", "sharded", "bytes_per_rank")
    rows = [[category_name(row.category, lang), row.dtype, f"{row.bytes_per_param:g}", text("term.yes" if row.sharded else "term.no", lang),
             format_bytes(row.bytes_per_rank, unit)] for row in ledger.rows]
    total = [text("term.total", lang), "", "", "", format_bytes(ledger.model_states_bytes_per_rank, unit)]
    return rows_html([text(f"term.{column}", lang) for column in columns], [*rows, total])


def rows_html(head: list[str], rows: list[list[str]]) -> str:
    """A table; the last column holds amounts and is aligned right."""
    return f'<table><thead>{_row("th", head)}</thead><tbody>{"".join(_row("td", cells) for cells in rows)}</tbody></table>'


def _row(tag, cells):
    *others, last = (escape(cell) for cell in cells)
    return f'<tr>{"".join(f"<{tag}>{cell}</{tag}>" for cell in others)}<{tag} style="text-align:right">{last}</{tag}></tr>'
