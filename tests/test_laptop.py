"""The notebooks on a laptop: a fresh virtual environment with our wheel, ipywidgets and matplotlib, nothing of this clone."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from publish import paths
from publish.own_wheel import download_name

FILES = paths.DIST / "files"
RUN = """
import sys, nbformat
from nbclient import NotebookClient
for path in sys.argv[1:]:
    NotebookClient(nbformat.read(path, 4), timeout=120, kernel_name="python3").execute()
    print("ran", path)
"""


@pytest.fixture(scope="module")
def laptop(tmp_path_factory):
    """The Python of that environment, after the install line that the notebooks' first cell gives."""
    folder = tmp_path_factory.mktemp("laptop")
    notebook = (FILES / "en" / "01-ledger.ipynb").read_text(encoding="utf-8")
    line = re.search(r"%pip install \./(\S+) (ipywidgets matplotlib)", notebook)
    assert line and line.group(1) == download_name()
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    wheel = paths.DIST / "download" / line.group(1)
    # A JupyterLab brings these two; the rest is what the cell says.
    subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "nbclient", "ipykernel", wheel, *line.group(2).split()], check=True)
    return python


@pytest.mark.long
def test_every_published_notebook_runs_there(laptop, tmp_path):
    notebooks = sorted(FILES.glob("*/*.ipynb"))
    assert len(notebooks) >= 20
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([laptop, "-c", RUN, *notebooks], cwd=tmp_path, env=clean, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("ran ") == len(notebooks)


def test_each_lesson_page_links_its_notebook_and_the_wheel():
    for page in sorted(paths.DIST.glob("*/*/index.html")):
        links = re.findall(r'<a[^>]* download[^>]* href="([^"]+)"', page.read_text(encoding="utf-8"))
        for link in links:
            assert (page.parent / link).resolve().is_file(), f"{page}: {link}"
        if page.parent.name == "ledger":
            assert {Path(link).suffix for link in links} == {".ipynb", ".whl"}
