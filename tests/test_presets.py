"""Presets against the parameter counts their publishers give."""

import pytest

from zeroledger import PRESETS, model_from_hf_config, preset
from zeroledger.errors import ConfigError

# The safetensors totals on the models' Hugging Face pages (GPT-2 XL: the sum over the released checkpoint).
PUBLISHED = {
    "gpt2-xl": 1_557_611_200, "llama-2-7b": 6_738_415_616, "llama-2-13b": 13_015_864_320, "llama-2-70b": 68_976_648_192,
    "llama-3.1-8b": 8_030_261_248, "llama-3.1-70b": 70_553_706_496, "llama-3.1-405b": 405_853_388_800,
    "qwen2.5-7b": 7_615_616_512, "qwen2.5-72b": 72_706_203_648, "mixtral-8x7b": 46_702_792_704,
}


@pytest.mark.parametrize("name, num_params", PUBLISHED.items())
def test_count_equals_the_published_one(name, num_params):
    assert PRESETS[name].num_params == num_params
    assert model_from_hf_config(PRESETS[name].config).num_params == num_params


@pytest.mark.parametrize("name", PUBLISHED)
def test_tensors_add_up_to_the_count(name):
    model = preset(name).model
    names = [tensor.name for tensor in model.tensors()]
    assert sum(tensor.numel for tensor in model.tensors()) == model.num_params
    assert len(set(names)) == len(names)


def test_every_preset_has_a_published_count():
    assert set(PRESETS) == set(PUBLISHED)
    assert all(name == each.name and each.title and each.source for name, each in PRESETS.items())


def test_mixtral_s_active_parameters():
    """The paper (arXiv:2401.04088) says 13B active of 47B."""
    assert PRESETS["mixtral-8x7b"].model.num_active_params == 12_879_925_248


def test_unknown_preset_lists_the_known():
    with pytest.raises(ConfigError, match="llama-2-7b"):
        preset("llama")
