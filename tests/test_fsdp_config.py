"""Importing accelerate configurations: FSDP1, FSDP2, DDP and accelerate's DeepSpeed section."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_deepspeed_config import JSON
from toy_gpt import toy_gpt

from zeroledger.communication import ddp, fsdp2
from zeroledger.errors import ConfigError, InvalidInput
from zeroledger.fsdp_config import run_config_from_accelerate
from zeroledger.offload import Placement

# examples/config_yaml_templates/fsdp.yaml of huggingface/accelerate, as JSON
TEMPLATE = {
    "distributed_type": "FSDP", "mixed_precision": "bf16", "num_processes": 2, "fsdp_config": {
        "fsdp_activation_checkpointing": False, "fsdp_auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
        "fsdp_backward_prefetch": "BACKWARD_PRE", "fsdp_cpu_ram_efficient_loading": True, "fsdp_forward_prefetch": False,
        "fsdp_offload_params": False, "fsdp_sharding_strategy": "FULL_SHARD", "fsdp_state_dict_type": "SHARDED_STATE_DICT",
        "fsdp_sync_module_states": True, "fsdp_use_orig_params": True}}


def fsdp(**fields):
    """A run with these fields of fsdp_config."""
    return run_config_from_accelerate({"distributed_type": "FSDP", "num_processes": 16, "num_machines": 2,
                                       "mixed_precision": "bf16", "fsdp_config": fields})


def test_template():
    run = run_config_from_accelerate(json.dumps(TEMPLATE))
    assert (run.framework, run.stage, run.compute_dtype, run.dp_size) == ("fsdp1", 3, "bf16", 2)
    assert (run.reshard_after_forward, run.recompute, run.wrap, run.prefetch_depth) == (True, "none", "layer", 1)
    assert run.placement == Placement() and run.unknown == run.unrecognised == () and run.recipe_name == "adam-fp32"
    assert len(run.ignored) == 5
    assert run.communication(toy_gpt("even")).rows == fsdp2(toy_gpt("even"), 2, True, "bf16", "bf16").rows


@pytest.mark.parametrize("fields, expected", [
    ({"fsdp_version": 2, "fsdp_reshard_after_forward": True}, ("fsdp2", 3, True)),
    ({"fsdp_version": 2, "fsdp_reshard_after_forward": False}, ("fsdp2", 2, False)),
    ({"fsdp_reshard_after_forward": False}, ("fsdp2", 2, False)),
    ({"fsdp_version": "2"}, ("fsdp2", 3, True)),
    ({"version": 2, "reshard_after_forward": "false"}, ("fsdp2", 2, False)),
    ({"fsdp_version": 1, "fsdp_reshard_after_forward": "SHARD_GRAD_OP"}, ("fsdp1", 2, False)),
    ({"fsdp_sharding_strategy": 1}, ("fsdp1", 3, True)),
    ({"fsdp_sharding_strategy": "shard_grad_op"}, ("fsdp1", 2, False)),
    ({"fsdp_sharding_strategy": "NO_SHARD"}, ("fsdp1", 0, None)),
    ({}, ("fsdp1", 3, True)),
    ({"fsdp_sharding_strategy": "auto"}, ("fsdp1", None, None)),
])
def test_versions_and_strategies(fields, expected):
    run = fsdp(**fields)
    assert (run.framework, run.stage, run.reshard_after_forward) == expected and run.unrecognised == ()


def test_hybrid_sharding_takes_the_node_as_its_group():
    run = fsdp(fsdp_sharding_strategy="HYBRID_SHARD", fsdp_auto_wrap_policy="TRANSFORMER_BASED_WRAP")
    assert run.shard_group_size == 8 and run.dp_size == 16
    assert run.communication(toy_gpt("even")).rows == fsdp2(toy_gpt("even"), 8, True, "bf16", "bf16", no_sync=True,
                                                            replicate_size=2).rows
    with pytest.raises(InvalidInput, match="dp_size"):
        run.communication(toy_gpt("even"), 12)


def test_offload_checkpointing_and_size_based_wrapping():
    run = fsdp(fsdp_offload_params=True, fsdp_activation_checkpointing=True, fsdp_auto_wrap_policy="SIZE_BASED_WRAP",
               fsdp_min_num_params=1000)
    assert run.placement == Placement("cpu", "cpu") and run.recompute == "full"
    assert run.wrap is None and run.unknown == ("fsdp_config.fsdp_auto_wrap_policy",)
    with pytest.raises(ConfigError, match="wrap"):
        run.communication(toy_gpt("even"))


def test_data_parallel_and_single():
    run = run_config_from_accelerate({"distributed_type": "MULTI_GPU", "num_processes": 4, "mixed_precision": "fp16",
                                      "gradient_accumulation_steps": 3, "machine_rank": 0})
    assert (run.framework, run.stage, run.dp_size, run.ignored) == ("ddp", 0, 4, ("machine_rank",))
    assert run.communication(toy_gpt("even")).rows == ddp(toy_gpt("even"), 4, "fp32", 3).rows
    assert run_config_from_accelerate({"distributed_type": "NO", "num_processes": 1}).dp_size == 1


def test_deepspeed_section():
    run = run_config_from_accelerate({"distributed_type": "DEEPSPEED", "mixed_precision": "bf16", "num_processes": 8,
                                      "deepspeed_config": {"zero_stage": 3, "offload_optimizer_device": "cpu",
                                                           "offload_param_device": "none", "zero3_init_flag": True,
                                                           "gradient_accumulation_steps": 4, "surprise": 1}})
    assert (run.framework, run.stage, run.compute_dtype, run.dp_size) == ("deepspeed", 3, "bf16", 8)
    assert run.placement == Placement("cpu", pin_memory=False) and run.gradient_accumulation_steps == 4
    assert run.ignored == ("deepspeed_config.zero3_init_flag",) and run.unrecognised == ("deepspeed_config.surprise",)
    auto = run_config_from_accelerate({"distributed_type": "DEEPSPEED", "deepspeed_config": {"zero_stage": "auto"}})
    assert auto.stage is None and auto.unknown == ("deepspeed_config.zero_stage",)


def test_bare_fsdp_config_of_the_trainer():
    run = run_config_from_accelerate({"reshard_after_forward": True, "version": 2, "xla": False,
                                      "transformer_layer_cls_to_wrap": ["LlamaDecoderLayer"]})
    assert (run.framework, run.stage, run.dp_size) == ("fsdp2", 3, None)
    with pytest.raises(ConfigError, match="dp_size"):
        run.communication(toy_gpt("even"))


@pytest.mark.parametrize("config, field", [
    ({"distributed_type": "PIGEON"}, "distributed_type"),
    ({"distributed_type": "FSDP", "fsdp_config": {"fsdp_version": 3}}, "fsdp_config.fsdp_version"),
    ({"distributed_type": "FSDP", "fsdp_config": {"fsdp_sharding_strategy": "MOST_SHARD"}}, "fsdp_config.fsdp_sharding_strategy"),
    ({"distributed_type": "FSDP", "fsdp_config": {"fsdp_version": 2, "reshard_after_forward": "FULL_SHARD"}},
     "fsdp_config.reshard_after_forward"),
    ({"distributed_type": "FSDP", "fsdp_config": {"fsdp_offload_params": "cpu"}}, "fsdp_config.fsdp_offload_params"),
    ({"distributed_type": "FSDP", "fsdp_config": []}, "fsdp_config"),
    ({"mixed_precision": "bf32"}, "mixed_precision"),
    ({"num_processes": 0}, "num_processes"),
    ({"distributed_type": "DEEPSPEED", "deepspeed_config": {"zero_stage": 9}}, "deepspeed_config.zero_stage"),
    ({"distributed_type": "DEEPSPEED", "deepspeed_config": {"deepspeed_config_file": "a.json"}},
     "deepspeed_config.deepspeed_config_file"),
    ("{", "accelerate config"),
])
def test_bad_values_name_the_field(config, field):
    with pytest.raises(ConfigError) as caught:
        run_config_from_accelerate(config)
    assert caught.value.field == field


TOP = st.sampled_from(["distributed_type", "mixed_precision", "num_processes", "fsdp_config", "deepspeed_config", "num_machines"])
FSDP_FIELDS = st.sampled_from(["fsdp_version", "fsdp_sharding_strategy", "reshard_after_forward", "fsdp_offload_params",
                               "fsdp_auto_wrap_policy", "fsdp_backward_prefetch", "zero_stage", "offload_param_device"])


@given(st.dictionaries(TOP, JSON, max_size=4), st.dictionaries(FSDP_FIELDS, JSON, max_size=4),
       st.sampled_from(["FSDP", "DEEPSPEED", "NO", "MULTI_GPU"]))
def test_any_json_is_read_or_refused_by_name(top, section, kind):
    for config in (top, {"distributed_type": kind, "fsdp_config": section, "deepspeed_config": section}, section):
        try:
            run = run_config_from_accelerate(config)
        except InvalidInput as refusal:
            assert refusal.field
        else:
            assert run.framework
