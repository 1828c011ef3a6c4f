"""The largest instant of an FSDP2 step by torch's FSDPMemTracker: small models that run, and large ones in fake mode.

Every tensor is counted, none of the large ones is computed; collectives do nothing (a fake process group). Attention
and norms are a CPU's kernels, and the prediction is told so.
"""

import contextlib

import torch
import torch.distributed as dist
import torch.nn.functional as F
from measure import FSDP_RUNS, sharded
from measured_models import cpu_settings, gpt, llama
from rows import row
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.fsdp2_mem_tracker import FSDPMemTracker
from torch.testing._internal.distributed.fake_pg import FakeStore

from zeroledger import frameworks
from zeroledger.activation_stack import Stack
from zeroledger.fsdp_timeline import FsdpSettings, fsdp_instants
from zeroledger.instants import Instant, MemoryRow, peak, with_rows
from zeroledger.logits import loss_settings
from zeroledger.optimizer_step import adam_step_rows

SEVEN = {"kind": "llama", "h": 4096, "a": 32, "kv": 32, "f": 11008, "V": 32000, "S": 2048, "L": 32, "N": 8, "b": 1,
         "attention": "sdpa"}
THIRTEEN = SEVEN | {"h": 5120, "a": 40, "kv": 40, "f": 13824, "L": 40, "S": 4096}
SEVENTY = SEVEN | {"h": 8192, "a": 64, "kv": 8, "f": 28672, "L": 80, "N": 64, "S": 4096}
FAKE_RUNS = [SEVEN, SEVEN | {"recompute": True, "S": 4096, "b": 2}, SEVEN | {"raf": False}, THIRTEEN | {"recompute": True},
             SEVENTY | {"recompute": True}, SEVENTY | {"S": 2048}]
NOT_IN_THE_RUN = ("rotary cosines and sines", "embedding dropout mask")
PER_CENT, FP32_BYTES, TOKEN_BYTES = 5, 4, 8


def rows(ranks, quick):
    """A row a run."""
    small, fake = (FSDP_RUNS[:3], FAKE_RUNS[:1]) if quick else (FSDP_RUNS, FAKE_RUNS)
    return [compared(inputs, is_fake) for is_fake, chosen in ((False, small), (True, fake)) for inputs in chosen]


def compared(inputs, is_fake):
    """The largest instant, predicted and tracked."""
    kernel = "fused" if is_fake else "foreach"  # the other kernel reads its step counter, which a fake tensor has not
    instant = predicted(inputs, kernel)
    words = said(inputs) + (", fake mode" if is_fake else "")
    measured = tracked(inputs, FakeTensorMode() if is_fake else contextlib.nullcontext(), kernel)
    return row("peak", "FSDP2", inputs["N"], words, "largest instant of a step", "bytes", instant.num_bytes, measured,
               PER_CENT, instant.name)


def said(inputs):
    numel = shape_of(inputs).num_params
    options = [f"{inputs['kind']} of {numel:,} parameters", f"{inputs['b']} × {inputs['S']} tokens", "bf16 mixed precision"]
    options += [words for key, words in (("recompute", "recomputed"), ("dropout", "dropout"), ("tied", "tied head"),
                                         ("wrap", "root unit only"), ("reduce", "bf16 reduction")) if key in inputs]
    options += [{True: "resharded", False: "not resharded"}[inputs["raf"]]] if "raf" in inputs else []
    return ", ".join(options)


def shape_of(inputs):
    fields = {"num_layers": inputs["L"], "vocab": inputs["V"], "tie_word_embeddings": "tied" in inputs}
    if inputs["kind"] == "gpt":
        return gpt(inputs["h"], inputs["a"], intermediate_size=inputs["f"], max_position_embeddings=inputs["S"], **fields)
    return llama(inputs["h"], inputs["a"], inputs["kv"], inputs["f"], **fields)


def predicted(inputs, kernel):
    """The package's largest ``Instant`` of a step, the optimizer's included, with states and input tokens."""
    shape, dropout = shape_of(inputs), "dropout" in inputs
    attention = "flash" if inputs.get("attention") == "sdpa" else "eager"
    run = cpu_settings(inputs["b"], inputs["S"], attention=attention, hidden_dropout=dropout, attention_dropout=dropout,
                       recompute="full" if "recompute" in inputs else "none")
    fsdp = FsdpSettings(inputs["N"], reduce_dtype=inputs.get("reduce", "fp32"), wrap=inputs.get("wrap", "layer"),
                        reshard_after_forward=inputs.get("raf", "default"))
    instants = fsdp_instants(Stack(shape, run, loss_settings(shape, run, keep_logits=False)), fsdp)
    states = frameworks.fsdp2_states([tensor.shape for tensor in shape.tensors()], inputs["N"])[0]
    adam = MemoryRow("optimizer_states", "Adam", states["exp_avg"] + states["exp_avg_sq"] + states["step"])
    kept = (adam, MemoryRow("inputs", "tokens", TOKEN_BYTES * inputs["b"] * inputs["S"]))
    shards = tuple(each for each in instants[0].rows if each.account == "sharded_params")
    step = Instant("optimizer step", (*shards, MemoryRow("sharded_grads", "gradients", states["grad_storage"]),
                                      *adam_step_rows(states["param"] // FP32_BYTES, "fp32", kernel)), "optimizer step")
    return peak(with_rows((*(without_inputs(each) for each in instants), step), kept))


def without_inputs(instant):
    """The instant without its own input rows (the run keeps one batch of tokens throughout) and what the run has not."""
    rows = tuple(each for each in instant.rows if each.account != "inputs" and each.what not in NOT_IN_THE_RUN)
    return Instant(instant.name, rows, instant.phase)


def tracked(inputs, mode, kernel):
    """FSDPMemTracker's peak over one step."""
    dist.init_process_group("fake", rank=0, world_size=inputs["N"], store=FakeStore())
    try:
        mesh = dist.init_device_mesh("cpu", (inputs["N"],))  # reads real ranks: not in fake mode
        with mode:
            return run(inputs, mesh, kernel)
    finally:
        dist.destroy_process_group()


def run(inputs, mesh, kernel):
    model = sharded(inputs, mesh)
    optimizer = torch.optim.Adam(model.parameters(), **{kernel: True})
    make_states(model, optimizer)
    ids = torch.randint(0, inputs["V"], (inputs["b"], inputs["S"]))
    tracker = FSDPMemTracker(model, optimizer)
    tracker.track_inputs((ids,))
    with tracker:
        logits = model(ids)
        loss = F.cross_entropy(logits.float().view(-1, inputs["V"]), ids.view(-1))
        del logits
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return tracker.get_tracker_snapshot("peak")[torch.device("cpu")]["Total"]


def make_states(model, optimizer):
    """A step on zero gradients before anything is tracked: DTensor asks each operator about whole tensors the first time,
    and in fake mode the tracker would count those."""
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    optimizer.zero_grad()
