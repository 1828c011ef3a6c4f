"""Which weights DeepSpeed's ZeRO-3 gathers, when, and how often: its parameter coordinator replayed on a module trace.

Modules are visited forward, then backward. Before a module runs, its missing weights are gathered in one call and up
to ``prefetch_numel`` elements of the coming ones in another; after it, a weight is released unless it is persistent,
was already prefetched for a later use, or comes again within ``max_reuse_numel`` elements. Source: behaviour of
deepspeed/runtime/zero/partitioned_param_coordinator.py; calls and elements checked against measured runs.
"""

from collections import deque
from dataclasses import dataclass

from .collectives import CollectiveRow
from .deepspeed_communication import reduce_buckets
from .errors import ceil_div, check_choice, check_count
from .sharding import PERSISTENCE_THRESHOLD
from .wrapping import execution_order

HUGE = 2**63 - 1


@dataclass(frozen=True)
class FetchLimits:
    """The stage-3 knobs, all in *elements*; the defaults are DeepSpeed's."""

    max_live_numel: int = 1_000_000_000  # stage3_max_live_parameters: stops prefetching, nothing else
    max_reuse_numel: int = 1_000_000_000  # stage3_max_reuse_distance
    prefetch_numel: int = 50_000_000  # stage3_prefetch_bucket_size
    persistence_numel: int = PERSISTENCE_THRESHOLD  # stage3_param_persistence_threshold: smaller tensors are never cut
    model_persistence_numel: int = HUGE  # stage3_model_persistence_threshold: all persistent ones together

    def __post_init__(self):
        for field, value in vars(self).items():
            object.__setattr__(self, field, check_count(field, value, 0, HUGE))


@dataclass(frozen=True)
class Gather:
    """One all-gather of a step: ``numel`` elements of ``names``, submitted before ``module`` ran in ``phase``."""

    module: str
    phase: str
    names: tuple
    numel: int
    kind: str  # "fetch" (needed now) or "prefetch"
    live_numel: int = 0  # gathered elements alive after it, persistent tensors left out


def persistent_names(tensors, limits=None):
    """Names of the tensors that stay whole on every rank: in order, each up to one threshold, all up to another."""
    limits, kept, total = limits or FetchLimits(), [], 0
    for tensor in tensors:
        if tensor.numel <= limits.persistence_numel and total + tensor.numel <= limits.model_persistence_numel:
            kept.append(tensor.name)
            total += tensor.numel
    return frozenset(kept)


def module_trace(tensors, tied=()):
    """Modules in the order forward calls them: (name, its own tensors), containers included, tuple of pairs.

    Derived from dotted tensor names; a part made of digits belongs to a list, which is not itself called. ``tied``
    lists (module, tensor name) of modules that run last with another module's tensor.
    """
    modules = {"": []}
    for tensor in execution_order(tensors):
        parts = tensor.name.split(".")[:-1]
        for depth in range(1, len(parts) + 1):
            holds_list = depth < len(parts) and parts[depth].isdecimal()
            if not holds_list:
                modules.setdefault(".".join(parts[:depth]), [])
        modules[".".join(parts)].append(tensor)
    by_name = {tensor.name: tensor for tensor in tensors} if tied else {}
    for module, name in tied:
        check_choice("tied", name, by_name)
        modules.setdefault(module, []).append(by_name[name])
    return tuple((name, tuple(owned)) for name, owned in modules.items())


def tied_head(model):
    """``tied`` of a model: its head with the embedding's tensor when it says that they are one, else nothing."""
    if not getattr(model, "tie_word_embeddings", False):
        return ()
    return (("lm_head", next(tensor.name for tensor in model.tensors() if tensor.role == "embedding")),)


def replay(tensors, limits=None, tied=()):
    """The all-gathers of one forward and backward pass once the trace is known, a tuple of ``Gather``."""
    limits = limits or FetchLimits()
    forward = module_trace(tensors, tied)
    trace = [(name, owned, "forward") for name, owned in forward]
    trace += [(name, owned, "backward") for name, owned in backward_order(forward)]
    return tuple(_Coordinator(trace, persistent_names(tensors, limits), limits).run())


def backward_order(forward):
    """Modules in backward order: a container is entered before its children, which come last first."""
    children = {}
    names = {name: None for name, _ in forward}  # a dict keeps the order and answers "in" at once
    for name in names:
        children.setdefault(_parent(name, names), []).append(name)
    owned = dict(forward)

    def visit(name):
        yield name, owned[name]
        for child in reversed(children.get(name, ())):
            yield from visit(child)

    return tuple(visit(""))


