"""The mark of a published notebook: the same as in the lab, sensitive to what a reader edits, blind to outputs."""

import json

import pytest

from publish import paths
from publish.fingerprint import fingerprint
from publish.lessons import load_lessons, write_notebooks

CASES = json.loads((paths.TESTS / "data" / "fingerprints.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES)
def test_the_marks_are_those_that_the_lab_computes(case):
    """tests/js/lesson_drive.test.js reads the same file."""
    assert fingerprint(case["notebook"]) == case["mark"]


def test_every_published_notebook_carries_its_own_mark_and_no_outputs(tmp_path):
    written = write_notebooks(load_lessons()[:1], tmp_path)
    assert written
    for path in written:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        assert notebook["metadata"]["zero"]["published"] == fingerprint(notebook)
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        assert code and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
        code[0]["outputs"].append({"output_type": "stream"})
        assert fingerprint(notebook) == notebook["metadata"]["zero"]["published"]
        code[0]["source"] = [*code[0]["source"], "\n# mine"]
        assert fingerprint(notebook) != notebook["metadata"]["zero"]["published"]
