"""The lesson kit: what a lesson notebook shows and asks. Sits on zeroledger; zeroledger knows nothing of it.

Importing it is cheap: ipywidgets comes in with the first widget, matplotlib with the first chart,
because in the browser each costs a reader about a second.
"""

from .i18n import use_language

__all__ = ["explore", "predict", "timeline", "use_language"]


def explore(**start):
    """A chart and a table of bytes per rank that follow controls for model, N, stage and unit.

    `start` sets where the controls begin: model, dp_size, stage, unit. See explorer.Explorer."""
    from .explorer import Explorer

    return Explorer(**start)


def predict(exercise_id: str):
    """Asks for the number of exercise `exercise_id` and runs it only after the reader committed or skipped."""
    from .bank import load
    from .predictor import Predictor

    return Predictor(load(exercise_id))


def timeline(**start):
    """A simulated training step: one rank's memory over time, with controls for stage, N, prefetch and the like.

    `start` sets fields of zeroledger.simulate.Settings. See step_viewer.Timeline."""
    from .step_viewer import Timeline

    return Timeline(**start)
