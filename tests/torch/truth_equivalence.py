"""Sharded training against one process with the whole batch: gradients of the first step and the losses of a few."""

import torch
import torch.distributed as dist
from rows import row
from toy import loss_of, sequences, setup_of, toy
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

NAME, BATCH, STEPS, RATE = "uneven", 4, 4, 1e-3
# engine → setup words, the bound on a gradient's difference by the largest entry, and on a loss's difference
BOUNDS = {"fp32": (2e-6, 2e-5), "bf16 mixed precision": (2e-2, 2e-2)}


def rows(ranks, quick):
    """Rows on rank 0: DDP, ZeroRedundancyOptimizer and FSDP2 over ``ranks`` processes."""
    expected = run(toy(NAME), lambda parameters: torch.optim.Adam(parameters, lr=RATE), sequences(NAME, BATCH), 1)
    found = []
    for engine, words, wrap, make in engines(ranks):
        tokens = sequences(NAME, BATCH).chunk(ranks)[dist.get_rank()]
        found += compared(engine, words, ranks, expected, run(wrap(toy(NAME)), make, tokens, ranks))
    return found


def engines(ranks):
    """(engine, words, function that wraps a model, function that makes the optimizer)."""
    def adam(parameters):
        return torch.optim.Adam(parameters, lr=RATE)

    def zero(parameters):
        return ZeroRedundancyOptimizer(parameters, torch.optim.Adam, lr=RATE)

    half = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    yield "DDP", "fp32", DistributedDataParallel, adam
    yield "ZeroRedundancyOptimizer", "fp32", DistributedDataParallel, zero
    yield "FSDP2", "fp32", lambda model: sharded(model, ranks), adam
    yield "FSDP2", "bf16 mixed precision", lambda model: sharded(model, ranks, mp_policy=half), adam


def sharded(model, ranks, **options):
    """The model under FSDP2, each block a unit."""
    mesh = init_device_mesh("cpu", (ranks,))
    for module in (*model.blocks, model):
        fully_shard(module, mesh=mesh, **options)
    return model


def run(model, make, tokens, ranks):
    """(whole gradients of the first step, mean losses over the ranks)."""
    optimizer, gradients, losses = make(model.parameters()), None, []
    for step in range(STEPS):
        loss = loss_of(model, tokens)
        loss.backward()
        if gradients is None:
            gradients = [whole(each.grad).clone() for each in model.parameters()]
        optimizer.step()
        optimizer.zero_grad()
        mean = loss.detach().clone()
        if ranks > 1:
            dist.all_reduce(mean)
        losses.append(mean.item() / ranks)
    return gradients, losses


def whole(gradient):
    return gradient.full_tensor() if isinstance(gradient, DTensor) else gradient


def compared(engine, words, ranks, expected, found):
    """Two rows on rank 0, none on the others."""
    if dist.get_rank():
        return []
    of_gradient, of_loss = BOUNDS[words]
    largest = max(each.abs().max().item() for each in expected[0])
    worst = max((ours - theirs).abs().max().item() for ours, theirs in zip(found[0], expected[0], strict=True))
    loss = max(abs(ours - theirs) for ours, theirs in zip(found[1], expected[1], strict=True))
    setup = setup_of(NAME, f"{words}, batch of {BATCH}")
    return [row("equivalence", engine, ranks, setup, "worst gradient difference by the largest entry", "ratio", of_gradient,
                worst / largest, "at most"),
            row("equivalence", engine, ranks, setup, f"worst loss difference in {STEPS} steps", "nats", of_loss, loss, "at most")]