def _parent(name, names):
    """The nearest enclosing module in ``names``; None for the root."""
    if not name:
        return None
    while name:
        name = name.rpartition(".")[0]
        if name in names:
            return name
    return ""


class _Coordinator:
    """State of one replay: what is whole now, what is still to come, and what was prefetched for which step."""

    def __init__(self, trace, persistent, limits):
        self.trace, self.persistent, self.limits = trace, persistent, limits
        self.whole = set(persistent)
        self.live_numel = 0
        self.queue = deque((tensor, step) for step, (_, owned, _) in enumerate(trace) for tensor in owned)
        self.fetched_for = {}

    def run(self):
        """Yield every ``Gather`` in order."""
        for step, (module, owned, phase) in enumerate(self.trace):
            missing = [tensor for tensor in owned if tensor.name not in self.whole]
            if missing:
                yield self._gather(module, phase, missing, "fetch")
            self._skip_own(owned, step)
            coming = self._choose_prefetch()
            if coming:
                yield self._gather(module, phase, coming, "prefetch")
            self._release(owned, step + 1)

    def _gather(self, module, phase, tensors, kind):
        self.whole.update(tensor.name for tensor in tensors)
        numel = sum(tensor.numel for tensor in tensors)
        self.live_numel += numel
        return Gather(module, phase, tuple(tensor.name for tensor in tensors), numel, kind, self.live_numel)

    def _skip_own(self, owned, step):
        """Take the module's own uses off the queue, unless an earlier prefetch already passed them."""
        pending = [tensor for tensor in owned if self.fetched_for.get(tensor.name, -1) < step]
        for _ in pending:
            tensor, used_at = self.queue.popleft()
            self.fetched_for[tensor.name] = used_at

    def _choose_prefetch(self):
        room = min(self.limits.max_live_numel - self.live_numel, self.limits.prefetch_numel)
        if self.limits.prefetch_numel == 0:
            return []
        chosen, numel = {}, 0
        while self.queue and numel < room:
            tensor, used_at = self.queue.popleft()
            self.fetched_for[tensor.name] = max(self.fetched_for.get(tensor.name, -1), used_at)
            if tensor.name not in self.whole and tensor.name not in chosen:
                chosen[tensor.name] = tensor
                numel += tensor.numel
        return list(chosen.values())

    def _release(self, owned, next_step):
        reused = self._reused_soon(next_step)
        for tensor in owned:
            passed = self.fetched_for.get(tensor.name, -1) > next_step
            if tensor.name not in self.persistent and not passed and tensor.name not in reused:
                self.whole.discard(tensor.name)
                self.live_numel -= tensor.numel

    def _reused_soon(self, step):
        names, numel = set(), 0
        while step < len(self.trace) and numel < self.limits.max_reuse_numel:
            for tensor in self.trace[step][1]:
                names.add(tensor.name)
                numel += tensor.numel
            step += 1
        return names


def stage3_rows(tensors, dp_size, micro_batches, reduce_dtype, dtype, bucket_numel, limits=None,
                secondary_size=None, tied=()):
    """Collective rows of a step: gathers of every pass, persistent tensors once after the step, reductions.

    A tensor travels padded to ``dp_size`` equal parts. One rank gathers nothing but still runs its reductions.
    ``secondary_size`` ranks share a second copy of the weights, from which backward gathers.
    """
    limits = limits or FetchLimits()
    padded = {tensor.name: ceil_div(tensor.numel, dp_size) * dp_size for tensor in tensors}
    rows = []
    if dp_size > 1:
        gathers = replay(tensors, limits, tied)
        for phase in ("forward", "backward"):
            of_phase = [gather for gather in gathers if gather.phase == phase]
            numel = sum(padded[name] for gather in of_phase for name in gather.names)
            near = phase == "backward" and secondary_size is not None
            if of_phase:
                rows.append(CollectiveRow("all_gather", "secondary" if near else "dp",
                                          secondary_size if near else dp_size, micro_batches * len(of_phase),
                                          micro_batches * numel, dtype, "params", phase))
        kept = persistent_names(tensors, limits)
        if kept:
            rows.append(CollectiveRow("all_gather", "dp", dp_size, len(kept), sum(padded[name] for name in kept), dtype,
                                      "persistent params", "step"))
    calls = len(reduce_buckets(tensors, bucket_numel))
    rows.append(CollectiveRow("reduce_scatter", "dp", dp_size, micro_batches * calls,
                              micro_batches * sum(padded.values()), reduce_dtype, "grads", "backward"))
    return tuple(rows)
