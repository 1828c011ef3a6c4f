"""Other projects' formulas against what those projects print."""

import pytest
from cases import assert_matches, cases_of
from hypothesis import given, settings
from hypothesis import strategies as st

from zeroledger import PRESETS, TransformerShape, ledger, recipe
from zeroledger.cli import main
from zeroledger.capacity import STAGE_NAMES, max_model_params
from zeroledger.errors import InvalidInput
from zeroledger.peers import peer_answers
from zeroledger.peers_calculators import accelerate_estimate, cookbook_estimate
from zeroledger.peers_reasons import compare_estimators
from zeroledger.peers_deepspeed import zero2_estimate, zero3_estimate
from zeroledger.peers_llm_analysis import llm_analysis
from zeroledger.peers_megatron import MegatronArgs, activation_bytes, activation_bytes_without_sp, weight_and_optimizer_bytes

GIB, MIB = 2**30, 2**20


@pytest.mark.parametrize("case", cases_of("ds_estimate_zero2", "ds_estimate_zero2_cpu"))
def test_deepspeed_zero2_estimator(case):
    inputs = case["inputs"]
    stale = case["id"].startswith("ds-doc-") and inputs["offload_optimizer"] == "none"
    estimate = zero2_estimate(inputs["total_params"], inputs["gpus_per_node"], inputs["nodes"],
                              inputs["offload_optimizer"] == "cpu", inputs.get("buffer", 1.5),
                              "documented" if stale else "code")
    on = estimate.cpu_bytes if case["kind"].endswith("_cpu") else estimate.gpu_bytes
    assert_matches(on / GIB, case)


def test_the_documented_example_is_stale():
    """memory.rst prints 15.93 for 2851598336 parameters on 8 GPUs; its own code now gives 11.29."""
    assert round(zero2_estimate(2_851_598_336, 8).gpu_bytes / GIB, 2) == 11.29
    assert round(zero2_estimate(2_851_598_336, 8, formula="documented").gpu_bytes / GIB, 2) == 15.93


def case_zero3(inputs, **choices):
    return zero3_estimate(inputs["total_params"], inputs["largest_layer_params"], inputs.get("gpus_per_node", inputs.get("gpus")),
                          inputs.get("nodes", 1), **choices)


@pytest.mark.parametrize("case", cases_of("ds_estimate_zero3"))
def test_deepspeed_zero3_estimator(case):
    inputs = case["inputs"]
    if case["id"] == "ds-doc-t5large":  # three placements in one row, in MiB
        largest = 4 * inputs["largest_layer_params"]
        assert_matches({"largest": largest / MIB, "case1": case_zero3(inputs).gpu_bytes / MIB,
                        "case2": case_zero3(inputs, offload_optimizer=True, offload_param=True).gpu_bytes / MIB,
                        "case3": case_zero3(inputs, offload_optimizer=True).gpu_bytes / MIB}, case)
        return
    estimate = case_zero3(inputs, offload_optimizer=inputs["offload_optimizer"], offload_param=inputs["offload_param"],
                          zero_init=inputs["zero_init"], buffer=inputs.get("buffer", 1.5))
    assert_matches({"cpu": estimate.cpu_bytes / GIB, "gpu": estimate.gpu_bytes / GIB}, case)


def test_estimators_agree_with_their_recipes():
    params, ranks = 8_000_000, 8
    zero2 = ledger(params, ranks, 2, "deepspeed-zero2-estimator").model_states_bytes_per_rank
    zero3 = ledger(params, ranks, 3, "deepspeed-zero3-estimator").model_states_bytes_per_rank
    assert zero2_estimate(params, ranks).gpu_bytes == zero2
    assert zero3_estimate(params, 0, ranks).gpu_bytes == zero3


@pytest.mark.parametrize("case", cases_of("megatron_theoretical"))
def test_megatron_theoretical_memory(case):
    args = MegatronArgs(**case["inputs"])
    assert_matches({"weight_and_optimizer_bytes": weight_and_optimizer_bytes(args),
                    "activation_bytes_sp_selective": activation_bytes(args),
                    "activation_bytes_without_sp": activation_bytes_without_sp(args)}, case)


MEGATRON_UNIT = {"tp": 2, "pp": 1, "ep": 2, "etp": 4, "world": 32, "hidden": 8, "ffn": 16, "layers": 2, "moe_layer_freq": [0, 1],
                 "num_experts": 4, "moe_ffn": 16, "shared_expert": 8, "vocab": 32, "heads": 2, "kv_channels": 4,
                 "norm": "RMSNorm", "tied": True, "moe_latent": None}


