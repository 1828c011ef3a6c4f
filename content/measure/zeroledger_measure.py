"""What a training loop really holds, written as JSON that ``python -m zeroledger explain`` reads. Needs nothing but torch.

    from zeroledger_measure import Measure

    measure = Measure(model, optimizer, "run.json", config={"model": "llama-2-7b", "seq_length": 2048})
    for batch in measure(batches):
        ...                                 # your loop as it was: forward, backward, optimizer.step(), zero_grad()

One step is measured, the third unless ``at_step`` says otherwise, and the file is written when it ends. Nothing of the
training changes: no random number is drawn, no tensor is touched, and the losses stay the same bit for bit. With
``on=False``, or ZEROLEDGER_MEASURE=0 in the environment, ``measure(batches)`` returns ``batches`` itself.

On a CUDA device the meters are torch.cuda's: allocated, reserved, device-used. Their peaks are reset at the start of
each phase, so read your own peaks outside the measured step. On a CPU there is no such allocator; torch's MemTracker,
or FSDPMemTracker for FSDP2, adds up live tensors instead, slowly, and the file says which meters are missing.
Parameters, gradients and optimizer state are walked tensor by tensor: local shards, with padding, each storage once.

``config`` is what the prediction needs (zeroledger.training_inputs.training_from_dict); what the model and the
optimizer tell by themselves is filled in. Every rank must run the loop, because rank 0 collects the readings.
"""

import datetime
import json
import os
import platform
import sys
import time

import torch
import torch.distributed as dist

METERS = ("allocated_bytes", "reserved_bytes", "device_bytes")
CATEGORY = {  # what torch's trackers call a kind of tensor → the category of the file
    "Parameter": "params", "Sharded Param": "params", "Unsharded Param": "params", "Gradient": "grads",
    "Sharded Grad": "grads", "Unsharded Grad": "grads", "Optstate": "optimizer", "OptState": "optimizer",
    "All Gather": "buffers", "Reduce Scatter": "buffers", "Activation": "activations", "Inputs": "activations",
    "Temp": "temporary", "Buffer": "activations", "Other": "activations",
}


