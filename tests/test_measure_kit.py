"""The measure kit without torch: a stand-in for torch.cuda shows when it reads what, and what it writes is read back.

The kit with real PyTorch on a CPU is truth job "kit" (./build.sh torch kit); on a real GPU nobody has run it here.
"""

import importlib.util
import json
import sys
import types
from pathlib import Path

import pytest

from zeroledger import explain
from zeroledger.snapshot import read_snapshot

KIT = Path(__file__).parents[1] / "content" / "measure" / "zeroledger_measure.py"
FLOAT, CONTEXT, ROOM = "float32", 500, 100_000
WEIGHTS, ACTIVATIONS, WORKSPACE = 4000, 3000, 700


class Storage:
    def __init__(self, size, address):
        self._cdata, self.size, self.address = address, size, address

    def nbytes(self):
        return self.size

    def data_ptr(self):
        return self.address


class Tensor:
    """``numel`` floats in a storage of its own."""

    def __init__(self, size, address, device):
        self.storage, self.device, self.dtype, self.grad = Storage(size, address), device, FLOAT, None

    def untyped_storage(self):
        return self.storage


class AdamStandIn:
    """Adam's shape: two moments a parameter, made in the first step."""

    def __init__(self, torch, parameters):
        self.torch, self.defaults = torch, {"fused": None, "foreach": True}
        self.param_groups, self.state, self.before, self.after = [{"params": parameters}], {}, [], []

    def _register(self, hooks, hook):
        hooks.append(hook)
        return types.SimpleNamespace(remove=lambda: hooks.remove(hook))

    def register_step_pre_hook(self, hook):
        return self._register(self.before, hook)

    def register_step_post_hook(self, hook):
        return self._register(self.after, hook)

    def step(self):
        for hook in list(self.before):
            hook(self, (), {})
        for number, each in enumerate(self.param_groups[0]["params"]):
            if each not in self.state:
                size = each.storage.size
                self.state[each] = {name: self.torch.make(size, 1000 + 2 * number + place)
                                    for place, name in enumerate(("exp_avg", "exp_avg_sq"))}
        self.torch.hold(WORKSPACE)
        self.torch.hold(-WORKSPACE)
        for hook in list(self.after):
            hook(self, (), {})

    def zero_grad(self):
        for each in self.param_groups[0]["params"]:
            if each.grad is not None:
                self.torch.hold(-each.grad.storage.size)
                each.grad = None


class FakeTorch(types.ModuleType):
    """As much of torch as the kit touches, with an allocator that only counts."""

    def __init__(self):
        super().__init__("torch")
        self.live = self.most = 0
        self.calls = []
        self.device = lambda kind: types.SimpleNamespace(type=kind, index=0)
        self.gpu = self.device("cuda")
        self.float32, self.bfloat16, self.float16, self.Tensor, self.__version__ = FLOAT, "bfloat16", "float16", Tensor, "2.13.0+fake"
        self.version = types.SimpleNamespace(cuda="13.0")
        self.optim = types.SimpleNamespace(Optimizer=AdamStandIn)
        self.autograd = types.SimpleNamespace(backward=self.run_backward)
        memory = types.SimpleNamespace(_record_memory_history=lambda **words: self.calls.append(words), _snapshot=lambda _: RAW)
        self.cuda = types.SimpleNamespace(
            memory=memory, memory_allocated=lambda _: self.live, max_memory_allocated=lambda _: self.most,
            memory_reserved=lambda _: 2 * self.live, max_memory_reserved=lambda _: 2 * self.most,
            mem_get_info=lambda _: (ROOM - 2 * self.live - CONTEXT, ROOM), reset_peak_memory_stats=self.reset,
            get_device_name=lambda _: "Stand-in GPU", current_device=lambda: 0)

    def hold(self, size):
        self.live += size
        self.most = max(self.most, self.live)

    def reset(self, device):
        self.most = self.live

    def make(self, size, address):
        self.hold(size)
        return Tensor(size, address, self.gpu)

    def run_backward(self, model):
        for number, each in enumerate(model.parameters()):
            each.grad = each.grad or self.make(each.storage.size, 500 + number)
        self.hold(WORKSPACE)
        self.hold(-ACTIVATIONS - WORKSPACE)