@pytest.mark.parametrize("case", cases_of("weight_and_optimizer"))
def test_megatron_s_own_unit_tests(case):
    """Their fixture's defaults (MEGATRON_UNIT) hold where a case names no value."""
    given_ = MEGATRON_UNIT | case["inputs"]
    args = MegatronArgs(
        hidden_size=given_["hidden"], num_layers=given_["layers"], num_attention_heads=given_["heads"],
        padded_vocab_size=given_["vocab"], ffn_hidden_size=given_["ffn"], kv_channels=given_["kv_channels"],
        normalization=given_["norm"], untie_embeddings_and_output_weights=not given_["tied"], num_experts=given_["num_experts"],
        moe_layer_pattern=tuple(given_["moe_layer_freq"]), moe_ffn_hidden_size=given_["moe_ffn"],
        moe_shared_expert_intermediate_size=given_["shared_expert"], moe_latent_size=given_["moe_latent"],
        tensor_model_parallel_size=given_["tp"], pipeline_model_parallel_size=given_["pp"], expert_model_parallel_size=given_["ep"],
        expert_tensor_parallel_size=given_["etp"], world_size=given_["world"],
        data_parallel_size=given_["world"] // given_["tp"] // given_["pp"], use_distributed_optimizer=True)
    assert_matches(weight_and_optimizer_bytes(args), case)


def test_megatron_and_our_recipe_agree_on_one_rank():
    """Llama-2-7B has no biases, so its exact count times 18 is Megatron's figure."""
    args = MegatronArgs(4096, 32, 32, 32000, ffn_hidden_size=11008, swiglu=True, normalization="RMSNorm",
                        untie_embeddings_and_output_weights=True)
    assert weight_and_optimizer_bytes(args) == PRESETS["llama-2-7b"].num_params * recipe("megatron-bf16").bytes_per_param


@pytest.mark.parametrize("case", cases_of("max_model_size"))
def test_largest_model_of_the_zero_paper(case):
    inputs = case["inputs"]
    most = max_model_params(inputs["gpu_gb"] * 10**9, inputs["dp"], STAGE_NAMES[inputs["stage"]], inputs["mp"])
    assert most / 10**9 == pytest.approx(case["exact"], rel=1e-6)
    assert_matches(most / 10**9, case)


@given(st.integers(1, 10**12), st.integers(1, 1024), st.integers(0, 3))
def test_the_largest_model_fits_and_one_more_does_not(memory, ranks, stage):
    most = max_model_params(memory, ranks, stage)
    if most:
        assert ledger(most, ranks, stage).model_states_bytes_per_rank <= memory
    assert ledger(most + 1, ranks, stage).model_states_bytes_per_rank > memory


LLM_ANALYSIS_RECOMPUTE = {"NONE": "none", "ATTN_COMPUTE": "attn_compute", "ATTN": "attn", "NORM_ATTN_NORM": "norm_attn_norm",
                          "FULL": "full"}


@pytest.mark.parametrize("case", cases_of("peer_output", prefix="llma-"))
def test_llm_analysis(case):
    inputs, parallel = case["inputs"], case["inputs"]["parallel"]
    gpt175 = TransformerShape(12288, 96, 96, 51200, gated_mlp=False, tie_word_embeddings=True)
    model = gpt175 if "gpt175" in case["id"] else PRESETS["llama-2-7b"].model
    estimate = llm_analysis(
        model, int(inputs["seq_len"]), int(inputs["batch_size_per_gpu"]), int(inputs.get("ds_zero", "0")[-1]),
        **{name.removesuffix("_size"): degree for name, degree in parallel.items()},
        recompute=LLM_ANALYSIS_RECOMPUTE[inputs["activation_recomputation"].split(".")[1]],
        flash=inputs.get("flash_attn", "True") == "True", softmax_dropout=inputs.get("softmax_dropout", "False") == "True")
    assert_matches({key: getattr(estimate, key) for key in case["expected"]}, case)


COOKBOOK_LLAMA = {"layers": 32, "seq": 2048, "heads": 32, "hidden": 4096, "batch": 1, "ffn": 2.6875, "mlp_linears": 3, "vocab": 32000}


@pytest.mark.parametrize("case", cases_of("peer_output", prefix="cookbook-"))
def test_cookbook(case):
    inputs = COOKBOOK_LLAMA | case["inputs"]  # one case says "as above"
    estimate = cookbook_estimate(inputs["layers"], inputs["hidden"], inputs["heads"], inputs["seq"], inputs["batch"], inputs["vocab"],
                                 inputs["ffn"], inputs["mlp_linears"], inputs["zero"], inputs["gpus"], inputs.get("tp", 1),
                                 inputs.get("pp", 1))
    values = {"act": estimate.activations, "model": estimate.params, "grad": estimate.grads, "optim": estimate.optimizer,
              "comm": estimate.communication, "total": estimate.total}
    assert_matches({key: value / GIB for key, value in values.items()}, case)


@pytest.mark.parametrize("case", cases_of("accelerate_estimate"))
def test_accelerate(case):
    params = case["inputs"]["params"]
    (whole, fp32_adam), (half, fp16_adam) = (accelerate_estimate(params, dtype) for dtype in ("float32", "float16"))
    # The GiB figure is printed with two decimals, coarser than the case's tolerance.
    assert_matches({"float32_total_MiB": whole / MIB, "float32_adam_GiB": round(fp32_adam / GIB, 2), "float16_total_MiB": half / MIB,
                    "float16_adam_MiB": fp16_adam / MIB}, case)
    assert {"float32_total_MiB": whole / MIB, "float16_adam_MiB": fp16_adam / MIB} == case["exact"]


def test_one_question_many_answers():
    """Llama-7B, 8 GPUs, ZeRO-3, sequence 2048, batch 1, in GiB: the table of shared/reference/memory.md."""
    model = PRESETS["llama-2-7b"].model
    ours = ledger(model=model, dp_size=8, stage=3).model_states_bytes_per_rank / GIB
    deepspeed = zero3_estimate(model.num_params, 32000 * 4096, 8).gpu_bytes / GIB
    analysis = llm_analysis(model, 2048, stage=3, dp=8)
    cookbook = cookbook_estimate(32, 4096, 32, 2048, 1, 32000, 2.6875, 3, 3, 8).total / GIB
    accelerate = accelerate_estimate(model.num_params, "bfloat16")[1] / GIB
    assert [round(ours, 2), round(deepspeed, 2), round(cookbook, 1), round(accelerate, 1)] == [12.55, 14.61, 45.4, 50.2]
    states = analysis.weight_memory_per_gpu + analysis.gradient_memory_per_gpu + analysis.optimizer_state_memory_per_gpu
    assert round(states / GIB, 2) == 13.85


def test_answers_side_by_side():
    answers = {answer.who: answer for answer in peer_answers("llama-2-7b", 8, 3)}
    figures = {who: None if answer.num_bytes is None else round(answer.num_bytes / GIB, 1) for who, answer in answers.items()}
    assert figures == {"zeroledger": 12.6, "DeepSpeed estimator": 14.6, "Megatron-LM": None, "llm-analysis": 20.6,
                       "EleutherAI cookbook": 45.4, "accelerate": 50.2}
    stage1 = {answer.who: answer for answer in peer_answers("llama-2-7b", 8, 1)}
    assert stage1["DeepSpeed estimator"].num_bytes is None
    assert stage1["Megatron-LM"].num_bytes / GIB == pytest.approx(47.1 + 9.1, abs=0.1)
    assert all(answer.counts and answer.caveat for answer in answers.values())


@pytest.mark.parametrize("call", [
    lambda: peer_answers("mixtral-8x7b", 8, 3), lambda: peer_answers("llama-2-7b", 0, 3), lambda: peer_answers("llama-2-7b", 8, 4),
    lambda: peer_answers("llama", 8, 3), lambda: peer_answers("llama-2-7b", 8, 3, -1),
    lambda: zero2_estimate(-1), lambda: zero2_estimate(7e9, 0), lambda: zero2_estimate(7e9, formula="new"),
    lambda: zero2_estimate(7e9, buffer=float("nan")), lambda: zero3_estimate(7e9, -1), lambda: zero3_estimate(7e9, 1, offload_param=True),
    lambda: zero3_estimate(7e9, 1, zero_init=1), lambda: MegatronArgs(0, 1, 1), lambda: MegatronArgs(8, "2", 1),
    lambda: MegatronArgs(8, 2, 1, moe_layer_pattern=(1,)), lambda: MegatronArgs(8, 2, 1, normalization="none"),
    lambda: MegatronArgs(8, 2, 1, swiglu="yes"), lambda: max_model_params(0, 8, 3), lambda: max_model_params(80e9, 8, 5),
    lambda: max_model_params(80e9, 8, 3, 0), lambda: max_model_params("80 GB", 8, 3),
    lambda: cookbook_estimate(0, 1, 1), lambda: cookbook_estimate(1, 1, 1, ffn_expansion=-1), lambda: accelerate_estimate(-1),
    lambda: accelerate_estimate(1, "int8"), lambda: llm_analysis(PRESETS["llama-2-7b"].model, 0),
    lambda: llm_analysis(PRESETS["mixtral-8x7b"].model, 2048), lambda: llm_analysis(PRESETS["llama-2-7b"].model, 1, recompute="some"),
])
def test_bad_input_is_refused(call):
    with pytest.raises(InvalidInput, match="expected"):
        call()


@given(st.sampled_from(("llama-2-7b", "gpt2-xl", "mixtral-8x7b")), st.integers(1, 512), st.integers(0, 3))
@settings(max_examples=25, deadline=None)
def test_every_difference_is_taken_apart_to_the_byte(name, ranks, stage):
    told = compare_estimators(name, ranks, stage)
    for each in told.estimators:
        if each.num_bytes is None:
            assert each.who == "deepspeed" and stage < 2
            continue
        assert told.states_bytes + sum(size for _, size in each.terms) == each.num_bytes
        assert abs(dict(each.terms).get("rounding", 0)) < 16 * ranks, "no reason is hidden in the rounding"
    plain = told.as_dict()["peak"]
    states = sum(size for name, size in plain["accounts"].items() if name in ("sharded_params", "unsharded_params", "master_params",
                 "sharded_grads", "unsharded_grads", "optimizer_states"))
    assert states + sum(plain["on_top"].values()) == plain["bytes"]


def test_the_reasons_are_printed(capsys):
    assert main(["peers", "--model", "llama-2-7b"]) == 0
    text = capsys.readouterr().out
    assert "+1.57 GiB" in text and "every rank is taken to hold all states" in text
