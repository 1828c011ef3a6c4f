"""Persistent bytes per rank against PyTorch's and DeepSpeed's own tensors, to the byte."""

import pytest
from cases import cases_of
from toy_gpt import toy_gpt

from zeroledger import frameworks
from zeroledger.errors import InvalidInput


def units_of(named, root_only=False):
    """FSDP units of the toy model: the root first, then one a block."""
    if root_only:
        return [[shape for _, shape in named]]
    root = [shape for name, shape in named if not name.startswith("blocks.")]
    blocks = [[shape for name, shape in named if name.startswith(f"blocks.{block}.")] for block in range(4)]
    return [root, *blocks]


def framework_states(scenario, shapes, ranks):
    if scenario.startswith("ddp"):
        return frameworks.ddp_states(shapes, ranks, "bf16" if "pure_bf16" in scenario else "fp32")
    if scenario.startswith("zero1"):
        return frameworks.zero_redundancy_states(shapes, ranks)
    return frameworks.fsdp2_states(shapes, ranks)


@pytest.mark.parametrize("case", cases_of("persistent_bytes_per_rank"))
def test_pytorch_states(case):
    inputs, expected = case["inputs"], case["expected"]
    scenario = inputs["scenario"]
    named = toy_gpt(inputs["model"], tied="tied" in scenario)
    shapes = [shape for _, shape in named]
    assert sum(map(frameworks.numel_of, shapes)) == inputs["total_params"]
    states = framework_states(scenario, shapes, inputs["N"])
    assert len(states) == len(expected["per_rank"]) == inputs["N"]
    for state, measured in zip(states, expected["per_rank"]):
        assert {key: state[key] for key in measured} == measured
    if "ddp_bucket_bytes" in expected:
        assert states[0]["ddp_bucket"] == expected["ddp_bucket_bytes"]
    if "fsdp_unsharded_bytes_after_forward" in expected:
        reshard = "default" if "default" in scenario else "never" if "noreshard" in scenario else "always"
        dtype = "bf16" if "bf16mp" in scenario else "fp32"
        units = units_of(named, root_only="rootonly" in scenario)
        kept = frameworks.fsdp2_unsharded_bytes(units, inputs["N"], reshard, dtype)
        assert kept == expected["fsdp_unsharded_bytes_after_forward"]


@pytest.mark.parametrize("case", cases_of("gradient_accumulation", prefix="tt-nosync-"))
def test_gradients_kept_without_synchronisation(case):
    shapes = [shape for _, shape in toy_gpt(case["inputs"]["model"])]
    [(account, kept)] = case["expected"].items()
    dtype = {"torch.float32": "fp32", "torch.bfloat16": "bf16"}[account.split(":")[1]]
    assert frameworks.unsynchronised_gradient_bytes(shapes, dtype) == kept


DEEPSPEED_INSTANTS = {"after_backward": "after_backward", "after_step": "after_step", "after_backward_micro0": "after_micro_batch"}


@pytest.mark.parametrize("case", cases_of("deepspeed_persistent_bytes"))
def test_deepspeed_states(case):
    inputs, config = case["inputs"], case["inputs"]["config"]
    shapes = [shape for _, shape in toy_gpt(inputs["model"])]
    options = {"persistence_threshold": config.get("stage3_param_persistence_threshold", 100_000),
               "reduce_bucket_numel": config.get("reduce_bucket_size", 500_000_000),
               "grad_accum_dtype": config.get("_grad_accum_dtype", "bf16")}
    checked = 0
    for key, instant in DEEPSPEED_INSTANTS.items():
        if key in case["expected"]:
            states = frameworks.deepspeed_states(shapes, inputs["N"], inputs["stage"], instant, **options)
            assert list(states) == case["expected"][key]
            checked += 1
    assert checked >= 2


@pytest.mark.parametrize("arguments", [
    ([], 2, 1), ([(2, 3)], 0, 1), ([(2, 3)], 2, 4), ([(2, 3)], 2, 1, "later"), ([()], 2, 1), ([(2, -3)], 2, 1),
    ([(2, 3.5)], 2, 1), ([(2, 3)], 2, 0, "after_step", "fp32"), ([(2, 3)], 2, 1, "after_step", "fp8"),
])
def test_bad_input_is_refused(arguments):
    with pytest.raises(InvalidInput):
        frameworks.deepspeed_states(*arguments)
    if len(arguments) == 3 and arguments[2] == 1:
        with pytest.raises(InvalidInput):
            frameworks.fsdp2_states(*arguments[:2])


def test_fp32_accumulation_at_stage_3_doubles_the_gradient_shard_only():
    shapes = [shape for _, shape in toy_gpt("even")]
    plain, fp32 = (frameworks.deepspeed_states(shapes, 2, 3, grad_accum_dtype=dtype)[0] for dtype in ("bf16", "fp32"))
    assert fp32.pop("grad_averaged_gradients") == 2 * plain.pop("grad_averaged_gradients")
    assert fp32 == plain


def test_small_tensors_that_stay_are_stored_padded():
    """Read on four ranks (./build.sh torch, DeepSpeed 0.19.8): 68 elements of padding in 34 small tensors."""
    shapes = [shape for _, shape in toy_gpt("uneven")]
    for state in frameworks.deepspeed_states(shapes, 4, 3):
        assert state["model_param_bit16"] + state["param_shard_ds_tensor"] == 2_074_656
