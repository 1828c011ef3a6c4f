"""What a mistake, or a changed loop, does to the training: the check's verdict and the loss beside what it should be."""

from dataclasses import replace

from .check import check_gradients
from .picture import finite
from .run import baseline, simulate

CURVE_STEPS = 12


def effect(run, train_step=None, num_steps=CURVE_STEPS):
    """Plain data, None for numbers that are not finite: ``check`` (fields of ``GradientCheck``), ``text``, and ``losses`` and ``expected_losses`` of a longer run.

    ``train_step`` is the loop that made ``run``, None for the package's own. Raises ``InvalidInput`` for a run without a
    finished step.
    """
    check = check_gradients(run)
    longer = replace(run.settings, num_steps=max(num_steps, len(run.steps)), device_bytes=None)
    return {"check": {name: finite(value) for name, value in check.as_dict().items()}, "text": str(check),
            "losses": finite(simulate(longer, train_step=train_step).losses),
            "expected_losses": finite(baseline(longer).losses)}
