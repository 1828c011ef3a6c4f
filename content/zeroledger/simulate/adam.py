"""Adam, and the learning rate's schedule."""

from math import sqrt

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


def adam_update(state, grads, learning_rate, step, cast):
    """Update ``state`` (lists ``weights``, ``exp_avg``, ``exp_avg_sq``) in place; ``step`` counts from 1.

    ``cast`` rounds what is stored. Returns the largest change of a weight. Source: arXiv:1412.6980, algorithm 1.
    """
    correct1, correct2 = 1 - BETA1**step, 1 - BETA2**step
    first = cast([BETA1 * old + (1 - BETA1) * grad for old, grad in zip(state["exp_avg"], grads)])
    second = cast([BETA2 * old + (1 - BETA2) * grad * grad for old, grad in zip(state["exp_avg_sq"], grads)])
    changes = [learning_rate * (mean / correct1) / (sqrt(square / correct2) + EPSILON)
               for mean, square in zip(first, second)]
    state["exp_avg"], state["exp_avg_sq"] = first, second
    state["weights"] = cast([weight - change for weight, change in zip(state["weights"], changes)])
    return max(map(abs, changes))


def learning_rate_at(settings, updates):
    """The rate after ``updates`` steps of the schedule: a line from ``learning_rate`` to 0 at ``schedule_steps``."""
    return settings.learning_rate * max(0.0, 1 - updates / settings.schedule_steps)
