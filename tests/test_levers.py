"""Levers really save what they say, on the account they are listed for."""

import pytest
from hypothesis import given, settings
from test_budget import SMALL, trainings

from zeroledger import Mesh, budget, levers
from zeroledger.budget_tables import levers_table
from zeroledger.errors import InvalidInput
from zeroledger.lever_search import SIDE_EFFECTS, candidates
from zeroledger.training import Training


@settings(max_examples=15)
@given(trainings(models=(SMALL,)))
def test_savings_are_real_and_in_order(training):
    before = budget(training)
    found = levers(before)
    account, _ = before.largest_account
    for lever in found:
        again = budget(lever.budget.training)
        assert lever.saved_bytes == before.peak_bytes - again.peak_bytes > 0
        assert lever.account_saved_bytes > 0
        assert all(key in SIDE_EFFECTS for key in lever.side_effects)
    assert [lever.saved_bytes for lever in found] == sorted((lever.saved_bytes for lever in found), reverse=True)
    assert levers_table(found, account)


@pytest.mark.parametrize(("fields", "account", "wanted", "unwanted"), [
    ({"mesh": 8, "stage": 0}, "optimizer_states", {"stage-1", "stage-2", "stage-3", "double-tp"}, {"recompute-full"}),
    ({"mesh": 8, "stage": 3, "micro_batch_size": 4}, "activations", {"recompute-full", "halve-micro-batch", "double-cp"},
     {"offload-optimizer", "double-dp"}),
    ({"mesh": 1024, "stage": 2}, "unsharded_params", {"stage-3", "double-tp"}, {"double-dp", "chunk-loss"}),
])
def test_the_levers_of_known_configurations(fields, account, wanted, unwanted):
    before = budget("llama-2-7b", recompute="full" if account == "unsharded_params" else "none", **fields)
    keys = {lever.key for lever in levers(before)}
    assert before.largest_account[0] == account
    assert wanted <= keys and not unwanted & keys


def test_prices():
    before = budget("llama-2-7b", mesh=8, micro_batch_size=2)
    found = {lever.key: lever for lever in levers(before)}
    flops_before, flops_after = found["recompute-full"].costs["flops"]
    assert 1.3 < flops_after / flops_before < 1.334  # one more forward of the layers: a third, but for the head
    assert found["halve-micro-batch"].costs["micro_batches"] == (1, 2)
    assert found["double-tp"].costs["ranks"] == (8, 16)
    assert "operations" in found["recompute-full"].as_dict()["cost_words"]


def test_reduce_bucket_is_a_lever_when_it_is_the_largest_account():
    """BELLE#402 and its kin: a small model whose largest account is DeepSpeed's constant."""
    before = budget(SMALL, mesh=4, stage=2, engine="deepspeed")
    assert before.largest_account == ("reduce_scatter", 10**9)
    first = levers(before)[0]
    assert first.key == "small-bucket" and first.saved_bytes == 9 * 10**8


def test_every_candidate_can_be_tried_or_says_why_not():
    for training in (Training(SMALL, Mesh(dp=2, tp=2), engine="fsdp2"), Training(SMALL, 2, engine="deepspeed")):
        for _, words, side_effects, fields in candidates(training):
            assert words and set(side_effects) <= set(SIDE_EFFECTS)
            try:
                training.changed(**fields())
            except InvalidInput as problem:
                assert problem.field


def test_needs_a_budget():
    with pytest.raises(InvalidInput):
        levers("llama-2-7b")
