"""Importing DeepSpeed configuration files: what they say, what they leave open, and what is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_gpt import toy_gpt

from zeroledger import RECIPES
from zeroledger.deepspeed_communication import deepspeed
from zeroledger.deepspeed_config import run_config_from_deepspeed
from zeroledger.deepspeed_stage3 import FetchLimits
from zeroledger.errors import ConfigError, InvalidInput
from zeroledger.offload import Placement, Staging

# As huggingface/transformers' documentation writes it for the Trainer (docs/source/en/deepspeed.md, ZeRO-3).
TRAINER_ZERO3 = {
    "fp16": {"enabled": "auto", "loss_scale": 0, "loss_scale_window": 1000, "initial_scale_power": 16, "hysteresis": 2,
             "min_loss_scale": 1},
    "bf16": {"enabled": "auto"},
    "optimizer": {"type": "AdamW", "params": {"lr": "auto", "betas": "auto", "eps": "auto", "weight_decay": "auto"}},
    "scheduler": {"type": "WarmupLR", "params": {"warmup_min_lr": "auto"}},
    "zero_optimization": {
        "stage": 3, "offload_optimizer": {"device": "cpu", "pin_memory": True},
        "offload_param": {"device": "cpu", "pin_memory": True}, "overlap_comm": True, "contiguous_gradients": True,
        "sub_group_size": 1e9, "reduce_bucket_size": "auto", "stage3_prefetch_bucket_size": "auto",
        "stage3_param_persistence_threshold": "auto", "stage3_max_live_parameters": 1e9,
        "stage3_max_reuse_distance": 1e9, "stage3_gather_16bit_weights_on_model_save": True},
    "gradient_accumulation_steps": "auto", "gradient_clipping": "auto", "steps_per_print": 2000,
    "train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto", "wall_clock_breakdown": False,
}


def test_trainer_example_leaves_what_is_auto_open():
    run = run_config_from_deepspeed(json.dumps(TRAINER_ZERO3))
    assert (run.framework, run.stage, run.optimizer) == ("deepspeed", 3, "adamw")
    assert run.placement == Placement("cpu", "cpu", pin_memory=True) and run.overlap_comm is True
    assert run.compute_dtype is run.recipe_name is run.fetch is run.micro_batch_size is run.dp_size is None
    assert set(run.unknown) == {
        "fp16.enabled", "bf16.enabled", "zero_optimization.reduce_bucket_size", "gradient_accumulation_steps",
        "zero_optimization.stage3_prefetch_bucket_size", "zero_optimization.stage3_param_persistence_threshold",
        "train_batch_size", "train_micro_batch_size_per_gpu"}
    assert run.unrecognised == () and "scheduler" in run.ignored and "optimizer.params" in run.ignored
    with pytest.raises(ConfigError, match="compute_dtype.*bf16.enabled"):
        run.require("stage", "compute_dtype")


def test_empty_file_means_the_defaults():
    run = run_config_from_deepspeed({})
    assert (run.stage, run.compute_dtype, run.recipe_name) == (0, "fp32", "adam-fp32")
    assert run.placement == Placement(pin_memory=False) and run.reduce_bucket_numel == 500_000_000
    assert run.unknown == run.ignored == run.unrecognised == () and run.fetch is None
    stage3 = run_config_from_deepspeed({"zero_optimization": {"stage": 3}})
    assert stage3.fetch == FetchLimits() and stage3.staging == Staging() and stage3.overlap_comm is True


def test_knobs_reach_the_communication_model():
    run = run_config_from_deepspeed({"bf16": {"enabled": True}, "train_micro_batch_size_per_gpu": 2,
                                     "gradient_accumulation_steps": 2, "train_batch_size": 8, "zero_optimization": {
        "stage": 3, "reduce_bucket_size": 2e5, "stage3_param_persistence_threshold": 0, "max_live_parameters": 0,
        "stage3_prefetch_bucket_size": 0, "stage3_max_reuse_distance": 0}})
    assert run.fetch == FetchLimits(0, 0, 0, 0) and run.dp_size == 2
    total = run.communication(toy_gpt("even"))
    assert total.rows == deepspeed(toy_gpt("even"), 2, 3, gradient_accumulation_steps=2, reduce_bucket_numel=200_000,
                                   fetch=FetchLimits(0, 0, 0, 0)).rows
    assert total.total("all_gather")["calls"] == 112  # as measured, case ds-real-s3-N2-even-25
    stage2 = run_config_from_deepspeed({"fp16": {"enabled": True}, "zero_optimization": {
        "stage": 2, "use_multi_rank_bucket_allreduce": False}, "communication_data_type": "fp32"})
    assert {(row.op, row.dtype) for row in stage2.communication(toy_gpt("even"), 4).rows} == {
        ("reduce", "fp32"), ("all_gather", "fp16")}


@pytest.mark.parametrize("given, world_size, expected", [
    ({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2}, None, (4, 2, 64, 8)),
    ({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4}, 8, (4, 2, 64, 8)),
    ({"train_batch_size": 64, "gradient_accumulation_steps": 2}, 8, (4, 2, 64, 8)),
    ({"train_micro_batch_size_per_gpu": 4}, 8, (4, 1, 32, 8)),
    ({"train_batch_size": 64}, 8, (8, 1, 64, 8)),
    ({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4}, None, (4, None, 64, None)),
    ({"train_batch_size": "auto", "train_micro_batch_size_per_gpu": 4}, 8, (4, None, None, 8)),
])
def test_batch_sizes_are_completed_as_deepspeed_does(given, world_size, expected):
    run = run_config_from_deepspeed(given, world_size)
    assert (run.micro_batch_size, run.gradient_accumulation_steps, run.global_batch_size, run.dp_size) == expected


def test_old_and_short_names():
    assert run_config_from_deepspeed({"zero_optimization": True}).stage == 1
    assert run_config_from_deepspeed({"zero_optimization": {"stage": 2, "cpu_offload": True}}).placement.optimizer == "cpu"
    assert run_config_from_deepspeed({"bfloat16": {"enabled": True}}).compute_dtype == "bf16"
    assert run_config_from_deepspeed({"zero_optimization": {"stage": 2, "offload_optimizer": None}}).placement.optimizer == "device"
    assert run_config_from_deepspeed({"zero_optimization": {"stage": 2, "offload_param": {"device": "cpu"}}}
                                     ).placement.params == "device"


@pytest.mark.parametrize("config, expected", [
    ({"bf16": {"enabled": True}}, "adam-mixed"),
    ({"bf16": {"enabled": True}, "fp16": {"enabled": "auto"}}, "adam-mixed"),
    ({"fp16": {"enabled": True}, "optimizer": {"type": "Lion"}}, "lion"),
    ({"fp16": {"enabled": True, "fp16_master_weights_and_grads": True}}, None),
    ({"fp16": {"enabled": True}, "optimizer": {"type": "OneBitAdam"}}, None),
    ({"optimizer": {"type": "SGD"}}, "sgd-momentum-fp32"),
    ({"amp": {"enabled": True}}, None),
])
def test_recipe(config, expected):
    run = run_config_from_deepspeed(config)
    assert run.recipe_name == expected and (expected is None or expected in RECIPES)


def test_hybrid_groups_and_nvme_buffers():
    run = run_config_from_deepspeed({"zero_optimization": {
        "stage": 3, "zero_hpz_partition_size": 8, "mics_shard_size": -1, "sub_group_size": 1e8,
        "offload_optimizer": {"device": "nvme", "nvme_path": "/x", "buffer_count": 6, "pin_memory": False},
        "offload_param": {"device": "nvme", "buffer_size": 3e8, "buffer_count": 2}}})
    assert (run.secondary_shard_size, run.shard_group_size) == (8, None)
    assert run.placement == Placement("nvme", "nvme", pin_memory=False)
    assert run.staging == Staging(2, 300_000_000, 6, 100_000_000)
    assert run.ignored == ("zero_optimization.offload_optimizer.nvme_path",)


def test_unknown_fields_are_listed_where_they_stand():
    run = run_config_from_deepspeed({"zero_optimisation": {"stage": 3}, "zero_optimization": {
        "stage": 1, "reduce_bucket": 5, "offload_optimizer": {"divice": "cpu"}}})
    assert run.unrecognised == ("zero_optimisation", "zero_optimization.reduce_bucket",
                                "zero_optimization.offload_optimizer.divice")
    assert run.stage == 1


@pytest.mark.parametrize("config, field", [
    ({"zero_optimization": {"stage": 4}}, "zero_optimization.stage"),
    ({"zero_optimization": {"stage": "three"}}, "zero_optimization.stage"),
    ({"zero_optimization": {"stage": True}}, "zero_optimization.stage"),
    ({"zero_optimization": 3}, "zero_optimization"),
    ({"zero_optimization": {"reduce_bucket_size": -1}}, "zero_optimization.reduce_bucket_size"),
    ({"zero_optimization": {"reduce_bucket_size": 0}}, "zero_optimization.reduce_bucket_size"),
    ({"zero_optimization": {"reduce_bucket_size": 1.5}}, "zero_optimization.reduce_bucket_size"),
    ({"zero_optimization": {"reduce_scatter": "yes"}}, "zero_optimization.reduce_scatter"),
    ({"zero_optimization": {"stage": 3, "stage3_max_live_parameters": "1e9"}}, "zero_optimization.stage3_max_live_parameters"),
    ({"zero_optimization": {"offload_optimizer": {"device": "gpu"}}}, "zero_optimization.offload_optimizer.device"),
    ({"zero_optimization": {"offload_optimizer": {"device": "cpu"}}}, "zero_optimization.offload_optimizer.device"),
    ({"bf16": {"enabled": True}, "fp16": {"enabled": True}}, "fp16.enabled"),
    ({"bf16": {"enabled": "true"}}, "bf16.enabled"),
    ({"bf16": True}, "bf16"),
    ({"train_batch_size": 0}, "train_batch_size"),
    ({"train_batch_size": 10, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2}, "train_batch_size"),
    ({"data_types": {"grad_accum_dtype": "fp64"}}, "data_types.grad_accum_dtype"),
    ({"optimizer": {"type": 3}}, "optimizer.type"),
    ("[]", "deepspeed config"),
    ('{"bf16": {"enabled": tr', "deepspeed config"),
])
def test_bad_values_name_field_value_and_what_is_accepted(config, field):
    with pytest.raises(ConfigError) as caught:
        run_config_from_deepspeed(config)
    assert caught.value.field == field and caught.value.accepted


def test_contradicting_ranks_are_refused():
    with pytest.raises(ConfigError, match="train_batch_size"):
        run_config_from_deepspeed({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4,
                                   "gradient_accumulation_steps": 2}, 16)


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("auto"),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
                    max_leaves=5)
FIELDS = st.sampled_from(["bf16", "fp16", "amp", "zero_optimization", "optimizer", "train_batch_size", "data_types",
                          "train_micro_batch_size_per_gpu", "gradient_accumulation_steps", "communication_data_type"])
ZERO_FIELDS = st.sampled_from(["stage", "offload_optimizer", "offload_param", "reduce_bucket_size", "overlap_comm",
                               "stage3_max_live_parameters", "mics_shard_size", "cpu_offload", "sub_group_size"])


@given(st.dictionaries(FIELDS, JSON, max_size=4), st.dictionaries(ZERO_FIELDS, JSON, max_size=4))
def test_any_json_is_read_or_refused_by_name(top, zero):
    for config in (top, {"zero_optimization": zero}, top | {"zero_optimization": zero}):
        try:
            run = run_config_from_deepspeed(config)
        except InvalidInput as refusal:
            assert refusal.field
        else:
            assert run.stage in (None, 0, 1, 2, 3) and hash(run.unknown) is not None
