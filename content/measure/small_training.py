"""A small language model trained for a few steps by DDP or FSDP2, measured by zeroledger_measure. For torchrun.

    torchrun --standalone --nproc-per-node 2 small_training.py --stage 3 --measure run.json

On several nodes the same, launched on each: torchrun --nnodes 2 --nproc-per-node 8 --rdzv-backend c10d --rdzv-endpoint HOST:29500 …
Stage 0 is DDP, 2 FSDP2 that keeps gathered weights until backward is over, 3 FSDP2 as it comes. Where there is a GPU
for every process it is used (NCCL), else the CPU (gloo). The weights and the data are the same for any number of ranks.
"""

import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel
from zeroledger_measure import Measure

MODEL = {"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 8,
         "intermediate_size": 688, "vocab_size": 4096, "tie_word_embeddings": False}
GLOBAL_BATCH, SEQ_LENGTH = 16, 128
SHORTEST = 4  # trained tokens of the shortest sequence; the longest is trained throughout
RATE = 1e-3


class Block(nn.Module):
    """Attention and gated MLP with RMSNorm, as in Llama, without rotary embedding."""

    def __init__(self, hidden, heads, ffn):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.RMSNorm(hidden), nn.RMSNorm(hidden)
        self.q, self.k, self.v, self.o = (nn.Linear(hidden, hidden, bias=False) for _ in range(4))
        self.gate, self.up, self.down = nn.Linear(hidden, ffn, bias=False), nn.Linear(hidden, ffn, bias=False), nn.Linear(ffn, hidden, bias=False)

    def forward(self, x):
        """The block's output, the shape of ``x``."""
        normed = self.norm1(x)
        split = (each(normed).unflatten(-1, (self.heads, -1)).transpose(1, 2) for each in (self.q, self.k, self.v))
        x = x + self.o(F.scaled_dot_product_attention(*split, is_causal=True).transpose(1, 2).flatten(2))
        normed = self.norm2(x)
        return x + self.down(F.silu(self.gate(normed)) * self.up(normed))


class Small(nn.Module):
    """The model of ``MODEL``."""

    def __init__(self):
        super().__init__()
        hidden, ffn, vocab = MODEL["hidden_size"], MODEL["intermediate_size"], MODEL["vocab_size"]
        self.tok = nn.Embedding(vocab, hidden)
        self.blocks = nn.ModuleList([Block(hidden, MODEL["num_attention_heads"], ffn) for _ in range(MODEL["num_hidden_layers"])])
        self.norm, self.head = nn.RMSNorm(hidden), nn.Linear(hidden, vocab, bias=False)

    def forward(self, ids):
        """Logits."""
        x = self.tok(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def global_batch(step):
    """(tokens, labels) of a step, the same on every rank; sequences are trained to different lengths, -100 masks the rest."""
    maker = torch.Generator().manual_seed(1000 + step)
    tokens = torch.randint(0, MODEL["vocab_size"], (GLOBAL_BATCH, SEQ_LENGTH + 1), generator=maker)
    labels = tokens[:, 1:].clone()
    for row, length in enumerate(torch.linspace(SHORTEST, SEQ_LENGTH, GLOBAL_BATCH).long().tolist()):
        labels[row, length:] = -100
    return tokens[:, :-1], labels


def micro_batches(step, accumulate, rank, ranks):
    """This rank's part of the step's batch, in ``accumulate`` pieces."""
    parts = (each.tensor_split(ranks)[rank].tensor_split(accumulate) for each in global_batch(step))
    return list(zip(*parts))


def sharded(model, stage, device):
    """``model`` as the stage wants it."""
    if stage == 0:
        return DistributedDataParallel(model) if dist.get_world_size() > 1 else model
    mesh = dist.init_device_mesh(device.type, (dist.get_world_size(),))
    for block in model.blocks:
        fully_shard(block, mesh=mesh, reshard_after_forward=stage == 3)
    return fully_shard(model, mesh=mesh, reshard_after_forward=False if stage == 2 else None)


def train_step(model, optimizer, step, options, device, after_backward=lambda: None):
    """One optimizer step; the mean loss over the trained tokens of this rank."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    everyone = (global_batch(step)[1] != -100).sum().item()
    pieces, summed, trained = micro_batches(step, options.accumulate, rank, ranks), 0.0, 0
    for tokens, labels in pieces:
        tokens, labels = tokens.to(device), labels.to(device)
        valid = (labels != -100).sum().item()
        loss = F.cross_entropy(model(tokens).flatten(0, 1), labels.flatten(), reduction="sum")
        # gradients are averaged over ranks afterwards, hence "× ranks" where the denominator is everyone's
        scaled = loss * ranks / everyone if options.weighting == "global" else loss / valid / len(pieces)
        scaled.backward()
        summed, trained = summed + loss.item(), trained + valid
        del loss, scaled
    after_backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return summed / trained


def save_gradients(model, path):
    """Whole gradients by name, written by rank 0."""
    whole = {}
    for name, parameter in model.named_parameters():
        grad = parameter.grad.full_tensor() if hasattr(parameter.grad, "full_tensor") else parameter.grad
        whole[name.removeprefix("module.")] = grad.detach().float().cpu().clone()
    if dist.get_rank() == 0:
        torch.save(whole, path)


def options_of(words=None):
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stage", type=int, choices=(0, 2, 3), default=3)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--accumulate", type=int, default=1, help="micro-batches in a step")
    parser.add_argument("--weighting", choices=("global", "mean-of-means"), default="global")
    parser.add_argument("--measure", help="write the measured run here")
    parser.add_argument("--snapshot", help="write the allocator's history here")
    parser.add_argument("--gradients", help="write the first step's gradients here")
    return parser.parse_args(words)


def main():
    options = options_of()
    local = int(os.environ.get("LOCAL_RANK", 0))
    on_gpu = torch.cuda.is_available() and torch.cuda.device_count() > local
    device = torch.device("cuda", local) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
    else:
        torch.set_num_threads(1)
    for name, value in (("RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", "29511")):
        os.environ.setdefault(name, value)  # so that it also runs without torchrun
    dist.init_process_group("nccl" if on_gpu else "gloo")
    torch.manual_seed(0)
    model = sharded(Small().to(device), options.stage, device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    config = {"model": MODEL, "stage": options.stage, "engine": "fsdp2" if options.stage else "ideal", "recipe": "adam-fp32",
              "compute_dtype": "fp32", "seq_length": SEQ_LENGTH, "gradient_accumulation_steps": options.accumulate,
              "micro_batch_size": -(-GLOBAL_BATCH // dist.get_world_size() // options.accumulate), "loss_upcast": False,
              "attention": "flash"}
    if options.stage:
        config["fsdp"] = {"reshard_after_forward": False if options.stage == 2 else "default"}
    measure = Measure(model, optimizer, options.measure, config=config, snapshot=options.snapshot, on=bool(options.measure))
    for step in measure(range(options.steps)):
        keep = options.gradients and step == 0
        loss = train_step(model, optimizer, step, options, device, (lambda: save_gradients(model, options.gradients)) if keep else lambda: None)
        if dist.get_rank() == 0:
            print(f"step {step}  loss on rank 0 {loss:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
