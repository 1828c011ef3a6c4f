"""Lesson notebooks in JupyterLite, in Chromium, Firefox and WebKit."""

import pytest
from notebook import use_notebook

pytestmark = pytest.mark.long


@pytest.mark.parametrize("place", ["lab/index.html?path=en/01-ledger.ipynb", "zh/notebooks/index.html?path=zh/01-ledger.ipynb"])
def test_notebook(engine, site, keep, place):
    use_notebook(engine, site.url + place)
    engine.size(1280, 900)
    keep(place.partition("/index")[0].replace("/", "-"))
