"""The measure kit: training with it is the same training, bit for bit; what it reads is what the tensors hold; off is off."""

import json
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
from rows import row
from toy import SIZES, loss_of, sequences, tensors_of, toy
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel
from zeroledger_measure import Measure

from zeroledger import explain, frameworks
from zeroledger.snapshot import read_snapshot

NAME, STEPS, MICRO_BATCHES, DROPOUT = "uneven", 5, 2, 0.1


def rows(ranks, quick):
    """Rows on rank 0: plain training alone, DDP and FSDP2 over ``ranks`` processes."""
    engines = {"DDP": DistributedDataParallel, "FSDP2": sharded} if ranks else {"PyTorch": lambda model: model}
    found = [each for engine, wrap in engines.items() for each in compared(engine, wrap, max(ranks, 1))]
    return found if not ranks or dist.get_rank() == 0 else []


def sharded(model):
    """The model under FSDP2."""
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for module in (*model.blocks, model):
        fully_shard(module, mesh=mesh)
    return model


def compared(engine, wrap, ranks):
    """Three trainings: without the kit, with it switched off, with it."""
    with tempfile.TemporaryDirectory() as folder:
        path, snapshot = Path(folder) / "run.json", Path(folder) / "snapshot.json"
        plain, off, on = train(wrap), train(wrap, path, on=False), train(wrap, path, on=True, snapshot=str(snapshot))
        setup = f"{STEPS} steps of {MICRO_BATCHES} micro-batches with dropout, kit measuring one"
        found = [row("kit", engine, ranks, setup, f"{what} that differ, {how}", "tensors", 0, unequal(mine, theirs))
                 for how, run in (("kit off", off), ("kit on", on))
                 for what, mine, theirs in zip(("losses", "weights and random states"), run, plain)]
        if dist.is_initialized() and dist.get_rank():
            return []
        return found + [each for each in readings(engine, ranks, json.loads(path.read_text(encoding="utf-8")), snapshot)]


def unequal(mine, theirs):
    """How many of two lists of tensors are not equal bit for bit."""
    return sum(not torch.equal(each, other) for each, other in zip(mine, theirs, strict=True))


def train(wrap, path=None, **options):
    """(losses, weights with the random state) of a run; one that draws random numbers in every forward."""
    torch.manual_seed(5)
    model = wrap(toy(NAME))
    optimizer = torch.optim.Adam(model.parameters(), foreach=True)
    batches = [sequences(NAME, 2, seed) for seed in range(STEPS * MICRO_BATCHES)]
    losses = []
    measure = Measure(model, optimizer, str(path), config=config(), **options) if path else list
    for number, tokens in enumerate(measure(batches)):
        noise = torch.nn.functional.dropout(torch.ones(()), DROPOUT)
        loss = loss_of(model, tokens) * noise
        (loss / MICRO_BATCHES).backward()
        if number % MICRO_BATCHES == MICRO_BATCHES - 1:
            optimizer.step()
            optimizer.zero_grad()
        losses.append(loss.detach().clone())
    weights = [getattr(each, "_local_tensor", each).detach().clone() for each in model.parameters()]
    return losses, [*weights, torch.get_rng_state()]


def config():
    """The model for the prediction, as a Hugging Face config."""
    size = SIZES[NAME]
    return {"model": {"model_type": "gpt2", "n_embd": size["h"], "n_layer": size["L"], "n_head": size["a"], "n_inner": size["f"],
                      "n_positions": size["S"], "vocab_size": size["V"], "tie_word_embeddings": False},
            "seq_length": size["S"], "micro_batch_size": 2, "gradient_accumulation_steps": MICRO_BATCHES, "attention": "eager", "compute_dtype": "fp32"}


def readings(engine, ranks, run, snapshot):
    """What the file says against the framework's own rules, and that explain and the snapshot's reader take it."""
    shapes = [shape for _, shape in tensors_of(NAME)]
    states = (frameworks.fsdp2_states if engine == "FSDP2" else frameworks.ddp_states)(shapes, ranks)
    steps = [next(each for each in rank["instants"] if each["name"] == "after_step")["by_category"] for rank in run["ranks"]]
    yield row("kit", engine, ranks, "file of the kit, after the step", "parameters", "bytes",
              [each["param_storage"] for each in states], [each["params"] for each in steps])
    yield row("kit", engine, ranks, "file of the kit, after the step", "optimizer state", "bytes",
              [each["exp_avg"] + each["exp_avg_sq"] + each["step"] for each in states], [each["optimizer"] for each in steps])
    told = explain(run)
    yield row("kit", engine, ranks, "file of the kit", "ranks and instants that explain reads", "readings", 8 * ranks, len(told.instants))
    yield row("kit", engine, ranks, "file of the kit", "snapshots that the reader takes", "files", 1,
              int(len(read_snapshot(snapshot.read_text(encoding="utf-8")).events) > 100))
