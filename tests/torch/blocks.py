"""The blocks that ``measure.py`` runs, written as in textbooks: GPT (LayerNorm, GELU) and Llama (RMSNorm, SwiGLU)."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


class MaskDropout(nn.Module):
    """Dropout that keeps a one-byte mask, as CUDA's does; torch's CPU dropout keeps a mask in the input's dtype."""

    def forward(self, x):
        return torch.native_dropout(x, 0.1, True)[0]


class GptBlock(nn.Module):
    def __init__(self, hidden, heads, ffn, dropout):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.qkv, self.proj = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.fc1, self.fc2 = nn.Linear(hidden, ffn), nn.Linear(ffn, hidden)
        self.dropout = MaskDropout() if dropout else nn.Identity()

    def forward(self, x):
        x = x + self.dropout(self.proj(self.attend(self.ln1(x))))
        return x + self.dropout(self.fc2(F.gelu(self.fc1(self.ln2(x)))))

    def attend(self, x):
        """In a method of its own, so that no local variable outlives the attention."""
        batch, length, hidden = x.shape
        split = (batch, length, self.heads, hidden // self.heads)
        query, key, value = (each.view(split).transpose(1, 2) for each in self.qkv(x).split(hidden, dim=2))
        scores = query @ key.transpose(-2, -1) / math.sqrt(split[-1])
        context = self.dropout(F.softmax(scores, dim=-1)) @ value
        return context.transpose(1, 2).reshape(batch, length, hidden)


class LlamaBlock(nn.Module):
    """``attention``: "sdpa", "eager", or "hf" (softmax in fp32, as transformers' eager attention)."""

    def __init__(self, hidden, heads, kv_heads, ffn, attention):
        super().__init__()
        self.heads, self.kv_heads, self.width, self.attention = heads, kv_heads, hidden // heads, attention
        sizes = {"q": (hidden, heads * self.width), "k": (hidden, kv_heads * self.width),
                 "v": (hidden, kv_heads * self.width), "o": (heads * self.width, hidden),
                 "gate": (hidden, ffn), "up": (hidden, ffn), "down": (ffn, hidden)}
        for name, (inputs, outputs) in sizes.items():
            setattr(self, name, nn.Linear(inputs, outputs, bias=False))
        self.norm1, self.norm2 = nn.RMSNorm(hidden), nn.RMSNorm(hidden)

    def forward(self, x):
        batch, length, _ = x.shape
        normed = self.norm1(x)
        query, key, value = (projection(normed).view(batch, length, -1, self.width).transpose(1, 2)
                             for projection in (self.q, self.k, self.v))
        context = self.attend(query, key, value)
        x = x + self.o(context.transpose(1, 2).reshape(batch, length, -1))
        normed = self.norm2(x)
        return x + self.down(F.silu(self.gate(normed)) * self.up(normed))

    def attend(self, query, key, value):
        if self.attention == "sdpa":
            return F.scaled_dot_product_attention(query, key, value, is_causal=True,
                                                  enable_gqa=self.kv_heads != self.heads)
        repeats = self.heads // self.kv_heads
        key, value = key.repeat_interleave(repeats, dim=1), value.repeat_interleave(repeats, dim=1)
        scores = query @ key.transpose(-1, -2) / math.sqrt(self.width)
        if self.attention == "hf":
            return F.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype) @ value
        return F.softmax(scores, dim=-1) @ value


class LanguageModel(nn.Module):
    """Embeddings, blocks, norm and head of the run that ``inputs`` describes. No rotary tables."""

    def __init__(self, inputs):
        super().__init__()
        hidden, self.inputs = inputs["h"], inputs
        self.tok = nn.Embedding(inputs["V"], hidden)
        if inputs["kind"] == "gpt":
            self.pos = nn.Embedding(inputs["S"], hidden)
        self.blocks = nn.ModuleList([self.block(inputs) for _ in range(inputs["L"])])
        self.norm = nn.LayerNorm(hidden) if inputs["kind"] == "gpt" else nn.RMSNorm(hidden)
        self.head = nn.Linear(hidden, inputs["V"], bias=False)
        if inputs.get("tied"):
            self.head.weight = self.tok.weight

    @staticmethod
    def block(inputs):
        if inputs["kind"] == "gpt":
            return GptBlock(inputs["h"], inputs["a"], inputs["f"], inputs.get("dropout"))
        return LlamaBlock(inputs["h"], inputs["a"], inputs["kv"], inputs["f"], inputs.get("attention", "eager"))

    def forward(self, ids):
        x = self.tok(ids)
        if self.inputs["kind"] == "gpt":
            x = x + self.pos(torch.arange(ids.shape[1]))
        for block in self.blocks:
            if self.inputs.get("recompute"):
                x = checkpoint(block, x, use_reentrant=False, preserve_rng_state=False)
            else:
                x = block(x)
        return self.head(self.norm(x))
