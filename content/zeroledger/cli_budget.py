"""The commands ``budget``, ``plan`` and ``explain``."""

from .cli_inputs import (add_mesh_arguments, add_model_arguments, as_json, byte_unit, mesh_from_arguments,
                         model_from_arguments, optional_whole, read_text, recipe_from_arguments, whole)
from .errors import InvalidInput
from .units import BYTE_UNITS, parse_bytes

SHAPES = "--model, --hf-config or --shape, because a budget needs the tensors"
TIERS = ("device", "cpu", "nvme")


def add(commands):
    """Add the commands to the parser's ``commands``."""
    _add_budget(commands)
    _add_plan(commands)
    explain = commands.add_parser("explain", help="a measured run beside its prediction, account by account")
    explain.add_argument("file", metavar="RUN.json", help="a measured-run JSON (- reads standard input)")
    _add_output(explain)
    explain.set_defaults(run=run_explain)


def _add_output(command):
    command.add_argument("--unit", default="GB", help="unit of the table: " + ", ".join(BYTE_UNITS))
    command.add_argument("--json", action="store_true", help="print JSON with exact bytes")


def _add_run_arguments(command):
    """What budgets and plans have in common."""
    command.add_argument("--engine", default="ideal", metavar="NAME", help="ideal, fsdp2 or deepspeed (default ideal)")
    recipe = command.add_mutually_exclusive_group()
    recipe.add_argument("--recipe", metavar="NAME", help="a name from `recipes` (default: the engine's usual one)")
    recipe.add_argument("--recipe-file", metavar="FILE", help="your own recipe as JSON")
    command.add_argument("--seq", default="2048", metavar="TOKENS", help="sequence length (default 2048)")
    command.add_argument("--attention", default="flash", metavar="KIND", help="flash, eager or eager-fp32-softmax")
    command.add_argument("--loss-chunks", default="1", metavar="N", help="slices of head and loss (default 1)")
    command.add_argument("--fragmentation", default="0", metavar="SHARE", help="share of live bytes lost in segments (0.1)")
    command.add_argument("--context", default="0", metavar="BYTES", help="CUDA context and libraries, such as 500MiB")


def _add_budget(commands):
    command = commands.add_parser("budget", help="live bytes of one rank at every named instant, and whether they fit")
    add_model_arguments(command)
    add_mesh_arguments(command)
    _add_run_arguments(command)
    command.add_argument("--stage", default=None, metavar="0-3", help="ZeRO stage (default 3)")
    command.add_argument("--micro-batch", default=None, metavar="N", help="sequences in a micro-batch (default 1)")
    command.add_argument("--accumulate", default=None, metavar="N", help="micro-batches in a step (default 1)")
    command.add_argument("--recompute", default=None, metavar="MODE", help="none, selective or full")
    command.add_argument("--sequence-parallel", action="store_true", help="cut sequences over the tensor group")
    command.add_argument("--offload-optimizer", metavar="TIER", help="device, cpu or nvme")
    command.add_argument("--offload-params", metavar="TIER", help="device, cpu or nvme")
    config = command.add_mutually_exclusive_group()
    config.add_argument("--deepspeed-config", metavar="FILE", help="take stage, batch, buckets and offload from it")
    config.add_argument("--accelerate-config", metavar="FILE", help="the same from an accelerate configuration as JSON")
    command.add_argument("--card", metavar="CARD", help="does it fit this card: \"80 GB\" as sold, or bytes (23.6GiB)")
    command.add_argument("--levers", action="store_true", help="what would shrink the largest account, and its price")
    _add_output(command)
    command.set_defaults(run=run_budget)


def _add_plan(commands):
    command = commands.add_parser("plan", help="every configuration that fits given cards, by estimated step time")
    add_model_arguments(command)
    _add_run_arguments(command)
    command.add_argument("--gpus", default="8", metavar="N[,N…]", help="how many cards (default 8)")
    command.add_argument("--card", default="80 GB", metavar="CARD", help="\"80 GB\" as sold (default), or bytes")
    command.add_argument("--gpus-per-node", default="8", metavar="N")
    command.add_argument("--global-batch", default="512", metavar="N", help="sequences in a step (default 512)")
    command.add_argument("--device", default="a100", metavar="NAME", help="whose peak rate (a100, h100, …)")
    command.add_argument("--link", default="infiniband-hdr", metavar="NAME", help="between nodes")
    command.add_argument("--node-link", default="nvlink-a100", metavar="NAME", help="inside a node")
    command.add_argument("--efficiency", default="0.5", metavar="SHARE", help="share of the peak rate (default 0.5)")
    command.add_argument("--top", default="20", metavar="N", help="plans to print (default 20)")
    _add_output(command)
    command.set_defaults(run=run_plan)


