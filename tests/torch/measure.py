"""Measures what torch saves and holds, and writes tests/data/torch_runs.json, which the tests compare with.

Not part of the test run: it needs torch 2.13 (CPU). `python tests/torch/measure.py` with one thread, because the
workspace of a matrix product depends on their number. FSDP runs use a fake process group: collectives do nothing, and
FSDPMemTracker counts tensors, not kernels.
"""

import json
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from blocks import LanguageModel, LlamaBlock
from torch.distributed._tools.fsdp2_mem_tracker import FSDPMemTracker
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.profiler import ProfilerActivity, profile
from torch.testing._internal.distributed.fake_pg import FakeStore
from torch.utils.checkpoint import checkpoint

OUTPUT = Path(__file__).parents[1] / "data" / "torch_runs.json"
GPT = {"kind": "gpt", "h": 128, "a": 4, "f": 512, "V": 1024, "S": 64, "L": 4, "N": 4, "b": 1}
LLAMA = {"kind": "llama", "h": 128, "a": 4, "kv": 2, "f": 344, "V": 1000, "S": 64, "L": 3, "N": 8, "b": 4}
FSDP_RUNS = [GPT, GPT | {"raf": True}, GPT | {"raf": False}, GPT | {"reduce": "bf16"}, GPT | {"dropout": True, "b": 2},
             GPT | {"b": 8, "V": 256}, GPT | {"b": 8, "V": 256, "recompute": True}, GPT | {"tied": True},
             GPT | {"wrap": "none"}, GPT | {"L": 2, "h": 64, "a": 2, "f": 256, "S": 128, "b": 4, "V": 64}, LLAMA,
             LLAMA | {"V": 100, "S": 256, "N": 2, "b": 2, "attention": "sdpa"},
             LLAMA | {"V": 100, "S": 128, "b": 2, "recompute": True, "attention": "sdpa"}]
BLOCK_RUNS = [{"s": 128, "b": 2, "h": 256, "a": 8, "kv": kv, "ffn": 688, "attention": attention}
              for kv in (2, 8) for attention in ("sdpa", "eager", "hf")]


def saved_bytes(run, parameters):
    """Bytes of distinct storages that autograd saves during ``run()``, parameters left out."""
    skipped = {parameter.untyped_storage().data_ptr() for parameter in parameters}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in skipped:
            storages[storage.data_ptr()] = storage.nbytes(), tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        output = run()
    del output
    return sum(size for size, _ in storages.values())


def peak_bytes(run, reset=lambda: None):
    """Most bytes that ``run()`` holds at once over what was there before, once it has run before and been ``reset()``."""
    run()
    reset()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        run()
    events = [event for event in recorded.profiler.kineto_results.events() if event.name() == "[memory]"]
    live = most = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        live += event.nbytes()
        most = max(most, live)
    return most


def llama_block(inputs):
    block = LlamaBlock(inputs["h"], inputs["a"], inputs["kv"], inputs["ffn"], inputs["attention"]).to(torch.bfloat16)
    x = torch.randn(inputs["b"], inputs["s"], inputs["h"], dtype=torch.bfloat16, requires_grad=True)
    return {"saved_bytes": saved_bytes(lambda: block(x), block.parameters())}


def chunked_loss(inputs):
    tokens, vocab, hidden, chunks = (inputs[key] for key in ("tokens", "V", "h", "chunks"))
    head = torch.nn.Linear(hidden, vocab, bias=False).to(torch.bfloat16)
    head.weight.grad = torch.zeros_like(head.weight)
    x = torch.randn(tokens, hidden, dtype=torch.bfloat16, requires_grad=True)
    targets = torch.randint(0, vocab, (tokens,))

    def part(x, targets):
        logits = head(x)
        return F.cross_entropy(logits.float() if inputs["upcast"] else logits, targets, reduction="sum")

    def run():
        pairs = zip(x.chunk(chunks), targets.chunk(chunks), strict=True)
        if chunks > 1:
            losses = [checkpoint(part, *pair, use_reentrant=False, preserve_rng_state=False) for pair in pairs]
        else:
            losses = [part(*pair) for pair in pairs]
        total = losses.pop()
        while losses:
            total = total + losses.pop()
        total.backward()

    def reset():
        x.grad = None

    return {"peak_bytes": peak_bytes(run, reset)}


def adam(inputs):
    sizes = inputs["numels"]
    parameters = [torch.randn(size, requires_grad=True) for size in sizes]
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)
    options = {"foreach": {"foreach": True}, "fused": {"fused": True}, "forloop": {"foreach": False}}
    optimizer = torch.optim.Adam(parameters, **options[inputs["implementation"]])
    return {"peak_bytes": peak_bytes(optimizer.step)}


def sharded(inputs, mesh):
    """The model of a run's inputs, sharded by FSDP2 as they say."""
    model = LanguageModel(inputs)
    reduce = torch.bfloat16 if inputs.get("reduce") == "bf16" else torch.float32
    options = {"mesh": mesh, "mp_policy": MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=reduce)}
    if "raf" in inputs:
        options["reshard_after_forward"] = inputs["raf"]
    for block in model.blocks if inputs.get("wrap") != "none" else ():
        fully_shard(block, **options)
    fully_shard(model, **options)
    return model


def fsdp_peak(inputs):
    dist.init_process_group("fake", rank=0, world_size=inputs["N"], store=FakeStore())
    mesh = dist.init_device_mesh("cpu", (inputs["N"],))
    model = sharded(inputs, mesh)
    optimizer = torch.optim.Adam(model.parameters(), foreach=True)
    ids = torch.randint(0, inputs["V"], (inputs["b"], inputs["S"]))
    tracker = FSDPMemTracker(model, optimizer)
    tracker.track_inputs((ids,))
    with tracker:
        for step in range(2):
            logits = model(ids)
            loss = F.cross_entropy(logits.float().view(-1, inputs["V"]), ids.view(-1))
            del logits
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            if step == 0:
                tracker.reset_mod_stats()
    snapshot = tracker.get_tracker_snapshot("peak")[torch.device("cpu")]
    dist.destroy_process_group()
    return {str(getattr(key, "value", key)): size for key, size in snapshot.items()}


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    losses = [{"tokens": 512, "V": 4096, "h": 64, "chunks": chunks, "upcast": upcast}
              for chunks in (1, 2, 4) for upcast in (True, False)]
    numels = [1_000_000] * 4 + [2_000_000]
    adams = [{"numels": numels, "implementation": each} for each in ("foreach", "fused", "forloop")]
    runs = [(kind, inputs, measure(inputs)) for kind, measure, inputs_of in (
        ("llama_block", llama_block, BLOCK_RUNS), ("chunked_loss", chunked_loss, losses), ("adam_step", adam, adams),
        ("fsdp_peak", fsdp_peak, FSDP_RUNS)) for inputs in inputs_of]
    source = f"torch {torch.__version__}, tests/torch/measure.py"
    cases = [{"id": f"{kind}-{number}", "kind": kind, "source": source, "inputs": inputs, "expected": expected}
             for number, (kind, inputs, expected) in enumerate(runs)]
    OUTPUT.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
