"""Shapes and settings of the small models whose runs were measured, shared by the activation and timeline tests."""

import json
from pathlib import Path

from toy_gpt import SIZES

from zeroledger.activation_rows import ActivationSettings
from zeroledger.models import TransformerShape

TOY_HEADS = {"even": 4, "uneven": 3}  # from the measured activations; not in the printed parameter lists


def gpt(hidden, heads, num_layers=1, vocab=1000, **fields):
    """A GPT block's shape: LayerNorm, biases, one fused projection, plain MLP."""
    return TransformerShape(hidden_size=hidden, num_layers=num_layers, num_attention_heads=heads, vocab_size=vocab,
                            gated_mlp=False, norm="layernorm", activation="gelu", qkv_bias=True,
                            attention_out_bias=True, mlp_bias=True, fused_qkv=True, **fields)


def llama(hidden, heads, kv_heads, ffn, num_layers=1, vocab=1000, **fields):
    """A Llama block's shape: RMSNorm, no biases, gated MLP, grouped keys and values."""
    return TransformerShape(hidden_size=hidden, num_layers=num_layers, num_attention_heads=heads, vocab_size=vocab,
                            num_key_value_heads=kv_heads, intermediate_size=ffn, **fields)


def toy_shape(model):
    """The GPT of the tt-* cases as a ``TransformerShape``."""
    size = SIZES[model]
    return gpt(size["h"], TOY_HEADS[model], size["L"], size["V"], intermediate_size=size["ffn"],
               max_position_embeddings=size["S"])


def cpu_settings(micro_batch_size, seq_length, **options):
    """How torch's CPU ran them: unfused attention, LayerNorm statistics in the input's dtype, composite RMSNorm."""
    fields = {"attention": "eager", "norm_stats": "input", "norm_kernel": "composite"} | options
    return ActivationSettings(micro_batch_size, seq_length, **fields)


def torch_runs(kind):
    """``pytest.param`` for each case of ``kind`` in data/torch_runs.json (written by tests/torch/measure.py)."""
    import pytest

    path = Path(__file__).parent / "data" / "torch_runs.json"
    chosen = [case for case in json.loads(path.read_text(encoding="utf-8")) if case["kind"] == kind]
    assert chosen, f"no run of kind {kind}"
    return [pytest.param(case, id=case["id"]) for case in chosen]
