"""Known mistakes change the training in known ways, and the check names them; low precision stays within bounds."""

from dataclasses import replace
from math import isclose

import pytest
from cases import all_cases, cases_of

from zeroledger.equivalence import first_adam_update, optimizer_steps_of_schedule, token_weights
from zeroledger.simulate import BREAKS, Settings, baseline, check_gradients, simulate
from zeroledger.simulate import training_loop
from zeroledger.simulate.adam import adam_update, learning_rate_at
from zeroledger.simulate.check import TOLERANCE
from zeroledger.simulate.effect import effect
from zeroledger.simulate.layers import cross_entropy_grad, softmax
from zeroledger.simulate.source import error_in_loop, loop_from_text, loop_lines

SMALL = Settings(num_layers=2, num_steps=3)


@pytest.mark.parametrize("stage", range(4))
@pytest.mark.parametrize("name", BREAKS)
def test_the_check_names_every_break(stage, name):
    found = check_gradients(simulate(SMALL, stage=stage, breaks=name))
    assert (found.ok, found.name) == (False, name)
    assert name in str(found)


@pytest.mark.parametrize("precision", TOLERANCE)
@pytest.mark.parametrize("stage", [0, 1, 2, 3])
def test_the_check_passes_what_is_right_in_every_precision(stage, precision):
    found = check_gradients(simulate(SMALL, stage=stage, precision=precision))
    assert found.ok and found.name is None


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
@pytest.mark.parametrize("name", BREAKS)
def test_breaks_are_named_through_rounding_too(name, precision):
    assert check_gradients(simulate(SMALL, breaks=name, precision=precision)).name == name


def test_mean_of_means_turns_gradients_around():
    found = check_gradients(simulate(SMALL, breaks="mean_of_means"))
    assert found.flipped > 10 and found.ratio is None
    assert found.losses != found.expected_losses


