"""What a training run keeps in memory, byte by byte, with the source of every figure. Standard library only."""

from .cards import CARDS, Card
from .errors import ConfigError, InvalidInput, MeshError, RecipeError, UnitError
from .hf_config import model_from_hf_config
from .ledger import Ledger, LedgerRow, ledger
from .models import Tensor, TransformerShape
from .presets import PRESETS, ModelPreset, preset
from .recipe_book import ADAM_MIXED, RECIPES
from .recipes import Recipe, RecipeRow, recipe
from .units import GB, GIB, format_bytes, format_count, parse_bytes, parse_count

# Public names that are imported when first used, so that importing the package stays quick. A name must not be a
# module's own: importing the module would hide it.
LAZY = {
    "Mesh": "mesh", "mesh_ledger": "mesh_states", "rule_ledger": "rule_states", "max_model_params": "capacity",
    "lora_params": "adapters", "bars": "bar_chart", "peer_answers": "peers", "compare_estimators": "peers_reasons",
    "ActivationSettings": "activation_rows", "layer_activations": "activations", "Stack": "activation_stack",
    "stack_instants": "activation_stack", "layers_in_flight": "pipeline_activations", "LossSettings": "logits",
    "loss_account": "logits", "loss_settings": "logits", "FsdpSettings": "fsdp_timeline",
    "fsdp_instants": "fsdp_timeline", "DeepSpeedBuffers": "deepspeed_transients",
    "deepspeed_instants": "deepspeed_transients", "Instant": "instants", "MemoryRow": "instants", "peak": "instants",
    "Training": "training", "Budget": "budgets", "budget": "budgets", "levers": "lever_search", "plan": "planner",
    "explain": "explanation", "measured_run": "measured", "read_snapshot": "snapshot",
    "snapshot_timeline": "snapshot_curves", "explain_snapshot": "snapshot_report", "training_from_run_config": "training_inputs",
    "run_config_from_deepspeed": "deepspeed_config", "run_config_from_accelerate": "fsdp_config",
    "Placement": "offload", "offload_plan": "offload", "FetchLimits": "deepspeed_stage3",
    "training_communication": "training_costs", "training_cost": "training_costs",
    "meters": "allocator", "CachingAllocator": "caching_allocator", "paper_layer_bytes": "published_activations",
    "gather_units": "transients", "gather_rows": "transients", "fsdp_backward_instant": "transients",
    "FetchLimits": "deepspeed_stage3", "live_parameter_numel": "deepspeed_transients",
    "Placement": "offload", "offload_plan": "offload", "Machine": "offload_time", "SERVER_2020": "offload_time",
    "offload_transfers": "offload_time", "offload_verdict": "offload_time", "pinned_host_bytes": "allocator",
    "zero3_estimate": "peers_deepspeed", "Interconnect": "collectives", "interconnect": "collectives",
    "ring_factor": "collectives", "ring_wire_bytes": "collectives", "zero_paper": "communication",
    "fsdp2": "communication", "deepspeed": "deepspeed_communication", "tensor_parallel": "model_parallel_communication",
    "DataParallel": "step_time", "layer_costs": "step_time", "step_gather_s": "step_time",
    "communication_threshold": "step_time", "balance_tokens": "step_time", "LayerCost": "overlap", "play_step": "overlap",
    "step_flops": "compute", "compute_s": "compute", "token_weights": "equivalence",
    "accumulated_logit_gradient": "equivalence", "optimizer_steps_of_schedule": "equivalence",
    "first_adam_update": "equivalence",
}

__all__ = [
    "ADAM_MIXED", "CARDS", "Card", "ConfigError", "GB", "GIB", "InvalidInput", "Ledger", "LedgerRow", "MeshError",
    "ModelPreset", "PRESETS", "RECIPES", "Recipe", "RecipeError", "RecipeRow", "Tensor", "TransformerShape", "UnitError",
    "format_bytes", "format_count", "ledger", "model_from_hf_config", "parse_bytes", "parse_count", "preset", "recipe",
    *LAZY,
]


def __getattr__(name):
    if name not in LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{LAZY[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)
