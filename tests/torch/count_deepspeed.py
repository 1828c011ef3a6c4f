"""Counts DeepSpeed's collectives for tests/data/deepspeed_calls.json: needs torch (CPU) and deepspeed, not in CI.

    DS_ACCELERATOR=cpu python -m torch.distributed.run --nproc_per_node 2 tests/torch/count_deepspeed.py OUT.json

runs every configuration of the file that was taken with as many ranks, and writes what it counted. Compare with
``git diff --no-index``; the file's own entries were taken with DeepSpeed 0.19.8 and PyTorch 2.13.0.
"""

import json
import sys
from pathlib import Path

import deepspeed
import torch
import torch.nn.functional as F
from deepspeed.comm.torch import TorchBackend
from torch import nn

DATA = Path(__file__).parent.parent / "data" / "deepspeed_calls.json"
# method → (collective, position and name of the argument that is the full buffer)
COUNTED = {"all_gather_into_tensor": ("all_gather", 0, "output_tensor"), "all_reduce": ("all_reduce", 0, "tensor"),
           "reduce_scatter_tensor": ("reduce_scatter", 1, "input_tensor"), "reduce": ("reduce", 0, "tensor"),
           "broadcast": ("broadcast", 0, "tensor")}
STEPS = 4  # the module trace is complete from the third on
LARGEST_SCALAR = 4  # elements; overflow checks and norms are not payload


class Attention(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(h, h, bias=False) for _ in range(4))

    def forward(self, x):
        mixed = F.scaled_dot_product_attention(self.q_proj(x), self.k_proj(x), self.v_proj(x), is_causal=True)
        return self.o_proj(mixed)


class GatedMLP(nn.Module):
    def __init__(self, h, ffn):
        super().__init__()
        self.gate_proj, self.up_proj = (nn.Linear(h, ffn, bias=False) for _ in range(2))
        self.down_proj = nn.Linear(ffn, h, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Scale(nn.Module):
    """A norm's weight without the norm: one vector is all that travels."""

    def __init__(self, h):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(h))

    def forward(self, x):
        return x * self.weight


class LlamaLayer(nn.Module):
    def __init__(self, h, ffn):
        super().__init__()
        self.self_attn, self.mlp = Attention(h), GatedMLP(h, ffn)
        self.input_layernorm, self.post_attention_layernorm = Scale(h), Scale(h)

    def forward(self, x):
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


class LlamaBody(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.embed_tokens = nn.Embedding(size["V"], size["h"])
        self.layers = nn.ModuleList(LlamaLayer(size["h"], size["ffn"]) for _ in range(size["L"]))
        self.norm = Scale(size["h"])

    def forward(self, tokens):
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


class Llama(nn.Module):
    def __init__(self, size, tied):
        super().__init__()
        self.model, self.lm_head = LlamaBody(size), nn.Linear(size["h"], size["V"], bias=False)
        if tied:
            self.lm_head.weight = self.model.embed_tokens.weight

    def forward(self, tokens):
        return F.cross_entropy(self.lm_head(self.model(tokens)).float().flatten(0, 1), tokens.flatten())


class ToyBlock(nn.Module):
    def __init__(self, h, ffn):
        super().__init__()
        self.ln1, self.ln2, self.qkv, self.proj = nn.LayerNorm(h), nn.LayerNorm(h), nn.Linear(h, 3 * h), nn.Linear(h, h)
        self.fc1, self.fc2 = nn.Linear(h, ffn), nn.Linear(ffn, h)

    def forward(self, x):
        q, k, v = self.qkv(self.ln1(x)).chunk(3, -1)
        x = x + self.proj(F.scaled_dot_product_attention(q, k, v, is_causal=True))
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x))))


class Toy(nn.Module):
    def __init__(self, size, tied):
        super().__init__()
        self.tok, self.pos = nn.Embedding(size["V"], size["h"]), nn.Embedding(size["S"], size["h"])
        self.blocks = nn.ModuleList(ToyBlock(size["h"], size["ffn"]) for _ in range(size["L"]))
        self.lnf, self.head = nn.LayerNorm(size["h"]), nn.Linear(size["h"], size["V"], bias=False)

    def forward(self, tokens):
        x = self.tok(tokens) + self.pos(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(self.head(self.lnf(x)).float().flatten(0, 1), tokens.flatten())


def count_calls(log):
    """Wrap DeepSpeed's backend so that every collective appends (name, full-buffer elements) to ``log``."""
    def wrap(name, collective, position, argument):
        original = getattr(TorchBackend, name)

        def counted(self, *args, **kwargs):
            numel = (args[position] if len(args) > position else kwargs[argument]).numel()
            if numel > LARGEST_SCALAR:
                log.append((collective, numel))
            return original(self, *args, **kwargs)

        setattr(TorchBackend, name, counted)

    for name, found in COUNTED.items():
        wrap(name, *found)


def run(entry, log):
    """{collective: {"calls", "numel"}} of the last of ``STEPS`` optimizer steps."""
    torch.manual_seed(0)
    model = {"toy": Toy, "llama": Llama}[entry["layout"]](entry["sizes"], entry["tied"]).bfloat16()
    config = entry["config"] | {"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": True},
                                "zero_allow_untested_optimizer": True, "zero_force_ds_cpu_optimizer": False}
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config,
                                      optimizer=torch.optim.Adam(model.parameters(), lr=1e-3))
    size = entry["sizes"]
    for _ in range(STEPS):
        log.clear()
        for _ in range(config["gradient_accumulation_steps"]):
            engine.backward(engine(torch.randint(0, size["V"], (1, size["S"]))))
            engine.step()
    calls = {}
    for name, numel in log:
        total = calls.setdefault(name, {"calls": 0, "numel": 0})
        total["calls"] += 1
        total["numel"] += numel
    engine.destroy()
    return calls


def main(out):
    """Run all entries of this world size and write them, recounted."""
    torch.set_num_threads(1)
    deepspeed.init_distributed("gloo")
    log, ranks = [], torch.distributed.get_world_size()
    count_calls(log)
    entries = [entry for entry in json.loads(DATA.read_text(encoding="utf-8"))["runs"] if entry["ranks"] == ranks]
    counted = [entry | {"calls": run(entry, log)} for entry in entries]
    if torch.distributed.get_rank() == 0:
        Path(out).write_text(",\n".join(map(json.dumps, counted)) + "\n", encoding="utf-8")
        wrong = sum(before["calls"] != after["calls"] for before, after in zip(entries, counted))
        print(f"{len(counted)} runs counted, {wrong} differ from the file")


if __name__ == "__main__":
    main(sys.argv[1])
