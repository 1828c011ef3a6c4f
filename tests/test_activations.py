"""One layer's saved tensors: the paper's formula, measured autograd runs, and rules that hold for any block."""

import json
from pathlib import Path

import pytest
from cases import cases_of
from hypothesis import given
from hypothesis import strategies as st
from measured_models import cpu_settings, gpt, llama, torch_runs

from zeroledger.activation_rows import PAPER, ActivationSettings
from zeroledger.activations import layer_activations, layer_ops
from zeroledger.backward_walk import layer_backward
from zeroledger.errors import ConfigError, InvalidInput
from zeroledger.hf_config import model_from_hf_config
from zeroledger.presets import PRESETS

VARIANTS = {"tp": {}, "tp_sp": {"sequence_parallel": True}, "tp_selective": {"recompute": "selective"},
            "tp_sp_selective": {"sequence_parallel": True, "recompute": "selective"}, "tp_full": {"recompute": "full"}}
ALONE = {"none": {}, "selective": {"recompute": "selective"}, "full": {"recompute": "full"}}
HF_CONFIGS = json.loads((Path(__file__).parent / "data" / "hf_configs.json").read_text(encoding="utf-8"))
ATTENTIONS = {"sdpa": "flash", "eager": "eager", "hf": "eager-fp32-softmax", "unfused": "eager"}


def paper_settings(inputs, variant):
    options = ALONE[variant] if variant in ALONE else VARIANTS[variant] | {"tp_size": inputs["t"]}
    return ActivationSettings(inputs["b"], inputs["s"], **PAPER, **options)


@pytest.mark.parametrize("case", cases_of("activation_per_layer"))
def test_layer_by_operations_equals_the_papers_formula(case):
    inputs = case["inputs"]
    layer = layer_activations(gpt(inputs["h"], inputs["a"]), paper_settings(inputs, inputs["variant"]))
    assert layer.num_bytes == pytest.approx(case["expected"], rel=1e-12)  # the case is a float product
    assert layer.factor_per_sbh == pytest.approx(case["exact"]["factor_per_sbh"], rel=1e-12)


@given(s=st.integers(1, 300), b=st.integers(1, 5), heads=st.integers(1, 12), width=st.integers(1, 64))
def test_gpt_block_is_34_sbh_and_5_as2b(s, b, heads, width):
    h = heads * width
    layer = layer_activations(gpt(h, heads), ActivationSettings(b, s, **PAPER))
    assert layer.num_bytes == 34 * s * b * h + 5 * heads * s * s * b


@given(s=st.integers(1, 40), b=st.integers(1, 4), heads=st.integers(1, 4), t=st.sampled_from((1, 2, 4)))
def test_parallel_and_recomputing_forms(s, b, heads, t):
    s, heads, h = s * t, heads * t, heads * t * 8  # so that t divides
    sbh, scores = s * b * h, 5 * heads * s * s * b

    def size(**options):
        return layer_activations(gpt(h, heads), ActivationSettings(b, s, **PAPER, tp_size=t, **options)).num_bytes

    assert size() == 10 * sbh + (24 * sbh + scores) // t
    assert size(sequence_parallel=True) == (34 * sbh + scores) // t
    assert size(sequence_parallel=True, recompute="selective") == 34 * sbh // t
    assert size(recompute="full") == 2 * sbh
    assert size(recompute="full", partition_checkpoints=True) == 2 * sbh // t
    assert size(cp_size=1) == size()


def test_context_parallelism_divides_everything_by_its_size():
    shape, settings = llama(256, 8, 2, 688), ActivationSettings(2, 128, attention="eager")
    whole = layer_activations(shape, settings)
    half = layer_activations(shape, settings.changed(cp_size=2))
    assert all("cp" in row.divided_by for row in whole.rows)
    assert 2 * half.num_bytes == whole.num_bytes


SAVED = cases_of("activation_measured", prefix="tt-act-")


