"""Recipes against the figures their projects publish, and your own recipes from a dict."""

from fractions import Fraction

import pytest
from cases import assert_matches, cases_of
from hypothesis import given
from hypothesis import strategies as st

from zeroledger import PRESETS, RECIPES, RecipeRow, ledger, lora_params, recipe
from zeroledger.errors import ConfigError, InvalidInput, RecipeError

DEEPSPEED_WHICH = {
    "zero2_estimator_N1": "deepspeed-zero2-estimator", "zero3_estimator_N1": "deepspeed-zero3-estimator",
    "autotuner_fp16_stage0": "deepspeed-autotuner-fp16", "autotuner_fp32_stage0": "deepspeed-autotuner-fp32",
    "paper": "adam-mixed",
}
MEGATRON_DTYPES = {"fp16 params, fp16 grads": "megatron-fp16", "bf16 params, fp32 grads": "megatron-bf16",
                   "fp32 params, fp32 grads": "megatron-fp32"}
HF_PARTS = {"weights mixed": ("hf-amp-adam", ["params", "params_16"]), "gradients": ("hf-amp-adam", ["grads"]),
            "AdamW states": ("hf-amp-adam", ["exp_avg", "exp_avg_sq"]), "SGD momentum": ("sgd-momentum-fp32", ["momentum"]),
            "weights fp32": ("adam-fp32", ["params"]), "8-bit AdamW states": ("adam-8bit", ["exp_avg", "exp_avg_sq"])}


@pytest.mark.parametrize("case", cases_of("bytes_per_param", prefix="ds-bpp-"))
def test_deepspeed_s_own_ledgers(case):
    which = case["inputs"]["which"]
    if which == "doc_text_zero2_N1":  # 4P + 16P/N at N = 1: the stale formula, kept in peers_deepspeed
        from zeroledger.peers_deepspeed import zero2_estimate

        assert_matches(zero2_estimate(1, 1, 1, formula="documented").gpu_bytes, case)
        return
    assert_matches(recipe(DEEPSPEED_WHICH[which]).bytes_per_param, case)


@pytest.mark.parametrize("case", cases_of("bytes_per_param", prefix="mega-"))
def test_megatron_s_table(case):
    inputs = case["inputs"]
    name, ranks = MEGATRON_DTYPES[inputs["dtypes"]], inputs.get("d", 1)
    params = 1024 * ranks
    book = ledger(params, ranks, 1 if inputs["distributed"] else 0, name)
    assert_matches(Fraction(book.model_states_bytes_per_rank, params), case)


@pytest.mark.parametrize("case", cases_of("bytes_per_param", prefix="hf-bpp-"))
def test_hugging_face_s_parts(case):
    name, categories = HF_PARTS[case["inputs"]["what"]]
    rows = {row.category: row for row in recipe(name).rows}
    assert_matches(sum(rows[category].bytes_per_param for category in categories), case)


@pytest.mark.parametrize("case", cases_of("model_states", prefix="pb-table-"))
def test_playbook_table(case):
    params = case["inputs"]["params"]
    assert_matches({
        "fp32_or_bf16_without_fp32_grads": ledger(params, recipe="adam-mixed").model_states_bytes_per_rank / 10**9,
        "bf16_with_fp32_grads": ledger(params, recipe="adam-mixed-fp32-grads").model_states_bytes_per_rank / 10**9}, case)
    assert recipe("adam-fp32").bytes_per_param == recipe("adam-mixed").bytes_per_param


@pytest.mark.parametrize("case", cases_of("gradient_accumulation", prefix="tnt-"))
def test_unsharded_gradients_of_accumulation(case):
    inputs = case["inputs"]
    grads = {"rows": [("grads", "16-bit", inputs["grad_bytes"], 2)]}
    book = ledger(inputs["params"], inputs["dp"], 2, grads)["grads"]
    assert_matches({"sharded": book.bytes_per_rank / 10**9, "unsharded": book.bytes_unsharded / 10**9}, case)


@pytest.mark.parametrize("case", cases_of("gradient_accumulation", prefix="verl-"))
def test_skipping_synchronisation_keeps_all_gradients_at_any_n(case):
    for ranks, kibibytes in case["expected"].items():
        book = ledger(case["inputs"]["params"], int(ranks), 3, "adam-mixed-accumulate-unsharded")
        assert book["grads"].bytes_per_rank == kibibytes * 1024


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_says_where_it_comes_from(name):
    each = RECIPES[name]
    assert each.name == name and len(each.source) > 10 and len(each.describes) > 20
    assert len({row.category for row in each.rows}) == len(each.rows)


@pytest.mark.parametrize("name, total", [
    ("adam-fp32", 16), ("adam-bf16-no-master", 12), ("adam-bf16-pure", 8), ("lion", 12), ("sgd-momentum", 12),
    ("hf-amp-adam", 18), ("megatron-bf16-moments", 14), ("adam-8bit-bf16", 6 + 2 * 4 / 256),
])
def test_bytes_per_param(name, total):
    assert recipe(name).bytes_per_param == total


