"""Stacks of layers: measured peaks with and without recompute, pipeline stages, the paper's figures."""

import pytest
from cases import assert_matches, cases_of
from hypothesis import given
from hypothesis import strategies as st
from measured_models import cpu_settings, gpt, llama

from zeroledger.activation_rows import PAPER, ActivationSettings
from zeroledger.activation_stack import Stack, stack_instants
from zeroledger.activations import layer_activations
from zeroledger.deepspeed_transients import deepspeed_instants
from zeroledger.errors import ConfigError, InvalidInput
from zeroledger.instants import PHASES, Instant, MemoryRow, overlay, peak, with_rows
from zeroledger.logits import loss_settings
from zeroledger.pipeline_activations import layers_in_flight, pipeline_output_bytes

# oneDNN's scratch space for the weight gradient of the second MLP matrix at these sizes, one thread: seen in the
# profiler's trace of tests/torch/measure.py's GPT block. It is a library's choice, so the model takes it as an input.
ONE_THREAD_WORKSPACE = 132_224
CPU_RNG_STATE = 5_056


def named(instants, name):
    return next(instant for instant in instants if instant.name == name)


@pytest.mark.parametrize("case", cases_of("activation_stack_peak"))
def test_stack_of_blocks_as_measured(case):
    inputs = case["inputs"]
    settings = cpu_settings(inputs["b"], inputs["s"], hidden_dropout=True, attention_dropout=True,
                            recompute="full" if inputs["recompute"] else "none")
    stack = Stack(gpt(inputs["h"], inputs["a"], inputs["L"]), settings, rng_state_bytes=CPU_RNG_STATE,
                  workspace_bytes=ONE_THREAD_WORKSPACE)
    instants = stack_instants(stack, accumulates=True)
    assert_matches(named(instants, "end of forward").num_bytes, case, case["expected"]["after_forward"])
    backward = peak(instant for instant in instants if instant.name.startswith("backward"))
    assert_matches(backward.num_bytes, case, case["expected"]["peak"])
    assert backward.name == f"backward of layer {inputs['L'] - 1}: down_proj"
    # far closer than the case asks: the 8-byte scalar of each score scale, and one bias made a moment later
    assert abs(backward.num_bytes - case["expected"]["peak"]) <= 2 * inputs["h"] + 8 * inputs["L"]


@given(num_layers=st.integers(1, 6), s=st.integers(1, 40), b=st.integers(1, 3))
def test_recompute_holds_one_layer_and_the_checkpoints(num_layers, s, b):
    shape, settings = gpt(64, 4, num_layers), ActivationSettings(b, s, **PAPER)
    kept = named(stack_instants(Stack(shape, settings)), "end of forward").num_bytes
    assert kept == num_layers * layer_activations(shape, settings).num_bytes
    stack = Stack(shape, settings.changed(recompute="full"))
    instants = stack_instants(stack, accumulates=True)
    assert named(instants, "end of forward").num_bytes == num_layers * 2 * s * b * 64
    first = next(instant for instant in instants if instant.name.startswith("backward"))
    activations = first.by_account()["activations"]
    assert activations == (num_layers - 1) * 2 * s * b * 64 + layer_activations(shape, settings).num_bytes


def test_whole_model_names_its_edges():
    shape = llama(64, 4, 2, 96, num_layers=3, vocab=5000)
    settings = ActivationSettings(2, 32, hidden_dropout=True)
    stack = Stack(shape, settings, loss_settings(shape, settings))
    instants = stack_instants(stack)
    end = named(instants, "end of forward")
    by_name = {row.what: row.num_bytes for row in end.rows}
    assert by_name["token ids"] == by_name["targets"] == 8 * 64
    assert by_name["embedding dropout mask"] == 64 * 64
    assert by_name["rotary cosines and sines"] == 2 * 32 * 16 * 2
    assert by_name["final norm"] == 64 * 64 * 2 + 64 * 4
    assert by_name["log-probabilities"] == 4 * 64 * 5000
    assert by_name["layers below 3"] == 3 * layer_activations(shape, settings).num_bytes
    assert peak(instants).name == "loss backward: log-softmax"  # 5000 words weigh more than three thin layers


def test_weight_gradients_appear_or_accumulate():
    shape, settings = gpt(64, 4, 3), ActivationSettings(1, 16)
    fresh = stack_instants(Stack(shape, settings))[-1].by_account()["unsharded_grads"]
    layer_params = sum(tensor.numel for tensor in shape.tensors() if tensor.layer == 0)
    assert fresh == 2 * 3 * layer_params
    again = stack_instants(Stack(shape, settings), accumulates=True)[-1].by_account()["unsharded_grads"]
    assert again == 2 * 2 * 64  # the first norm's weight and bias only


def test_mixtures_and_dense_layers_differ_in_one_stack():
    shape = llama(64, 4, 2, 96, num_layers=2, num_experts=4, num_experts_per_tok=2, dense_layers=(0,))
    stack = Stack(shape, ActivationSettings(1, 16))
    dense, mixture = (layer_activations(shape, stack.settings, layer).num_bytes for layer in (0, 1))
    assert dense != mixture
    assert stack.kept_before(2).num_bytes == dense + mixture


