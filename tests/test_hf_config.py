"""The config.json importer against published parameter counts, one family after another."""

import json

import pytest
from cases import assert_matches, cases_of
from hypothesis import given, settings
from hypothesis import strategies as st

from zeroledger import TransformerShape, model_from_hf_config
from zeroledger.errors import ConfigError
from zeroledger.hf_config import FAMILIES
from zeroledger.json_input import is_deeper_than


def configs():
    """The published configs: name → (the fields of config.json that decide parameters, the published count)."""
    from cases import DATA

    return json.loads((DATA / "hf_configs.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", configs())
def test_count_equals_the_published_one(name):
    entry = configs()[name]
    model = model_from_hf_config(entry["config"])
    assert sum(tensor.numel for tensor in model.tensors()) == model.num_params
    if "num_params" in entry:
        assert model.num_params == entry["num_params"]
    else:  # published rounded
        assert round(model.num_params / 10**9, 2) == entry["billions"]


def test_every_family_has_a_published_count():
    assert {entry["config"]["model_type"] for entry in configs().values()} == set(FAMILIES)


@pytest.mark.parametrize("name", configs())
def test_tensors_have_names_of_their_own_and_owners(name):
    model = model_from_hf_config(configs()[name]["config"])
    tensors = model.tensors()
    assert len({tensor.name for tensor in tensors}) == len(tensors)
    for tensor in tensors:
        assert (tensor.layer is not None) == (tensor.owner in ("layer", "expert"))
        assert (tensor.expert is not None) == (tensor.owner == "expert")
        if tensor.tp_dim is not None:
            assert tensor.shape[tensor.tp_dim] % tensor.tp_units == 0
    assert {tensor.layer for tensor in tensors} - {None} == set(range(model.num_layers))


@pytest.mark.parametrize("name, tensor_name, shape", [
    ("gpt2", "transformer.h.0.attn.c_attn.weight", (768, 2304)),
    ("gpt2", "transformer.h.11.mlp.c_proj.weight", (3072, 768)),
    ("gpt2", "transformer.wpe.weight", (1024, 768)),
    ("mistral-7b-v0.1", "model.layers.31.self_attn.k_proj.weight", (1024, 4096)),
    ("mixtral-8x7b", "model.layers.0.block_sparse_moe.experts.7.w2.weight", (4096, 14336)),
    ("mixtral-8x7b", "model.layers.0.block_sparse_moe.gate.weight", (8, 4096)),
    ("qwen2.5-0.5b", "model.layers.0.self_attn.v_proj.bias", (128,)),
    ("qwen3-8b", "model.layers.0.self_attn.q_norm.weight", (128,)),
    ("qwen1.5-moe-a2.7b", "model.layers.0.mlp.shared_expert.up_proj.weight", (5632, 2048)),
    ("gemma-2-9b", "model.layers.0.pre_feedforward_layernorm.weight", (3584,)),
    ("phi-2", "model.layers.0.self_attn.dense.bias", (2560,)),
    ("phi-2", "lm_head.bias", (51200,)),
    ("phi-3-mini", "model.layers.0.self_attn.qkv_proj.weight", (9216, 3072)),
    ("phi-3-mini", "model.layers.0.mlp.gate_up_proj.weight", (16384, 3072)),
    ("deepseek-v3", "model.layers.3.mlp.gate.e_score_correction_bias", (256,)),
    ("deepseek-v3", "model.layers.0.self_attn.kv_a_proj_with_mqa.weight", (576, 7168)),
])
def test_tensor_names_and_shapes_are_the_checkpoint_s(name, tensor_name, shape):
    tensors = {tensor.name: tensor for tensor in model_from_hf_config(configs()[name]["config"]).tensors()}
    assert tensors[tensor_name].shape == shape


@pytest.mark.parametrize("name, billions", [
    ("mixtral-8x7b", 12.9),  # arXiv:2401.04088: 13B active, 12.9 in the text
    ("qwen3-30b-a3b", 3.3),  # the model card
    ("qwen3-235b-a22b", 22),  # the model card
    ("deepseek-v2", 21),  # arXiv:2405.04434
    ("deepseek-v3", 37),  # arXiv:2412.19437
])
def test_active_parameters(name, billions):
    """Published to two digits; the counts of embedding and head are ours to include, hence 3%."""
    model = model_from_hf_config(configs()[name]["config"])
    assert model.num_active_params / 10**9 == pytest.approx(billions, rel=0.03)


def test_json_text_bytes_and_dict_agree():
    config = configs()["qwen3-8b"]["config"]
    text = json.dumps(config)
    assert model_from_hf_config(text) == model_from_hf_config(config) == model_from_hf_config(text.encode())


def test_model_type_may_come_from_the_architecture():
    config = dict(configs()["llama-2-7b"]["config"], architectures=["LlamaForCausalLM"])
    del config["model_type"]
    assert model_from_hf_config(config).num_params == configs()["llama-2-7b"]["num_params"]


def test_llama_without_key_value_heads_has_as_many_as_heads():
    config = dict(configs()["llama-2-7b"]["config"], num_key_value_heads=None)
    assert model_from_hf_config(config).num_params == configs()["llama-2-7b"]["num_params"]


def test_deepseek_v3_has_the_router_bias_unless_told_otherwise():
    config = dict(configs()["deepseek-v3"]["config"])
    del config["topk_method"]
    assert model_from_hf_config(config).num_params == configs()["deepseek-v3"]["num_params"]
    assert not model_from_hf_config(config | {"topk_method": "greedy"}).router_bias


LLAMA = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4,
         "intermediate_size": 128, "vocab_size": 100}