def test_block_scales_are_counted_exactly():
    row = RecipeRow("exp_avg", "int8", 1, 1, "all", 256, 4)
    assert row.bytes_for(256) == 260
    assert row.bytes_for(257) == 257 + 2 * 4
    assert row.bytes_for(0) == 0


def test_nf4_takes_4_127_bits():
    """arXiv:2305.14314: double quantisation brings the scales to 0.127 bits per parameter."""
    numel = 64 * 256 * 1000
    total = sum(row.bytes_for(numel) for row in recipe("qlora").rows[:2])
    assert 8 * total / numel == pytest.approx(4.127, abs=5e-4)


def test_muon_counts_matrices_apart():
    model = PRESETS["gpt2-xl"].model
    book = ledger(model=model, recipe="muon")
    matrices = 48 * 12 * 1600 * 1600
    assert book["momentum"].numel_per_rank == matrices
    assert book["exp_avg"].numel_per_rank == model.num_params - matrices


def test_adafactor_keeps_rows_and_columns():
    model = PRESETS["llama-2-7b"].model
    layer = 4 * (4096 + 4096) + 3 * (4096 + 11008) + 2 * 4096
    expected = 32 * layer + 2 * (32000 + 4096) + 4096
    assert ledger(model=model, recipe="adafactor")["exp_avg_sq_factors"].numel_per_rank == expected


def test_lora_trains_rank_times_in_plus_out():
    model = PRESETS["llama-2-7b"].model
    assert lora_params(model, 8) == 4_194_304  # the figure PEFT prints for Llama-2-7B, r=8, q_proj and v_proj
    assert lora_params(model, 16, "all-linear") == 16 * 32 * (4 * 2 * 4096 + 3 * (4096 + 11008))
    book = ledger(model=model, recipe="lora", trained_params=lora_params(model, 8))
    assert book["params"].bytes_per_rank == 2 * model.num_params
    assert book["adapter_params"].bytes_per_rank == 4 * 4_194_304


@pytest.mark.parametrize("name, field", [("muon", "model"), ("adafactor", "model"), ("lora", "trained_params"), ("qlora", "model")])
def test_recipes_that_need_more_say_what(name, field):
    with pytest.raises(InvalidInput) as caught:
        ledger(7e9, 8, 3, name)
    assert caught.value.field == field


def test_lora_refuses_what_matches_nothing():
    model = PRESETS["llama-2-7b"].model
    for arguments in ((8, ["c_attn"]), (0,), (8, "q_proj"), (8, 5)):
        with pytest.raises(ConfigError):
            lora_params(model, *arguments)


def test_own_recipe_from_dict():
    own = {"name": "mine", "rows": [{"category": "params", "dtype": "fp8", "bytes_per_param": 1, "sharded_from_stage": 3},
                                    ["grads", "bf16", 2, 2], ("momentum", "fp32", 4)]}
    book = ledger(1000, 4, 3, own)
    assert [row.bytes_per_rank for row in book.rows] == [250, 500, 4000]
    assert book.recipe == "mine"


def test_own_recipe_from_a_short_dict():
    book = ledger(1000, 4, 2, {"params": 2, "grads": 2, "optimizer": 12})
    assert [row.bytes_per_rank for row in book.rows] == [2000, 500, 3000]
    assert ledger(7e9, 8, 3, {"params": 2, "grads": 2, "optimizer": 12}).model_states_bytes_per_rank == 14_000_000_000


@pytest.mark.parametrize("bad", [
    {"params": -2}, {"params": float("nan")}, {"params": 2, "grads": "2"}, {"params": True}, {"": 2}, {5: 2}, {"params": 1e9},
    {}, {"rows": []}, {"rows": "params"}, {"rows": [["params"]]}, {"rows": [["params", "bf16", -2]]}, {"rows": [{}]},
    {"rows": [["params", "bf16", float("nan")]]}, {"rows": [["params", "bf16", 2, 4]]}, {"rows": [["params", "bf16", 2, True]]},
    {"rows": [["params", "bf16", "2"]]}, {"rows": [["params", "bf16", 0.3]]}, {"rows": [["", "bf16", 2]]},
    {"rows": [["params", "bf16", 2, 3, "some"]]}, {"rows": [["p", "bf16", 2], ["p", "bf16", 2]]}, {"row": []},
    {"rows": [["params", "bf16", 2]], "name": 5}, {"rows": [{"category": "params", "bytes": 2}]}, {"rows": [None]},
    {"rows": [["params", "bf16", 2]] * 101}, {"rows": [["params", ["bf16"], 2, [1]]]},
])
def test_bad_own_recipes_are_refused(bad):
    with pytest.raises(RecipeError):
        ledger(7e9, 8, 3, bad)


@given(st.integers(0, 10**12), st.integers(0, 10**12), st.sampled_from(sorted(RECIPES)))
def test_bytes_grow_with_elements(first, second, name):
    few, many = sorted((first, second))
    for row in RECIPES[name].rows:
        assert row.bytes_for(few) <= row.bytes_for(many)
