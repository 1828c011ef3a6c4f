"""The lesson notebooks, one per lesson and language, and the self-test's."""

from publish import paths
from publish.console import Console
from publish.steps import Step
from publish.tools import fresh_folder


def render(console: Console) -> None:
    """Writes en/NN-slug.ipynb and zh/NN-slug.ipynb."""
    from publish import lessons  # here, since jupytext and nbclient take two seconds that an unchanged build saves

    lessons.write_notebooks(lessons.load_lessons(), fresh_folder(paths.NOTEBOOKS))


STEP = Step(
    "lesson notebooks", render, outputs=(paths.NOTEBOOKS,),
    inputs=(*(paths.CONTENT / name for name in ("lessons", "lessonkit", "exercises", "zeroledger")),
            *(paths.PUBLISH / name for name in ("lessons.py", "fingerprint.py", "notebook_cells.py", "self_test_notebook.py"))),
)
