"""What sharded and accumulated runs must do to train as one device would, against reported and measured faults."""

import pytest
from cases import assert_matches, cases_of
from hypothesis import given
from hypothesis import strategies as st

from zeroledger.equivalence import (accumulated_logit_gradient, first_adam_update, optimizer_steps_of_schedule,
                                    token_weights)
from zeroledger.errors import InvalidInput


@pytest.mark.parametrize("case", cases_of("grad_accumulation_weighting", prefix="transformers-"))
def test_token_weights(case):
    trained = case["inputs"]["trained"]
    means, whole = (token_weights(trained, weighting) for weighting in ("mean-of-means", "global"))
    assert_matches({"ratio": means[0] / means[1]}, case, {"ratio": case["expected"]["ratio"]})
    for got, key in ((means, "weight_per_token_mean_of_means"), (whole, "weight_per_token_global")):
        for weight, expected in zip(got, case["expected"][key], strict=True):
            assert_matches(weight, case, expected)


@pytest.mark.parametrize("case", cases_of("grad_accumulation_weighting", prefix="tt-"))
def test_mean_of_means_flips_the_sign(case):
    inputs, expected = case["inputs"], case["expected"]
    for key, weighting in (("mean_of_means", "mean-of-means"), ("token_weighted", "global")):
        got = accumulated_logit_gradient(inputs["logits"], inputs["targets"], weighting)
        for each, wanted in zip(got, expected[key], strict=True):
            assert_matches(each, case, wanted)
    together = [[target for batch in inputs["targets"] for target in batch]]
    for each, wanted in zip(accumulated_logit_gradient(inputs["logits"], together, "global"), expected["full"]):
        assert_matches(each, case, wanted)


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=9))
def test_weights_of_all_tokens_add_up_to_one(trained):
    for weighting in ("mean-of-means", "global"):
        assert sum(count * weight for count, weight in zip(trained, token_weights(trained, weighting))) == pytest.approx(1)


@pytest.mark.parametrize("case", cases_of("lr_schedule"))
def test_schedule_ends_early(case):
    inputs = case["inputs"]
    assert_matches(optimizer_steps_of_schedule(inputs["steps"], inputs["processes"], inputs["split_batches"]), case)
    assert optimizer_steps_of_schedule(inputs["steps"], inputs["processes"], True) == inputs["steps"]


@pytest.mark.parametrize("case", cases_of("baseline_equivalence", prefix="adam-"))
def test_first_update(case):
    inputs = case["inputs"]
    got = first_adam_update(inputs["beta1"], inputs["beta2"], inputs["extra_zero_grad_step"])
    assert_matches(got, case)
    assert got == pytest.approx(case["exact"]) and first_adam_update() == pytest.approx(1)


@pytest.mark.parametrize("call, field", [
    (lambda: token_weights([], "global"), "trained_tokens"),
    (lambda: token_weights([1], "median"), "weighting"),
    (lambda: first_adam_update(1.0), "beta1"),
    (lambda: accumulated_logit_gradient([0, 0], [[2]], "global"), "targets"),
    (lambda: optimizer_steps_of_schedule(10, 0), "processes"),
])
def test_bad_input_names_the_field(call, field):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert caught.value.field == field