def test_stack_refuses_what_does_not_fit_together():
    shape, settings = gpt(64, 4, max_position_embeddings=16), ActivationSettings(1, 32)
    with pytest.raises(ConfigError, match="seq_length = 32: expected at most max_position_embeddings 16"):
        Stack(shape, settings)
    plain = gpt(64, 4)
    with pytest.raises(ConfigError, match="loss.tokens = 32: expected the micro-batch's 64"):
        Stack(plain, settings.changed(micro_batch_size=2), loss_settings(plain, settings))
    with pytest.raises(InvalidInput, match="workspace_bytes"):
        Stack(plain, settings, workspace_bytes=-1)


# pipeline


@pytest.mark.parametrize("case", cases_of("activation_first_stage"))
def test_first_stage_by_operations(case):
    inputs, variant = case["inputs"], case["inputs"]["variant"]
    options = {"recompute": "full"} if variant == "full" else {
        "tp_size": inputs["t"], "sequence_parallel": "sp" in variant,
        "recompute": "selective" if "selective" in variant else "none"}
    layer = layer_activations(gpt(inputs["h"], inputs["a"]),
                              ActivationSettings(inputs["b"], inputs["s"], **PAPER, **options))
    in_flight = layers_in_flight(inputs["L"], inputs["p"], inputs["interleave"])
    assert layer.num_bytes * in_flight == case["expected"]


@given(chunk=st.integers(1, 4), p=st.integers(1, 12), m=st.integers(1, 6))
def test_first_stage_factor(chunk, p, m):
    layers = chunk * p * m
    expected = layers if m == 1 else layers + (p - 1) * chunk  # L(1 + (p-1)/(pm))
    assert layers_in_flight(layers, p, m) == expected
    stages = [layers_in_flight(layers, p, m, stage) for stage in range(p)]
    assert stages == sorted(stages, reverse=True)
    assert layers_in_flight(layers, p, m, num_micro_batches=1) <= layers // p


def test_1f1b_counts_by_replaying_the_schedule():
    """An independent count: run each stage's forwards and backwards in order and watch how many are open."""
    for p, stage, micro_batches in ((4, 0, 8), (4, 1, 8), (4, 3, 8), (4, 0, 2), (1, 0, 3)):
        warmup = min(p - stage - 1, micro_batches)
        order = ["F"] * warmup + ["F", "B"] * (micro_batches - warmup) + ["B"] * warmup
        open_now, most = 0, 0
        for step in order:
            open_now += 1 if step == "F" else -1
            most = max(most, open_now)
        assert layers_in_flight(8 * p, p, 1, stage, micro_batches) == most * 8


def test_gpipe_holds_every_micro_batch():
    assert layers_in_flight(32, 4, num_micro_batches=16, schedule="gpipe") == 16 * 8
    with pytest.raises(ConfigError, match="num_micro_batches"):
        layers_in_flight(32, 4, schedule="gpipe")


@pytest.mark.parametrize("arguments, named_field", [
    ((10, 4), "num_layers"), ((8, 9), "pp_size"), ((8, 2, 3), "num_layers"), ((8, 2, 1, 2), "stage_index"),
    ((8, 2, 1, 0, 0), "num_micro_batches"), ((8, 2, 1, 0, 4, "zigzag"), "schedule")])
def test_bad_pipelines_name_the_field(arguments, named_field):
    with pytest.raises(ConfigError) as caught:
        layers_in_flight(*arguments)
    assert caught.value.field == named_field


@pytest.mark.parametrize("case", cases_of("pipeline_output_tensors"))
def test_pipeline_output_tensors(case):
    inputs = case["inputs"]
    size = pipeline_output_bytes(inputs["s"], inputs["b"], inputs["h"], inputs["p"], inputs["bytes"])
    assert_matches(size / 2**30, case)
    assert size / 2**30 == case["exact"]


# instants


def test_peak_is_an_instant_not_a_sum_of_maxima():
    rows = [MemoryRow("activations", "a", 10), MemoryRow("logits", "b", 7), MemoryRow("temporary", "c", 4)]
    instants = (Instant("first", (rows[0],)), Instant("second", (rows[1], rows[2])))
    assert peak(instants).name == "second"
    assert peak(instants).num_bytes == 11 < sum(row.num_bytes for row in rows)
    shifted = with_rows(instants, [MemoryRow("sharded_params", "weights", 100)])
    assert [instant.num_bytes for instant in shifted] == [110, 111]
    assert shifted[1].by_account()["sharded_params"] == 100
    assert shifted[1].as_dict()["by_account"] == {"sharded_params": 100, "logits": 7, "temporary": 4}


def test_transients_join_the_instants_of_their_phase():
    """How a budget composes: persistent rows, activation instants, DeepSpeed's buffers by phase."""
    shape, settings = gpt(64, 4, 2), ActivationSettings(1, 16)
    instants = stack_instants(Stack(shape, settings, loss_settings(shape, settings)))
    assert all(instant.phase in PHASES[:2] for instant in instants)
    buffers = deepspeed_instants(shape, 2, 2)
    joined = overlay(instants, buffers)
    assert len(joined) == len(instants) + 1 and joined[-1].phase == "optimizer step"
    for before, after in zip(instants, joined):
        assert after.num_bytes - before.num_bytes == (10**9 if before.phase == "backward" else 0)
    with pytest.raises(InvalidInput, match="phase"):
        overlay(instants, [Instant("unsaid", ())])


def test_bad_rows_and_empty_timelines():
    with pytest.raises(InvalidInput, match="account = 'cache'"):
        MemoryRow("cache", "x", 1)
    with pytest.raises(InvalidInput, match="bytes of x = -1"):
        MemoryRow("logits", "x", -1)
    with pytest.raises(InvalidInput, match="instants"):
        peak(())
