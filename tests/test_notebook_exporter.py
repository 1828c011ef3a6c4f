"""`jupyter nbconvert --to zero-lesson`, the wheel installed as pip installs it, run as a program."""

import os
import subprocess
import sys

import nbformat
import pytest
from bs4 import BeautifulSoup
from publish import paths
from publish.notebook_exporter import NotebookError, ZeroLessonExporter

v4 = nbformat.v4


def code(source, *tags):
    return v4.new_code_cell(source, metadata={"tags": list(tags)})


def notebook(*cells):
    return v4.new_notebook(cells=[v4.new_markdown_cell("# My *own* lesson\n\nHow much?"), *cells])


SETUP = code("from zeroledger import *\nfrom lessonkit import predict\nP = 7e9", "setup")
LIVE = code("print(ledger(P, 8, 2).model_states_bytes_per_rank)", "live")


def converted(*cells, **options):
    html, _ = ZeroLessonExporter(**options).from_notebook_node(notebook(*cells), {"metadata": {"name": "my-own"}})
    return BeautifulSoup(html, "html.parser")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with what `pip install <our wheel>` puts into an environment; its dependencies are those of this one."""
    wheels = list(paths.EXPORTER.glob("*.whl"))
    assert len(wheels) == 1, "the exporter's wheel is not built: run ./build.sh first"
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--disable-pip-version-check", "--target", folder, wheels[0]], check=True)
    return folder


def test_the_command_turns_a_notebook_into_a_page(installed, tmp_path):
    nbformat.write(notebook(SETUP, LIVE, code('explore(dp_size=8)', "explore")), tmp_path / "my-own.ipynb")
    done = subprocess.run(
        [sys.executable, "-m", "nbconvert", "--to", "zero-lesson", "--ZeroLessonExporter.site_url=https://example.org/course", "my-own.ipynb"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(installed)}, capture_output=True, text=True,
    )
    assert done.returncode == 0, done.stderr
    page = BeautifulSoup((tmp_path / "my-own.html").read_text(encoding="utf-8"), "html.parser")
    assert page.h1.text == "My own lesson" and page.html["lang"] == "en"
    assert page.select_one("zero-cell").text == "from zeroledger import *\nP = 7e9\n\nprint(ledger(P, 8, 2).model_states_bytes_per_rank)"
    assert page.select_one("script[type=module]")["src"] == "https://example.org/course/static/zero/page.js"
    assert len(page.select("zero-explorer svg")) == 2


def test_a_bad_notebook_is_refused_by_the_command_with_all_that_is_wrong(installed, tmp_path):
    nbformat.write(notebook(code("%pip install x", "setup"), code("1 / 0", "lvie")), tmp_path / "bad.ipynb")
    done = subprocess.run([sys.executable, "-m", "nbconvert", "--to", "zero-lesson", "bad.ipynb"],
                          cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(installed)}, capture_output=True, text=True)
    assert done.returncode != 0
    for said in ("'%pip install x' is IPython's own", "did you mean 'live'?", "no cell is tagged live, predict, explore, timeline, parallel"):
        assert said in done.stderr
    assert not (tmp_path / "bad.html").exists()


def test_the_language_is_that_of_the_text_unless_it_is_said():
    chinese = v4.new_markdown_cell("7B 模型的模型状态一共要多少显存？先写下自己的预测，再运行。")
    assert converted(chinese, LIVE).html["lang"] == "zh-CN"
    assert converted(chinese, LIVE, lang="en").html["lang"] == "en"


def test_other_code_is_shown_with_its_output_and_a_prediction_asks():
    shown = code("print('shown')")
    shown.outputs = [v4.new_output("stream", text="shown\n")]
    page = converted(SETUP, shown, code('predict("zero2-20b-10")', "predict"))
    assert [pre.text for pre in page.select(".zl-stdout")] == ["shown\n"]
    assert page.select_one("zero-predict")["exercise"] == "zero2-20b-10"


@pytest.mark.parametrize(("cells", "says"), [
    ((code("print(1)"),), "no cell is tagged"),
    ((code("import numpy", "live"),), "line 1: imports numpy; accepted on a page: the standard library and zeroledger"),
    ((code("x = = 1", "live"),), "line 1: not Python"),
    ((code("predict(which)", "predict"),), "expected one call of predict"),
    ((code('predict("zero9")', "predict"),), "no exercise 'zero9'"),
    ((LIVE, code("!ls", "live")), "(number 3): '!ls' is IPython's own"),
])
def test_what_cannot_be_converted_is_said(cells, says):
    with pytest.raises(NotebookError) as error:
        converted(*cells)
    assert says in str(error.value) and "my-own.ipynb, " in str(error.value)