@pytest.mark.parametrize("case", [case for case in SAVED if "gpt_block" in case.id])
def test_gpt_block_as_autograd_saves_it(case):
    case_id, inputs, expected = case["id"], case["inputs"], case["expected"]
    dropout = "nodropout" not in case_id
    settings = cpu_settings(inputs["b"], inputs["s"], dtype="fp32" if "fp32" in case_id else "bf16",
                            hidden_dropout=dropout, attention_dropout=dropout,
                            recompute="full" if "full_recompute" in case_id else "none")
    shape = gpt(inputs["h"], inputs["a"])
    layer = layer_activations(shape, settings)
    if "full_recompute" in case_id:
        assert layer.num_bytes == expected["saved_bytes_outside_checkpoint"] == expected["formula_2sbh"]
        return
    assert layer.num_bytes == expected["saved_bytes"]
    without = layer_activations(shape, settings.changed(norm_stats="none")).num_bytes
    assert without == next(size for key, size in expected.items() if key.startswith("formula"))
    assert layer.num_bytes - without == expected["excess"]


@pytest.mark.parametrize("case", [case for case in SAVED if "llama_block" in case.id])
def test_llama_block_as_autograd_saves_it(case):
    inputs = case["inputs"]
    attention = ATTENTIONS[case["id"].rpartition("_")[2]]
    shape = llama(inputs["h"], inputs["a"], inputs["kv"], inputs["ffn"])
    layer = layer_activations(shape, cpu_settings(inputs["b"], inputs["s"], attention=attention))
    assert layer.num_bytes == case["expected"]["saved_bytes"]
    assert layer.factor_per_sbh == case["expected"]["per_sbh"]


@pytest.mark.parametrize("case", torch_runs("llama_block"))
def test_grouped_attention_in_our_own_runs(case):
    inputs = case["inputs"]
    shape = llama(inputs["h"], inputs["a"], inputs["kv"], inputs["ffn"])
    settings = cpu_settings(inputs["b"], inputs["s"], attention=ATTENTIONS[inputs["attention"]])
    assert layer_activations(shape, settings).num_bytes == case["expected"]["saved_bytes"]


def test_fused_kernels_of_a_gpu_keep_less():
    shape, cpu = llama(256, 8, 2, 688), cpu_settings(2, 128, attention="flash")
    sbh = 2 * 128 * 256
    gpu = layer_activations(shape, cpu.changed(norm_kernel="fused", norm_stats="fp32"))
    assert layer_activations(shape, cpu).num_bytes - gpu.num_bytes == 2 * 6 * sbh  # 8 bytes against 2, two norms
    fused = layer_activations(shape, cpu.changed(fused_gated_mlp=True))
    assert layer_activations(shape, cpu).num_bytes - fused.num_bytes == 2 * 2 * 128 * 688


@pytest.mark.parametrize("name", PRESETS)
def test_weights_of_the_operations_are_those_of_the_layer(name):
    check_weights(PRESETS[name].model)


@pytest.mark.parametrize("entry", HF_CONFIGS, ids=str)
def test_weights_of_the_operations_for_every_family(entry):
    config = HF_CONFIGS[entry] if isinstance(HF_CONFIGS, dict) else entry
    check_weights(model_from_hf_config(config.get("config", config)))


