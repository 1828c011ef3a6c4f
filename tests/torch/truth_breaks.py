"""Lesson 9's mistakes in real PyTorch: what each does to gradients, updates and learning rates, against the prediction."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from rows import row
from toy import sequences, toy
from torch.nn.parallel import DistributedDataParallel

from zeroledger.equivalence import (accumulated_logit_gradient, first_adam_update, optimizer_steps_of_schedule,
                                    token_weights)

NAME, RATE, ROUNDING = "uneven", 1e-3, 1e-5
TRAINED = (6, 54)  # trained tokens of the two micro-batches
TARGETS = [[0, 1, 2], [3, 3, 4, 4, 4, 1, 0, 2, 3]]


def rows(ranks, quick):
    """Rows on rank 0; those between ranks need two."""
    found = between_ranks() if ranks == 2 else []
    if ranks <= 1:
        found += [*weights_of_tokens(), *signs(), *division(), *schedule(), *first_update()]
    return found if not ranks or dist.get_rank() == 0 else []


def micro_batches():
    """(tokens, labels) of two sequences, of which ``TRAINED`` tokens count."""
    for tokens, trained in zip(sequences(NAME, 2), TRAINED):
        labels = tokens.clone()
        labels[trained:] = -100
        yield tokens[None], labels[None]


def summed_loss(model, tokens, labels):
    """Cross-entropy summed over the trained tokens."""
    return F.cross_entropy(model(tokens).flatten(0, 1), labels.flatten(), reduction="sum")


def gradient_of(model, losses):
    """The gradient of the losses' sum, flat; the model's own is taken away again."""
    for loss in losses:
        loss.backward()
    flat = torch.cat([each.grad.flatten() for each in model.parameters()])
    model.zero_grad()
    return flat


def difference(found, expected):
    """The worst entry's difference by the largest entry expected."""
    return ((found - expected).abs().max() / expected.abs().max()).item()


def weights_of_tokens():
    """Two accumulated mean losses give every token the weight that the package predicts, and not 1/60."""
    model = toy(NAME)
    alone = [gradient_of(model, [summed_loss(model, *each)]) for each in micro_batches()]
    accumulated = gradient_of(model, (summed_loss(model, *each) / count / 2 for each, count in zip(micro_batches(), TRAINED)))
    summed = gradient_of(model, (summed_loss(model, *each) / sum(TRAINED) for each in micro_batches()))
    tokens, labels = (torch.cat(each) for each in zip(*micro_batches()))
    whole = gradient_of(model, [F.cross_entropy(model(tokens).flatten(0, 1), labels.flatten())])
    wrong, right = (sum(weight * each for weight, each in zip(token_weights(TRAINED, weighting), alone))
                    for weighting in ("mean-of-means", "global"))
    setup = f"accumulation of {TRAINED[0]} and {TRAINED[1]} trained tokens"
    yield row("breaks", "PyTorch", 1, setup, "mean of means against predicted token weights, worst difference", "ratio",
              ROUNDING, difference(accumulated, wrong), "at most")
    yield row("breaks", "PyTorch", 1, setup, "one denominator against one whole batch, worst difference", "ratio", ROUNDING,
              difference(summed, whole), "at most")
    off = difference(wrong, right)
    yield row("breaks", "PyTorch", 1, setup, "error of the mean of means", "ratio", off, difference(accumulated, whole), 0.1,
              "this large a mistake raises no error")


def signs():
    """The toy whose gradient changes its sign in every entry."""
    for weighting in ("mean-of-means", "global"):
        logits = torch.zeros(5, dtype=torch.float64, requires_grad=True)
        for batch in TARGETS:
            loss = F.cross_entropy(logits.expand(len(batch), 5), torch.tensor(batch), reduction="sum")
            (loss / (2 * len(batch) if weighting == "mean-of-means" else sum(map(len, TARGETS)))).backward()
        predicted = accumulated_logit_gradient([0] * 5, TARGETS, weighting)
        yield row("breaks", "PyTorch", 1, "five classes, two micro-batches", f"gradient of the logits, {weighting}", "ratio",
                  list(predicted), logits.grad.tolist(), 1e-6)


