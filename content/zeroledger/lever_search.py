"""What would shrink the largest account of a peak: each change tried by computing the budget again, with its price.

Keys are stable, so that pages can name levers in their own language; ``words`` are English.
"""

from dataclasses import dataclass, replace

from .budgets import Budget, budget
from .errors import InvalidInput
from .offload import Placement
from .training_costs import training_cost

SMALL_BUCKET_NUMEL = 50_000_000
LOSS_CHUNKS = 8
WORTH_NAMING = 1000  # a lever shrinks the account by one part in so many, or is not one


@dataclass(frozen=True)
class Lever:
    """One change: ``key``, ``words``, the ``Budget`` after it, and what it saves and costs.

    ``saved_bytes`` of live memory at the peak, ``account_saved_bytes`` of the account at that instant; ``costs``
    maps "flops", "wire_bytes", "host_bytes", "nvme_bytes", "ranks", "micro_batches" to (before, after), only where they
    differ; ``side_effects`` are keys of prices that are no number here.
    """

    key: str
    words: str
    budget: Budget
    saved_bytes: int
    account_saved_bytes: int
    costs: dict
    side_effects: tuple

    def as_dict(self):
        """Plain data for JSON."""
        return {"key": self.key, "words": self.words, "saved_bytes": self.saved_bytes,
                "account_saved_bytes": self.account_saved_bytes, "peak_bytes": self.budget.peak_bytes,
                "costs": {name: list(pair) for name, pair in self.costs.items()},
                "side_effects": list(self.side_effects), "cost_words": cost_words(self)}


SIDE_EFFECTS = {
    "small-matrices": "smaller matrix products use a card less well",
    "more-steps": "more, smaller micro-batches use a card less well",
    "host-update": "the optimizer runs on the CPU: its step is bound by host memory (report: 22.9 s beside 1.24 s)",
    "host-parameters": "weights cross PCIe for every pass",
    "bubble": "pipeline stages wait at the ends of a step",
    "less-overlap": "gathers are exposed instead of hidden behind computing",
    "more-calls": "more, smaller messages: latency counts",
    "gradient-precision": "gradients are summed in 16 bits",
    "loss-precision": "the loss is computed in 16 bits",
    "slower-optimizer": "none known; needs a device that has the fused kernel",
    "node-bandwidth": "its messages cannot be hidden: keep the group inside a node",
    "recomputes-head": "the head runs twice",
}


def levers(before):
    """The ``Lever``s that shrink the largest account of a ``Budget``, the largest saving first, as a tuple.

    A lever that cannot be combined with the configuration, or that saves nothing at the peak, is left out.
    """
    if not isinstance(before, Budget):
        raise InvalidInput("budget", before, "a Budget")
    run, (account, size) = before.training, before.largest_account
    price, found = training_cost(run, before.pp_rank), []
    for key, words, side_effects, fields in candidates(run):
        try:
            after = budget(run.changed(**fields()))
            after_price = training_cost(after.training, after.pp_rank)
        except InvalidInput:
            continue
        saved, account_saved = before.peak_bytes - after.peak_bytes, size - _account_then(after, before.peak.name, account)
        if saved > 0 and account_saved * WORTH_NAMING >= size:
            found.append(Lever(key, words, after, saved, account_saved, _differences(price, after_price), side_effects))
    return tuple(sorted(found, key=lambda lever: -lever.saved_bytes))


def _account_then(after, name, account):
    """Bytes of ``account`` at the instant called ``name``, at the peak where the new layout has none of that name."""
    instant = next((each for each in after.instants if each.name == name), after.peak)
    return instant.by_account()[account]


def _differences(before, after):
    names = {"flops": "flops", "wire_bytes": "wire_bytes", "host_bytes": "host_bytes", "nvme_bytes": "nvme_bytes",
             "ranks": "world_size", "micro_batches": "micro_batches"}
    pairs = {name: (getattr(before, field), getattr(after, field)) for name, field in names.items()}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def candidates(run):
    """(key, words, side effects, function that gives the fields to change) of every lever worth trying on ``run``."""
    yield from _of_states(run)
    yield from _of_tokens(run)
    yield from _of_engine(run)


def _of_states(run):
    mesh = run.mesh
    for stage in range(run.stage + 1, 4):
        yield f"stage-{stage}", f"ZeRO stage {stage}", (), lambda stage=stage: {"stage": stage}
    yield "double-dp", "twice as many data-parallel ranks", (), lambda: {"mesh": replace(mesh, dp=2 * mesh.dp)}
    yield ("double-tp", "twice the tensor parallelism", ("node-bandwidth", "small-matrices"),
           lambda: {"mesh": replace(mesh, tp=2 * mesh.tp, etp=None)})
    yield "double-pp", "twice the pipeline stages", ("bubble",), lambda: {"mesh": replace(mesh, pp=2 * mesh.pp)}
    if run.model.num_experts:
        yield "double-ep", "twice the expert parallelism", (), lambda: {"mesh": replace(mesh, ep=2 * mesh.ep)}
    pinned = run.placement.pin_memory
    if run.placement.optimizer == "device":
        yield ("offload-optimizer", "optimizer and gradients in host memory", ("host-update",),
               lambda: {"placement": replace(run.placement, optimizer="cpu", grads="cpu")})
    if run.placement.params == "device":
        yield ("offload-all", "optimizer, gradients and parameters in host memory", ("host-update", "host-parameters"),
               lambda: {"placement": Placement("cpu", "cpu", pin_memory=pinned)})


