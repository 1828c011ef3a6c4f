"""The commands ``ledger``, ``presets``, ``recipes`` and ``peers``."""

from .cli_inputs import (add_mesh_arguments, add_model_arguments, as_json, byte_unit, mesh_from_arguments,
                         model_from_arguments, optional_whole, recipe_from_arguments, whole)
from .errors import InvalidInput
from .units import BYTE_UNITS, parse_count

SHAPES = "--model, --hf-config or --shape"


def add(commands):
    """Add the commands to the parser's ``commands``."""
    _add_ledger(commands)
    _add_peers(commands)
    presets = commands.add_parser("presets", help="known models and their exact parameter counts")
    presets.add_argument("name", nargs="?", help="show one model tensor by tensor")
    recipes = commands.add_parser("recipes", help="precision recipes: rows, sources, whom they describe")
    recipes.add_argument("name", nargs="?", help="show one recipe row by row")
    for command, run in ((presets, run_presets), (recipes, run_recipes)):
        command.add_argument("--json", action="store_true", help="print JSON")
        command.set_defaults(run=run)


def _add_ledger(commands):
    command = commands.add_parser("ledger", help="bytes of model states per rank")
    add_model_arguments(command)
    add_mesh_arguments(command)
    command.add_argument("--stage", default="0", metavar="0-3", help="ZeRO stage (default 0)")
    recipe = command.add_mutually_exclusive_group()
    recipe.add_argument("--recipe", default="adam-mixed", metavar="NAME", help="a name from `recipes`")
    recipe.add_argument("--recipe-file", metavar="FILE",
                        help="your own recipe as JSON: {\"rows\": [[\"params\", \"bf16\", 2, 3], …]}")
    command.add_argument("--trained-params", metavar="COUNT", help="trained parameters, for recipes that freeze the rest")
    command.add_argument("--shard-size", metavar="N", help="ranks that share one copy, fewer than --dp (HSDP, MiCS)")
    command.add_argument("--hpz-size", metavar="N", help="ranks that share a second copy of the parameters (ZeRO++ hpZ)")
    command.add_argument("--rule", metavar="NAME", help="ideal, fsdp2, zero_redundancy or deepspeed: cut tensors as they do")
    command.add_argument("--rank", metavar="N", help="with --rule: this rank instead of the fullest")
    command.add_argument("--unit", default="GB", help="unit of the table: " + ", ".join(BYTE_UNITS))
    command.add_argument("--json", action="store_true", help="print JSON with exact bytes")
    command.set_defaults(run=run_ledger)


def _add_peers(commands):
    command = commands.add_parser("peers", help="what other calculators answer for the same model, and what they count")
    add_model_arguments(command)
    command.add_argument("--dp", default="8", metavar="N", help="data-parallel ranks (default 8)")
    command.add_argument("--stage", default="3", metavar="0-3", help="ZeRO stage (default 3)")
    command.add_argument("--seq", default="2048", metavar="TOKENS", help="sequence length (default 2048)")
    command.add_argument("--micro-batch", default="1", metavar="N", help="sequences in a micro-batch (default 1)")
    command.add_argument("--unit", default="GiB", help="unit of the table: " + ", ".join(BYTE_UNITS))
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=run_peers)


def run_peers(arguments):
    """The answers side by side, as a table or as JSON."""
    from .peers import peer_answers
    from .tables import peers_table

    unit, model = byte_unit(arguments.unit), model_from_arguments(arguments)
    if model is None:
        raise InvalidInput("--params", arguments.params, f"{SHAPES}, as most calculators need the shape")
    answers = peer_answers(model, whole("--dp", arguments.dp), whole("--stage", arguments.stage),
                           whole("--seq", arguments.seq), whole("--micro-batch", arguments.micro_batch))
    if arguments.json:
        return as_json([vars(answer) for answer in answers])
    from .peers_reasons import compare_estimators
    from .tables import reasons_text

    comparison = compare_estimators(model, whole("--dp", arguments.dp), whole("--stage", arguments.stage),
                                    whole("--seq", arguments.seq), whole("--micro-batch", arguments.micro_batch))
    return peers_table(answers, unit) + "\n\n" + reasons_text(comparison, unit)


