"""Operations and times against arXiv:2205.05198 and a second count of the products, one by one."""

import pytest
from cases import all_cases, assert_matches, cases_of, rounded
from hypothesis import given
from hypothesis import strategies as st

from zeroledger import PRESETS, TransformerShape
from zeroledger.compute import (ACCELERATORS, RECOMPUTE, Accelerator, compute_s, head_forward_flops, layer_flops, six_p_flops,
                                step_flops, utilisation)
from zeroledger.errors import InvalidInput
from zeroledger.published_flops import (counted_selective_percent, overhead_percent, paper_model_flops,
                                        paper_selective_flops, paper_selective_percent, throughput_increase_percent)

# arXiv:2205.05198 Table 3, the row that no model_config case carries, and the baseline of Table 4 in ms.
TABLE_3_22B = {"heads": 64, "hidden": 6144, "layers": 48, "gpus": 8, "global_batch": 4, "seq": 2048, "vocab": 51200}
TABLE_4_BASELINE_MS = 7.7 + 11.9


def table_3(name):
    """The configuration of Table 3 called ``name``."""
    found = [case["expected"] for case in all_cases() if case["kind"] == "model_config" and case["inputs"]["model"] == name]
    return found[0] if found else {"22B": TABLE_3_22B}[name]


def gpt(layers=2, hidden=64, heads=4, vocab=100):
    """A GPT block as the paper counts it."""
    return TransformerShape(hidden, layers, heads, vocab, gated_mlp=False, activation="gelu", norm="layernorm",
                            qkv_bias=True, attention_out_bias=True, mlp_bias=True)


