"""What a sharded or accumulated run must do to train as one device would: token weights, schedule length, first update."""

from .errors import InvalidInput, check_choice, check_count, check_flag, check_number

WEIGHTINGS = ("mean-of-means", "global")


def token_weights(trained_tokens, weighting):
    """The weight of one trained token of each micro-batch in the accumulated gradient, a tuple of floats.

    "mean-of-means": each micro-batch's mean loss divided by the number of micro-batches, so that tokens of short
    micro-batches count more (huggingface/transformers#24725). "global": summed loss over all trained tokens, as one
    large batch would have it. Raises ``InvalidInput``.
    """
    check_choice("weighting", weighting, WEIGHTINGS)
    if not isinstance(trained_tokens, (list, tuple)) or not trained_tokens:
        raise InvalidInput("trained_tokens", trained_tokens, "a list with the trained tokens of each micro-batch")
    counts = [check_count("trained_tokens", count) for count in trained_tokens]
    if weighting == "global":
        return tuple(1 / sum(counts) for _ in counts)
    return tuple(1 / (len(counts) * count) for count in counts)


def accumulated_logit_gradient(logits, targets, weighting):
    """Gradient of the accumulated cross-entropy by ``logits`` that all tokens share, a tuple of floats.

    ``targets`` lists each micro-batch's target classes. A toy in which the two weightings can differ in sign.
    """
    from math import exp

    weights = token_weights([len(batch) for batch in targets], weighting)
    highest = max(check_number("logits", each, -1e9, 1e9) for each in logits)
    powers = [exp(each - highest) for each in logits]
    gradient = [0.0] * len(powers)
    for batch, weight in zip(targets, weights):
        for target in batch:
            target = check_count("targets", target, 0, len(powers) - 1)
            for entry, power in enumerate(powers):
                gradient[entry] += weight * (power / sum(powers) - (entry == target))
    return tuple(gradient)


def optimizer_steps_of_schedule(scheduler_steps, processes, split_batches=False):
    """Optimizer steps after which a learning-rate schedule of ``scheduler_steps`` has ended under accelerate.

    Its scheduler steps once for every process at each optimizer step, because each process brings a batch; with
    ``split_batches`` one batch is shared out and it steps once (huggingface/accelerate#1398).
    """
    per_step = 1 if check_flag("split_batches", split_batches) else check_count("processes", processes)
    return -(-check_count("scheduler_steps", scheduler_steps) // per_step)


def first_adam_update(beta1=0.9, beta2=0.999, extra_zero_grad_steps=0):
    """Size of Adam's first update in units of the learning rate, after ``extra_zero_grad_steps`` on zero gradients.

    1 as it should be without any. DeepSpeed 0.19.8 at stage 0 in bf16 initialises its state by such a step, so that
    bias correction starts at t = 2 (measured). Epsilon is neglected.
    """
    for field, beta in (("beta1", beta1), ("beta2", beta2)):
        if check_number(field, beta, 0, 1) == 1:
            raise InvalidInput(field, beta, "a number from 0 to below 1")
    step = 1 + check_count("extra_zero_grad_steps", extra_zero_grad_steps, 0, 10**6)
    first = (1 - beta1) / (1 - beta1**step)
    second = (1 - beta2) / (1 - beta2**step)
    return first / second**0.5
