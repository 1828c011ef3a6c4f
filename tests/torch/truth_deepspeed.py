"""DeepSpeed on its CPU accelerator: bytes that each rank holds at every stage, and elements that travel in a step."""

import torch
import torch.distributed as dist
from counting import Counting
from rows import row
from toy import loss_of, sequences, setup_of, tensors_of, toy
from truth_states import collectives
from zeroledger_measure import held_bytes, optimizers_of

from zeroledger import frameworks
from zeroledger.deepspeed_config import run_config_from_deepspeed
from zeroledger.equivalence import first_adam_update

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
RATE = 1e-3
STEPS = 4  # the module trace of stage 3 is complete from the third on
OPTIMIZER = ("master_fp32", "optim_exp_avg", "optim_exp_avg_sq", "optim_step")


def rows(ranks, quick):
    """Rows of every run over ``ranks`` processes, on rank 0."""
    import deepspeed

    deepspeed.init_distributed("gloo")
    chosen = [words for words in RUNS if not quick or "," not in words]
    found = first_updates(deepspeed, ranks) + [each for stage in range(4) for each in equivalence(deepspeed, stage, ranks)]
    return found + [each for words in chosen for each in run(deepspeed, "uneven", words, ranks)]


def run(deepspeed, name, words, ranks):
    """Rows of one configuration."""
    stage, zero, steps = RUNS[words]
    config = {"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": steps, "bf16": {"enabled": True},
              "zero_optimization": {"stage": stage, **zero}}
    engine = engine_of(deepspeed, toy(name).bfloat16(), config)
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


def engine_of(deepspeed, model, config):
    """DeepSpeed's engine around the model and torch's Adam."""
    config = config | {"zero_allow_untested_optimizer": True, "zero_force_ds_cpu_optimizer": False}
    return deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config,
                                optimizer=torch.optim.Adam(model.parameters(), lr=RATE))[0]


def equivalence(deepspeed, stage, ranks):
    """Losses of a few fp32 steps against one process with the whole batch, on rank 0."""
    from truth_equivalence import BATCH, BOUNDS, NAME, STEPS as COMPARED_STEPS, run as baseline

    expected = baseline(toy(NAME), lambda parameters: torch.optim.Adam(parameters, lr=RATE), sequences(NAME, BATCH), 1)[1]
    tokens = sequences(NAME, BATCH).chunk(ranks)[dist.get_rank()]
    engine = engine_of(deepspeed, toy(NAME), {"train_micro_batch_size_per_gpu": len(tokens), "zero_optimization": {
        "stage": stage, **(BUCKET if stage else {})}})
    found = []
    for _ in range(COMPARED_STEPS):
        loss = loss_of(engine, tokens)
        engine.backward(loss)
        engine.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        found.append(mean.item() / ranks)
    engine.destroy()
    worst = max(abs(ours - theirs) for ours, theirs in zip(found, expected, strict=True))
    made = row("equivalence", "DeepSpeed", ranks, setup_of(NAME, f"fp32, stage {stage}, batch of {BATCH}"),
               f"worst loss difference in {COMPARED_STEPS} steps", "nats", BOUNDS["fp32"][1], worst, "at most")
    return [made] if dist.get_rank() == 0 else []


def first_updates(deepspeed, ranks):
    """Adam's first update in bf16, in learning rates: stage 0 makes its states by a step on zero gradients, stage 1 does not."""
    found = []
    for stage, extra in ((0, 1), (1, 0)):
        engine = engine_of(deepspeed, toy("uneven").bfloat16(), {
            "train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": True}, "zero_optimization": {
                "stage": stage, **(BUCKET if stage else {})}})
        before = [each.detach().clone() for each in masters(engine)]
        engine.backward(loss_of(engine, sequences("uneven", 1)))
        engine.step()
        update = max((after.detach() - start).abs().max().item() for after, start in zip(masters(engine), before, strict=True))
        engine.destroy()
        found.append(row("breaks", "DeepSpeed", ranks, f"bf16, stage {stage}, torch's Adam", "first update, in learning rates", "ratio",
                         first_adam_update(extra_zero_grad_steps=extra), update / RATE, 0.5))
    return found if dist.get_rank() == 0 else []


def masters(engine):
    """The fp32 tensors that the inner optimizer updates."""
    return [each for inner in optimizers_of(engine.optimizer) for group in inner.param_groups for each in group["params"]]


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