def run_ledger(arguments):
    """The ledger as a table or as JSON."""
    unit = byte_unit(arguments.unit)
    book = _ledger(arguments)
    return as_json(book.as_dict()) if arguments.json else book.table(unit)


def _ledger(arguments):
    from .ledger import ledger

    model, mesh = model_from_arguments(arguments), mesh_from_arguments(arguments)
    stage, recipe = whole("--stage", arguments.stage), recipe_from_arguments(arguments)
    trained = None if arguments.trained_params is None else parse_count(arguments.trained_params, "--trained-params")
    plain_data_parallel = mesh.world_size == mesh.dp and mesh.ep == mesh.etp == 1
    if not plain_data_parallel or arguments.rule is not None:
        return _model_ledger(arguments, model, mesh, stage, recipe, trained, plain_data_parallel)
    if arguments.rank is not None:
        raise InvalidInput("--rank", arguments.rank, "a --rule, as ideal shards are alike")
    params = None if arguments.params is None else parse_count(arguments.params, "--params")
    return ledger(params, mesh.dp, stage, recipe, model=model, trained_params=trained,
                  shard_size=optional_whole("--shard-size", arguments.shard_size),
                  hpz_size=optional_whole("--hpz-size", arguments.hpz_size))


def _model_ledger(arguments, model, mesh, stage, recipe, trained, plain_data_parallel):
    """A ledger that needs the tensors: of a mesh, or by a framework's rule."""
    from .mesh_states import mesh_ledger
    from .rule_states import rule_ledger

    if model is None:
        raise InvalidInput("--params", arguments.params, f"{SHAPES}, as --tp, --pp, --cp, --ep and --rule need tensors")
    for name in ("shard_size", "hpz_size"):
        if getattr(arguments, name) is not None:
            field = "--" + name.replace("_", "-")
            raise InvalidInput(field, getattr(arguments, name), "plain data parallelism without --rule")
    if arguments.rule is None:
        return mesh_ledger(model, mesh, stage, recipe, trained_params=trained)
    if not plain_data_parallel:
        raise InvalidInput("--rule", arguments.rule, "plain data parallelism (--dp alone)")
    rank = optional_whole("--rank", arguments.rank)
    return rule_ledger(model, mesh.dp, stage, recipe, arguments.rule, rank, trained)


def run_presets(arguments):
    """The presets, or the tensors of one, as a table or as JSON."""
    from .presets import PRESETS, preset
    from .tables import tensors_table, text_table

    if arguments.name is not None:
        chosen = preset(arguments.name)
        return as_json(_preset_tensors(chosen)) if arguments.json else tensors_table(chosen.title, chosen.model)
    if arguments.json:
        return as_json([{"name": each.name, "title": each.title, "num_params": each.num_params, "config": each.config,
                         "source": each.source} for each in PRESETS.values()])
    rows = [(each.name, each.title, f"{each.num_params:,}", each.source) for each in PRESETS.values()]
    return text_table(("name", "title", "parameters", "source"), rows, right=(2,))


def _preset_tensors(chosen):
    tensors = [vars(tensor) | {"numel": tensor.numel} for tensor in chosen.model.tensors()]
    return {"name": chosen.name, "num_params": chosen.num_params, "source": chosen.source, "tensors": tensors}


def run_recipes(arguments):
    """All recipes, or the rows of one, as a table or as JSON."""
    from .recipe_book import RECIPES
    from .recipes import recipe
    from .tables import recipe_table, recipes_table

    chosen = list(RECIPES.values()) if arguments.name is None else [recipe(arguments.name)]
    if arguments.json:
        return as_json([{"name": each.name, "bytes_per_param": each.bytes_per_param, "source": each.source,
                         "describes": each.describes, "rows": [vars(row) for row in each.rows]} for each in chosen])
    return recipes_table(chosen) if arguments.name is None else recipe_table(chosen[0])
