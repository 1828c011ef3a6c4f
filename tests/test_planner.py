"""The planner's quick path equals the budget; what fits is what the budget says fits; order and reasons."""

import random

import pytest

from zeroledger import Mesh, budget, plan
from zeroledger.errors import InvalidInput
from zeroledger.offload_time import SERVER_2020, offload_verdict
from zeroledger.plan_space import OFFLOADS, divisors, layouts, micro_batches
from zeroledger.plan_time import OffloadTimes, step_in_turn_s
from zeroledger.budgets import FIT, offload_of
from zeroledger.planner import live_limit
from zeroledger.quick_budget import QuickBudgets
from zeroledger.training import Training

SEED = 20251129


@pytest.mark.parametrize("engine", ("ideal", "deepspeed", "fsdp2"))
@pytest.mark.parametrize("name", ("llama-3.1-8b", "mixtral-8x7b"))
def test_quick_peaks_are_the_budgets(engine, name):
    """Random configurations, the slow path from scratch."""
    generator, seen = random.Random(SEED), 0
    quick = QuickBudgets(Training(name, engine=engine, seq_length=1024))
    while seen < 30:
        tp, pp, dp = generator.choice((1, 2, 4)), generator.choice((1, 2, 4, 8)), generator.choice((1, 3, 8, 64))
        stage, micro, steps = generator.randrange(4), generator.choice((1, 2, 3, 8)), generator.choice((1, 2, 8))
        recompute = generator.choice(("none", "selective", "full"))
        sequence_parallel = tp > 1 and generator.random() < 0.5
        placement = OFFLOADS[generator.choice(("none", "optimizer", "all"))]
        try:
            slow = budget(Training(name, Mesh(dp=dp, tp=tp, pp=pp), stage, engine, micro_batch_size=micro, seq_length=1024,
                                   gradient_accumulation_steps=steps, recompute=recompute, placement=placement,
                                   sequence_parallel=sequence_parallel))
        except InvalidInput:
            continue
        seen += 1
        assert quick.peak(stage, dp, tp, pp, micro, steps, recompute, sequence_parallel, placement) == (
            slow.peak_bytes, slow.low_bytes, slow.high_bytes)


def test_chunked_loss_is_not_proportional_and_still_exact():
    quick = QuickBudgets(Training("llama-2-7b", seq_length=1000, loss_chunks=7))
    slow = budget("llama-2-7b", mesh=4, seq_length=1000, loss_chunks=7, micro_batch_size=3)
    assert quick.peak(3, 4, 1, 1, 3, 1, "none")[0] == slow.peak_bytes


@pytest.fixture(scope="module")
def plans():
    return plan("llama-2-7b", 8, "40 GB", 2048, 64)


def test_every_plan_fits_and_the_failure_does_not(plans):
    generator = random.Random(SEED)
    for each in generator.sample(plans.fitting, 10):
        result = plans.budget(each)
        assert (result.peak_bytes, result.high_bytes) == (each.peak_bytes, each.high_bytes)
        assert result.fits("40 GB").verdict == FIT[0]
        assert result.training.global_batch_size == 64 and result.training.mesh.world_size == 8
    assert plans.failure_budget.fits("40 GB").verdict == FIT[2]
    reason = plans.failure_reason
    assert reason["bytes_over"] > 0 and reason["account"] == plans.failure_budget.largest_account[0]


def test_ranked_by_time_with_every_configuration_accounted_for(plans):
    times = [each.step_s for each in plans.fitting]
    assert times == sorted(times)
    # layouts 1·8, 2·4 … with tp and pp from 1, 2, 4, 8: batches × recompute × sequence parallel × stage × offload
    expected = sum(len(micro_batches(64, dp, 64)) * 3 * (2 if tp > 1 else 1) * 4 * 3 for dp, tp, _ in layouts(8))
    assert plans.considered == expected
    assert plans.as_dict(limit=3)["plans"][0]["step_s"] == times[0]
    assert "fastest that does not fit" in plans.table(limit=3)


