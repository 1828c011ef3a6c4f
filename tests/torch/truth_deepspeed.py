"""DeepSpeed on its CPU accelerator: bytes that each rank holds at every stage, and elements that travel in a step."""

import torch
import torch.distributed as dist
from counting import Counting
from rows import row
from toy import loss_of, sequences, setup_of, tensors_of, toy
from truth_states import collectives
from zeroledger_measure import held_bytes

from zeroledger import frameworks
from zeroledger.deepspeed_config import run_config_from_deepspeed

BUCKET = {"reduce_bucket_size": 1_000_000}
EAGER = {"stage3_param_persistence_threshold": 0, "stage3_max_live_parameters": 0, "stage3_prefetch_bucket_size": 0,
         "stage3_max_reuse_distance": 0}
# words → (stage, zero_optimization, gradient accumulation steps)
RUNS = {
    "stage 0": (0, {}, 1), "stage 1": (1, BUCKET, 1), "stage 2": (2, BUCKET, 1), "stage 3": (3, BUCKET, 1),
    "stage 1, two micro-batches": (1, BUCKET, 2), "stage 2, two micro-batches": (2, BUCKET, 2),
    "stage 2, reduce instead of all-reduce": (2, BUCKET | {"use_multi_rank_bucket_allreduce": False}, 1),
    "stage 3, nothing kept gathered": (3, BUCKET | EAGER, 1),
    "stage 3, nothing kept gathered, two micro-batches": (3, BUCKET | EAGER, 2),
}
STEPS = 4  # the module trace of stage 3 is complete from the third on
OPTIMIZER = ("master_fp32", "optim_exp_avg", "optim_exp_avg_sq", "optim_step")


def rows(ranks, quick):
    """Rows of every run over ``ranks`` processes, on rank 0."""
    import deepspeed

    deepspeed.init_distributed("gloo")
    chosen = [words for words in RUNS if not quick or "," not in words]
    return [each for name in (("uneven",) if quick else ("even", "uneven")) for words in chosen
            for each in run(deepspeed, name, words, ranks)]


def run(deepspeed, name, words, ranks):
    """Rows of one configuration."""
    stage, zero, steps = RUNS[words]
    config = {"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": steps, "bf16": {"enabled": True},
              "zero_optimization": {"stage": stage, **zero}}
    model = toy(name).bfloat16()
    engine, *_ = deepspeed.initialize(
        model=model, model_parameters=model.parameters(), optimizer=torch.optim.Adam(model.parameters(), lr=1e-3),
        config=config | {"zero_allow_untested_optimizer": True, "zero_force_ds_cpu_optimizer": False})
    readings, counting = {}, Counting()
    for step in range(STEPS):
        if step < STEPS - 1:
            one_step(engine, name, steps, readings)
        else:
            with counting:
                one_step(engine, name, steps, readings)
    everyone = [None] * dist.get_world_size()
    dist.all_gather_object(everyone, readings)
    engine.destroy()
    if dist.get_rank():
        return []
    tensors = tensors_of(name)
    settings = run_config_from_deepspeed(config)
    setup = setup_of(name, f"bf16, {words}")
    return states(setup, ranks, stage, zero, tensors, everyone) + collectives(
        "DeepSpeed", ranks, setup, settings.communication(tensors, ranks), counting)


def one_step(engine, name, steps, readings):
    for micro_batch in range(steps):
        engine.backward(loss_of(engine, sequences(name, 1, seed=micro_batch)))
        if micro_batch == steps - 1:
            readings["after_backward"] = held_bytes(engine, engine.optimizer)
        engine.step()
    readings["after_step"] = held_bytes(engine, engine.optimizer)


def states(setup, ranks, stage, zero, tensors, everyone):
    """Rows for what stays, after backward and after the step."""
    options = {"persistence_threshold": zero.get("stage3_param_persistence_threshold", frameworks.PERSISTENCE_THRESHOLD),
               "reduce_bucket_numel": zero.get("reduce_bucket_size", frameworks.REDUCE_BUCKET_NUMEL)}
    found = []
    for instant in ("after_backward", "after_step"):
        predicted = frameworks.deepspeed_states([shape for _, shape in tensors], ranks, stage, instant, **options)
        for quantity, category, accounts in (
                ("parameters", "params", ("model_param_bit16", "param_shard_ds_tensor")),
                ("gradients", "grads", tuple(each for each in predicted[0] if each.startswith("grad_"))),
                ("master weights and optimizer state", "optimizer", OPTIMIZER)):
            found.append(row("states", "DeepSpeed", ranks, setup, f"{quantity} {instant.replace('_', ' ')}", "bytes",
                             [sum(each.get(account, 0) for account in accounts) for each in predicted],
                             [each[instant].get(category, 0) for each in everyone]))
    return found