@pytest.mark.parametrize("change, field", [
    ({"hidden_size": -64}, "hidden_size"), ({"hidden_size": 0}, "hidden_size"), ({"hidden_size": "64"}, "hidden_size"),
    ({"hidden_size": 64.5}, "hidden_size"), ({"hidden_size": float("nan")}, "hidden_size"), ({"hidden_size": None}, "hidden_size"),
    ({"hidden_size": True}, "hidden_size"), ({"hidden_size": 10**400}, "hidden_size"), ({"hidden_size": [64]}, "hidden_size"),
    ({"vocab_size": {}}, "vocab_size"), ({"num_hidden_layers": 10**8}, "num_layers"), ({"num_attention_heads": 5}, "num_attention_heads"),
    ({"num_key_value_heads": 3}, "num_key_value_heads"), ({"tie_word_embeddings": "yes"}, "tie_word_embeddings"),
    ({"attention_bias": 1}, "attention_bias"), ({"hidden_act": 7}, "hidden_act"), ({"model_type": "t5"}, "model_type"),
    ({"model_type": None}, "model_type"), ({"model_type": ["llama"]}, "model_type"), ({"model_type": "mixtral", "num_local_experts": 2,
     "num_experts_per_tok": 3}, "num_experts_per_tok"), ({"is_encoder_decoder": True}, "is_encoder_decoder"),
    ({"vision_config": {}}, "vision_config"), ({"model_type": "qwen2_moe", "mlp_only_layers": "all"}, "mlp_only_layers"),
    ({"model_type": "mixtral", "num_local_experts": 10**6}, "num_experts"),
])
def test_bad_fields_are_named(change, field):
    with pytest.raises(ConfigError) as caught:
        model_from_hf_config(LLAMA | change)
    assert caught.value.field == field
    assert "expected" in str(caught.value) and len(str(caught.value)) < 600


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.integers(-2, 200) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=5)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_any_value_in_any_field_is_read_or_refused(data):
    config = dict(configs()[data.draw(st.sampled_from(sorted(configs())))]["config"])
    for _ in range(data.draw(st.integers(1, 3))):
        config[data.draw(st.sampled_from(sorted(config)))] = data.draw(JSON_VALUES)
    try:
        model = model_from_hf_config(config)
    except ConfigError:
        return
    assert model.num_params > 0
    assert 0 < model.num_active_params <= model.num_params


@given(JSON_VALUES)
def test_any_json_is_read_or_refused(value):
    with pytest.raises(ConfigError):
        model_from_hf_config(json.dumps(value))


@pytest.mark.parametrize("missing", ["hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"])
def test_missing_fields_are_named(missing):
    with pytest.raises(ConfigError, match=f"{missing}.*does not have the field"):
        model_from_hf_config({key: value for key, value in LLAMA.items() if key != missing})


@pytest.mark.parametrize("text", [
    "", "{", json.dumps(LLAMA)[:-5], "[]", "null", "3", '"llama"', "{'model_type': 'llama'}", "[" * 200_000, '{"a":' * 200_000,
    " " * 4_000_001, b"\xff\xfe", 5, None, ["llama"], '{"hidden_size": 1' + "0" * 5000 + "}",
])
def test_what_is_no_config_is_refused(text):
    with pytest.raises(ConfigError):
        model_from_hf_config(text)


def test_a_byte_order_mark_is_skipped():
    assert model_from_hf_config("\ufeff" + json.dumps(LLAMA)) == model_from_hf_config(b"\xef\xbb\xbf" + json.dumps(LLAMA).encode())