def division():
    """Accumulating without dividing by the steps: the gradient doubles, Adam's first update does not move."""
    sizes = []
    for divisor in (1, 2):
        model = toy(NAME)
        before = [each.detach().clone() for each in model.parameters()]
        optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
        for _ in range(2):
            (summed_loss(model, *next(micro_batches())) / TRAINED[0] / divisor).backward()
        gradient = torch.cat([each.grad.flatten() for each in model.parameters()])
        optimizer.step()
        update = max((each.detach() - start).abs().max().item() for each, start in zip(model.parameters(), before))
        sizes.append((gradient.norm().item(), update))
    setup = "two micro-batches, not divided by two"
    yield row("breaks", "PyTorch", 1, setup, "gradient, times what it should be", "ratio", 2.0, sizes[0][0] / sizes[1][0], 1e-4)
    yield row("breaks", "PyTorch", 1, setup, "largest first Adam update, times what it should be", "ratio", 1.0,
              sizes[0][1] / sizes[1][1], 0.1)


def schedule():
    """A linear schedule of 1,000 steps that is stepped once for each of four processes."""
    planned, processes = 1000, 4
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=RATE)
    plan = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, planned)
    steps = 0
    while optimizer.param_groups[0]["lr"] > 1e-12 * RATE:
        optimizer.step()
        for _ in range(processes):
            plan.step()
        steps += 1
    yield row("breaks", "PyTorch", 1, "schedule of 1,000 steps, stepped by each of 4 processes",
              "optimizer steps until the rate is zero", "steps", optimizer_steps_of_schedule(planned, processes), steps)


def first_update():
    """Adam's first update, as it should be and after a step on zero gradients."""
    for extra in (0, 1):
        parameter = torch.nn.Parameter(torch.zeros(3, dtype=torch.float64))
        optimizer = torch.optim.Adam([parameter], lr=RATE, eps=1e-15)
        for gradient in [torch.zeros(3)] * extra + [torch.tensor([0.1, -2.0, 30.0])]:
            parameter.grad = gradient.double()
            optimizer.step()
        yield row("breaks", "PyTorch", 1, f"{extra} steps of Adam on zero gradients first", "first update, in learning rates",
                  "ratio", first_adam_update(extra_zero_grad_steps=extra), parameter.abs().max().item() / RATE, 1e-4)


def between_ranks():
    """Each rank one micro-batch: DDP averages means, unless the loss has one denominator; without the reduction, nothing."""
    model, rank = toy(NAME), dist.get_rank()
    alone = [gradient_of(model, [summed_loss(model, *each)]) for each in micro_batches()]
    wrong, right = (sum(weight * each for weight, each in zip(token_weights(TRAINED, weighting), alone))
                    for weighting in ("mean-of-means", "global"))
    wrapped, mine = DistributedDataParallel(model), list(micro_batches())[rank]
    means = gradient_of(wrapped, [summed_loss(wrapped, *mine) / TRAINED[rank]])
    summed = gradient_of(wrapped, [summed_loss(wrapped, *mine) / sum(TRAINED) * 2])
    with wrapped.no_sync():
        unreduced = gradient_of(wrapped, [summed_loss(wrapped, *mine) / TRAINED[rank]])
    setup = f"{TRAINED[0]} and {TRAINED[1]} trained tokens on two ranks"
    return [
        row("breaks", "DDP", 2, setup, "each rank's own mean against predicted token weights, worst difference", "ratio",
            ROUNDING, difference(means, wrong), "at most"),
        row("breaks", "DDP", 2, setup, "sum over all tokens times the ranks, against the whole batch, worst difference",
            "ratio", ROUNDING, difference(summed, right), "at most"),
        row("breaks", "DDP", 2, setup, "reduction left out: gradient against the rank's own, worst difference", "ratio",
            ROUNDING, difference(unreduced, alone[rank] / TRAINED[rank]), "at most"),
    ]