class Measure:
    """Measures optimizer step number ``at_step`` (0 is the first) of a loop and writes ``path``.

    ``snapshot`` names a second file for the allocator's history of the step after it. ``optimizer`` may be DeepSpeed's.
    """

    def __init__(self, model, optimizer, path, config=None, *, at_step=2, snapshot=None, on=None, source=""):
        self.on = os.environ.get("ZEROLEDGER_MEASURE", "1") != "0" if on is None else on
        if not self.on:
            return
        self.model, self.optimizer, self.path, self.at_step = model, optimizer, path, at_step
        self.config, self.source, self.snapshot = config or {}, source, snapshot
        self.meter = meter_of(model, optimizer)
        self.instants, self.steps_done, self.closers = {}, 0, []
        self.state = "waiting"  # … measuring, stepped, measured, over
        self.history = None
        self._note("after_init", self.meter.standing(held_bytes(model, optimizer)))
        self._watch_steps()

    def __call__(self, batches):
        """``batches``, watched; the same object where measuring is off."""
        return self._watched(batches) if self.on else batches

    def _watched(self, batches):
        try:
            for batch in batches:
                self._begin_batch()
                yield batch
                self._end_batch()
        finally:
            self.close()

    def _begin_batch(self):
        if self.state == "measuring":
            self.meter.next_batch()
        if self.state == "waiting" and self.steps_done == self.at_step:
            self.state = "measuring"
            self.meter.start()
            self.closers.append(self.meter.stop)
            self.closers.append(watch_backward(self._forward_ended, self._backward_ended))
            self.meter.reset_peak()
        if self.state == "measured" and self.snapshot and self.history is None:
            self.history = history_of(self.model)
            self.history.start([{"address": storage.data_ptr(), "num_bytes": storage.nbytes(), "category": category}
                                for category, storage in held_storages(self.model, self.optimizer) if storage.nbytes()])

    def _grads_cleared(self):
        if self.state == "measuring" and "end_of_forward" not in self.instants:
            self.meter.reset_peak()  # zero_grad() opens the step: the old gradients are no part of this forward
        self._end_batch()

    def _end_batch(self):
        if self.state == "stepped" and not has_gradients(self.model):
            self._finish()
        if self.state == "measured" and self.history and self.steps_done > self.at_step + 1:
            self.state = "over"
            self.history.mark("after_step")
            self._write_snapshot()
            self._release()

    def _forward_ended(self):
        self._mark("end_of_forward", "peak_forward")

    def _backward_ended(self):
        if self.state == "measuring":
            self._note_peak("peak_backward")

    def _before_step(self):
        self._mark("end_of_backward", "peak_backward")

    def _after_step(self):
        self.steps_done += 1
        if self.state == "measuring":
            self._note_peak("peak_step")
            self.state = "stepped"

    def _mark(self, name, phase):
        if self.state == "measuring":
            self._note(name, self.meter.read(held_bytes(self.model, self.optimizer)))
            self._note_peak(phase)
        if self.history and self.state == "measured":
            self.history.mark(name)

    def _note(self, name, reading):
        self.instants[name] = reading

    def _note_peak(self, name):
        """The larger of this phase's peak and what an earlier micro-batch had."""
        reading, before = self.meter.peak(), self.instants.get(name)
        if before is None or reading["allocated_bytes"] > before["allocated_bytes"]:
            self._note(name, reading)
        self.meter.reset_peak()

    def _finish(self):
        self._note("after_step", self.meter.read(held_bytes(self.model, self.optimizer)))
        phases = [self.instants[name] for name in ("peak_forward", "peak_backward", "peak_step") if name in self.instants]
        self._note("peak", max(phases, key=lambda each: each["allocated_bytes"]))
        self.state = "measured"
        self._release()
        self._write()
        if self.snapshot:
            self._watch_steps()
            self.closers.append(watch_backward(self._forward_ended, lambda: None))

    def _watch_steps(self):
        self.closers.append(watch_steps(self.model, self.optimizer, self._before_step, self._after_step))
        self.closers.append(watch_zero_grad(self.optimizer, self._grads_cleared))

    def _release(self):
        while self.closers:
            self.closers.pop()()

    def close(self):
        """Takes every hook away. The loop calls it; call it yourself if you leave measuring early."""
        if not self.on:
            return
        if self.state in ("measuring", "stepped"):
            print(f"zeroledger_measure: the loop ended before step {self.at_step} was over; {self.path} was not written",
                  file=sys.stderr)
        if self.history and self.state == "measured":
            self.history.stop()
        self._release()

    def _write(self):
        own = {"rank": rank(), "pp_rank": self.config.get("pp_rank", 0),
               "instants": [{"name": name, **reading} for name, reading in self.instants.items()]}
        ranks = gathered(own)
        if rank() == 0:
            write_json(self.path, {
                "format": "zeroledger-run", "version": 1, "source": self.source or f"zeroledger_measure, {self.meter.name}",
                "date": today(), "device": device_name(self.meter.device), "versions": versions(),
                "meters": self.meter.words, "config": described(self.model, self.optimizer, self.config), "ranks": ranks})

    def _write_snapshot(self):
        write_json(path_of_rank(self.snapshot), {
            "format": "zeroledger-snapshot", "version": 1, "date": today(), "rank": rank(),
            "device": device_name(self.meter.device), "versions": versions(),
            "config": described(self.model, self.optimizer, self.config), **self.history.stop()})


# Meters. Each reading is {"allocated_bytes", "reserved_bytes", "device_bytes", "by_category"}; None: not read.


class CudaMeter:
    """torch.cuda's own counters of ``device``; reading them neither synchronises nor allocates."""

    name = "torch.cuda"
    words = {"allocated_bytes": "torch.cuda.memory_allocated, max_memory_allocated",
             "reserved_bytes": "torch.cuda.memory_reserved, max_memory_reserved",
             "device_bytes": "torch.cuda.mem_get_info, all processes; no peak"}

    def __init__(self, device):
        self.device = device

    def start(self):
        """Nothing to start."""

    def stop(self):
        """Nothing to stop."""

    def next_batch(self):
        """Nothing to do between the micro-batches of a step."""

    def reset_peak(self):
        torch.cuda.reset_peak_memory_stats(self.device)

    def read(self, held):
        free, total = torch.cuda.mem_get_info(self.device)
        return {"allocated_bytes": torch.cuda.memory_allocated(self.device),
                "reserved_bytes": torch.cuda.memory_reserved(self.device), "device_bytes": total - free,
                "by_category": held}

    standing = read

    def peak(self):
        return {"allocated_bytes": torch.cuda.max_memory_allocated(self.device),
                "reserved_bytes": torch.cuda.max_memory_reserved(self.device), "device_bytes": None, "by_category": {}}


