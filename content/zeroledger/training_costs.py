"""What a ``Training`` costs besides device memory: operations, bytes on the wire, host memory; all of one rank."""

from dataclasses import dataclass

from .collectives import CollectiveRow, Communication
from .communication import fsdp2, zero_paper
from .compute import step_flops
from .deepspeed_communication import deepspeed
from .deepspeed_stage3 import tied_head
from .errors import ceil_div
from .mesh import stage_layers
from .model_parallel_communication import expert_parallel, pipeline_parallel, tensor_parallel


@dataclass(frozen=True)
class Cost:
    """Of one optimizer step on one rank: operations executed, bytes sent; bytes held in host memory and on NVMe; ranks."""

    flops: int
    wire_bytes: int
    host_bytes: int
    nvme_bytes: int
    world_size: int
    micro_batches: int

    def as_dict(self):
        """Plain data for JSON."""
        return dict(vars(self))


def training_cost(training, pp_rank=0):
    """The ``Cost`` of a ``Training``; operations are the model's, shared evenly by the ranks of a copy."""
    from .budgets import offload_of

    mesh = training.mesh
    flops = step_flops(training.model, training.micro_batch_size, training.seq_length, training.recompute,
                       gradient_accumulation_steps=training.gradient_accumulation_steps).hardware_flops
    offloaded = training.placement.optimizer != "device" or training.placement.params != "device"
    plan = offload_of(training, pp_rank) if offloaded else None
    return Cost(ceil_div(flops, mesh.tp * mesh.pp * mesh.cp), training_communication(training, pp_rank).wire_bytes,
                plan.bytes_per_rank("cpu") if plan else 0, plan.bytes_per_rank("nvme") if plan else 0, mesh.world_size,
                training.gradient_accumulation_steps)


def training_communication(training, pp_rank=0):
    """The ``Communication`` of one step on a rank of pipeline stage ``pp_rank``: data parallelism as the engine does it,
    then tensor, pipeline and expert parallelism where they are used. Context parallelism's exchange is not counted."""
    mesh, parts = training.mesh, [_data_parallel(training, pp_rank)]
    layers = len(stage_layers(training.model, mesh, pp_rank))
    tokens = {"micro_batch_size": training.micro_batch_size, "seq_length": ceil_div(training.seq_length, mesh.cp),
              "hidden_size": training.model.hidden_size}
    common = {"dtype": training.compute_dtype, "gradient_accumulation_steps": training.gradient_accumulation_steps}
    if mesh.tp > 1:
        parts.append(tensor_parallel(**tokens, tp_size=mesh.tp, sequence_parallel=training.sequence_parallel,
                                     recompute=training.recompute, num_layers=layers, **common))
    if mesh.pp > 1:
        parts.append(pipeline_parallel(**tokens, pp_size=mesh.pp, tp_size=mesh.tp, **common))
    if mesh.ep > 1:
        moe = sum(map(training.model.is_moe_layer, stage_layers(training.model, mesh, pp_rank)))
        if moe:
            parts.append(expert_parallel(**tokens, experts_per_token=training.model.num_experts_per_tok, ep_size=mesh.ep,
                                         recompute=training.recompute, num_layers=moe, **common))
    total = parts[0]
    for part in parts[1:]:
        total = total.plus(part)
    return total


def _data_parallel(training, pp_rank):
    mesh, steps, dtype = training.mesh, training.gradient_accumulation_steps, training.compute_dtype
    shards, tensors = mesh.dense_shards, training.tensors(pp_rank)
    if training.engine == "fsdp2":
        policy = training.fsdp
        reshard = None if policy.reshard_after_forward == "default" else policy.reshard_after_forward
        return fsdp2(tensors, shards, reshard, dtype, policy.reduce_dtype, policy.wrap, steps,
                     no_sync=training.accumulate_unsharded, replicate_size=mesh.replicas)
    if training.engine == "deepspeed":
        buffers, whole = training.deepspeed, mesh.world_size == mesh.dp
        options = {"fetch": buffers.limits} if training.stage == 3 else {}
        if mesh.replicas > 1:
            options["shard_group_size"] = shards
        return deepspeed(tensors, shards * mesh.replicas, training.stage, dtype=dtype, gradient_accumulation_steps=steps,
                         reduce_bucket_numel=buffers.reduce_bucket_numel,
                         tied=tied_head(training.model) if whole else (), **options)
    numel = sum(tensor.numel for tensor in tensors)
    paper = zero_paper(numel, shards, training.stage, dtype, steps)
    if mesh.replicas == 1:
        return paper
    share = ceil_div(numel, shards)
    row = CollectiveRow("all_reduce", "replicate", mesh.replicas, None, share, dtype, "grads", "step")
    return Communication(paper.strategy, (*paper.rows, row), paper.source)
