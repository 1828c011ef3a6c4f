"""One small function per ``model_type`` of GPT's kind (LayerNorm, plain MLP, biases): its fields → ``TransformerShape``.

Read from the configuration and modelling classes of Hugging Face transformers 4.5x, whose defaults apply to absent
fields.
"""

from .errors import ConfigError
from .hf_families import common
from .models import TransformerShape

PLAIN = {"gated_mlp": False, "norm": "layernorm"}
BIASED = {"qkv_bias": True, "attention_out_bias": True, "mlp_bias": True}


def gpt2(fields):
    """GPT-2: learned positions, LayerNorm, biases everywhere, one stored matrix for q, k, v, Conv1D layout."""
    hidden = fields.count("n_embd", 768)
    return TransformerShape(
        hidden_size=hidden, num_layers=fields.count("n_layer", 12), num_attention_heads=fields.count("n_head", 12),
        vocab_size=fields.count("vocab_size", 50257), intermediate_size=fields.count("n_inner", 4 * hidden),
        max_position_embeddings=fields.count("n_positions", 1024), activation=fields.text("activation_function", "gelu_new"),
        tie_word_embeddings=fields.flag("tie_word_embeddings", True), fused_qkv=True,
        transposed_linear=True, family="gpt2", **PLAIN, **BIASED)


def gpt_neox(fields):
    """GPT-NeoX and Pythia: rotary positions, one stored matrix for q, k, v, both norms before attention and MLP."""
    shape = common(fields)
    shape |= {"num_key_value_heads": None, "head_dim": None, "activation": fields.text("hidden_act", "gelu")}
    bias = fields.flag("attention_bias", True)
    return TransformerShape(**shape, **PLAIN, qkv_bias=bias, attention_out_bias=bias, mlp_bias=True, fused_qkv=True,
                            family="gpt_neox")


def starcoder2(fields):
    """StarCoder2: grouped queries and rotary positions in a GPT block, tied embeddings."""
    bias = fields.flag("use_bias", True)
    shape = common(fields, kv_heads=2, tied=True) | {"activation": fields.text("hidden_act", "gelu_pytorch_tanh")}
    return TransformerShape(**shape, **PLAIN, qkv_bias=bias, attention_out_bias=bias, mlp_bias=bias,
                            family="starcoder2")


def phi(fields):
    """Phi-1, 1.5 and 2: attention and MLP side by side after one LayerNorm; biases everywhere, the head too."""
    shared = common(fields)
    if fields.flag("qk_layernorm", False):
        raise ConfigError("qk_layernorm", True, "false (no published Phi uses it)")
    return TransformerShape(**shared | {"activation": fields.text("hidden_act", "gelu_new")}, norms_per_layer=1,
                            lm_head_bias=True, family="phi", **PLAIN, **BIASED)


GPT_FAMILIES = {"gpt2": gpt2, "gpt_neox": gpt_neox, "starcoder2": starcoder2, "phi": phi}
