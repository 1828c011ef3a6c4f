"""The named instants of one rank under each engine: what stays, what a step adds, and the optimizer's own step.

Each engine returns (rows that stay through the whole step, instants with those rows among theirs).
"""

from functools import lru_cache

from .deepspeed_transients import deepspeed_instants
from .engine_states import state_rows, training_ledger
from .fsdp_timeline import FsdpTimeline
from .instants import Instant, MemoryRow, overlay, with_rows
from .mesh import Mesh, rank_tensors
from .offload import role_of
from .optimizer_step import adam_step_rows
from .stack_walk import end_layers, walked_instants
from .transients import gather_rows, gather_units


def engine_instants(training, pp_rank=0, every_layer=False):
    """(staying rows, ``Instant``s in the order of a step) of a rank of pipeline stage ``pp_rank``.

    The layers at both ends of the stack stand for those between, which are never the peak; ``every_layer`` lists all.
    """
    return {"ideal": _ideal, "fsdp2": _fsdp2, "deepspeed": _deepspeed}[training.engine](training, pp_rank, every_layer)


def _layers(stack, every_layer, margin=0):
    return tuple(range(stack.shape.num_layers)) if every_layer else end_layers(stack.shape, margin)


def _ideal(training, pp_rank, every_layer):
    """Every array of the recipe is there all the time; at stage 3 one layer is gathered ahead, from stage 2 on a layer's
    gradients are whole until they are reduced. A frozen base (LoRA) makes no whole gradients."""
    ledger, stack = training_ledger(training, pp_rank), training.stack(pp_rank)
    kept, gradients = state_rows(ledger, training.placement)
    mode = "layer" if training.stage >= 2 else "accumulate"
    instants = walked_instants(stack, training.compute_dtype, mode, _layers(stack, every_layer))
    if "frozen" in training.recipe.groups or "trained" in training.recipe.groups:
        instants = tuple(_without(instant, ("unsharded_grads",)) for instant in instants)
    if training.stage == 3:
        gathers = gather_rows(*_unit_numels(training.model, _without_replicas(training.mesh), pp_rank), training.compute_dtype)
        instants = with_rows(instants, gathers)
    step = Instant("optimizer step", _adam_rows(training, _updated_numel(ledger)), "optimizer step")
    return (*kept, *gradients), with_rows((*instants, step), (*kept, *gradients))


@lru_cache(maxsize=256)
def _unit_numels(model, mesh, pp_rank):
    """(root, largest layer) elements of a rank."""
    return gather_units(rank_tensors(model, mesh, pp_rank))


def _without_replicas(mesh):
    """A mesh whose ranks hold the same tensors before ZeRO, the same for every number of data-parallel ranks."""
    return mesh if mesh.ep > 1 else Mesh(tp=mesh.tp, pp=mesh.pp, etp=mesh.etp, pp_layers=mesh.pp_layers)


def _updated_numel(ledger):
    """Elements that the rank updates: those of its largest moment."""
    moments = [row.numel_per_rank for row in ledger.rows if row.category.startswith(("exp_avg", "momentum"))]
    return max(moments, default=0)


def _adam_rows(training, numel, dtype="fp32"):
    if training.placement.optimizer != "device":
        return ()
    return adam_step_rows(numel, dtype, training.optimizer_kernel)


