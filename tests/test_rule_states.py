"""Recipes under real sharding rules, against the measured accounts and the ideal ledger."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zeroledger import PRESETS, TransformerShape, frameworks, ledger
from zeroledger.errors import InvalidInput
from zeroledger.rule_states import RULES, rule_ledger

TOY = TransformerShape(126, 4, 9, 1009, intermediate_size=506, gated_mlp=False, norm="layernorm", max_position_embeddings=64,
                       qkv_bias=True, attention_out_bias=True, mlp_bias=True, fused_qkv=True)
SHAPES = [tensor.shape for tensor in TOY.tensors()]


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 7])
def test_fsdp2_rows_are_the_framework_s_accounts(ranks):
    for rank, state in enumerate(frameworks.fsdp2_states(SHAPES, ranks)):
        book = rule_ledger(TOY, ranks, 3, "adam-fp32", "fsdp2", rank)
        assert [row.bytes_per_rank for row in book.rows] == [
            state["param_storage"], state["grad_storage"], state["exp_avg"], state["exp_avg_sq"]]


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_zero_redundancy_rows_are_the_framework_s_accounts(ranks):
    for rank, state in enumerate(frameworks.zero_redundancy_states(SHAPES, ranks)):
        book = rule_ledger(TOY, ranks, 1, "adam-fp32", "zero_redundancy", rank)
        assert [row.bytes_per_rank for row in book.rows] == [state["param"], state["grad"], state["exp_avg"], state["exp_avg_sq"]]


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("stage", [2, 3])
def test_deepspeed_rows_are_the_framework_s_accounts(stage, ranks):
    for rank, state in enumerate(frameworks.deepspeed_states(SHAPES, ranks, stage)):
        book = rule_ledger(TOY, ranks, stage, "adam-mixed", "deepspeed", rank)
        counted = {key: size for key, size in state.items() if key not in ("ipg_bucket", "optim_step", "other")}
        assert book.model_states_bytes_per_rank == sum(counted.values())


def test_the_fullest_rank_is_shown_unless_another_is_asked_for():
    fullest = rule_ledger(TOY, 4, 3, "adam-fp32", "fsdp2")
    each = [rule_ledger(TOY, 4, 3, "adam-fp32", "fsdp2", rank).model_states_bytes_per_rank for rank in range(4)]
    assert fullest.model_states_bytes_per_rank == max(each) > min(each)
    assert fullest.layout == {"rule": "fsdp2", "rank": 0}


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 16), st.sampled_from(["adam-mixed", "muon", "adafactor", "adam-8bit"]), st.sampled_from(sorted(RULES)))
def test_no_rule_beats_the_ideal_on_its_fullest_rank(ranks, recipe, rule):
    stage = RULES[rule][-1]
    ideal = ledger(model=TOY, dp_size=ranks, stage=stage, recipe=recipe).model_states_bytes_per_rank
    assert rule_ledger(TOY, ranks, stage, recipe, rule).model_states_bytes_per_rank >= ideal
    assert rule_ledger(TOY, ranks, stage, recipe, "ideal").model_states_bytes_per_rank == ideal


def test_on_a_large_model_the_rules_differ_little():
    model = PRESETS["llama-2-7b"].model
    ideal = ledger(model=model, dp_size=8, stage=3).model_states_bytes_per_rank
    for rule in ("fsdp2", "deepspeed"):
        assert rule_ledger(model, 8, 3, rule=rule).model_states_bytes_per_rank / ideal < 1.001


@pytest.mark.parametrize("options", [
    {"rule": "fsdp1"}, {"rule": "fsdp2", "stage": 2}, {"rule": "zero_redundancy", "stage": 3}, {"rank": 4}, {"rank": -1},
    {"num_ranks": 0}, {"persistence_threshold": -1}, {"rule": None},
])
def test_bad_input_is_refused(options):
    with pytest.raises(InvalidInput):
        rule_ledger(**({"model": TOY, "num_ranks": 4, "stage": 3} | options))