def check_weights(shape):
    """A second derivation of the layer's parameters: from its operations, against its tensors."""
    settings = ActivationSettings(1, 16)
    for layer in {0, shape.num_layers // 2, shape.num_layers - 1}:
        counted = sum(op.weight_numel for op in layer_ops(shape, settings, layer))
        assert counted == sum(tensor.numel for tensor in shape.tensors() if tensor.layer == layer)


SHAPES = st.sampled_from((gpt(64, 4), llama(64, 4, 2, 96), llama(64, 4, 1, 96, qk_norm=True, norms_per_layer=4),
                          llama(64, 4, 4, 96, norms_per_layer=1),
                          llama(64, 4, 2, 96, num_experts=8, num_experts_per_tok=2, moe_intermediate_size=32,
                                shared_expert_intermediate_size=48),
                          llama(64, 4, 4, 96, kv_lora_rank=16, q_lora_rank=24, qk_nope_head_dim=8, qk_rope_head_dim=4,
                                v_head_dim=12)))
OPTIONS = st.fixed_dictionaries({
    "attention": st.sampled_from(("flash", "eager", "eager-fp32-softmax")), "hidden_dropout": st.booleans(),
    "attention_dropout": st.booleans(), "tp_size": st.sampled_from((1, 2, 3, 4)), "sequence_parallel": st.booleans(),
    "cp_size": st.sampled_from((1, 2)), "norm_kernel": st.sampled_from(("fused", "composite")),
    "fused_gated_mlp": st.booleans(), "dtype": st.sampled_from(("bf16", "fp32"))})


@given(shape=SHAPES, options=OPTIONS, s=st.integers(1, 70), b=st.integers(1, 3))
def test_recompute_keeps_less_and_needs_what_it_saved(shape, options, s, b):
    kept = {mode: layer_activations(shape, ActivationSettings(b, s, recompute=mode, **options))
            for mode in ("none", "selective", "full")}
    # eager-fp32 apart, selective never keeps more; full keeps one tensor of s·b·h
    assert kept["full"].num_bytes <= kept["selective"].num_bytes <= kept["none"].num_bytes
    assert kept["full"].recomputed_bytes >= kept["none"].num_bytes == kept["none"].recomputed_bytes
    assert [row.tensor for row in kept["full"].kept_rows] == ["layer input"]


@given(shape=SHAPES, options=OPTIONS, s=st.integers(1, 70), b=st.integers(1, 3))
def test_more_ranks_never_hold_more_each(shape, options, s, b):
    settings = ActivationSettings(b, s, **(options | {"tp_size": 1, "cp_size": 1}))
    for change in ({"tp_size": 2}, {"tp_size": 4}, {"cp_size": 2}, {"cp_size": 4}):
        fewer, more = layer_activations(shape, settings), layer_activations(shape, settings.changed(**change))
        (group, size), = change.items()
        assert fewer.num_bytes >= more.num_bytes
        for whole, share in zip(fewer.rows, more.rows, strict=True):
            assert share.numel_per_rank * size >= whole.numel_per_rank  # together the ranks hold all of it


@given(shape=SHAPES, options=OPTIONS, s=st.integers(1, 70), b=st.integers(1, 3),
       recompute=st.sampled_from(("none", "selective", "full")))
def test_backward_frees_everything_and_makes_every_weight_gradient(shape, options, s, b, recompute):
    settings = ActivationSettings(b, s, recompute=recompute, **options)
    ops, steps = layer_ops(shape, settings), layer_backward(shape, settings)
    assert [step.op for step in steps] == [op.name for op in reversed(ops)]
    first_norm = sum(row.num_bytes for row in ops[0].saves if row.kept_by(recompute) or row.kept_by("none"))
    assert steps[-1].saved_bytes == first_norm  # only what the last operation itself still needs
    assert steps[-1].weight_numel == sum(op.weight_numel for op in ops)
    if recompute != "selective":
        assert steps[0].saved_bytes == layer_activations(shape, settings).recomputed_bytes
    consumed = {name for op in ops for name in op.consumes}
    produced = {name for op in ops for name, _ in op.produces}
    assert produced <= consumed | {"residual"}, "a gradient that nothing uses up"


@pytest.mark.parametrize("fields, named", [
    ({"micro_batch_size": 0}, "micro_batch_size"), ({"seq_length": -1}, "seq_length"),
    ({"seq_length": float("nan")}, "seq_length"), ({"attention": "fast"}, "attention"),
    ({"recompute": "some"}, "recompute"), ({"dtype": "int3"}, "dtype"), ({"tp_size": 0}, "tp_size"),
    ({"hidden_dropout": 1}, "hidden_dropout"), ({"norm_stats": None}, "norm_stats"), ({"cp_size": "2"}, "cp_size")])
def test_bad_settings_name_the_field(fields, named):
    with pytest.raises(ValueError) as caught:
        ActivationSettings(**({"micro_batch_size": 1, "seq_length": 8} | fields))
    assert caught.value.field == named
    assert str(caught.value).startswith(f"{named} = ")


def test_bad_arguments_say_what_is_accepted():
    with pytest.raises(InvalidInput, match="shape"):
        layer_activations("llama", ActivationSettings(1, 8))
    with pytest.raises(InvalidInput, match="settings"):
        layer_activations(gpt(64, 4), {"s": 8})
    with pytest.raises(ConfigError, match="layer = 7"):
        layer_activations(gpt(64, 4), ActivationSettings(1, 8), layer=7)
    with pytest.raises(ConfigError, match="tp_size = 8.*num_attention_heads 4"):
        layer_activations(gpt(64, 4), ActivationSettings(1, 8, tp_size=8))


def test_as_dict_is_plain_data():
    layer = layer_activations(gpt(64, 4), ActivationSettings(1, 8, recompute="selective"))
    data = json.loads(json.dumps(layer.as_dict()))
    assert data["bytes"] == sum(row["bytes"] for row in data["rows"] if row["kept"])