def run_budget(arguments):
    """The budget as a table or as JSON."""
    from .budgets import budget
    from .lever_search import levers

    unit = byte_unit(arguments.unit)
    training, assumed = _training(arguments)
    result = budget(training)
    chosen = levers(result) if arguments.levers else None
    if arguments.json:
        data = result.as_dict() | {"assumed": [list(pair) for pair in assumed]}
        if arguments.card is not None:
            data["fit"] = result.fits(arguments.card).as_dict()
        if chosen is not None:
            data["levers"] = [lever.as_dict() for lever in chosen]
        return as_json(data)
    text = result.table(unit, arguments.card)
    if chosen is not None:
        from .budget_tables import levers_table

        text += "\n\n" + levers_table(chosen, result.largest_account[0], unit)
    return text + "".join(f"\nThe file leaves {name} open; taken as {value}." for name, value in assumed)


def _model(arguments):
    model = model_from_arguments(arguments)
    if model is None:
        raise InvalidInput("--params", arguments.params, SHAPES)
    return model


def _common_fields(arguments):
    """``Training`` fields that budgets and plans read alike."""
    fields = {"seq_length": whole("--seq", arguments.seq), "attention": arguments.attention,
              "loss_chunks": whole("--loss-chunks", arguments.loss_chunks),
              "fragmentation": number("--fragmentation", arguments.fragmentation),
              "context_bytes": parse_bytes(arguments.context, "--context")}
    if arguments.recipe is not None or arguments.recipe_file is not None:
        fields["recipe"] = recipe_from_arguments(arguments)
    return fields


def _training(arguments):
    """(the ``Training``, what a configuration file left open)."""
    from .offload import Placement
    from .training import Training
    from .training_inputs import training_from_run_config

    model, mesh, fields = _model(arguments), mesh_from_arguments(arguments), _common_fields(arguments)
    for field, flag in (("stage", "stage"), ("micro_batch_size", "micro_batch"),
                        ("gradient_accumulation_steps", "accumulate")):
        value = optional_whole("--" + flag.replace("_", "-"), getattr(arguments, flag))
        if value is not None:
            fields[field] = value
    if arguments.recompute is not None:
        fields["recompute"] = arguments.recompute
    if arguments.offload_optimizer is not None or arguments.offload_params is not None:
        fields["placement"] = Placement(arguments.offload_optimizer or "device", arguments.offload_params or "device")
    if arguments.sequence_parallel:
        fields["sequence_parallel"] = True
    config = _run_config(arguments, mesh)
    if config is None:
        return Training(model, mesh, engine=arguments.engine, **fields), ()
    if mesh.world_size != mesh.dp:
        raise InvalidInput("--tp, --pp, --cp", mesh.world_size // mesh.dp, "1 with a configuration file, which has no such degree")
    imported = training_from_run_config(config, model, mesh.dp if mesh.dp > 1 else config.dp_size or 1, **fields)
    return imported.training, imported.assumed


def _run_config(arguments, mesh):
    ranks = mesh.dp if mesh.dp > 1 else None
    if arguments.deepspeed_config is not None:
        from .deepspeed_config import run_config_from_deepspeed

        return run_config_from_deepspeed(read_text(arguments.deepspeed_config, "--deepspeed-config"), ranks)
    if arguments.accelerate_config is not None:
        from .fsdp_config import run_config_from_accelerate

        return run_config_from_accelerate(read_text(arguments.accelerate_config, "--accelerate-config"))
    return None


def run_plan(arguments):
    """The plans as a table or as JSON."""
    from .planner import plan

    unit, top = byte_unit(arguments.unit), whole("--top", arguments.top)
    sizes = [whole("--gpus", size) for size in arguments.gpus.split(",")]
    plans = plan(_model(arguments), sizes, arguments.card, global_batch_size=whole("--global-batch", arguments.global_batch),
                 engine=arguments.engine, gpus_per_node=whole("--gpus-per-node", arguments.gpus_per_node),
                 device=arguments.device, link=arguments.link, node_link=arguments.node_link,
                 efficiency=number("--efficiency", arguments.efficiency), **_common_fields(arguments))
    return as_json(plans.as_dict(top)) if arguments.json else plans.table(unit, top)


def run_explain(arguments):
    """The explanation as a table or as JSON."""
    from .explanation import explain

    unit = byte_unit(arguments.unit)
    explained = explain(read_text(arguments.file, "file"))
    return as_json(explained.as_dict()) if arguments.json else explained.table(unit)


def number(field, text):
    """The finite number that ``text`` writes; raises ``InvalidInput``."""
    try:
        value = float(text)
    except ValueError:
        raise InvalidInput(field, text, "a number") from None
    if value - value != 0:  # NaN and the infinities
        raise InvalidInput(field, text, "a finite number")
    return value
