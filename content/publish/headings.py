"""The second-level headings of a lesson notebook: its table of contents, and under which of them a cell stands."""

import re


def toc(notebook):
    """[{"id", "title"}] of the cells that start with a second-level heading."""
    return [{"id": cell.id, "title": _title(cell)} for cell in notebook.cells if _is_heading(cell)]


def heading_over(notebook):
    """{cell id: {"id", "title"} of the heading cell that it stands under}; cells before the first heading are left out."""
    found, current = {}, None
    for cell in notebook.cells:
        if _is_heading(cell):
            current = {"id": cell.id, "title": _title(cell)}
        if current:
            found[cell.id] = current
    return found


def _is_heading(cell):
    return cell.cell_type == "markdown" and cell.source.startswith("## ")


def _title(cell):
    return re.sub(r"[*`]", "", cell.source.split("\n", 1)[0][3:])