@given(st.recursive(st.none() | st.text(alphabet='[]{}"\\a', max_size=8), lambda inner: st.lists(inner, max_size=4) |
                    st.dictionaries(st.text(alphabet='[]{}"\\a', max_size=4), inner, max_size=4), max_leaves=30))
def test_depth_is_counted_outside_strings(value):
    def depth(each):
        if isinstance(each, dict):
            each = list(each.values())
        return 1 + max(map(depth, each), default=0) if isinstance(each, list) else 0

    text = json.dumps(value)
    assert is_deeper_than(text, depth(value)) is False
    assert depth(value) == 0 or is_deeper_than(text, depth(value) - 1)


def test_deep_nesting_says_how_deep_is_allowed():
    with pytest.raises(ConfigError, match="64 levels"):
        model_from_hf_config('{"a":' * 65 + "1" + "}" * 65)


def test_truncation_says_where():
    with pytest.raises(ConfigError, match="line 1, column"):
        model_from_hf_config('{"model_type": "llama", ')


def test_a_100_mb_text_is_refused_without_parsing():
    with pytest.raises(ConfigError, match="at most"):
        model_from_hf_config("[" + "0," * 50_000_000 + "0]")


@pytest.mark.parametrize("case", cases_of("param_count", prefix="kort-"))
def test_gpt_formula(case):
    """12Lh² + 13Lh + (v + s)h + 2h, from the shape's own tensors."""
    inputs = case["inputs"]
    model = TransformerShape(inputs["h"], inputs["L"], num_attention_heads=inputs["h"] // 128, vocab_size=inputs["v"], gated_mlp=False,
                             norm="layernorm", max_position_embeddings=inputs["s"], tie_word_embeddings=True, qkv_bias=True,
                             attention_out_bias=True, mlp_bias=True)
    assert_matches(model.num_params, case)


@pytest.mark.parametrize("case", cases_of("param_count", prefix="tt-params-"))
def test_measured_toy_model(case):
    inputs, expected = case["inputs"], case["expected"]
    model = TransformerShape(inputs["h"], inputs["L"], inputs["a"], inputs["V"], intermediate_size=inputs["ffn"], gated_mlp=False,
                             norm="layernorm", max_position_embeddings=inputs["S"], qkv_bias=True, attention_out_bias=True,
                             mlp_bias=True, fused_qkv=True)
    tensors = model.tensors()
    assert model.num_params == expected["total"]
    assert sum(tensor.numel for tensor in tensors if tensor.layer == 0) == expected["block"]
    assert sum(tensor.numel for tensor in tensors if tensor.layer is None) == expected["root"]
    assert max(tensor.numel for tensor in tensors) == expected["largest_module"]
    assert sorted(tensor.shape for tensor in tensors) == sorted(tuple(shape) for _, shape in expected["shapes"])


@pytest.mark.parametrize("case", cases_of("model_config"))
def test_published_shapes_divide_over_their_ranks(case):
    """Table 3 of arXiv:2205.05198: each shape is one of ours, and its layout fits (tp × pp = gpus)."""
    expected = case["expected"]
    model = TransformerShape(expected["hidden"], expected["layers"], expected["heads"], expected["vocab"], gated_mlp=False,
                             norm="layernorm", max_position_embeddings=expected["seq"], tie_word_embeddings=True, qkv_bias=True,
                             attention_out_bias=True, mlp_bias=True)
    name = {"175B": 175, "530B": 530, "1T": 1000}[case["inputs"]["model"]]
    assert model.num_params / 10**9 == pytest.approx(name, rel=0.01)
    assert expected["tp"] * expected["pp"] == expected["gpus"]
    assert expected["layers"] % expected["pp"] == 0 and expected["heads"] % expected["tp"] == 0


def registered():
    """What transformers 4.57.6 registers for small configs of each family (tests/torch/make_hf_tensors.py)."""
    from cases import DATA

    return json.loads((DATA / "hf_tensors.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", registered())
def test_names_shapes_and_order_are_those_transformers_registers(name):
    entry = registered()[name]
    ours = [[tensor.name, list(tensor.shape)] for tensor in model_from_hf_config(entry["config"]).tensors()
            if not tensor.name.endswith("e_score_correction_bias")]  # a buffer there, a parameter in the checkpoint
    assert ours == entry["tensors"]


def test_every_family_was_registered():
    assert {entry["config"]["model_type"] for entry in registered().values()} == set(FAMILIES)