class TrackerMeter:
    """Live tensors as torch's MemTracker or FSDPMemTracker adds them up; there is no reserved and no device memory."""

    def __init__(self, model, optimizer, device):
        self.model, self.optimizer, self.device, self.tracker = model, optimizer, device, None
        self.name = "FSDPMemTracker" if is_fsdp(model) else "MemTracker"
        self.words = {"allocated_bytes": f"live tensors by {self.name}, no allocator rounding; after_init: tensors found",
                      "reserved_bytes": "not read: no caching allocator on this device",
                      "device_bytes": "not read: no GPU"}

    def start(self):
        if is_fsdp(self.model):
            from torch.distributed._tools.fsdp2_mem_tracker import FSDPMemTracker

            self.tracker = FSDPMemTracker(self.model, self.optimizer)
        else:
            from torch.distributed._tools.mem_tracker import MemTracker

            self.tracker = MemTracker()
            known = [tensor for category, tensor in held_tensors(self.model, self.optimizer) if category != "params"]
            self.tracker.track_external(self.model, *optimizers_of(self.optimizer), *map(local, known))
        self.tracker.__enter__()

    def stop(self):
        self.tracker.__exit__(None, None, None)

    def next_batch(self):
        self.tracker.reset_mod_stats()  # it refuses a module's second forward otherwise; live tensors stay known

    def reset_peak(self):
        now = self.tracker.get_tracker_snapshot("current")
        self.tracker._peak_mem_snap = now
        self.tracker._peak_mem = {device: kinds["Total"] for device, kinds in now.items()}

    def read(self, held):
        return self._reading("current") | {"by_category": settled(self._categories("current"), held)}

    def standing(self, held):
        return {"allocated_bytes": sum(held.values()), "reserved_bytes": None, "device_bytes": None, "by_category": held}

    def peak(self):
        return self._reading("peak") | {"by_category": self._categories("peak")}

    def _kinds(self, which):
        devices = self.tracker.get_tracker_snapshot(which).values()
        return [(str(getattr(kind, "value", kind)), size) for kinds in devices for kind, size in kinds.items()]

    def _reading(self, which):
        total = sum(size for kind, size in self._kinds(which) if kind == "Total")
        return {"allocated_bytes": total, "reserved_bytes": None, "device_bytes": None}

    def _categories(self, which):
        found = {}
        for kind, size in self._kinds(which):
            if kind in CATEGORY:
                found[CATEGORY[kind]] = found.get(CATEGORY[kind], 0) + size
        return found


def settled(tracked, held):
    """The tracker's categories with the walk's own for what was found: the tracker had that elsewhere, and it is taken
    from there, so that the sum stays."""
    found = tracked | held
    surplus = sum(held.values()) - sum(tracked.get(name, 0) for name in held)
    for name in ("temporary", "activations", "buffers"):
        if name not in held:
            taken = min(max(surplus, 0), found.get(name, 0))
            found[name] = found.get(name, 0) - taken
            surplus -= taken
    return found


def meter_of(model, optimizer):
    """The meter for the device that the model's first parameter is on."""
    device = next((each.device for each in model.parameters()), torch.device("cpu"))
    if device.type == "cuda":
        return CudaMeter(device)
    return TrackerMeter(model, optimizer, device)


# What is held, tensor by tensor.


def held_tensors(model, optimizer):
    """(category, tensor) of every parameter, gradient and optimizer tensor of this rank, local shards only."""
    for parameter in model.parameters():
        yield "params", parameter
        if getattr(parameter, "ds_tensor", None) is not None:  # DeepSpeed ZeRO-3: the shard beside the emptied parameter
            yield "params", parameter.ds_tensor
        if parameter.grad is not None:
            yield "grads", parameter.grad
    for parameter in fsdp_parameters(model):
        yield "params", parameter._sharded_param_data
        sharded = parameter.sharded_param.grad
        if sharded is not None:
            yield "grads", sharded
        for name in ("unsharded_accumulated_grad", "_unsharded_param"):
            tensor = getattr(parameter, name, None)
            if tensor is not None:
                yield ("grads" if name.endswith("grad") else "params"), tensor
    for category, names in DEEPSPEED.items():
        for tensor in tensors_in([getattr(optimizer, name, None) for name in names]):
            yield category, tensor
    for each in optimizers_of(optimizer):
        for group in each.param_groups:
            for tensor in group["params"]:  # DeepSpeed's are fp32 copies, torch's the parameters counted above
                yield "optimizer", tensor
        for state in each.state.values():
            for tensor in tensors_in(state):
                yield "optimizer", tensor


