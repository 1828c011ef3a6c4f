"""The explorer's data: model states per rank for every preset, data-parallel degree and stage, as plain data.

The functions above the line also run in the reader's browser, for a parameter count or a config.json of
their own; `WORKER_SOURCE` is their source. They use nothing but zeroledger.
"""

import inspect

from zeroledger import ADAM_MIXED, CARDS, PRESETS

DP_SIZES = [2**power for power in range(11)]
STAGES = [0, 1, 2, 3]
ROUND_7B = {"id": "7b", "title": "7B", "num_params": 7_000_000_000, "source": ""}


def model_entry(model, dp_sizes, recipe_name):
    """`model` (id, title, num_params, source) with "totals"[dp][stage] and "bytes"[dp][stage][category], per rank."""
    from zeroledger import ledger

    ledgers = [[ledger(model["num_params"], n, stage, recipe_name) for stage in range(4)] for n in dp_sizes]
    return {
        **model,
        "totals": [[one.model_states_bytes_per_rank for one in stages] for stages in ledgers],
        "bytes": [[[row.bytes_per_rank for row in one.rows] for one in stages] for stages in ledgers],
    }


def read_model(text, title):
    """A model from what the reader typed: a count ("13B") or a Hugging Face config.json. {"error": message} if neither."""
    from zeroledger import model_from_hf_config, parse_count

    try:
        if text.lstrip().startswith("{"):
            num_params = model_from_hf_config(text).num_params
        else:
            num_params = parse_count(text, "P")
        if num_params < 1:
            raise ValueError(f"P: {num_params}; accepted is a count of at least 1")
    except ValueError as error:
        return {"error": str(error)}
    return {"id": "custom", "title": title, "num_params": num_params, "source": ""}


# ------------------------------------------------------------------------------------------------------------

WORKER_SOURCE = inspect.getsource(model_entry) + "\n\n" + inspect.getsource(read_model)


def explorer_grid(recipe=ADAM_MIXED):
    """Everything the explorer shows without Python: rows, stages, cards, degrees, and an entry per model."""
    presets = [
        {"id": name, "title": preset.title, "num_params": preset.num_params, "source": preset.source}
        for name, preset in PRESETS.items()
    ]
    return {
        "recipe": recipe.name,
        "categories": [
            {
                "id": row.category,
                "dtype": row.dtype,
                "bytes_per_param": row.bytes_per_param,
                "sharded_from_stage": row.sharded_from_stage,
            }
            for row in recipe.rows
        ],
        "stages": [_stage(recipe, stage) for stage in STAGES],
        "cards": [{"name": card.name, "memory_bytes": card.memory_bytes} for card in CARDS],
        "dp_sizes": DP_SIZES,
        "models": [model_entry(model, DP_SIZES, recipe.name) for model in [ROUND_7B, *presets]],
        "worker_source": WORKER_SOURCE,
    }


def _stage(recipe, stage):
    """Bytes a parameter that every rank keeps whole, and that the ranks divide: the two numbers of the formula."""
    sharded = sum(row.bytes_per_param for row in recipe.rows if row.is_sharded(stage))
    return {"whole_bytes_per_param": recipe.bytes_per_param - sharded, "sharded_bytes_per_param": sharded}
