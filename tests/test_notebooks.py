"""The lesson notebooks, as learners get them, run top to bottom in CPython, and their widgets respond in a kernel."""

import json
from base64 import b64decode

import nbformat
import pytest

from lessonkit import bank
from publish.lessons import LANGUAGES, execute, load_lessons, predicted_exercise

LESSONS = {lesson.slug: lesson for lesson in load_lessons()}
DRAGS = """\
from base64 import b64encode
explorer = explore()
for dp_size in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
    explorer.dp_size.value = dp_size
    print(b64encode(explorer.picture.value).decode())
"""
GATE = """\
cell = predict("zero2-20b-10")
print(repr(cell.result.value))
cell.number.value = "32 GB"
cell.commit.click()
print(repr(cell.result.value))
"""


@pytest.fixture(scope="module", params=[(slug, lang) for slug in LESSONS for lang in LANGUAGES], ids="-".join)
def executed(request):
    """A lesson's notebook after a run in a fresh kernel."""
    slug, lang = request.param
    return execute(LESSONS[slug].notebook(lang), f"{slug} ({lang})")


def outputs(notebook):
    return [(cell, output) for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def printed(cell):
    return "".join(output.text for output in cell.outputs if output.get("name") == "stdout")


def test_runs_without_an_error(executed):
    assert outputs(executed)
    assert [output for _, output in outputs(executed) if output.output_type == "error"] == []


def test_is_quiet_on_stderr(executed):
    assert [output.text for _, output in outputs(executed) if output.get("name") == "stderr"] == []


def test_every_widget_leaves_a_plain_form(executed):
    bundles = [output.data for cell, output in outputs(executed) if cell.metadata.zero.kind in ("explore", "predict")]
    assert bundles
    for data in bundles:
        assert data["text/plain"].strip() and "<" in data["text/html"] and "application/vnd.jupyter.widget-view+json" in data


def test_no_answer_of_a_predict_cell_is_in_its_output(executed):
    for cell, output in outputs(executed):
        if cell.metadata.zero.kind == "predict":
            exercise = bank.load(predicted_exercise(cell.source))
            shown = json.dumps(output, ensure_ascii=False)
            assert exercise.prompt(executed.metadata.zero.lang) in shown and exercise.code not in shown


@pytest.mark.parametrize("lang", LANGUAGES)
def test_widgets_respond_in_a_kernel(lang):
    """In a kernel too, where ipywidgets talk through a comm: ten settings, ten pictures; the gate opens once."""
    setup = f'LANG = "{lang}"\nfrom lessonkit import *\nuse_language(LANG)'
    cells = [nbformat.v4.new_code_cell(source) for source in (setup, DRAGS, GATE)]
    _, drags, gate = execute(nbformat.v4.new_notebook(cells=cells), "widgets").cells
    pictures = printed(drags).split()
    assert len(set(pictures)) == 10 and all(b64decode(picture).startswith(b"\x89PNG") for picture in pictures)
    before, after = printed(gate).splitlines()
    assert before == "''" and "68 GB" in after and {"en": "that is stage 3", "zh-CN": "那是阶段 3"}[lang] in after


def test_code_is_the_same_in_both_languages():
    for lesson in LESSONS.values():
        english, chinese = (lesson.notebook(lang) for lang in LANGUAGES)
        code = [[(cell.id, cell.source.replace('LANG = "zh-CN"', 'LANG = "en"')) for cell in notebook.cells if cell.cell_type == "code"]
                for notebook in (english, chinese)]
        assert code[0] == code[1] and code[0]