STAGE3 = "_DeepSpeedZeroOptimizer_Stage3__"
DEEPSPEED = {  # category → attributes of its ZeRO optimizers (0.19) that hold such tensors
    "grads": ("averaged_gradients", "all_grad_tensors", STAGE3 + "param_id_to_grad_partition", "grad_partitions_flat_buffer",
              "fp32_groups_gradients_flat"),
    "optimizer": ("fp32_partitioned_groups_flat", "single_partition_of_fp32_groups", "fp32_groups_flat_partition"),
    "buffers": ("ipg_buffer", STAGE3 + "ipg_bucket_flat_buffer"),
}


def held_bytes(model, optimizer):
    """{category: bytes} of distinct storages, padding included; a storage belongs to the first category that names it."""
    total = {"params": 0, "grads": 0, "optimizer": 0}
    for category, storage in held_storages(model, optimizer):
        total[category] = total.get(category, 0) + storage.nbytes()
    return total


def held_storages(model, optimizer):
    """(category, storage) of every distinct storage among ``held_tensors``."""
    seen = set()
    for category, tensor in held_tensors(model, optimizer):
        storage = local(tensor).untyped_storage()
        if storage._cdata not in seen:
            seen.add(storage._cdata)
            yield category, storage


def local(tensor):
    """This rank's part of a DTensor; any other tensor itself. Makes no autograd node."""
    return getattr(tensor, "_local_tensor", tensor)


def tensors_in(found):
    """Every tensor in nested dicts, lists and tuples."""
    if isinstance(found, torch.Tensor):
        yield found
    elif isinstance(found, (dict, list, tuple)):
        for each in found.values() if isinstance(found, dict) else found:
            yield from tensors_in(each)


def optimizers_of(optimizer):
    """The torch optimizers inside ``optimizer``: itself, DeepSpeed's inner one, ZeroRedundancyOptimizer's local one."""
    for name in ("optimizer", "optim"):
        inner = getattr(optimizer, name, None)
        if isinstance(inner, torch.optim.Optimizer):
            return optimizers_of(inner)
    return [optimizer] if isinstance(optimizer, torch.optim.Optimizer) else []


def has_gradients(model):
    """Whether any parameter still has a gradient."""
    return any(each.grad is not None for each in model.parameters())


def is_fsdp(model):
    """Whether ``fully_shard`` was applied to the model itself."""
    return any(kind.__name__ == "FSDPModule" for kind in type(model).__mro__)


def fsdp_parameters(model):
    """torch's FSDPParam objects of the model: they know shards and gathered weights whichever is in place now."""
    if is_fsdp(model):
        for module in model.modules():
            if is_fsdp(module):
                state = module._get_fsdp_state()
                groups = getattr(state, "_fsdp_param_groups", None) or [getattr(state, "_fsdp_param_group", None)]
                for group in filter(None, groups):
                    yield from group.fsdp_params


# Hooks. Each returns the function that takes it away again.


def watch_backward(before, after):
    """Calls ``before()`` and ``after()`` around every outermost ``torch.autograd.backward``."""
    original, depth = torch.autograd.backward, [0]

    def backward(*args, **kwargs):
        outermost = depth[0] == 0
        depth[0] += 1
        try:
            if outermost:
                before()
            result = original(*args, **kwargs)
            if outermost:
                after()
            return result
        finally:
            depth[0] -= 1

    return replaced(torch.autograd, "backward", backward)


def watch_steps(model, optimizer, before, after):
    """Calls ``before()`` and ``after()`` around every optimizer step; with DeepSpeed, around those that update."""
    if hasattr(model, "is_gradient_accumulation_boundary"):
        original = model.step

        def step(*args, **kwargs):
            updates = model.is_gradient_accumulation_boundary()
            if updates:
                before()
            result = original(*args, **kwargs)
            if updates:
                after()
            return result

        return replaced(model, "step", step)
    inner = optimizers_of(optimizer)[0]
    handles = [inner.register_step_pre_hook(lambda *_: before()), inner.register_step_post_hook(lambda *_: after())]
    return lambda: [handle.remove() for handle in handles]


def watch_zero_grad(optimizer, after):
    """Calls ``after()`` when ``optimizer.zero_grad`` is done."""
    original = optimizer.zero_grad

    def zero_grad(*args, **kwargs):
        result = original(*args, **kwargs)
        after()
        return result

    return replaced(optimizer, "zero_grad", zero_grad)


