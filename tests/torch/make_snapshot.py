"""Writes an example of a memory snapshot, content/measurements/examples/cpu-step-snapshot.json, without a GPU.

The allocations and releases are those of a real training step that torch runs on a CPU (a mode sees every new storage,
with the Python stack that made it). Addresses and segments come from ``zeroledger.CachingAllocator``, to which they are
replayed. So the order and the sizes are real, the layout is a model's, and what a CUDA kernel would take is not there.
The result has the form of ``torch.cuda.memory._snapshot()`` and goes through the measure kit's own converter.

    PYTHONPATH=content:content/measure:tests/torch python tests/torch/make_snapshot.py      (torch 2.13, CPU)
"""

import json
import sys
import weakref
from pathlib import Path

import torch
import torch.nn.functional as F
from blocks import LanguageModel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from zeroledger import CachingAllocator
from zeroledger_measure import snapshot_from_torch

OUTPUT = Path(__file__).parents[2] / "content/measurements/examples/cpu-step-snapshot.json"
RUN = {"kind": "llama", "h": 256, "a": 8, "kv": 8, "f": 688, "V": 4096, "S": 256, "L": 4, "b": 4, "attention": "eager"}
BASE = 0x7F0000000000
DEEPEST = 12  # frames kept


class Recorder(TorchDispatchMode):
    """Events [action, storage number, bytes, stack number] of every storage that is made and released."""

    def __init__(self):
        super().__init__()
        self.events, self.stacks, self.numbers = [], {}, weakref.WeakKeyDictionary()
        self.count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor):
                self.see(leaf.untyped_storage())
        return result

    def see(self, storage, stack=None):
        """Record ``storage`` unless it is known."""
        if storage in self.numbers or not storage.nbytes():
            return
        number = self.numbers[storage] = self.count
        self.count += 1
        place = self.stack() if stack is None else stack
        self.events.append(["alloc", number, storage.nbytes(), place])
        weakref.finalize(storage, self.events.append, ["free", number, storage.nbytes(), place])

    def stack(self):
        """The number of the Python stack that is running, this file's recorder left out."""
        frames, frame = [], sys._getframe(3)
        while frame and len(frames) < DEEPEST:
            file = frame.f_code.co_filename
            if "_python_dispatch" not in file and not file.startswith("<frozen"):
                frames.append((shorter(file), frame.f_lineno, frame.f_code.co_name))
            frame = frame.f_back
        return self.stacks.setdefault(tuple(frames), len(self.stacks))


def shorter(file):
    """A path from site-packages or the file's own name on."""
    return file[file.index("site-packages"):] if "site-packages" in file else Path(file).name


def train(model, optimizer, ids, mark=lambda name: None):
    """One step, as in any loop; ``mark`` is told where a phase ends."""
    logits = model(ids)
    loss = F.cross_entropy(logits.view(-1, RUN["V"]), ids.view(-1))
    del logits
    mark("end_of_forward")
    loss.backward()
    mark("end_of_backward")
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    mark("after_step")


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = LanguageModel(RUN)
    optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
    ids = torch.randint(0, RUN["V"], (RUN["b"], RUN["S"]))
    train(model, optimizer, ids)
    recorder = Recorder()
    states = [each for state in optimizer.state.values() for each in state.values() if isinstance(each, torch.Tensor)]
    for tensor in (*model.parameters(), *states, ids):
        recorder.see(tensor.untyped_storage(), stack=-1)
    before, tags, marks = len(recorder.events), {}, []
    for tag, tensors in (("params", model.parameters()), ("optimizer", states)):
        tags |= {recorder.numbers[tensor.untyped_storage()]: tag for tensor in tensors}
    with recorder:
        for _ in range(2):
            train(model, optimizer, ids, lambda name: marks.append((len(recorder.events), name)))
    events = list(recorder.events)
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    raw, held = replayed(events, before, tags, list(recorder.stacks), marks)
    OUTPUT.write_text(json.dumps(file_of(raw, held), separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{len(events) - before} events, {OUTPUT.stat().st_size:,} bytes")


def replayed(events, before, tags, stacks, marks):
    """({"segments", "device_traces", "marks"} as PyTorch gives the first two, [held tensors]); events before ``before`` are no trace."""
    allocator, handles, trace, held = CachingAllocator(), {}, [], []
    for at, (action, number, size, stack) in enumerate(events):
        frames = [] if stack < 0 else [{"filename": file, "line": line, "name": name} for file, line, name in stacks[stack]]
        common = {"size": size, "stream": 0, "time_us": 40 * at, "frames": frames}
        if action == "free":
            address = BASE + allocator._live[handles[number]].address
            trace += [{"action": each, "addr": address, **common} for each in ("free_requested", "free_completed")]
            allocator.free(handles.pop(number))
            continue
        reserved = allocator.reserved_bytes
        handles[number] = allocator.allocate(size)
        block = allocator._live[handles[number]]
        if at < before:
            held += [{"address": BASE + block.address, "num_bytes": block.num_bytes, "category": tags[number]}] if number in tags else []
            continue
        if allocator.reserved_bytes > reserved:
            trace.append({"action": "segment_alloc", "addr": BASE + first_of(block).address, **common, "size": allocator.reserved_bytes - reserved})
        trace.append({"action": "alloc", "addr": BASE + block.address, **common})
    starts = sorted((block for block in allocator.blocks() if block.before is None), key=lambda each: each.address)
    named = [(40 * at - 1, name) for at, name in marks]
    return {"segments": [segment(start) for start in starts], "device_traces": [trace], "marks": named}, held


def first_of(block):
    """The first block of the segment."""
    return first_of(block.before) if block.before else block


def segment(start):
    """A segment as PyTorch lists it, from its first block on."""
    blocks, block = [], start
    while block:
        state = "inactive" if block.is_free else "active_allocated"
        blocks.append({"address": BASE + block.address, "size": block.num_bytes, "state": state,
                       "requested_size": 0 if block.is_free else block.requested_bytes})
        block = block.after
    allocated = sum(each["size"] for each in blocks if each["state"] == "active_allocated")
    return {"device": 0, "address": blocks[0]["address"], "total_size": sum(each["size"] for each in blocks), "stream": 0,
            "segment_type": start.pool, "allocated_size": allocated, "active_size": allocated, "is_expandable": False, "blocks": blocks}


def file_of(raw, held):
    """What the kit would write of ``raw``, with a configuration."""
    config = {"model": {"model_type": "llama", "hidden_size": RUN["h"], "num_hidden_layers": RUN["L"], "num_attention_heads": RUN["a"],
                        "num_key_value_heads": RUN["kv"], "intermediate_size": RUN["f"], "vocab_size": RUN["V"],
                        "max_position_embeddings": RUN["S"], "tie_word_embeddings": False},
              "dp": 1, "stage": 0, "engine": "ideal", "recipe": "adam-fp32", "compute_dtype": "fp32", "micro_batch_size": RUN["b"],
              "seq_length": RUN["S"], "attention": "eager", "loss_upcast": False, "keep_logits": False, "optimizer_kernel": "foreach"}
    source = ("two real training steps on a CPU, replayed to ZeRO Ledger's model of the caching allocator; not a GPU's snapshot "
              "(tests/torch/make_snapshot.py)")
    told = snapshot_from_torch(raw, 0, sum(each["num_bytes"] for each in held), raw["marks"])
    return {"format": "zeroledger-snapshot", "version": 1, "device": "CPU, replayed", "versions": {"torch": torch.__version__},
            "config": config, "held": held, **told, "source": source}


if __name__ == "__main__":
    main()
