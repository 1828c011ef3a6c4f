"""The lesson kit: what a lesson notebook shows and asks. Sits on zeroledger; zeroledger knows nothing of it.

Importing it is cheap: ipywidgets comes in with the first widget, matplotlib with the first chart,
because in the browser each costs a reader about a second.
"""

from .i18n import use_language

__all__ = ["calibration", "explore", "parallel", "predict", "quiz", "timeline", "use_language"]


def calibration():
    """The predictions made in notebooks beside the results, and a file with them for the site's page "My calibration"."""
    from .own_predictions import Calibration

    return Calibration()


def explore(**start):
    """A chart and a table of bytes per rank that follow controls for model, N, stage and unit.

    `start` sets where the controls begin: model, dp_size, stage, unit. See explorer.Explorer."""
    from .explorer import Explorer

    return Explorer(**start)


def parallel(**start):
    """A chart of one rank's states and activations for each tensor-parallel degree, with controls for what combines with it.

    `start` sets where the controls begin: model, tp_size, stage, sequence_parallel, recompute. See parallel_viewer.Parallel."""
    from .parallel_viewer import Parallel

    return Parallel(**start)


def predict(exercise_id: str):
    """Asks for the number of exercise `exercise_id` and runs it only after the reader committed or skipped."""
    from .bank import load
    from .predictor import Predictor

    return Predictor(load(exercise_id))


def quiz(lesson: str | None = None, seed: str | None = None):
    """The self-test's items of one lesson (its slug) or of all; a `seed` draws other numbers. See self_test.Quiz."""
    from .self_test import Quiz

    return Quiz(lesson, seed)


def timeline(**start):
    """A simulated training step: one rank's memory over time, with controls for stage, N, prefetch and the like.

    `start` sets fields of zeroledger.simulate.Settings. See step_viewer.Timeline."""
    from .step_viewer import Timeline

    return Timeline(**start)