def replaced(owner, name, function):
    """Puts ``function`` in the place of an attribute; what comes back puts the old state back, an attribute or none."""
    had, before = name in vars(owner), vars(owner).get(name)
    setattr(owner, name, function)

    def restore():
        if had:
            setattr(owner, name, before)
        else:
            vars(owner).pop(name, None)

    return restore


# The allocator's history.

MOST_EVENTS = 200_000
CUDA_ACTIONS = {"alloc": "alloc", "free_completed": "free", "segment_alloc": "segment_alloc", "segment_map": "segment_alloc",
                "segment_free": "segment_free", "segment_unmap": "segment_free", "oom": "oom"}


def history_of(model):
    """A recorder for the model's device."""
    device = next(model.parameters()).device
    return CudaHistory(device) if device.type == "cuda" else CpuHistory()


class CudaHistory:
    """torch.cuda.memory's record, as plain data."""

    def __init__(self, device):
        self.device, self.marks = device, []

    def start(self, held):
        self.held = held
        torch.cuda.memory._record_memory_history(max_entries=MOST_EVENTS, stacks="python")
        self.start_bytes = torch.cuda.memory_allocated(self.device)

    def mark(self, name):
        self.marks.append((time.time_ns() // 1000, name))

    def stop(self):
        raw = torch.cuda.memory._snapshot(self.device)
        torch.cuda.memory._record_memory_history(enabled=None)
        index = self.device.index if self.device.index is not None else torch.cuda.current_device()
        return snapshot_from_torch(raw, index, self.start_bytes, self.marks) | {"held": self.held}


def snapshot_from_torch(raw, device_index=0, start_bytes=0, marks=()):
    """Plain data of what ``torch.cuda.memory._snapshot`` returns; ``marks`` are (time in µs, name)."""
    traces = raw.get("device_traces") or []
    trace = traces[device_index] if device_index < len(traces) else []
    entries = [entry for entry in trace if entry["action"] in CUDA_ACTIONS]
    first = entries[0].get("time_us", 0) if entries else 0
    events = [{"action": CUDA_ACTIONS[entry["action"]], "address": entry.get("addr", 0), "num_bytes": entry["size"],
               "time_us": entry.get("time_us", 0) - first, "where": where(entry.get("frames", ()))} for entry in entries]
    placed = [{"event": sum(event["time_us"] <= at - first for event in events), "name": name} for at, name in marks]
    segments = [{"address": each["address"], "num_bytes": each["total_size"], "allocated_bytes": each["allocated_size"],
                 "active_bytes": each["active_size"], "stream": each["stream"],
                 "blocks": [{"num_bytes": block["size"], "requested_bytes": block.get("requested_size", block["size"]),
                             "state": block["state"], "where": where(block.get("frames", ()))} for block in each["blocks"]]}
                for each in raw.get("segments", ()) if each.get("device", device_index) == device_index]
    return {"source": "torch.cuda.memory._snapshot", "start_bytes": start_bytes, "events": events, "marks": placed,
            "segments": segments}


def where(frames):
    """The innermost frame outside torch, as "file.py:12 name"; empty where there is none."""
    for frame in frames:
        path = frame["filename"].replace(os.sep, "/")
        if path.endswith(".py") and "/torch/" not in path and not path.endswith("zeroledger_measure.py"):
            return f"{path.rsplit('/', 1)[-1]}:{frame['line']} {frame['name']}"
    return ""


class CpuHistory:
    """The CPU allocator's record, from torch.profiler. ``where`` is the operator that allocated.

    What was live before the record began is not known to it; ``held`` bytes of parameters and states are taken for it.
    """

    def start(self, held):
        self.held = held
        self.profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True)
        self.profile.__enter__()

    def mark(self, name):
        with torch.profiler.record_function(f"zeroledger:{name}"):
            pass

    def stop(self):
        self.profile.__exit__(None, None, None)
        roots = self.profile.profiler.kineto_results.experimental_event_tree()
        return snapshot_from_events(roots, sum(each["num_bytes"] for each in self.held)) | {"held": self.held}


def snapshot_from_events(roots, start_bytes=0):
    """Plain data of a profiler's event tree: allocations and frees of the CPU, in the order of time. The profiler leaves
    out the frees of what was there before it."""
    found, names, pending = [], [], [(root, "") for root in roots]
    while pending:
        event, parent = pending.pop()
        kind, fields = event.typed
        if kind.name == "Allocation" and fields.device.type == "cpu":
            found.append((event.start_time_ns, fields.alloc_size, fields.ptr, parent))
        elif event.name.startswith("zeroledger:"):
            names.append((event.start_time_ns, event.name.partition(":")[2]))
        pending += [(child, event.name) for child in event.children]
    found.sort(key=lambda each: each[0])
    first = found[0][0] if found else 0
    events = [{"action": "alloc" if size > 0 else "free", "address": address, "num_bytes": abs(size),
               "time_us": (at - first) // 1000, "where": parent} for at, size, address, parent in found]
    marks = [{"event": sum(each[0] <= at for each in found), "name": name} for at, name in sorted(names)]
    return {"source": "torch.profiler", "start_bytes": start_bytes, "events": events, "marks": marks, "segments": []}


# The file.


def described(model, optimizer, config):
    """``config`` with what model and optimizer tell by themselves; the caller's values win."""
    found = {"dp": world_size()}
    if hasattr(model, "zero_optimization_stage"):
        found |= {"engine": "deepspeed", "stage": model.zero_optimization_stage(),
                  "gradient_accumulation_steps": model.gradient_accumulation_steps(),
                  "micro_batch_size": model.train_micro_batch_size_per_gpu()}
    elif is_fsdp(model):
        found |= {"engine": "fsdp2", "stage": 3} | recipe_of(model, optimizer) | policy_of(model)
    else:
        found |= {"engine": "ideal", "stage": 0} | recipe_of(model, optimizer)
    plain = getattr(model, "config", None)
    if "model" not in config and hasattr(plain, "to_dict"):  # a Hugging Face model
        found["model"] = plain.to_dict()
    result = {name: value for name, value in (found | config).items() if name != "pp_rank"}
    if "model" not in result:
        print('zeroledger_measure: config has no "model" (a preset\'s name or a Hugging Face config): add it to the file '
              "before you explain it", file=sys.stderr)
    return result


def recipe_of(model, optimizer):
    """{"recipe", "optimizer_kernel"} of torch's Adam or AdamW over weights of one format; what is not known is left out."""
    adam = next((each for each in optimizers_of(optimizer) if "fused" in each.defaults and "Adam" in type(each).__name__), None)
    if adam is None:
        return {}
    dtypes = {each.dtype for each in model.parameters()}
    recipe = {torch.float32: "adam-fp32", torch.bfloat16: "adam-bf16-pure"}.get(dtypes.pop()) if len(dtypes) == 1 else None
    return {"optimizer_kernel": "fused" if adam.defaults["fused"] else "foreach"} | ({"recipe": recipe} if recipe else {})


def policy_of(model):
    """{"compute_dtype", "fsdp"} of FSDP2's mixed-precision policy, as its parameters know it once they have been used."""
    names = {torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16"}
    for each in fsdp_parameters(model):
        compute = names.get(each.param_dtype or each.orig_dtype)
        reduce = names.get(each.reduce_dtype or each.param_dtype or each.orig_dtype)
        if compute and reduce:
            return {"compute_dtype": compute, "fsdp": {"reduce_dtype": reduce}}
    return {}


def is_distributed():
    return dist.is_available() and dist.is_initialized()


def rank():
    """This process's number among all."""
    return dist.get_rank() if is_distributed() else 0


def world_size():
    """How many processes train."""
    return dist.get_world_size() if is_distributed() else 1


def gathered(own):
    """What every rank brought, in order, on every rank."""
    if world_size() == 1 or dist.get_backend() == "fake":
        return [own]
    everyone = [None] * world_size()
    dist.all_gather_object(everyone, own)
    return everyone


def path_of_rank(path):
    """``path`` for rank 0, and with the rank before its suffix for the others."""
    stem, suffix = os.path.splitext(path)
    return path if rank() == 0 else f"{stem}.rank{rank()}{suffix}"


def write_json(path, content):
    """Whole or not at all: a reader never sees half a file."""
    partial = f"{path}.part"
    with open(partial, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
    os.replace(partial, path)


def today():
    """The date, ISO 8601."""
    return datetime.date.today().isoformat()


def versions():
    """Versions of what took part, as texts."""
    found = {"torch": torch.__version__, "python": platform.python_version()}
    for name in ("deepspeed", "accelerate", "transformers"):
        if name in sys.modules:
            found[name] = getattr(sys.modules[name], "__version__", "")
    if torch.version.cuda:
        found["cuda"] = torch.version.cuda
    return found


def device_name(device):
    """The GPU's name, or what the machine calls its processor."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"CPU ({platform.machine()}, {os.cpu_count()} cores)"
