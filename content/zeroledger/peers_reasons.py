"""DeepSpeed's and accelerate's estimators beside ours for one configuration, the difference taken apart to the byte.

Each answer is our ledger of model states plus terms that add up to it: what the estimator counts otherwise, or not at all.
"""

from dataclasses import dataclass

from .budgets import budget
from .errors import check_count, check_stage
from .instants import ACCOUNTS
from .ledger import ledger
from .measured import CATEGORIES
from .models import as_model
from .peers_calculators import accelerate_estimate
from .peers_deepspeed import zero2_estimate, zero3_estimate

STATES = ("params", "grads", "optimizer")  # categories that the ledger counts; the others are on top
REASONS = {
    "fp32_gradients": "counts gradients once, in FP32: 2 bytes a parameter of the rank's part more",
    "fp32_gradient_copy": "counts an FP32 copy of the gradients beside the 16-bit ones: 4 bytes a parameter of the rank's part",
    "largest_layer": "adds 4 bytes for every parameter of the largest leaf module, as if it were gathered with its gradient",
    "no_ranks": "knows no data parallelism: every rank is taken to hold all states",
    "largest_part": "takes the largest part (parameters, gradients, optimizer, step) for the whole: 8 of 16 bytes a parameter",
    "rounding": "rounds down where a rank's part is not whole",
}


@dataclass(frozen=True)
class Estimator:
    """What ``who`` ("deepspeed", "accelerate") says per GPU, None where it has no answer; ``terms`` are (key of
    ``REASONS``, bytes) from our states to its figure and add up to ``difference_bytes``."""

    who: str
    num_bytes: int | None
    difference_bytes: int | None
    terms: tuple

    def as_dict(self):
        """Plain data for JSON."""
        return {"who": self.who, "bytes": self.num_bytes, "difference_bytes": self.difference_bytes,
                "terms": [{"key": key, "words": REASONS[key], "bytes": size} for key, size in self.terms]}


@dataclass(frozen=True)
class Comparison:
    """``states_bytes`` is our ledger, ``peak`` our ``Budget`` of the same run by DeepSpeed's rules, ``estimators`` the others."""

    num_params: int
    states_bytes: int
    peak: object
    estimators: tuple

    def as_dict(self):
        """Plain data for JSON; ``on_top`` is what the peak holds beside the states, by category."""
        accounts = self.peak.peak.by_account()
        on_top = {category: sum(accounts[part] for part in parts) for category, parts in CATEGORIES.items() if category not in STATES}
        peak = self.peak
        return {"num_params": self.num_params, "states_bytes": self.states_bytes,
                "peak": {"bytes": peak.peak_bytes, "low_bytes": peak.low_bytes, "high_bytes": peak.high_bytes, "instant": peak.peak.name,
                         "on_top": {name: size for name, size in on_top.items() if size},
                         "accounts": {name: accounts[name] for name in ACCOUNTS if accounts[name]}},
                "estimators": [each.as_dict() for each in self.estimators]}


def compare_estimators(model, dp_size, stage, seq_length=2048, micro_batch_size=1, recompute="none"):
    """The ``Comparison`` for mixed-precision Adam under pure data parallelism. ``model``: a shape, preset or its name.

    A sequence longer than the model's learned positions is cut to them. Raises ``InvalidInput``.
    """
    model, dp_size, stage = as_model(model), check_count("dp_size", dp_size), check_stage(stage)
    seq_length = min(check_count("seq_length", seq_length), model.max_position_embeddings or seq_length)
    params = model.num_params
    states = ledger(params, dp_size, stage).model_states_bytes_per_rank
    peak = budget(model, mesh=dp_size, stage=stage, engine="deepspeed", seq_length=seq_length, micro_batch_size=micro_batch_size,
                  recompute=recompute)
    accelerate = accelerate_estimate(params, "bfloat16")[1]
    whole = ledger(params, 1, 0).model_states_bytes_per_rank
    found = (_deepspeed(model, dp_size, stage, states),
             _estimator("accelerate", accelerate, states, [("no_ranks", whole - states), ("largest_part", accelerate - whole)]))
    return Comparison(params, states, peak, found)


def _deepspeed(model, dp_size, stage, states):
    params = model.num_params
    if stage == 3:
        largest = max(tensor.numel for tensor in model.tensors())  # its weight is most of a leaf module
        answer = zero3_estimate(params, largest, dp_size).gpu_bytes
        return _estimator("deepspeed", answer, states, [("fp32_gradients", 2 * params // dp_size), ("largest_layer", 4 * largest)])
    if stage == 2:
        answer = zero2_estimate(params, dp_size).gpu_bytes
        return _estimator("deepspeed", answer, states, [("fp32_gradient_copy", 4 * params // dp_size)])
    return Estimator("deepspeed", None, None, ())


def _estimator(who, answer, states, terms):
    rest = answer - states - sum(size for _, size in terms)
    return Estimator(who, answer, answer - states, tuple((key, size) for key, size in (*terms, ("rounding", rest)) if size))
