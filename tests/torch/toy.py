"""The two small GPTs of the truth runs, their batches, and the names and shapes that predictions are made from."""

import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from blocks import LanguageModel

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "content" / "measure")]

SIZES = {"even": {"kind": "gpt", "h": 128, "a": 4, "f": 512, "V": 1024, "S": 64, "L": 4},
         "uneven": {"kind": "gpt", "h": 126, "a": 3, "f": 506, "V": 1009, "S": 64, "L": 4}}
SEED = 17


def toy(name):
    """The model with the same weights on every rank."""
    torch.manual_seed(SEED)
    return LanguageModel(SIZES[name])


def tensors_of(name):
    """(name, shape) of each parameter, as torch registers them."""
    with torch.device("meta"):
        return [(each, tuple(parameter.shape)) for each, parameter in LanguageModel(SIZES[name]).named_parameters()]


def setup_of(name, words):
    """Words for a row's setup."""
    numel = sum(torch.Size(shape).numel() for _, shape in tensors_of(name))
    return f"GPT of {numel:,} parameters, {words}"


def sequences(name, count, seed=3):
    """``count`` sequences of tokens, the same on every rank."""
    size = SIZES[name]
    return torch.randint(0, size["V"], (count, size["S"]), generator=torch.Generator().manual_seed(seed))


def loss_of(model, tokens):
    """Mean cross-entropy in fp32."""
    return F.cross_entropy(model(tokens).float().flatten(0, 1), tokens.flatten())
