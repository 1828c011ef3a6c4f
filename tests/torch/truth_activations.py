"""What autograd saves for one block, and what head and loss hold at most, against the package: bytes must be equal."""

import torch
from blocks import GptBlock, LlamaBlock
from measure import adam, chunked_loss, saved_bytes
from measured_models import cpu_settings, gpt, llama
from rows import row
from torch.utils.checkpoint import checkpoint

from zeroledger.activations import layer_activations
from zeroledger.logits import LossSettings, loss_account
from zeroledger.optimizer_step import adam_step_rows

DTYPES = {"bf16": torch.bfloat16, "fp32": torch.float32}
ATTENTIONS = {"sdpa": "flash", "eager": "eager", "hf": "eager-fp32-softmax"}
GPT = [{"s": 128, "b": 2, "h": 256, "a": 8}, {"s": 96, "b": 3, "h": 192, "a": 6}, {"s": 33, "b": 1, "h": 60, "a": 5}]
LLAMA = [{"s": 128, "b": 2, "h": 256, "a": 8, "kv": 8, "f": 688}, {"s": 128, "b": 2, "h": 256, "a": 8, "kv": 2, "f": 688},
         {"s": 50, "b": 3, "h": 120, "a": 6, "kv": 3, "f": 200}]
ADAM, SCALARS = [2_000_000] * 3, 64  # elements; bytes of the kernels' own scalars, at most


def rows(ranks, quick):
    """Rows of every block; autograd is the same everywhere, so one process."""
    torch.manual_seed(0)
    chosen = slice(1) if quick else slice(None)
    found = [of_gpt(size, dtype, dropout, recompute) for size in GPT[chosen] for dtype in DTYPES for dropout in (False, True)
             for recompute in ("none", "full")]
    found += [of_llama(size, attention) for size in LLAMA[chosen] for attention in ATTENTIONS]
    found += [of_loss(chunks, upcast) for chunks in (1, 4) for upcast in (True, False)]
    return found + [of_adam(kernel) for kernel in ("foreach", "fused", "forloop")]


def input_of(size, dtype):
    return torch.randn(size["b"], size["s"], size["h"], dtype=dtype, requires_grad=True)


def of_gpt(size, dtype, dropout, recompute):
    """A GPT block with LayerNorm, GELU and unfused attention."""
    block, x = GptBlock(size["h"], size["a"], 4 * size["h"], dropout).to(DTYPES[dtype]), input_of(size, DTYPES[dtype])

    def run():
        return checkpoint(block, x, use_reentrant=False, preserve_rng_state=False) if recompute == "full" else block(x)

    settings = cpu_settings(size["b"], size["s"], dtype=dtype, hidden_dropout=dropout, attention_dropout=dropout,
                            recompute=recompute)
    predicted = layer_activations(gpt(size["h"], size["a"]), settings).num_bytes
    words = f"GPT block {said(size)}, {dtype}" + ", dropout" * dropout + ", recomputed" * (recompute == "full")
    return row("activations", "PyTorch", 1, words, "saved by autograd", "bytes", predicted, saved_bytes(run, block.parameters()))


def of_llama(size, attention):
    """A Llama block with RMSNorm and SwiGLU."""
    block = LlamaBlock(size["h"], size["a"], size["kv"], size["f"], attention).bfloat16()
    x = input_of(size, torch.bfloat16)
    settings = cpu_settings(size["b"], size["s"], attention=ATTENTIONS[attention])
    predicted = layer_activations(llama(size["h"], size["a"], size["kv"], size["f"]), settings).num_bytes
    return row("activations", "PyTorch", 1, f"Llama block {said(size)}, bf16, attention {attention}", "saved by autograd", "bytes",
               predicted, saved_bytes(lambda: block(x), block.parameters()))


def said(size):
    return " ".join(f"{name}={number}" for name, number in size.items())


def of_loss(chunks, upcast):
    """Head and cross-entropy, whole or in slices."""
    inputs = {"tokens": 512, "V": 4096, "h": 64, "chunks": chunks, "upcast": upcast}
    account = loss_account(LossSettings(512, 4096, 64, upcast=upcast, keep_logits=False, num_chunks=chunks))
    words = f"head and loss, 512 tokens, 4,096 words, {chunks} slices" + ", logits in fp32" * upcast
    return row("activations", "PyTorch", 1, words, "most held at once", "bytes", account.peak_bytes,
               chunked_loss(inputs)["peak_bytes"])


def of_adam(kernel):
    """The temporaries of an optimizer step."""
    predicted = sum(each.num_bytes for each in adam_step_rows(sum(ADAM), "fp32", kernel, max(ADAM)))
    measured = adam({"numels": ADAM, "implementation": kernel})["peak_bytes"]
    return row("activations", "PyTorch", 1, f"Adam over {sum(ADAM):,} elements, {kernel}", "temporaries, beyond the prediction",
               "bytes", SCALARS, abs(measured - predicted), "at most", f"predicted {predicted:,}")
