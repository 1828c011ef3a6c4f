"""Measures a small Llama on this machine's GPUs, for the table "predicted and measured". Needs torch, and
zeroledger_measure.py beside this file. Under five minutes:

    python measure_gpu.py [FOLDER]

It trains a few steps of each case below on every GPU that torch sees (or on those torchrun gives it), and writes
run-CASE.json and snapshot-CASE.json into FOLDER. With zeroledger on the path it prints the comparison; else take the
files to ``python -m zeroledger explain run-CASE.json``. Without a GPU it says so and measures a tiny model with torch's
own trackers on the CPU, which have neither reserved nor device memory. (A CPU's RMSNorm keeps fp32 copies that a GPU's
does not: expect that difference there.)

Not yet run on a GPU: written after PyTorch 2.13's documentation and tried on the CPU and on a stand-in for torch.cuda.
"""

import os
import socket
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.utils.checkpoint import checkpoint
from zeroledger_measure import Measure

GPU_SIZE = {"hidden_size": 2048, "num_hidden_layers": 12, "num_attention_heads": 16, "num_key_value_heads": 4,
            "intermediate_size": 5632, "vocab_size": 32000, "seq_length": 2048, "micro_batch_size": 2}
SMALL_GPU_BYTES = 12 * 10**9  # below it, half the layers and one sequence
CPU_SIZE = {"hidden_size": 128, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
            "intermediate_size": 344, "vocab_size": 1000, "seq_length": 64, "micro_batch_size": 2}
# case → what of the prediction's config it sets
CASES = {
    "fsdp2": {"engine": "fsdp2", "stage": 3},
    "fsdp2-not-resharded": {"engine": "fsdp2", "stage": 2, "fsdp": {"reshard_after_forward": False}},
    "fsdp2-recomputed": {"engine": "fsdp2", "stage": 3, "recompute": "full"},
    "plain-bf16": {"engine": "ideal", "stage": 0, "recipe": "adam-bf16-pure"},
}
STEPS = 5  # the third is measured, the fourth recorded


class Block(nn.Module):
    """RMSNorm, grouped attention without rotation, SwiGLU."""

    def __init__(self, size):
        super().__init__()
        hidden, ffn = size["hidden_size"], size["intermediate_size"]
        self.width = hidden // size["num_attention_heads"]
        keys = size["num_key_value_heads"] * self.width
        self.norm1, self.norm2 = nn.RMSNorm(hidden), nn.RMSNorm(hidden)
        self.q, self.o = nn.Linear(hidden, hidden, bias=False), nn.Linear(hidden, hidden, bias=False)
        self.k, self.v = nn.Linear(hidden, keys, bias=False), nn.Linear(hidden, keys, bias=False)
        self.gate, self.up = nn.Linear(hidden, ffn, bias=False), nn.Linear(hidden, ffn, bias=False)
        self.down = nn.Linear(ffn, hidden, bias=False)

    def forward(self, x):
        x = x + self.o(self.attend(self.norm1(x)))
        normed = self.norm2(x)
        return x + self.down(F.silu(self.gate(normed)) * self.up(normed))

    def attend(self, x):
        """Causal attention of all heads."""
        batch, length, _ = x.shape
        query, key, value = (each(x).view(batch, length, -1, self.width).transpose(1, 2) for each in (self.q, self.k, self.v))
        context = F.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
        return context.transpose(1, 2).reshape(batch, length, -1)


class Llama(nn.Module):
    """Embedding, blocks, norm, head."""

    def __init__(self, size, recompute):
        super().__init__()
        self.recompute = recompute
        self.tok = nn.Embedding(size["vocab_size"], size["hidden_size"])
        self.blocks = nn.ModuleList(Block(size) for _ in range(size["num_hidden_layers"]))
        self.norm = nn.RMSNorm(size["hidden_size"])
        self.head = nn.Linear(size["hidden_size"], size["vocab_size"], bias=False)

    def forward(self, ids):
        x = self.tok(ids)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.recompute else block(x)
        return self.head(self.norm(x))