class Model:
    def __init__(self, torch):
        self.weights = [torch.make(WEIGHTS, 1), torch.make(WEIGHTS // 2, 2)]

    def parameters(self):
        return iter(self.weights)

    def modules(self):
        return iter([self])


FRAMES = [{"filename": "/x/torch/nn/module.py", "line": 1, "name": "_call"}, {"filename": "/me/train.py", "line": 31, "name": "step"}]
RAW = {"segments": [{"device": 0, "address": 4096, "total_size": 2048, "allocated_size": 512, "active_size": 512, "stream": 0,
                     "blocks": [{"size": 512, "requested_size": 500, "address": 4096, "state": "active_allocated", "frames": FRAMES}]}],
       "device_traces": [[{"action": "segment_alloc", "addr": 4096, "size": 2048, "stream": 0, "time_us": 10, "frames": []},
                          {"action": "alloc", "addr": 4096, "size": 500, "stream": 0, "time_us": 11, "frames": FRAMES},
                          {"action": "alloc", "addr": 4608, "size": 256, "stream": 0, "time_us": 12, "frames": FRAMES},
                          {"action": "free_requested", "addr": 4608, "size": 256, "stream": 0, "time_us": 13, "frames": []},
                          {"action": "free_completed", "addr": 4608, "size": 256, "stream": 0, "time_us": 14, "frames": []},
                          {"action": "snapshot", "size": 0, "stream": 0, "time_us": 15, "frames": []}]]}
CONFIG = {"model": "llama-2-7b", "seq_length": 128}


@pytest.fixture
def torch(monkeypatch):
    """The stand-in, while the kit is imported and used."""
    fake = FakeTorch()
    monkeypatch.setitem(sys.modules, "torch", fake)
    distributed = types.ModuleType("torch.distributed")
    distributed.is_available = lambda: False
    fake.distributed = distributed
    monkeypatch.setitem(sys.modules, "torch.distributed", distributed)
    return fake


@pytest.fixture
def kit(torch):
    """The kit on the stand-in."""
    spec = importlib.util.spec_from_file_location("kit_on_a_stand_in", KIT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def train(torch, model, optimizer, batches, micro_batches=1, zero_first=False):
    for number, _ in enumerate(batches):
        if zero_first and number % micro_batches == 0:
            optimizer.zero_grad()
        torch.hold(ACTIVATIONS)
        torch.autograd.backward(model)
        if number % micro_batches == micro_batches - 1:
            optimizer.step()
            if not zero_first:
                optimizer.zero_grad()


def measured(kit, torch, path, **options):
    """{instant: reading} of the file that a run of six batches writes."""
    loop = {name: options.pop(name) for name in ("micro_batches", "zero_first") if name in options}
    model = Model(torch)
    optimizer = AdamStandIn(torch, model.weights)
    measure = kit.Measure(model, optimizer, str(path), CONFIG, **options)
    train(torch, model, optimizer, measure(range(12)), **loop)
    assert not optimizer.before and not optimizer.after and "zero_grad" not in vars(optimizer)
    assert torch.autograd.backward == torch.run_backward, "every hook is gone"
    written = json.loads(path.read_text(encoding="utf-8"))
    return written, {each["name"]: each for each in written["ranks"][0]["instants"]}


@pytest.mark.parametrize("loop", [{}, {"zero_first": True}, {"micro_batches": 2}, {"micro_batches": 3, "zero_first": True}], ids=str)
def test_what_a_gpu_s_meters_say_at_every_instant(kit, torch, tmp_path, loop):
    written, instants = measured(kit, torch, tmp_path / "run.json", **loop)
    weights = WEIGHTS + WEIGHTS // 2
    between = weights + 2 * weights  # parameters and moments
    accumulated = weights if loop.get("micro_batches", 1) > 1 else 0
    expected = {"after_init": weights, "end_of_forward": between + accumulated + ACTIVATIONS, "end_of_backward": between + weights,
                "after_step": between, "peak_forward": between + accumulated + ACTIVATIONS,
                "peak_backward": between + weights + ACTIVATIONS + WORKSPACE, "peak_step": between + weights + WORKSPACE,
                "peak": between + weights + ACTIVATIONS + WORKSPACE}
    assert {name: each["allocated_bytes"] for name, each in instants.items()} == expected
    assert instants["after_step"]["by_category"] == {"params": weights, "grads": 0, "optimizer": 2 * weights}
    assert instants["end_of_backward"]["by_category"]["grads"] == weights
    assert instants["after_step"]["device_bytes"] == 2 * between + CONTEXT and instants["peak"]["device_bytes"] is None
    assert written["device"] == "Stand-in GPU" and written["versions"]["cuda"] == "13.0"


def test_explain_reads_the_file(kit, torch, tmp_path):
    measured(kit, torch, tmp_path / "run.json")
    told = explain((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert [each.name for each in told.instants][:2] == ["after_init", "end_of_forward"] and len(told.instants) == 8
    assert told.instants[0].reserve_bytes == told.instants[0].measured_bytes
    assert told.run.training.recipe.name == "adam-fp32" and told.run.training.optimizer_kernel == "foreach"
    assert "memory_allocated" in told.run.meters["allocated_bytes"]


def test_snapshot_is_plain_and_read_back(kit, torch, tmp_path):
    measured(kit, torch, tmp_path / "run.json", snapshot=str(tmp_path / "snapshot.json"))
    written = json.loads((tmp_path / "snapshot.json").read_text(encoding="utf-8"))
    assert [(each["action"], each["num_bytes"], each["time_us"]) for each in written["events"]] == [
        ("segment_alloc", 2048, 0), ("alloc", 500, 1), ("alloc", 256, 2), ("free", 256, 4)]
    assert written["events"][1]["where"] == "train.py:31 step"
    assert torch.calls[-1] == {"enabled": None}, "the history is off again"
    assert {each["category"] for each in written["held"]} == {"params", "optimizer"}
    assert len(read_snapshot(json.dumps(written)).events) == 4


def test_switched_off_it_is_not_there(kit, torch, tmp_path, monkeypatch):
    model = Model(torch)
    optimizer = AdamStandIn(torch, model.weights)
    for options in ({"on": False}, {}):
        if not options:
            monkeypatch.setenv("ZEROLEDGER_MEASURE", "0")
        batches = [1, 2]
        measure = kit.Measure(model, optimizer, str(tmp_path / "none.json"), **options)
        assert measure(batches) is batches, "the loop runs over the very same object"
        measure.close()
    assert not optimizer.before and not list(tmp_path.iterdir())


def test_a_loop_that_ends_early_says_so_and_leaves_no_hook(kit, torch, tmp_path, capsys):
    model = Model(torch)
    optimizer = AdamStandIn(torch, model.weights)
    for number, _ in enumerate(kit.Measure(model, optimizer, str(tmp_path / "run.json"), CONFIG)(range(12))):
        if number == 2:
            break
        train(torch, model, optimizer, [1])
    assert "was not written" in capsys.readouterr().err
    assert not optimizer.before and torch.autograd.backward == torch.run_backward


def test_without_a_model_it_asks_for_one(kit, torch, tmp_path, capsys):
    model = Model(torch)
    optimizer = AdamStandIn(torch, model.weights)
    train(torch, model, optimizer, kit.Measure(model, optimizer, str(tmp_path / "run.json"))(range(4)))
    assert '"model"' in capsys.readouterr().err and (tmp_path / "run.json").exists()