@pytest.mark.parametrize("case", cases_of("recompute_flops"))
def test_selective_recompute_percent(case):
    s, h = case["inputs"]["s"], case["inputs"]["h"]
    assert_matches(paper_selective_percent(s, h), case)
    assert paper_selective_percent(s, h) == pytest.approx(case["exact"])
    block = layer_flops(gpt(1, h, h // 128), 1, s, recompute="selective")
    assert counted_selective_percent(s, h) == pytest.approx(100 * block.recompute / block.model_flops)
    assert f"{100 * s / 18 / h:.2f}%" in case["note"]  # the note's s/18h leaves out the attention core below the line


@pytest.mark.parametrize("case", cases_of("layer_time_22B"))
def test_layer_times_of_table_4(case):
    expected = case["expected"]
    combined = expected["forward"] + expected["backward"]
    assert rounded(combined, "half_up", 1) == expected["combined"]
    assert rounded(overhead_percent(combined, TABLE_4_BASELINE_MS), "half_even", 0) == expected["overhead_pct"]
    block = layer_flops(gpt(1, 6144, 64), 4, 2048)
    assert 1000 * compute_s(block.forward, "a100") / 8 < expected["forward"]  # eight devices share a layer
    assert 1000 * compute_s(block.model_flops - block.forward, "a100") / 8 < expected["backward"]


@pytest.mark.parametrize("case", cases_of("iteration_time"))
def test_iterations_of_table_5(case):
    expected, size = case["expected"], table_3(case["inputs"]["model"])
    sizes = (size["global_batch"], size["seq"], size["hidden"], size["layers"], size["vocab"])
    flops, seconds = paper_model_flops(*sizes), expected["selective_sp_s"]
    mfu = 100 * utilisation(flops, seconds, size["gpus"], "a100")
    assert mfu == pytest.approx(case["exact"]["mfu_pct_from_eq7_at_312TF"])
    hfu = 100 * utilisation(paper_selective_flops(*sizes), seconds, size["gpus"], "a100")
    increase = throughput_increase_percent(expected["full_recompute_s"], seconds)
    assert_matches({"mfu_pct": mfu, "hfu_pct": hfu, "throughput_increase_pct": increase, "selective_sp_s": seconds}, case,
                   {key: expected[key] for key in ("mfu_pct", "hfu_pct", "throughput_increase_pct")})
    model = gpt(size["layers"], size["hidden"], size["heads"], size["vocab"])
    assert step_flops(model, size["global_batch"], size["seq"]).model_flops == flops
    assert compute_s(flops, "a100") / size["gpus"] < seconds


@given(batch=st.integers(1, 8), seq=st.integers(1, 64), layers=st.integers(1, 5), heads=st.sampled_from([1, 2, 4]))
def test_equation_7_is_what_the_tensors_say(batch, seq, layers, heads):
    model = gpt(layers, 64, heads, 90)
    assert step_flops(model, batch, seq).model_flops == paper_model_flops(batch, seq, 64, layers, 90)


def count_by_products(model, batch, seq):
    """Forward operations of a Llama-like model, from its matrix products (m, k, n) one by one."""
    h, f, d = model.hidden_size, model.intermediate_size, model.head_dim
    q, kv, rows = model.num_attention_heads * d, model.num_key_value_heads * d, batch * seq
    products = [(rows, h, q), (rows, h, kv), (rows, h, kv), (rows, q, h), (rows, h, f), (rows, h, f), (rows, f, h)]
    for _ in range(batch * model.num_attention_heads):
        products += [(seq, d, seq), (seq, seq, d)]
    layer = sum(2 * m * k * n for m, k, n in products)
    return model.num_layers * layer + 2 * rows * h * model.vocab_size


@pytest.mark.parametrize("name", ["llama-2-7b", "llama-3.1-8b"])
def test_second_count(name):
    model = PRESETS[name].model
    assert step_flops(model, 2, 512).forward == count_by_products(model, 2, 512)


def test_six_p_is_close_for_long_hidden_and_short_sequences():
    model = PRESETS["llama-2-7b"].model
    tokens = 2048
    counted = step_flops(model, 1, tokens).model_flops
    assert 1 < counted / six_p_flops(model.num_params, tokens) < 1.1


def test_mixture_counts_the_experts_a_token_visits():
    model = PRESETS["mixtral-8x7b"].model
    rows = {row.part: row.forward for row in layer_flops(model, 1, 1).rows}
    assert rows["mlp"] == 2 * 2 * 3 * 4096 * 14336 and rows["router"] == 2 * 8 * 4096
    counted = step_flops(model, 1, 128).model_flops
    assert counted == pytest.approx(six_p_flops(model.num_active_params, 128), rel=0.03)


@given(seq=st.integers(1, 200), steps=st.integers(1, 4))
def test_recompute_and_causal_order(seq, steps):
    model = gpt(3)
    costs = {mode: step_flops(model, 1, seq, mode, gradient_accumulation_steps=steps) for mode in RECOMPUTE}
    assert costs["none"].hardware_flops == costs["none"].model_flops
    assert costs["none"].hardware_flops < costs["selective"].hardware_flops < costs["full"].hardware_flops
    head = head_forward_flops(model, steps * seq)
    assert costs["full"].recompute == costs["full"].forward - head  # every layer once more, the head not
    assert 2 * step_flops(model, 1, seq, causal=True).model_flops >= step_flops(model, 1, seq).model_flops
    assert costs["none"].model_flops == steps * step_flops(model, 1, seq).model_flops


def test_causal_kernels_skip_the_upper_triangle():
    core = {causal: layer_flops(gpt(1), 1, 10, causal=causal).rows[1].forward for causal in (False, True)}
    assert core[True] * 100 == core[False] * 55


def test_as_dict_adds_up():
    data = step_flops(gpt(), 1, 8, "full").as_dict()
    assert data["hardware_flops"] == sum(row["forward"] + row["backward"] + row["recompute"] for row in data["rows"])
    assert data["tokens"] == 8 and set(ACCELERATORS) >= {"a100", "h100"}


@pytest.mark.parametrize("call, field", [
    (lambda: layer_flops(gpt(), 0, 8), "micro_batch_size"),
    (lambda: layer_flops(gpt(), 1, 8, recompute="half"), "recompute"),
    (lambda: layer_flops(gpt(), 1, 8, causal=1), "causal"),
    (lambda: compute_s(1, "abacus"), "accelerator"),
    (lambda: compute_s(1, "a100", 0), "efficiency"),
    (lambda: compute_s(float("nan"), "a100"), "flops"),
    (lambda: utilisation(1, 0, 8, "a100"), "seconds"),
    (lambda: Accelerator("x", -1, "y"), "peak_flops of x"),
    (lambda: paper_model_flops(1, 1, 1, 1, 0), "vocab_size"),
    (lambda: overhead_percent(1, 0), "baseline"),
])
def test_bad_input_names_the_field(call, field):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert caught.value.field == field
