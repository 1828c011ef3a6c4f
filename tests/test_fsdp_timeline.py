"""FSDP2's instants against FSDPMemTracker: which moment is the peak, and every category of it to the byte."""

import pytest
from cases import cases_of
from hypothesis import given, settings as hypothesis_settings
from hypothesis import strategies as st
from measured_models import cpu_settings, gpt, llama, torch_runs, toy_shape

from zeroledger.activation_rows import ActivationSettings
from zeroledger.activation_stack import Stack, stage_shape
from zeroledger.activations import layer_activations
from zeroledger.errors import ConfigError
from zeroledger.fsdp_timeline import FsdpSettings, fsdp_instants
from zeroledger.instants import peak
from zeroledger.logits import loss_settings
from zeroledger.mesh import Mesh, rank_tensors, stage_layers
from zeroledger.pipeline_activations import layers_in_flight
from zeroledger.transients import fsdp_backward_instant, gather_units

TRACKER = {"sharded_params": "Sharded Param", "unsharded_params": "Unsharded Param", "sharded_grads": "Sharded Grad",
           "all_gather": "All Gather", "reduce_scatter": "Reduce Scatter", "activations": "Activation",
           "temporary": "Temp", "unsharded_grads": "Temp"}  # it tags a weight gradient only when its module is done
RESHARD = {"reshard": True, "noreshard": False, "default": "default", "0": False, "1": True}
TOY_SEQUENCE, TOY_TARGETS = 64, 4 * 64 * 8  # the runs kept the targets of the global batch of 4


def by_tracker(instant):
    """The instant's bytes in FSDPMemTracker's categories."""
    totals = dict.fromkeys(TRACKER.values(), 0)
    for row in instant.rows:
        if row.account == "logits":
            totals["Temp" if row.what.startswith("gradient") else "Activation"] += row.num_bytes
        elif row.account in TRACKER:
            totals[TRACKER[row.account]] += row.num_bytes
    return totals


def expected_of(case):
    expected = {name: case["expected"][name] for name in dict.fromkeys(TRACKER.values())}
    expected["Temp"] += case["expected"]["Unsharded Grad"]
    return expected


def stack_of(shape, run):
    return Stack(shape, run, loss_settings(shape, run, keep_logits=False))


def published(case):
    """(instants, bytes of targets that the tracker counts as activations) of a case of cases.json."""
    inputs = case["inputs"]
    if "scenario" in inputs:
        mode, precision, *reduce = inputs["scenario"].removeprefix("fsdp2_").split("_")
        dtype = "fp32" if precision == "fp32" else "bf16"
        fsdp = FsdpSettings(inputs["N"], dtype, "bf16" if reduce == ["bf16reduce"] else "fp32",
                            reshard_after_forward=RESHARD[mode], backend="gloo")
        run = cpu_settings(inputs["batch_per_rank"], TOY_SEQUENCE, dtype=dtype)
        return fsdp_instants(stack_of(toy_shape(inputs["model"]), run), fsdp), TOY_TARGETS
    shape = gpt(inputs["h"], inputs["a"], inputs["L"], inputs["V"], intermediate_size=inputs["ffn"],
                max_position_embeddings=inputs["S"])
    assert shape.num_params == inputs["params"]
    assert gather_units(shape) == (inputs["root"], inputs["block"])
    run = cpu_settings(inputs["batch"], inputs["S"], recompute="full" if inputs["recompute"] else "none")
    fsdp = FsdpSettings(inputs["N"], inputs["param_dtype"], inputs["reduce_dtype"],
                        reshard_after_forward=RESHARD[inputs["reshard_after_forward"]])
    return fsdp_instants(stack_of(shape, run), fsdp), 0


@pytest.mark.parametrize("case", cases_of("fsdp_peak_breakdown"))
def test_every_category_of_the_measured_peak(case):
    instants, targets = published(case)
    found, expected = by_tracker(peak(instants)), expected_of(case)
    found["Activation"] += targets
    assert found == expected
    rest = case["expected"]["OptState"] + case["expected"]["Buffer"] + case["expected"]["Inputs"]
    assert sum(found.values()) + rest == case["expected"]["Total"]


