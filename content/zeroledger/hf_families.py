"""One small function per ``model_type`` of Llama's kind: its config fields → ``TransformerShape``.

Read from the configuration and modelling classes of Hugging Face transformers 4.5x (``models/<type>/``), whose
defaults apply to absent fields.
"""

from .errors import ConfigError
from .models import TransformerShape


def common(fields, *, kv_heads=None, head_dim=None, tied=False):
    """The fields most families share. ``kv_heads`` None: as many as heads."""
    heads = fields.count("num_attention_heads")
    return {
        "hidden_size": fields.count("hidden_size"),
        "num_layers": fields.count("num_hidden_layers"),
        "num_attention_heads": heads,
        "num_key_value_heads": fields.count("num_key_value_heads", heads if kv_heads is None else kv_heads),
        "head_dim": fields.count("head_dim", head_dim),
        "intermediate_size": fields.count("intermediate_size"),
        "vocab_size": fields.count("vocab_size"),
        "tie_word_embeddings": fields.flag("tie_word_embeddings", tied),
        "activation": fields.text("hidden_act", "silu"),
    }


def llama(fields):
    """Llama 1–3: RMSNorm, gated MLP, grouped queries; biases only where the config asks for them."""
    bias = fields.flag("attention_bias", False)
    return TransformerShape(**common(fields), qkv_bias=bias, attention_out_bias=bias,
                            mlp_bias=fields.flag("mlp_bias", False))


def granite(fields):
    """Granite and SmolLM3: Llama's tensors; tied embeddings in SmolLM3 unless the config says otherwise."""
    bias, tied = fields.flag("attention_bias", False), fields.get("model_type") == "smollm3"
    return TransformerShape(**common(fields, tied=tied), qkv_bias=bias, attention_out_bias=bias,
                            mlp_bias=fields.flag("mlp_bias", False))


def mistral(fields):
    """Mistral: Llama's tensors; 8 key/value heads by default."""
    return TransformerShape(**common(fields, kv_heads=8), family="mistral")


def mixtral(fields):
    """Mixtral: Mistral with every MLP replaced by routed experts."""
    return TransformerShape(**common(fields, kv_heads=8), num_experts=fields.count("num_local_experts", 8),
                            num_experts_per_tok=fields.count("num_experts_per_tok", 2), family="mixtral")


def qwen2(fields):
    """Qwen2 and Qwen2.5: Llama with biases on q, k and v."""
    return TransformerShape(**common(fields, kv_heads=32), qkv_bias=True, family="qwen2")


def qwen3(fields):
    """Qwen3: norms on queries and keys, no biases, head_dim of its own."""
    bias = fields.flag("attention_bias", False)
    return TransformerShape(**common(fields, kv_heads=32, head_dim=128), qkv_bias=bias, attention_out_bias=bias,
                            qk_norm=True, family="qwen3")


def qwen2_moe(fields):
    """Qwen1.5-MoE and Qwen2-MoE: routed experts and one gated shared expert."""
    return TransformerShape(**common(fields, kv_heads=16), **_qwen_experts(fields, 60, 4, 1408),
                            qkv_bias=fields.flag("qkv_bias", True), shared_expert_gate=True,
                            shared_expert_intermediate_size=fields.count("shared_expert_intermediate_size", 5632),
                            family="qwen2_moe")


def qwen3_moe(fields):
    """Qwen3-MoE: Qwen3's attention, routed experts only."""
    bias = fields.flag("attention_bias", False)
    return TransformerShape(**common(fields, kv_heads=4), **_qwen_experts(fields, 128, 8, 768), qkv_bias=bias,
                            attention_out_bias=bias, qk_norm=True, family="qwen3_moe")