def test_mean_of_means_is_harmless_when_all_lengths_are_equal():
    run = simulate(SMALL, breaks="mean_of_means", unequal_lengths=False)
    alone = baseline(SMALL, unequal_lengths=False)
    for name, values in alone.steps[0].gradients.items():
        assert run.steps[0].gradients[name] == pytest.approx(values, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("steps", [2, 3, 5])
def test_not_dividing_by_accumulation_steps_multiplies_the_gradient_and_adam_hides_it(steps):
    found = check_gradients(simulate(SMALL, breaks="no_accumulation_division", gradient_accumulation_steps=steps))
    assert found.ratio == pytest.approx(steps)
    assert found.losses == pytest.approx(found.expected_losses, rel=1e-4)  # Adam does not see the scale


@pytest.mark.parametrize("dp_size", [2, 4])
def test_schedule_stepped_by_every_rank_runs_n_times_as_fast(dp_size):
    found = check_gradients(simulate(SMALL, breaks="schedule_per_rank", dp_size=dp_size, schedule_steps=20, num_steps=12))
    assert found.learning_rates[:4] == tuple(learning_rate_at(SMALL, dp_size * step) for step in range(4))
    ended = optimizer_steps_of_schedule(20, dp_size)
    assert all(rate == 0 for rate in found.learning_rates[ended:]) and found.learning_rates[ended - 1] > 0


def test_extra_adam_step_shrinks_the_first_update():
    case = next(each for each in all_cases() if each["id"] == "adam-step1-ratio")
    found = check_gradients(simulate(SMALL, breaks="extra_adam_step"))
    assert isclose(found.first_update, case["exact"], rel_tol=1e-6)
    assert isclose(found.first_update, first_adam_update(extra_zero_grad_steps=1), rel_tol=1e-6)
    assert isclose(simulate(SMALL).steps[0].largest_update, 1, rel_tol=1e-6)


def test_a_step_on_zero_gradients_only_counts():
    state = {"weights": [0.5, -2.0], "exp_avg": [0.0, 0.0], "exp_avg_sq": [0.0, 0.0]}
    assert adam_update(state, [0.0, 0.0], 0.1, 1, list) == 0
    assert state == {"weights": [0.5, -2.0], "exp_avg": [0.0, 0.0], "exp_avg_sq": [0.0, 0.0]}


def test_skipping_the_reduce_lets_whole_copies_drift_apart():
    assert check_gradients(simulate(SMALL, breaks="skip_reduce", stage=0)).disagreement > 0.001
    assert check_gradients(simulate(SMALL, breaks="skip_reduce", stage=3)).disagreement == 0  # one copy, wrong gradient


def test_a_mistake_in_a_loop_of_ones_own_is_named():
    def step(ranks, batches):
        ranks.reduce_scatter = keep_own_piece_unreduced(ranks)
        training_loop.train_step(ranks, batches)

    assert check_gradients(simulate(SMALL, stage=2, train_step=step)).name == "skip_reduce"


def keep_own_piece_unreduced(ranks):
    def reduce_scatter(layers):
        for rank in ranks.ranks:
            for layer in layers:
                for tensor in layer.tensors:
                    own = ranks.piece(rank, tensor.name, rank.unreduced.pop(tensor.name))
                    rank.grads[tensor.name] = [old + new for old, new in zip(rank.grads[tensor.name], own)]
                rank.free("unreduced_grads", layer.name)
    return reduce_scatter


def test_a_mistake_of_an_unknown_kind_is_called_unknown():
    def step(ranks, batches):
        training_loop.train_step(ranks, batches[:1])  # half of the micro-batches is lost

    found = check_gradients(simulate(SMALL, train_step=step))
    assert (found.ok, found.name) == (False, "unknown")


@pytest.mark.parametrize("run", [None, 3, "run"])
def test_the_check_wants_a_run(run):
    with pytest.raises(ValueError, match="run = .*at least one finished step"):
        check_gradients(run)


@pytest.mark.parametrize("precision, bound", [("fp32", 2.0**-20), ("fp16", 2.0**-8), ("bf16", 2.0**-5)])
@pytest.mark.parametrize("stage", [0, 3])
@pytest.mark.parametrize("model", ["mlp", "transformer"])
def test_low_precision_stays_near_full_precision(precision, bound, stage, model):
    """Bound: first gradients, relative to the largest entry, against one rank in fp64 (measured: a third of it)."""
    settings = replace(SMALL, model=model, stage=stage)
    run, exact = simulate(settings, precision=precision), baseline(settings)
    expected, largest = exact.steps[0].gradients, max(abs(v) for each in exact.steps[0].gradients.values() for v in each)
    worst = max(abs(one - other) for name in expected for one, other in zip(run.steps[0].gradients[name], expected[name]))
    assert 0 < worst / largest < bound
    assert run.losses == pytest.approx(exact.losses, rel=0.02)
    # Adam moves a weight by at most about one learning rate a step, whatever rounding did to its gradient.
    moved = sum(2.1 * step.learning_rate for step in run.steps)
    assert all(abs(one - other) < moved for name in exact.weights for one, other in zip(run.weights[name], exact.weights[name]))


def test_master_weights_keep_updates_that_16_bits_lose():
    def moved(recipe):
        first, last = (simulate(SMALL, precision="bf16", recipe=recipe, learning_rate=1e-5, num_steps=steps).weights
                       for steps in (1, 3))
        return sum(one != other for name in first for one, other in zip(first[name], last[name]))

    assert moved("adam-mixed") > 5 * moved("adam-bf16-no-master")


@pytest.mark.parametrize("case", cases_of("grad_accumulation_weighting"))
def test_reference_cases_of_weighting(case):
    if "targets" not in case["inputs"]:
        trained = case["inputs"]["trained"]
        assert token_weights(trained, "mean-of-means") == pytest.approx(case["expected"]["weight_per_token_mean_of_means"])
        return
    targets = case["inputs"]["targets"]
    for weighting, expected in (("mean-of-means", "mean_of_means"), ("global", "token_weighted")):
        total = [0.0] * len(case["inputs"]["logits"])
        for batch, weight in zip(targets, token_weights([len(batch) for batch in targets], weighting)):
            for row in cross_entropy_grad([softmax(case["inputs"]["logits"])] * len(batch), batch, weight):
                total = [old + new for old, new in zip(total, row)]
        assert total == pytest.approx(case["expected"][expected], abs=1e-6)


def loop_text():
    return "\n".join(loop_lines(training_loop.__file__))


def test_the_loop_s_own_text_trains_as_the_loop_does():
    own = simulate(SMALL, train_step=loop_from_text(loop_text()))
    assert own.weights == simulate(SMALL).weights
    assert loop_lines(own.loop_file) == loop_text().splitlines()
    assert {event.line for event in own.events} == {event.line for event in simulate(SMALL).events}


@pytest.mark.parametrize("old, new, name, peak_changes", [
    ("ranks.reduce_scatter(ranks.bucket)", "ranks.all_reduce(ranks.bucket)", None, False),
    ("        ranks.release(layer)", "        pass", "unknown", True),
    ("reduces = ranks.stage >= 2 or last_micro_batch", "reduces = last_micro_batch", None, True),  # no_sync: whole gradients until the last one
    ("for next_layer in coming[:ranks.prefetch_depth]", "for next_layer in coming", None, True),
    ("        if reduces:\n            ranks.bucket.append(layer)", "        ranks.bucket = [layer]; reduce_bucket(ranks)", None, False),
    ("    ranks.zero_grads()\n", "    ranks.zero_grads(); micro_batches = micro_batches[:1]\n", "unknown", False),
])
def test_changes_to_the_loop_change_picture_or_training(old, new, name, peak_changes):
    text = loop_text()
    assert text.count(old) == 1
    run = simulate(SMALL, train_step=loop_from_text(text.replace(old, new)))
    assert check_gradients(run).name == name
    assert (run.peak().num_bytes != simulate(SMALL).peak().num_bytes) == peak_changes


@pytest.mark.parametrize("text, words", [
    ("def train_step(:", "loop = 'line 1': expected Python"), ("x = 1", "a function train_step(ranks, micro_batches)"),
    ("train_step = 3", "a function train_step"), (7, "expected text of at most"), ("a" * 60_000, "expected text of at most"),
    ("from zeroledger.simulate.training_loop import train_step", "a function train_step"), ("\0", "expected Python"),
])
def test_a_text_that_is_no_loop_is_refused(text, words):
    with pytest.raises(ValueError) as error:
        loop_from_text(text)
    assert words in str(error.value)


def test_an_error_in_the_loop_names_its_line():
    text = loop_text().replace("        ranks.backward(layer)\n", "        ranks.backwards(layer)\n")
    with pytest.raises(AttributeError) as error:
        simulate(SMALL, train_step=loop_from_text(text))
    line = text.splitlines().index("        ranks.backwards(layer)") + 1
    assert error_in_loop(error.value).startswith(f"line {line}: AttributeError")
    with pytest.raises(ValueError, match="train_step = 'no loss'"):
        simulate(SMALL, train_step=loop_from_text("def train_step(ranks, micro_batches): pass"))


def test_a_loop_that_never_updates_is_not_the_same_training():
    run = simulate(SMALL, train_step=loop_from_text(loop_text().replace("        ranks.adam(layer)\n", "        pass\n")))
    found = check_gradients(run)
    assert (found.name, found.first_update) == ("unknown", 0)


@pytest.mark.parametrize("breaks", [(), *BREAKS])
def test_the_effect_of_a_break_is_seen_in_loss_or_check(breaks):
    found = effect(simulate(SMALL, breaks=breaks), num_steps=8)
    assert len(found["losses"]) == len(found["expected_losses"]) == 8
    assert found["check"]["name"] == (breaks or None)
    differs = max(abs(one - other) for one, other in zip(found["losses"], found["expected_losses"]))
    if not breaks:
        assert differs == 0
    else:
        assert differs > (1e-9 if breaks == "no_accumulation_division" else 1e-3)
    import json

    json.dumps(found, allow_nan=False)


def test_a_training_that_explodes_is_still_plain_data():
    import json

    run = simulate(SMALL, learning_rate=10, num_steps=3, precision="fp16")
    json.dumps([effect(run, num_steps=3), run.as_dict()], allow_nan=False)


def test_the_effect_of_a_changed_loop_comes_from_that_loop():
    step = loop_from_text(loop_text().replace("ranks.zero_grads()\n", "ranks.zero_grads(); micro_batches = micro_batches[:1]\n"))
    found = effect(simulate(SMALL, train_step=step), step, num_steps=5)
    assert found["losses"] != found["expected_losses"] and found["check"]["name"] == "unknown"


@pytest.mark.parametrize("dp_size", [1, 2, 4, 8])
def test_skipping_the_reduction_until_the_last_micro_batch_keeps_whole_gradients(dp_size):
    """tnt#1057, verl#7458, and measured with PyTorch 2.13.0 (tt-nosync-*): all of P on every rank, whatever their number."""
    step = loop_from_text(loop_text().replace("ranks.stage >= 2 or last_micro_batch", "last_micro_batch"))
    run = simulate(SMALL, dp_size=dp_size, stage=3, train_step=step)
    live = run.as_dict([0])["ranks"]["0"]["curve"]["live"]["unreduced_grads"]
    assert max(live) == 2 * SMALL.scale * sum(map(len, run.weights.values()))
    assert check_gradients(run).ok
    assert run.collective_numel()["reduce_scatter"] * 2 == simulate(SMALL, dp_size=dp_size).collective_numel()["reduce_scatter"]