@pytest.mark.parametrize("case", torch_runs("fsdp_peak"))
def test_peak_of_our_own_runs(case):
    inputs = case["inputs"]
    fields = {"max_position_embeddings": inputs["S"]} if inputs["kind"] == "gpt" else {}
    fields |= {"num_layers": inputs["L"], "vocab": inputs["V"], "tie_word_embeddings": "tied" in inputs}
    if inputs["kind"] == "gpt":
        shape = gpt(inputs["h"], inputs["a"], intermediate_size=inputs["f"], **fields)
    else:
        shape = llama(inputs["h"], inputs["a"], inputs["kv"], inputs["f"], **fields)
    attention = "flash" if inputs.get("attention") == "sdpa" else "eager"
    run = cpu_settings(inputs["b"], inputs["S"], attention=attention, hidden_dropout="dropout" in inputs,
                       attention_dropout="dropout" in inputs, recompute="full" if "recompute" in inputs else "none")
    fsdp = FsdpSettings(inputs["N"], reduce_dtype=inputs.get("reduce", "fp32"), wrap=inputs.get("wrap", "layer"),
                        reshard_after_forward=inputs.get("raf", "default"))
    instant = peak(fsdp_instants(stack_of(shape, run), fsdp))
    not_in_the_run = sum(row.num_bytes for row in instant.rows
                         if row.what in ("rotary cosines and sines", "embedding dropout mask"))
    total = sum(by_tracker(instant).values()) - not_in_the_run
    # the composite final norm has dropped its rstd by the time it holds most; we still count those 4 bytes a token
    rstd = 4 * inputs["b"] * inputs["S"] if instant.name == "backward of final norm" else 0
    assert total - rstd == sum(expected_of(case).values())


SMALL = st.fixed_dictionaries({"dp_size": st.sampled_from((1, 2, 3, 8)), "prefetch_depth": st.integers(0, 3),
                               "reshard_after_forward": st.sampled_from(("default", True, False)),
                               "reduce_dtype": st.sampled_from(("fp32", "bf16")),
                               "backend": st.sampled_from(("nccl", "gloo"))})


@hypothesis_settings(max_examples=40, deadline=None)
@given(options=SMALL, s=st.integers(1, 64), recompute=st.sampled_from(("none", "selective", "full")))
def test_timeline_holds_together(options, s, recompute):
    shape = llama(64, 4, 2, 96, num_layers=4, vocab=300)
    stack = stack_of(shape, ActivationSettings(2, s, recompute=recompute))
    fsdp = FsdpSettings(**options)
    instants = fsdp_instants(stack, fsdp)
    assert len({instant.name for instant in instants}) == len(instants), "names are unique"
    everything = max(instant.by_account()["unsharded_params"] for instant in instants)
    padded = instants[0].by_account()["sharded_params"] * options["dp_size"]
    assert everything * 2 <= padded  # bf16 gathers against fp32 shards
    if options["reshard_after_forward"] is False:
        assert everything * 2 == padded
    end = instants[-1]
    assert end.name == "end of backward"
    accounts = end.by_account()
    assert accounts["sharded_grads"] == accounts["sharded_params"]
    assert accounts["unsharded_params"] == accounts["all_gather"] == accounts["reduce_scatter"] == 0


def test_deeper_prefetch_costs_a_unit_each():
    shape = llama(64, 4, 4, 96, num_layers=8)
    stack, unit = stack_of(shape, ActivationSettings(1, 4)), 2 * gather_units(shape)[1]

    def gathering(depth):
        instants = fsdp_instants(stack, FsdpSettings(4, prefetch_depth=depth))
        return next(instant for instant in instants if instant.name == "backward of layer 5: out_proj").by_account()

    sizes = [gathering(depth)["all_gather"] for depth in range(4)]
    assert sizes[0] == 0
    assert {after - before for before, after in zip(sizes, sizes[1:])} == {unit}