def _of_tokens(run):
    mesh = run.mesh
    for mode in {"none": ("selective", "full"), "selective": ("full",)}.get(run.recompute, ()):
        yield f"recompute-{mode}", f"{mode} recompute of activations", (), lambda mode=mode: {"recompute": mode}
    if run.attention != "flash":
        yield "flash-attention", "attention that keeps no scores", (), lambda: {"attention": "flash"}
    if run.micro_batch_size % 2 == 0:
        yield ("halve-micro-batch", "half the micro-batch, twice the accumulation steps", ("more-steps",), lambda: {
            "micro_batch_size": run.micro_batch_size // 2,
            "gradient_accumulation_steps": 2 * run.gradient_accumulation_steps})
    if mesh.tp > 1 and not run.sequence_parallel:
        yield "sequence-parallel", "sequence parallelism in the tensor group", (), lambda: {"sequence_parallel": True}
    yield "double-cp", "twice the context parallelism", (), lambda: {"mesh": replace(mesh, cp=2 * mesh.cp)}
    if run.loss_chunks == 1:
        yield ("chunk-loss", f"head and loss in {LOSS_CHUNKS} slices", ("recomputes-head",),
               lambda: {"loss_chunks": LOSS_CHUNKS, "keep_logits": False})
    if run.keep_logits and run.loss_chunks == 1:
        yield "drop-logits", "nothing refers to the logits after the loss", (), lambda: {"keep_logits": False}
    if run.loss_upcast:
        yield "loss-16-bit", "loss without fp32 copy of the logits", ("loss-precision",), lambda: {"loss_upcast": False}


def _of_engine(run):
    if run.optimizer_kernel == "foreach":
        yield "fused-optimizer", "fused optimizer kernel", ("slower-optimizer",), lambda: {"optimizer_kernel": "fused"}
    if run.accumulate_unsharded:
        yield "synchronise", "reduce gradients after every micro-batch", (), lambda: {"accumulate_unsharded": False}
    if run.fsdp is not None:
        yield from _of_fsdp(run)
    if run.deepspeed is not None:
        yield from _of_deepspeed(run)


def _of_fsdp(run):
    policy = run.fsdp
    if policy.reshard_after_forward == "default":
        yield ("reshard-root", "reshard the root after forward too", (),
               lambda: {"fsdp": replace(policy, reshard_after_forward=True)})
    if policy.prefetch_depth > 0:
        yield ("no-prefetch", "gather nothing ahead", ("less-overlap",),
               lambda: {"fsdp": replace(policy, prefetch_depth=0)})
    if policy.reduce_dtype == "fp32":
        yield ("reduce-16-bit", "reduce gradients in bf16", ("gradient-precision",),
               lambda: {"fsdp": replace(policy, reduce_dtype="bf16")})


def _of_deepspeed(run):
    buffers = run.deepspeed
    if buffers.reduce_bucket_numel > SMALL_BUCKET_NUMEL:
        yield ("small-bucket", f"reduce_bucket_size {SMALL_BUCKET_NUMEL:,}", ("more-calls",),
               lambda: {"deepspeed": replace(buffers, reduce_bucket_numel=SMALL_BUCKET_NUMEL)})
    if run.stage == 3:
        limits = replace(buffers.limits, max_live_numel=0, max_reuse_numel=0, prefetch_numel=0)
        yield ("release-at-once", "max_live_parameters, max_reuse_distance and prefetch 0", ("less-overlap",),
               lambda: {"deepspeed": replace(buffers, limits=limits)})


def cost_words(lever):
    """The price of a ``Lever`` in a few English words, "nothing known" without one."""
    from .units import format_bytes

    words = []
    for name, (before, after) in lever.costs.items():
        if name == "flops":
            words.append(f"{100 * (after - before) / before:+.1f} % operations a rank")
        elif name == "wire_bytes":
            sign = "+" if after > before else "-"
            words.append(f"{sign}{format_bytes(abs(after - before))} sent a step")
        elif name in ("host_bytes", "nvme_bytes"):
            words.append(f"{format_bytes(after)} of {'host memory' if name == 'host_bytes' else 'NVMe'} a rank")
        else:
            words.append(f"{after:,} {name.replace('_', '-')} instead of {before:,}")
    words += [SIDE_EFFECTS[key] for key in lever.side_effects]
    return "; ".join(words) or "nothing known"
