"""PyTorch's own engines: bytes that each rank holds between steps, and elements that travel in a step."""

import torch
import torch.distributed as dist
from counting import Counting
from rows import row
from toy import loss_of, sequences, setup_of, tensors_of, toy
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel
from zeroledger_measure import held_bytes

from zeroledger import frameworks
from zeroledger.communication import ddp, fsdp2, zero_redundancy_optimizer
from zeroledger.wrapping import wrap_units

HALF = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
ALL_HALF = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16)
MIXED, FULL = {"param_dtype": "bf16"}, {"param_dtype": "fp32"}
# words → (arguments of fully_shard, arguments of the prediction, whether blocks are units of their own)
FSDP = {
    "fp32, default resharding": ({}, FULL, True),
    "fp32, resharded": ({"reshard_after_forward": True}, FULL | {"reshard_after_forward": True}, True),
    "fp32, not resharded": ({"reshard_after_forward": False}, FULL | {"reshard_after_forward": False}, True),
    "bf16 mixed precision": ({"mp_policy": HALF}, MIXED, True),
    "bf16 mixed precision, not resharded": (
        {"mp_policy": HALF, "reshard_after_forward": False}, MIXED | {"reshard_after_forward": False}, True),
    "bf16 mixed precision, bf16 reduction": ({"mp_policy": ALL_HALF}, MIXED | {"reduce_dtype": "bf16"}, True),
    "bf16 mixed precision, root unit only": ({"mp_policy": HALF}, MIXED | {"wrap": "none"}, False),
    "CPU offload policy": ({"offload_policy": CPUOffloadPolicy(pin_memory=False)}, FULL, True),
}
QUICK = ("bf16 mixed precision", "fp32, not resharded")


def rows(ranks, quick):
    """Rows of all engines over ``ranks`` processes; on rank 0 only, the others return an empty list."""
    found = []
    for name in ("uneven",) if quick else ("even", "uneven"):
        for engine, words in (("DDP", "fp32"), ("DDP", "fp32, gradients as bucket views"), ("ZeroRedundancyOptimizer", "fp32")):
            found += replicated(name, engine, words, ranks)
        for words in QUICK if quick else FSDP:
            found += sharded(name, words, ranks)
    return found


def replicated(name, engine, words, ranks):
    """DDP, with torch's Adam or ZeroRedundancyOptimizer's."""
    model = DistributedDataParallel(toy(name), gradient_as_bucket_view="views" in words)
    make = {"DDP": torch.optim.Adam}.get(engine, lambda parameters: ZeroRedundancyOptimizer(parameters, torch.optim.Adam))
    tensors = tensors_of(name)
    shapes = [shape for _, shape in tensors]
    states = frameworks.ddp_states(shapes, ranks) if engine == "DDP" else frameworks.zero_redundancy_states(shapes, ranks)
    predicted = ddp(tensors, ranks) if engine == "DDP" else zero_redundancy_optimizer(tensors, ranks)
    readings, counted = trained(model, make(model.parameters()), name)
    return compared(engine, name, words, ranks, states, readings, predicted, counted)


def sharded(name, words, ranks):
    """FSDP2, a unit for each block unless ``words`` say otherwise."""
    options, asked, by_block = FSDP[words]
    model, mesh = toy(name), init_device_mesh("cpu", (ranks,))
    for block in model.blocks if by_block else ():
        fully_shard(block, mesh=mesh, **options)
    fully_shard(model, mesh=mesh, **options)
    tensors = tensors_of(name)
    states = frameworks.fsdp2_states([shape for _, shape in tensors], ranks)
    readings, counted = trained(model, torch.optim.Adam(model.parameters()), name)
    predicted = fsdp2(tensors, ranks, **({"reduce_dtype": "fp32"} | asked))
    found = compared("FSDP2", name, words, ranks, states, readings, predicted, counted)
    if dist.get_rank() == 0:
        units = [[tensor.shape for tensor in unit.tensors] for unit in wrap_units(tensors, asked.get("wrap", "layer"))]
        reshard = {None: "default", True: "always", False: "never"}[asked.get("reshard_after_forward")]
        kept = frameworks.fsdp2_unsharded_bytes(units, ranks, reshard, asked["param_dtype"])
        measured = [each["after_forward"]["params"] - each["after_step"]["params"] for each in readings]
        found.append(row("states", "FSDP2", ranks, setup_of(name, words), "gathered parameters left after forward", "bytes",
                         [kept] * ranks, measured))
    return found


def trained(model, optimizer, name):
    """([readings of each rank], the ``Counting`` of the third step)."""
    readings, counting = {}, Counting()
    for step in range(3):
        tokens = sequences(name, 2, seed=step)
        if step < 2:
            whole_step(model, optimizer, tokens, readings)
        else:
            with counting:
                whole_step(model, optimizer, tokens, readings)
    everyone = [None] * dist.get_world_size()
    dist.all_gather_object(everyone, readings)
    return everyone, counting


def whole_step(model, optimizer, tokens, readings):
    loss = loss_of(model, tokens)
    readings["after_forward"] = held_bytes(model, optimizer)
    loss.backward()
    readings["after_backward"] = held_bytes(model, optimizer)
    optimizer.step()
    optimizer.zero_grad()
    readings["after_step"] = held_bytes(model, optimizer)


def compared(engine, name, words, ranks, states, readings, predicted, counted):
    """The rows of one run, on rank 0."""
    if dist.get_rank():
        return []
    setup, backward, step = setup_of(name, words), *([each[at] for each in readings] for at in ("after_backward", "after_step"))
    optimizer = [state["exp_avg"] + state["exp_avg_sq"] + state["step"] for state in states]
    found = [
        row("states", engine, ranks, setup, "parameters", "bytes", [state["param_storage"] for state in states],
            [each["params"] for each in step]),
        row("states", engine, ranks, setup, "gradients after backward", "bytes", [state["grad_storage"] for state in states],
            [each["grads"] for each in backward]),
        row("states", engine, ranks, setup, "optimizer state", "bytes", optimizer, [each["optimizer"] for each in step]),
        row("states", engine, ranks, setup, "gradients after the step", "bytes", [0] * ranks, [each["grads"] for each in step]),
    ]
    return found + collectives(engine, ranks, setup, predicted, counted)


def collectives(engine, ranks, setup, predicted, counted):
    """Rows that compare a ``Communication`` with what was counted: every collective of either, elements and calls."""
    found = []
    for op in sorted({each.op for each in predicted.rows} | set(counted.numel)):
        total = predicted.total(op)
        found.append(row("collectives", engine, ranks, setup, f"{op} in a step", "elements", total["numel"],
                         counted.numel.get(op, 0)))
        if total["calls"] is not None:
            found.append(row("collectives", engine, ranks, setup, f"{op} in a step", "calls", total["calls"],
                             counted.calls.get(op, 0)))
    if counted.others - {"barrier"}:
        found.append(row("collectives", engine, ranks, setup, "operators not counted: " + ", ".join(sorted(counted.others)),
                         "calls", 0, len(counted.others)))
    return found