def test_closed_form_agrees_with_the_timeline():
    """Two derivations of b(root + block) + b·block + r·block: from two numbers, and from the model's tensors."""
    shape = gpt(64, 4, 6, 100)  # every first dimension divides by 4: no padding
    root, unit = gather_units(shape)
    instants = fsdp_instants(stack_of(shape, ActivationSettings(1, 8)), FsdpSettings(4))
    walked = next(instant for instant in instants if instant.name == "backward of layer 3: out_proj").by_account()
    closed = fsdp_backward_instant(root, unit).by_account()
    for account in ("unsharded_params", "all_gather", "reduce_scatter"):
        assert walked[account] == closed[account] > 0


@pytest.mark.parametrize("case", cases_of("fsdp_peak_breakdown", prefix="fsdp-6.7B"))
def test_closed_form_as_the_cases_note_says(case):
    inputs, expected = case["inputs"], case["expected"]
    whole = inputs["params"] if inputs["reshard_after_forward"] == "0" else None
    found = fsdp_backward_instant(inputs["root"], inputs["block"], num_params=whole).by_account()
    assert found["unsharded_params"] == expected["Unsharded Param"]
    assert found["all_gather"] == expected["All Gather"]
    assert found["reduce_scatter"] == expected["Reduce Scatter"]


@pytest.mark.parametrize("fields, named", [
    ({"dp_size": 0}, "dp_size"), ({"reshard_after_forward": "sometimes"}, "reshard_after_forward"),
    ({"backend": "mpi"}, "backend"), ({"prefetch_depth": -1}, "prefetch_depth"), ({"wrap": "all"}, "wrap"),
    ({"param_dtype": "bf8"}, "param_dtype")])
def test_bad_settings_name_the_field(fields, named):
    with pytest.raises(ValueError) as caught:
        FsdpSettings(**({"dp_size": 2} | fields))
    assert caught.value.field == named


def test_tensor_and_pipeline_parallel_ranks_bring_their_own_tensors():
    model = llama(64, 4, 4, 96, num_layers=6, vocab=400)
    mesh, run = Mesh(dp=4, tp=2, pp=3), ActivationSettings(1, 16, tp_size=2)
    sharded = 0
    for pp_rank in range(3):
        layers = stage_layers(model, mesh, pp_rank)
        waiting = layers_in_flight(6, 3, stage_index=pp_rank) - len(layers)
        loss = loss_settings(model, run) if pp_rank == 2 else None
        stack = Stack(stage_shape(model, layers), run, loss, has_embedding=pp_rank == 0, waiting_layers=waiting)
        instants = fsdp_instants(stack, FsdpSettings(4), rank_tensors(model, mesh, pp_rank))
        end = instants[-1].by_account()
        assert end["sharded_params"] == end["sharded_grads"]
        sharded += end["sharded_params"]
        held = next(each for each in instants if each.name == "end of forward").by_account()["activations"]
        assert held >= layers_in_flight(6, 3, stage_index=pp_rank) * layer_activations(model, run).num_bytes
    norms = sum(tensor.numel for tensor in model.tensors() if tensor.tp_dim is None)
    assert sharded == 4 * (model.num_params + norms) // (4 * 2)  # replicated norms are held by both tensor ranks


def test_such_ranks_are_refused_without_them():
    model = llama(64, 4, 4, 96, num_layers=6, vocab=400)
    run = ActivationSettings(1, 16, tp_size=2)
    with pytest.raises(ConfigError, match="tensors = None: expected the rank's own"):
        fsdp_instants(stack_of(model, run), FsdpSettings(2))
    with pytest.raises(ConfigError, match="tensors = None"):
        fsdp_instants(Stack(model, ActivationSettings(1, 16)), FsdpSettings(2))
    with pytest.raises(ConfigError, match="tensors = '6 layers'.*the stack's 2"):
        fsdp_instants(Stack(stage_shape(model, range(2)), ActivationSettings(1, 16)), FsdpSettings(2), model.tensors())
    with pytest.raises(ConfigError, match="layers"):
        stage_shape(model, range(5, 9))
    with pytest.raises(ConfigError, match="a Stack"):
        fsdp_instants(model, FsdpSettings(2))
