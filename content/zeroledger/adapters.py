"""How many parameters low-rank adapters (LoRA) add to a model."""

from .errors import ConfigError, check_count, shown
from .models import as_model

ATTENTION_TARGETS = ("q_proj", "v_proj")  # the paper's choice and PEFT's default for Llama


def lora_params(model, rank, targets=ATTENTION_TARGETS):
    """Trained parameters of rank-``rank`` adapters on the matrices named ``targets``: rank × (in + out) each.

    ``targets`` are names such as "q_proj", or "all-linear" for every matrix in the layers except routers. Raises
    ``ConfigError`` when the rank is not whole or no matrix matches. Source: arXiv:2106.09685 sec. 4.1.
    """
    model, rank = as_model(model), check_count("rank", rank, 1, 10**6, ConfigError)
    if targets != "all-linear" and not isinstance(targets, (list, tuple)):
        raise ConfigError("targets", targets, "a list of matrix names, or 'all-linear'")
    chosen = [tensor for tensor in model.tensors() if _is_target(tensor, targets)]
    if not chosen:
        known = sorted({_module(tensor) for tensor in model.tensors() if _is_target(tensor, "all-linear")})
        raise ConfigError("targets", targets, "one or more of " + shown(known))
    return sum(rank * sum(tensor.shape) for tensor in chosen)


def _is_target(tensor, targets):
    if len(tensor.shape) != 2 or tensor.owner not in ("layer", "expert") or tensor.role == "router":
        return False
    return targets == "all-linear" or _module(tensor) in targets


def _module(tensor):
    return tensor.name.split(".")[-2]