def prepared(case, size, device, ranks):
    """(model, optimizer) of a case on ``device``."""
    config = CASES[case]
    torch.manual_seed(0)
    with device:
        model = Llama(size, config.get("recompute") == "full")
    if config["engine"] == "ideal":
        model = model.bfloat16()
    else:
        options = {"mesh": init_device_mesh(device.type, (ranks,)),
                   "mp_policy": MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)}
        if config["stage"] == 2:
            options["reshard_after_forward"] = False
        for module in (*model.blocks, model):
            fully_shard(module, **options)
    return model, torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=True)


def measured(case, size, device, rank, ranks, folder):
    """Trains the case's few steps and writes its two files."""
    model, optimizer = prepared(case, size, device, ranks)
    shape = {key: value for key, value in size.items() if key not in ("seq_length", "micro_batch_size")}
    config = {"model": {"model_type": "llama", "tie_word_embeddings": False, **shape}, "attention": "flash",
              "compute_dtype": "bf16", "keep_logits": False, "seq_length": size["seq_length"],
              "micro_batch_size": size["micro_batch_size"], **CASES[case]}
    measure = Measure(model, optimizer, os.path.join(folder, f"run-{case}.json"), config=config,
                      snapshot=os.path.join(folder, f"snapshot-{case}.json"), source=f"measure_gpu.py, case {case}")
    generator = torch.Generator().manual_seed(rank)
    batches = [torch.randint(0, size["vocab_size"], (size["micro_batch_size"], size["seq_length"]), generator=generator)
               for _ in range(STEPS)]
    for ids in measure(batches):
        ids = ids.to(device)
        logits = model(ids)
        loss = F.cross_entropy(logits.float().view(-1, size["vocab_size"]), ids.view(-1))
        del logits
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        del loss


def work(rank, ranks, address, folder, cases, has_gpu):
    """One process: every case in turn."""
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", rank))) if has_gpu else torch.device("cpu")
    if has_gpu:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if has_gpu else "gloo", init_method=address, rank=rank, world_size=ranks)
    size = size_for(device)
    for case in cases:
        if CASES[case]["engine"] == "ideal" and ranks > 1:
            continue  # nothing is sharded: one process tells all
        measured(case, size, device, rank, ranks, folder)
        if has_gpu:
            torch.cuda.empty_cache()
    dist.destroy_process_group()


def size_for(device):
    """The model's sizes for this device."""
    if device.type == "cpu":
        return CPU_SIZE
    if torch.cuda.get_device_properties(device).total_memory >= SMALL_GPU_BYTES:
        return GPU_SIZE
    return GPU_SIZE | {"num_hidden_layers": 6, "micro_batch_size": 1}


def free_address():
    """A tcp address on this machine that nobody listens at."""
    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{each.getsockname()[1]}"


def show(folder, cases):
    """Prints each file's readings, and the explanation where zeroledger is there."""
    try:
        from zeroledger import explain
    except ImportError:
        explain = None
    for case in cases:
        path = os.path.join(folder, f"run-{case}.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            print(explain(text) if explain else f"{path}: python -m zeroledger explain {path}")


def main(folder="zeroledger-measured", cases=tuple(CASES)):
    """Measures ``cases`` on every GPU, or on the CPU."""
    os.makedirs(folder, exist_ok=True)
    has_gpu = torch.cuda.is_available()
    if not has_gpu:
        print("No CUDA device here: allocated, reserved and device memory are not measured. A tiny model on the CPU instead, "
              "with torch's trackers.")
    if "RANK" in os.environ:  # under torchrun
        work(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), "env://", folder, cases, has_gpu)
        if os.environ["RANK"] != "0":
            return
    elif has_gpu and torch.cuda.device_count() > 1:
        ranks = torch.cuda.device_count()
        mp.spawn(work, (ranks, free_address(), folder, cases, True), nprocs=ranks)
        work(0, 1, free_address(), folder, [case for case in cases if CASES[case]["engine"] == "ideal"], True)
    else:
        work(0, 1, free_address(), folder, cases, has_gpu)
    show(folder, cases)


if __name__ == "__main__":
    main(*sys.argv[1:2])
