"""Short texts of the bank as HTML: escaped, with `code` in backticks as code."""

import re
from html import escape

_CODE = re.compile(r"`([^`]+)`")


def marked_html(wording: str) -> str:
    """`wording` as HTML."""
    return _CODE.sub(r"<code>\1</code>", escape(wording))


def plain(wording: str) -> str:
    """`wording` where no HTML can stand: without the backticks."""
    return _CODE.sub(r"\1", wording)