def _qwen_experts(fields, experts, active, width):
    """Layer i routes when (i + 1) is a multiple of decoder_sparse_step and i is not in mlp_only_layers."""
    layers, step = fields.count("num_hidden_layers"), fields.count("decoder_sparse_step", 1)
    listed = fields.get("mlp_only_layers", [])
    if not isinstance(listed, list) or not all(isinstance(layer, int) for layer in listed):
        raise ConfigError("mlp_only_layers", listed, "a list of layer numbers")
    named = set(listed)
    dense = tuple(layer for layer in range(min(layers, 100_000)) if (layer + 1) % step or layer in named)
    return {"num_experts": fields.count("num_experts", experts), "dense_layers": dense,
            "num_experts_per_tok": fields.count("num_experts_per_tok", active),
            "moe_intermediate_size": fields.count("moe_intermediate_size", width)}


def gemma(fields):
    """Gemma: head_dim 256, tied embeddings."""
    bias = fields.flag("attention_bias", False)
    return TransformerShape(**_gemma_common(fields, 16), qkv_bias=bias, attention_out_bias=bias, family="gemma")


def gemma2(fields):
    """Gemma 2: norms before and after each sublayer."""
    bias = fields.flag("attention_bias", False)
    return TransformerShape(**_gemma_common(fields, 4), norms_per_layer=4, qkv_bias=bias, attention_out_bias=bias,
                            family="gemma2")


def gemma3_text(fields):
    """Gemma 3 (text): Gemma 2 with norms on queries and keys."""
    bias = fields.flag("attention_bias", False)
    return TransformerShape(**_gemma_common(fields, 4), norms_per_layer=4, qk_norm=True, qkv_bias=bias,
                            attention_out_bias=bias, family="gemma3_text")


def _gemma_common(fields, kv_heads):
    shared = common(fields, kv_heads=kv_heads, head_dim=256, tied=True)
    return shared | {"activation": fields.text("hidden_activation", fields.text("hidden_act", "gelu_pytorch_tanh"))}


def phi3(fields):
    """Phi-3 and Phi-4: Llama with fused q/k/v and gate/up matrices."""
    return TransformerShape(**common(fields), fused_qkv=True, fused_gate_up=True, family="phi3")


def deepseek(fields):
    """DeepSeek-V2 and V3: latent attention, routed and shared experts after the first dense layers.

    The multi-token prediction layers (``num_nextn_predict_layers``) of V3's checkpoint are not counted, as in the
    published 671B; the correction bias of V3's router is.
    """
    layers, first = fields.count("num_hidden_layers"), fields.count("first_k_dense_replace", 0, 0)
    every, width = fields.count("moe_layer_freq", 1), fields.count("moe_intermediate_size")
    bias = fields.flag("attention_bias", False)
    experts = fields.count("n_routed_experts", 0, 0)
    routing = "noaux_tc" if fields.get("model_type") == "deepseek_v3" else "greedy"
    return TransformerShape(
        **common(fields) | {"num_key_value_heads": None, "head_dim": None},
        num_experts=experts, num_experts_per_tok=fields.count("num_experts_per_tok", 0, 0) if experts else 0,
        moe_intermediate_size=width, shared_expert_intermediate_size=width * fields.count("n_shared_experts", 0, 0),
        dense_layers=tuple(layer for layer in range(min(layers, 100_000)) if layer < first or layer % every),
        router_bias=fields.text("topk_method", routing) == "noaux_tc",
        kv_lora_rank=fields.count("kv_lora_rank"), q_lora_rank=fields.count("q_lora_rank", 0, 0),
        qk_nope_head_dim=fields.count("qk_nope_head_dim"), qk_rope_head_dim=fields.count("qk_rope_head_dim"),
        v_head_dim=fields.count("v_head_dim"), qkv_bias=bias, attention_out_bias=bias, family="deepseek")


FAMILIES = {
    "llama": llama, "mistral": mistral, "mixtral": mixtral, "qwen2": qwen2, "qwen3": qwen3, "qwen2_moe": qwen2_moe,
    "qwen3_moe": qwen3_moe, "gemma": gemma, "gemma2": gemma2, "gemma3_text": gemma3_text, "phi3": phi3,
    "granite": granite, "smollm3": granite, "deepseek_v2": deepseek, "deepseek_v3": deepseek,
}
