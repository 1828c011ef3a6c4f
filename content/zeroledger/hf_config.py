"""Hugging Face ``config.json`` → ``TransformerShape``.

Absent fields take the defaults of the transformers configuration class of that ``model_type``. Families we do not
know are refused by name: describe those with ``TransformerShape(…)`` yourself.
"""

from .errors import ConfigError
from .hf_families import FAMILIES as LLAMA_FAMILIES
from .hf_families_gpt import GPT_FAMILIES
from .json_input import Fields, read_object

FAMILIES = GPT_FAMILIES | LLAMA_FAMILIES
WAY_OUT = "describe another architecture with TransformerShape(hidden_size=…, num_layers=…, …)"


def model_from_hf_config(config):
    """The ``TransformerShape`` of a ``config.json`` given as a dict or as JSON text.

    Raises ``ConfigError`` (a ``ValueError``) naming the field and what was expected.
    """
    values = read_object(config, "config")
    if "vision_config" in values or "audio_config" in values:
        raise ConfigError("vision_config", "present", "a text-only model; give the text_config object alone")
    if isinstance(values.get("text_config"), dict) and "hidden_size" not in values:
        values = {"model_type": values.get("model_type"), **values["text_config"]}
    model_type = values.get("model_type")
    if model_type is None and "model_type" not in values:
        model_type = _guess(values)
    if not isinstance(model_type, str) or model_type not in FAMILIES:
        raise ConfigError("model_type", model_type, "one of " + ", ".join(FAMILIES) + f"; {WAY_OUT}")
    _refuse_unsupported(values)
    return FAMILIES[model_type](Fields(values, f"config.json of model_type {model_type!r}"))


def _guess(values):
    """``model_type`` from ``architectures`` ("LlamaForCausalLM" → "llama"), else None."""
    names = values.get("architectures")
    first = names[0] if isinstance(names, list) and names else None
    if not isinstance(first, str):
        return None
    bare = first.split("For")[0].split("LMHead")[0].lower()
    known = {family.replace("_", ""): family for family in FAMILIES}
    return known.get(bare)


def _refuse_unsupported(values):
    if values.get("is_encoder_decoder") or values.get("add_cross_attention"):
        raise ConfigError("is_encoder_decoder", True, f"a decoder-only model; {WAY_OUT}")