def test_larger_cards_never_fit_fewer():
    small, large = (plan("llama-2-7b", 4, card, 1024, 16) for card in ("24 GB", "80 GB"))
    assert len(small.fitting) < len(large.fitting)
    assert set(small.fitting) <= set(large.fitting)


def test_nothing_fits_says_why():
    plans = plan("llama-3.1-405b", 8, "16 GB", 2048, 8, offloads=("none",))
    assert not plans.fitting and plans.failure_reason["bytes_over"] > 0
    assert "None fits" in str(plans)


def test_what_cannot_be_run_is_counted_with_the_reason():
    plans = plan("llama-2-7b", 12, "80 GB", 1024, 6, engine="deepspeed")
    assert any(reason.startswith("global_batch_size") for reason in plans.invalid)
    assert any("pipeline engine refuses" in reason for reason in plans.invalid)
    assert any(reason.startswith("pp") or reason.startswith("tp") for reason in plans.invalid)


def test_offload_seconds_are_the_verdicts():
    base = Training("llama-2-7b", 8)
    times = OffloadTimes(base, SERVER_2020)
    for name in ("optimizer", "all", "nvme"):
        for compute_s in (0.01, 1.0, 30.0):
            verdict = offload_verdict(offload_of(base.changed(placement=OFFLOADS[name])), SERVER_2020, compute_s, 1)
            extra, fits = times.extra(3, 8, 1, 1, 1, OFFLOADS[name], compute_s)
            assert compute_s + extra == pytest.approx(verdict.step_s_in_turn)
            assert fits == (verdict.fits_host and verdict.fits_nvme)
            on_device = OFFLOADS[name].params == "device"
            assert step_in_turn_s(verdict.busy_s, compute_s, on_device) == pytest.approx(verdict.step_s_in_turn)


@pytest.mark.parametrize("share", (0.0, 0.1, 0.25, 1 / 3, 7.5))
@pytest.mark.parametrize("capacity", (0, 999, 1000, 2**35 + 1))
def test_the_live_limit_is_the_meters_inverse(share, capacity):
    training = Training("llama-2-7b", fragmentation=share, context_bytes=500)
    limit, result = live_limit(training, capacity), budget(training)
    if limit < 0:
        assert result.meters(0).device_bytes > capacity
    else:
        assert result.meters(limit).device_bytes <= capacity < result.meters(limit + 1).device_bytes


def test_space():
    assert divisors(12) == (1, 2, 3, 4, 6, 12) and divisors(1) == (1,) and divisors(9) == (1, 3, 9)
    assert all(dp * tp * pp == 24 and 8 % tp == 0 for dp, tp, pp in layouts(24))
    assert micro_batches(16, 4, 2) == ((1, 4), (2, 2)) and micro_batches(10, 4, 8) == ()


@pytest.mark.parametrize(("arguments", "field"), [
    ({"num_gpus": 0}, "num_gpus"), ({"card": "no card"}, "card"), ({"global_batch_size": 0}, "global_batch_size"),
    ({"stages": (7,)}, "stages"), ({"offloads": ("moon",)}, "offloads"), ({"efficiency": 0}, "efficiency"),
    ({"device": "abacus"}, "accelerator"), ({"link": "string"}, "interconnect"), ({"machine": None}, "machine"),
    ({"model": "llama-9"}, "model"),
])
def test_bad_arguments_name_the_field(arguments, field):
    with pytest.raises(InvalidInput) as caught:
        plan(**({"model": "llama-2-7b", "num_gpus": 8} | arguments))
    assert caught.value.field == field


def test_a_hundred_thousand_configurations():
    """How fast is for `./build.sh bench planner` to say."""
    plans = plan("llama-2-70b", (64, 128, 256, 320, 512, 640, 1024, 2048), "80 GB", 4096, 10240)
    assert plans.considered >= 100_000