def _deepspeed(training, pp_rank, every_layer):
    """The transients of ``deepspeed_transients`` over the stack's walk.

    Gradients: whole until the step at stage 0, and at stage 1 between micro-batches; else the rank's part, counted
    whole from the start of backward although it grows; at stage 3 its buffer is permanent.
    """
    ledger, stack, stage = training_ledger(training, pp_rank), training.stack(pp_rank), training.stage
    kept, gradients = state_rows(ledger, training.placement)
    accumulates = training.gradient_accumulation_steps > 1
    mode = "grow" if stage == 0 and not accumulates else "accumulate"
    instants = walked_instants(stack, training.compute_dtype, mode, _layers(stack, every_layer))
    transients = _transients(training.model, training.mesh, pp_rank, stage, training.compute_dtype, training.deepspeed)
    if training.placement.optimizer != "device":  # the update runs on the host
        transients = tuple(_without(each, ("temporary",)) if each.phase == "optimizer step" else each for each in transients)
    if stage == 1 and accumulates:
        numel = sum(tensor.numel for tensor in training.tensors(pp_rank))
        whole = next(row for row in training.recipe.rows if row.sharded_from_stage == 2)
        gradients = (MemoryRow("unsharded_grads", "whole gradients between micro-batches", whole.bytes_for(numel)),)
    always = (*kept, *(gradients if stage == 3 or accumulates else ()))
    if stage == 0 and not accumulates:
        own = {"optimizer step": gradients}  # backward's whole gradients grow in the walk
    else:
        own = {} if stage == 3 or accumulates else {"backward": gradients, "optimizer step": gradients}
    instants = tuple(instant.plus(own.get(instant.phase, ())) for instant in overlay(instants, transients))
    return _staying(always, transients), with_rows(instants, always)


@lru_cache(maxsize=64)
def _transients(model, mesh, pp_rank, stage, dtype, buffers):
    """``deepspeed_instants`` of a rank, kept because a planner asks for it once for every offload choice."""
    held = model if mesh.world_size == mesh.dp else rank_tensors(model, mesh, pp_rank)  # only a model knows a tied head
    return deepspeed_instants(held, mesh.dense_shards, stage, dtype, buffers)


def _staying(always, transients):
    """``always`` and the rows that every phase has (stage 3: reduce bucket, persistent parameters)."""
    shared = [row for row in transients[0].rows if all(row in each.rows for each in transients)]
    return (*always, *shared)


def _fsdp2(training, pp_rank, every_layer):
    """``fsdp_instants`` with the optimizer's states, gradients of earlier micro-batches, and the step."""
    ledger, stack, fsdp = training_ledger(training, pp_rank), training.stack(pp_rank), training.fsdp
    kept, gradients = state_rows(ledger, training.placement)
    states = tuple(row for row in kept if row.account != "sharded_params")
    chosen = _layers(stack, every_layer, max(1, fsdp.prefetch_depth))
    on_device = training.placement.params == "device"
    weights, instants = _timeline(stack, fsdp, training.model, _without_replicas(training.mesh), pp_rank, chosen)
    shards = (weights,) if on_device else ()
    if not on_device:
        instants = tuple(_without(instant, ("sharded_grads",)) for instant in instants)
    earlier = ()
    if training.gradient_accumulation_steps > 1:
        earlier = _earlier_gradients(training, pp_rank, gradients)
        instants = tuple(_without(instant, ("sharded_grads",)) for instant in instants)
    share = next(row.numel_per_rank for row in ledger.rows if role_of(row.category) == "params")
    step = Instant("optimizer step", (*_adam_rows(training, share, fsdp.storage_dtype),
                                      *(() if earlier and not training.accumulate_unsharded else gradients)), "optimizer step")
    always = (*shards, *states)
    staying = always if training.accumulate_unsharded else (*always, *earlier)
    instants = with_rows(with_rows(instants, earlier), always)
    step_rows = always if training.accumulate_unsharded else staying
    return staying, (*instants, step.plus(step_rows))


@lru_cache(maxsize=64)
def _timeline(stack, fsdp, model, mesh, pp_rank, layers):
    """(row of the weight shards, instants without it)."""
    timeline = FsdpTimeline(stack, fsdp, rank_tensors(model, mesh, pp_rank))
    return timeline.shards(), tuple(Instant(name, rows, phase) for name, rows, phase in timeline.moments(layers))


def _earlier_gradients(training, pp_rank, gradients):
    """What earlier micro-batches left: the shards, or without synchronising the whole gradient in the reduce dtype."""
    if not training.accumulate_unsharded:
        return gradients
    from .transients import kept_gradient_bytes

    numel = sum(tensor.numel for tensor in training.tensors(pp_rank))
    return (MemoryRow("unsharded_grads", "gradients kept without synchronising",
                      kept_gradient_bytes(numel, training.fsdp.reduce_dtype)),)


def _without(instant, accounts):
    return Instant(instant.name, tuple(row for row in instant.rows if row.account not in accounts), instant.phase)
