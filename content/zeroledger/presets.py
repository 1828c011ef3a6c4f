"""Well-known models by their published shapes; each parameter count is computed from the shape.

``config`` holds the fields of the model's ``config.json`` that decide its parameters.
"""

from dataclasses import dataclass

from .errors import ConfigError, check_choice
from .hf_config import model_from_hf_config


@dataclass(frozen=True)
class ModelPreset:
    """A published model: short ``name``, ``title`` for people, ``config`` (a dict like config.json), and its source."""

    name: str
    title: str
    config: dict
    source: str

    def __hash__(self):
        return hash(self.name)

    @property
    def model(self):
        """Its ``TransformerShape``."""
        return model_from_hf_config(self.config)

    @property
    def num_params(self):
        """Its exact parameter count, computed from ``config``."""
        return self.model.num_params


def preset(name):
    """The ``ModelPreset`` called ``name``; ``ConfigError`` lists the names otherwise."""
    check_choice("model", name, PRESETS, ConfigError)
    return PRESETS[name]


def _llama(hidden, layers, heads, kv_heads, width, vocab):
    return {"model_type": "llama", "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
            "num_key_value_heads": kv_heads, "intermediate_size": width, "vocab_size": vocab,
            "tie_word_embeddings": False}


def _qwen2(hidden, layers, heads, kv_heads, width, vocab):
    return _llama(hidden, layers, heads, kv_heads, width, vocab) | {"model_type": "qwen2"}


_ALL = (
    ModelPreset("gpt2-xl", "GPT-2 XL", {
        "model_type": "gpt2", "n_embd": 1600, "n_layer": 48, "n_head": 25, "n_positions": 1024, "vocab_size": 50257,
    }, "openai-community/gpt2-xl config.json"),
    ModelPreset("llama-2-7b", "Llama 2 7B", _llama(4096, 32, 32, 32, 11008, 32000), "meta-llama/Llama-2-7b-hf config.json"),
    ModelPreset("llama-2-13b", "Llama 2 13B", _llama(5120, 40, 40, 40, 13824, 32000),
                "meta-llama/Llama-2-13b-hf config.json"),
    ModelPreset("llama-2-70b", "Llama 2 70B", _llama(8192, 80, 64, 8, 28672, 32000),
                "meta-llama/Llama-2-70b-hf config.json"),
    ModelPreset("llama-3.1-8b", "Llama 3.1 8B", _llama(4096, 32, 32, 8, 14336, 128256),
                "meta-llama/Llama-3.1-8B config.json"),
    ModelPreset("llama-3.1-70b", "Llama 3.1 70B", _llama(8192, 80, 64, 8, 28672, 128256),
                "meta-llama/Llama-3.1-70B config.json"),
    ModelPreset("llama-3.1-405b", "Llama 3.1 405B", _llama(16384, 126, 128, 8, 53248, 128256),
                "meta-llama/Llama-3.1-405B config.json"),
    ModelPreset("qwen2.5-7b", "Qwen2.5 7B", _qwen2(3584, 28, 28, 4, 18944, 152064), "Qwen/Qwen2.5-7B config.json"),
    ModelPreset("qwen2.5-72b", "Qwen2.5 72B", _qwen2(8192, 80, 64, 8, 29568, 152064), "Qwen/Qwen2.5-72B config.json"),
    ModelPreset("mixtral-8x7b", "Mixtral 8x7B", _llama(4096, 32, 32, 8, 14336, 32000) | {
        "model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 2,
    }, "mistralai/Mixtral-8x7B-v0.1 config.json"),
)
PRESETS = {each.name: each for each in _ALL}
