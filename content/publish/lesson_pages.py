"""The pages of the course: everything in the site that is neither the lab nor a runtime file."""

from publish import paths, scripts
from publish.console import Console
from publish.steps import Step
from publish.tools import fresh_folder


def build(console: Console) -> None:
    """Writes the pages; they take a while, since every lesson is executed."""
    from publish import pages  # here, since nbconvert takes long to import, which an unchanged build saves

    pages.build(fresh_folder(paths.PAGES))


STEP = Step("lesson pages", build, inputs=(paths.CONTENT, paths.TESTS / "torch/results"), outputs=(paths.PAGES,), after=(scripts.STEP,))
