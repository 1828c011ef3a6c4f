"""The lesson as a JupyterLite notebook: all cells run, the slider moves the chart, Chinese is drawn as Chinese."""

import contextlib
import io
import re

import pytest
from chromium_flags import NO_SERVICE_WORKER
from lab_notebook import LANGUAGES, LATER, READY_TIMEOUT_MS, TALL, Notebook, code_ids, lesson_notebook
from lessonkit import i18n
from playwright.sync_api import expect
from zeroledger import format_bytes, ledger


def printed_by_cpython(lang, cell_id):
    """What the `live` cell prints here, in CPython: the oracle for what it prints in the browser."""
    names = {}
    exec("from zeroledger import *", names)
    source = next(cell.source for cell in lesson_notebook(lang).cells if cell.id == cell_id)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(source, names)
    return printed.getvalue().strip()


@pytest.fixture(params=[pytest.param("en", marks=pytest.mark.long), "zh-CN"])
def notebook(request, open_page, site):
    return Notebook(open_page(viewport=TALL), site, request.param)


def words(text):
    """The text with every run of white space as one blank: the browser lays it out in its own way."""
    return " ".join(text.split())


def test_the_lesson_runs_and_the_slider_moves_the_chart(notebook):
    notebook.run_all()
    assert notebook.failures() == []
    check_printed(notebook)
    check_predict(notebook)
    check_ten_drags(notebook)
    check_labels(notebook)
    assert '"14 GB"' in notebook.run_new_cell("print(open('zero-predictions.json').read())")
    assert notebook.failures() == []


def check_printed(notebook):
    live = [cell_id for cell_id in code_ids(notebook.lang) if cell_id.startswith("live-")]
    assert len(live) >= 3
    for cell_id in live:
        shown = notebook.cell(cell_id).locator(".jp-OutputArea-output").all_inner_texts()
        assert words(" ".join(shown)) == words(printed_by_cpython(notebook.lang, cell_id)), cell_id
    # 2P + 14P/N bytes of 7B parameters on 8 ranks, by hand.
    assert "26.25 GB" in notebook.cell("live-by-hand").locator(".jp-OutputArea-output").inner_text()


def check_predict(notebook):
    """Enter commits the number as typed; the result, which was not there before, and the record with it follow."""
    cell = notebook.cell("predict-7b")
    result = format_bytes(ledger(20e9).model_states_bytes_per_rank)
    assert result not in cell.inner_text()
    cell.locator("input[type=text]").first.click()
    notebook.page.keyboard.type("14 GB")
    notebook.page.keyboard.press("Enter")
    expect(cell).to_contain_text(result)
    assert "14 GB" in cell.inner_text() and cell.locator("svg[role=img] circle").count() == 1
    mine = notebook.cell("check-yourself-predictions")
    mine.locator("button").click()
    expect(mine.locator("a[download]")).to_have_attribute("href", re.compile("^data:application/json;base64,"))
    expect(mine).to_contain_text(result)


def check_ten_drags(notebook):
    """From one rank to 1,024 in ten drags: ten new pictures, and each time the numbers of that N."""
    cell = notebook.cell("explore")
    cell.locator(".widget-toggle-button", has_text="3").click()
    handle, track = cell.locator(".noUi-handle"), cell.locator(".noUi-base")
    total = cell.locator("table tr").last  # not the whole cell: other stages' totals are in the chart's description
    drag(notebook.page, handle, track, 0)
    expect(total).to_contain_text(format_bytes(ledger(7e9, 1, 3).model_states_bytes_per_rank, "GB"))
    notebook.wait_until_painted()
    picture = cell.locator("img.widget-image")
    picture.evaluate("(image) => { image.updates = 0; new MutationObserver((seen) => image.updates += seen.length).observe(image, { attributeFilter: ['src'] }) }")
    for step in range(1, 11):
        drag(notebook.page, handle, track, step)
        expect(total).to_contain_text(format_bytes(ledger(7e9, 2**step, 3).model_states_bytes_per_rank, "GB"))
        notebook.page.wait_for_function("([image, step]) => image.updates === step && image.complete", arg=[picture.element_handle(), step])
    assert picture.evaluate("(image) => image.naturalWidth") >= 600


def drag(page, handle, track, step):
    """Drags the slider's handle to one of its eleven places."""
    box, grip = track.bounding_box(), handle.bounding_box()
    page.mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * step / 10, grip["y"] + grip["height"] / 2, steps=3)
    page.mouse.up()


FONT_CHECK = """
from lessonkit.fonts import chart_fonts as _fonts
from matplotlib.font_manager import FontProperties as _P, findfont as _find, get_font as _get
_lang, _families = _fonts({lang!r})
_drawn = set().union(*(_get(_find(_P(family=f), fallback_to_default=False)).get_charmap() for f in _families))
print(_lang, sorted(set({labels!r}) - {{chr(c) for c in _drawn}}))
"""


def check_labels(notebook):
    """Every character of the chart's labels has a glyph in the fonts that the chart uses."""
    strings = [text for key, text in chart_strings(notebook.lang)]
    assert strings
    printed = notebook.run_new_cell(FONT_CHECK.format(lang=notebook.lang, labels="".join(strings)).strip())
    assert printed == f"{notebook.lang} []"


def chart_strings(lang):
    """Key and text of what a chart may say."""
    return [(key, entry[lang]) for key, entry in i18n.strings().items() if key.startswith(("kit.chart.", "term."))]


@pytest.mark.long
def test_without_a_service_worker(open_page, site, watch):
    watch.allow("page error: undefined")  # JupyterLite's own promise for the worker, rejected without a reason
    notebook = Notebook(open_page(NO_SERVICE_WORKER, viewport=TALL), site, "zh-CN")
    notebook.run_all()
    assert notebook.failures() == []
    check_printed(notebook)
    assert notebook.cell("explore").locator("img.widget-image").evaluate("(image) => image.naturalWidth") >= 600


@pytest.mark.parametrize(("number", "name"), [
    pytest.param(number, name, marks=() if number == 0 else pytest.mark.long) for number, name in enumerate(LATER)
])
def test_later_lessons_run(open_page, site, number, name):
    """In one language each, by turns: the code is the same, and CPython runs both (test_notebooks.py)."""
    notebook = Notebook(open_page(viewport=TALL), site, LANGUAGES[number % 2], name)
    notebook.run_all()
    assert notebook.failures() == []


@pytest.mark.parametrize(
    ("address", "title"),
    [
        pytest.param("notebooks/index.html?path=en/01-ledger.ipynb", "File", marks=pytest.mark.long),
        ("zh/notebooks/index.html?path=zh/01-ledger.ipynb", "文件"),
    ],
)
def test_the_single_notebook_view_speaks_its_language(page, site, address, title):
    page.goto(site.url + address)
    expect(page.locator(".lm-MenuBar-itemLabel").first).to_have_text(title, timeout=READY_TIMEOUT_MS)
    expect(page.locator(".jp-Notebook .jp-CodeCell").first).to_contain_text("use_language", timeout=READY_TIMEOUT_MS)


@pytest.mark.parametrize("app", ["zh/tree", *(pytest.param(app, marks=pytest.mark.long) for app in ("tree", "repl", "consoles", "edit"))])
def test_the_other_apps_start(page, site, app):
    page.goto(f"{site.url}{app}/index.html")
    expect(page.locator("#jupyterlite-loading-indicator")).to_be_hidden(timeout=READY_TIMEOUT_MS)
    expect(page.locator("#main, .jp-Document, .jp-CodeConsole").first).to_be_visible(timeout=READY_TIMEOUT_MS)
    page.wait_for_load_state("networkidle")
