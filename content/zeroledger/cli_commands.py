"""The commands of ``python -m zeroledger`` and their arguments. Each ``run`` returns the text to print."""

import argparse
import json

from .errors import InvalidInput
from .units import BYTE_UNITS, COUNT_ACCEPTED, format_bytes, parse_count

LARGEST_FILE_BYTES = 8_000_000


class OneLineParser(argparse.ArgumentParser):
    """Reports a bad argument as one line, like every other error."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message} (try --help)\n")


def build_parser():
    """The argument parser with all commands; ``arguments.run`` is the chosen one."""
    parser = OneLineParser(prog="zeroledger", description="What a training run keeps in memory, byte by byte.")
    commands = parser.add_subparsers(required=True, metavar="command", parser_class=OneLineParser)
    _add_ledger(commands)
    presets = commands.add_parser("presets", help="known models and their exact parameter counts")
    recipes = commands.add_parser("recipes", help="precision recipes: rows, sources, whom they describe")
    recipes.add_argument("name", nargs="?", help="show one recipe row by row")
    for command, run in ((presets, run_presets), (recipes, run_recipes)):
        command.add_argument("--json", action="store_true", help="print JSON")
        command.set_defaults(run=run)
    return parser


def _add_ledger(commands):
    command = commands.add_parser("ledger", help="bytes of model states per rank")
    model = command.add_mutually_exclusive_group(required=True)
    model.add_argument("--params", metavar="COUNT", help=COUNT_ACCEPTED)
    model.add_argument("--model", metavar="PRESET", help="a name from `presets`")
    model.add_argument("--hf-config", metavar="FILE", help="a Hugging Face config.json (- reads standard input)")
    command.add_argument("--dp", default="1", metavar="N", help="data-parallel ranks that shard (default 1)")
    command.add_argument("--stage", default="0", metavar="0-3", help="ZeRO stage (default 0)")
    command.add_argument("--recipe", default="adam-mixed", metavar="NAME", help="a name from `recipes`")
    command.add_argument("--trained-params", metavar="COUNT", help="trained parameters, for recipes that freeze the rest")
    command.add_argument("--unit", default="GB", help="unit of the table: " + ", ".join(BYTE_UNITS))
    command.add_argument("--json", action="store_true", help="print JSON with exact bytes")
    command.set_defaults(run=run_ledger)


def run_ledger(arguments):
    """The ledger as a table or as JSON."""
    from .ledger import ledger

    unit = byte_unit(arguments.unit)
    model = model_from_arguments(arguments)
    params = parse_count(arguments.params, "--params") if arguments.params is not None else None
    trained = arguments.trained_params
    book = ledger(params, whole("--dp", arguments.dp), whole("--stage", arguments.stage), arguments.recipe, model=model,
                  trained_params=None if trained is None else parse_count(trained, "--trained-params"))
    return as_json(book.as_dict()) if arguments.json else book.table(unit)


def run_presets(arguments):
    """The presets as a table or as JSON."""
    from .presets import PRESETS
    from .tables import text_table

    if arguments.json:
        return as_json([{"name": each.name, "title": each.title, "num_params": each.num_params, "config": each.config,
                         "source": each.source} for each in PRESETS.values()])
    rows = [(each.name, each.title, f"{each.num_params:,}", each.source) for each in PRESETS.values()]
    return text_table(("name", "title", "parameters", "source"), rows, right=(2,))


def run_recipes(arguments):
    """All recipes, or the rows of one, as a table or as JSON."""
    from .recipe_book import RECIPES
    from .recipes import recipe
    from .tables import recipe_table, recipes_table

    chosen = [recipe(arguments.name)] if arguments.name else list(RECIPES.values())
    if arguments.json:
        return as_json([{"name": each.name, "bytes_per_param": each.bytes_per_param, "source": each.source,
                         "describes": each.describes, "rows": [vars(row) for row in each.rows]} for each in chosen])
    return recipe_table(chosen[0]) if arguments.name else recipes_table(chosen)


def model_from_arguments(arguments):
    """The ``TransformerShape`` that --model or --hf-config names, else None."""
    if arguments.model is not None:
        from .presets import preset

        return preset(arguments.model).model
    if arguments.hf_config is not None:
        from .hf_config import model_from_hf_config

        return model_from_hf_config(read_text(arguments.hf_config, "--hf-config"))
    return None


def read_text(path, field):
    """The bytes of the file at ``path`` (``-``: standard input), at most ``LARGEST_FILE_BYTES``."""
    import sys

    if path == "-":
        content = sys.stdin.buffer.read(LARGEST_FILE_BYTES + 1)
    else:
        with open(path, "rb") as file:
            content = file.read(LARGEST_FILE_BYTES + 1)
    if len(content) > LARGEST_FILE_BYTES:
        raise InvalidInput(field, path, f"a file of at most {format_bytes(LARGEST_FILE_BYTES)}")
    return content


def whole(field, text):
    """The whole number that ``text`` writes (range checks are the callee's)."""
    try:
        number = float(text)
        return int(number) if number.is_integer() else number
    except ValueError:
        raise InvalidInput(field, text, "a whole number") from None
    except OverflowError:  # infinity
        return number


def byte_unit(text):
    """The unit that ``text`` names, in its usual spelling."""
    for unit in BYTE_UNITS:
        if unit.lower() == text.lower():
            return unit
    raise InvalidInput("--unit", text, "one of " + ", ".join(BYTE_UNITS))


def as_json(data):
    """``data`` as indented JSON text."""
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
