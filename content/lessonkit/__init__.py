"""The lesson kit: what a lesson notebook shows and asks. Sits on zeroledger; zeroledger knows nothing of it.

Importing it is cheap: ipywidgets comes in with the first widget, matplotlib with the first chart,
because in the browser each costs a reader about a second.
"""

from .i18n import use_language

__all__ = ["explore", "predict", "use_language"]


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
