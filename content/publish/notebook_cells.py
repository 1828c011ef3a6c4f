"""Cells that every published notebook has beside those of its lesson's source: its title with the way to run it at home, and the questions."""

import nbformat
from lessonkit import bank, questions
from lessonkit.i18n import text

from .own_wheel import download_name


def title_cell(title, lang, surface):
    """The heading; in a notebook ("lite") also what to install on a computer of one's own."""
    source = f"# {title}"
    if surface == "lite":
        wheel = download_name()
        source += f"\n\n{text('kit.notebook.install', lang, wheel=wheel)}\n\n```\n%pip install ./{wheel} ipywidgets matplotlib\n```"
    return markdown_cell("title", source, "title")


def check_yourself_cells(slug, lang):
    """A lesson's questions and the record of its reader's predictions, for its end."""
    cells = [markdown_cell("check-yourself", f"## {text('kit.quiz.check_yourself', lang)}")]
    if slug in asked_lessons():
        cells.append(code_cell("check-yourself-quiz", f'from lessonkit import quiz\nquiz("{slug}")', "quiz"))
    return [*cells, code_cell("check-yourself-predictions", "from lessonkit import calibration\ncalibration()", "calibration")]


def asked_lessons():
    """The slugs of the lessons that have items in the bank."""
    return {bank.load(name).lesson for name in bank.ids()} | {questions.load(name).lesson for name in questions.ids()}


def markdown_cell(cell_id, source, kind="prose"):
    """A markdown cell with our metadata."""
    return _with_kind(nbformat.v4.new_markdown_cell(source, id=cell_id), kind)


def code_cell(cell_id, source, kind):
    """A code cell with our metadata."""
    return _with_kind(nbformat.v4.new_code_cell(source, id=cell_id), kind)


def new_notebook(cells, zero):
    """A Python notebook of `cells` with our metadata `zero`."""
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata = nbformat.from_dict({
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
        "zero": zero,
    })
    return notebook


def _with_kind(cell, kind):
    cell.metadata["zero"] = nbformat.from_dict({"kind": kind})
    return cell
