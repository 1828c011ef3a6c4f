"""Writes tests/data/hf_tensors.json: names, shapes and order of every family's parameters, as transformers registers them.

Needs torch and transformers (made with torch 2.13.0 and transformers 4.57.6; neither is needed to run the tests):
    python tests/torch/make_hf_tensors.py
"""

import json
from pathlib import Path

import torch
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

SMALL = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 48,
         "vocab_size": 50}
MOE = {"num_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 20}
LATENT = {"num_key_value_heads": 4, "n_routed_experts": 4, "n_shared_experts": 2, "num_experts_per_tok": 2, "moe_intermediate_size": 20,
          "kv_lora_rank": 12, "qk_nope_head_dim": 6, "qk_rope_head_dim": 4, "v_head_dim": 10, "n_group": 1, "topk_group": 1,
          "first_k_dense_replace": 1}
CONFIGS = {
    "gpt2": {"model_type": "gpt2", "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 20, "vocab_size": 50},
    "gpt2-inner-untied": {"model_type": "gpt2", "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 20, "vocab_size": 50,
                          "n_inner": 40, "tie_word_embeddings": False},
    "llama": SMALL | {"model_type": "llama"},
    "llama-biased-tied": SMALL | {"model_type": "llama", "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True,
                                  "head_dim": 12},
    "mistral": SMALL | {"model_type": "mistral", "head_dim": 10},
    "mixtral": SMALL | {"model_type": "mixtral", "num_local_experts": 3, "num_experts_per_tok": 2},
    "qwen2": SMALL | {"model_type": "qwen2"},
    "qwen3": SMALL | {"model_type": "qwen3", "head_dim": 10, "attention_bias": True},
    "qwen2_moe": SMALL | MOE | {"model_type": "qwen2_moe", "shared_expert_intermediate_size": 24, "decoder_sparse_step": 1,
                                "mlp_only_layers": [1]},
    "qwen2_moe-every-second": SMALL | MOE | {"model_type": "qwen2_moe", "shared_expert_intermediate_size": 24, "qkv_bias": False,
                                             "decoder_sparse_step": 2},
    "qwen3_moe": SMALL | MOE | {"model_type": "qwen3_moe", "head_dim": 10},
    "gemma": SMALL | {"model_type": "gemma", "head_dim": 10, "attention_bias": True},
    "gemma2": SMALL | {"model_type": "gemma2", "head_dim": 10},
    "gemma3_text": SMALL | {"model_type": "gemma3_text", "head_dim": 10},
    "granite": SMALL | {"model_type": "granite", "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": False},
    "smollm3": SMALL | {"model_type": "smollm3", "pad_token_id": 0},
    "gpt_neox": SMALL | {"model_type": "gpt_neox"},
    "starcoder2": SMALL | {"model_type": "starcoder2"},
    "starcoder2-no-bias-untied": SMALL | {"model_type": "starcoder2", "use_bias": False, "tie_word_embeddings": False},
    "phi": SMALL | {"model_type": "phi"},
    "phi3": SMALL | {"model_type": "phi3", "pad_token_id": 0},
    "deepseek_v2": SMALL | LATENT | {"model_type": "deepseek_v2", "q_lora_rank": None},
    "deepseek_v2-compressed-queries": SMALL | LATENT | {"model_type": "deepseek_v2", "q_lora_rank": 14, "attention_bias": True},
    "deepseek_v3": SMALL | LATENT | {"model_type": "deepseek_v3", "q_lora_rank": 14},
}


def tensors_of(config):
    """[name, shape] of each parameter of the model that ``config`` describes, built without storage."""
    options = {key: value for key, value in config.items() if key != "model_type"}
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(CONFIG_MAPPING[config["model_type"]](**options))
    return [[name, list(parameter.shape)] for name, parameter in model.named_parameters()]


def main():
    """Write the file, one configuration a line."""
    lines = [f"{json.dumps(name)}: {json.dumps({'config': config, 'tensors': tensors_of(config)})}" for name, config in CONFIGS.items()]
    target = Path(__file__).parents[1] / "data" / "hf_tensors.json"
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
