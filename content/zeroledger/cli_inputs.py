"""What the commands share: reading numbers, units, models and files from arguments, and writing JSON."""

import json
import sys

from .errors import InvalidInput, check_choice
from .units import BYTE_UNITS, COUNT_ACCEPTED, format_bytes

LARGEST_FILE_BYTES = 8_000_000


def add_model_arguments(command, required=True):
    """Give ``command`` --params, --model, --hf-config and --shape, of which one is taken."""
    model = command.add_mutually_exclusive_group(required=required)
    model.add_argument("--params", metavar="COUNT", help=COUNT_ACCEPTED)
    model.add_argument("--model", metavar="PRESET", help="a name from `presets`")
    model.add_argument("--hf-config", metavar="FILE", help="a Hugging Face config.json (- reads standard input)")
    model.add_argument("--shape", metavar="FIELD=VALUE,…", help="a shape by hand: hidden_size=4096,num_layers=32,"
                       "num_attention_heads=32,vocab_size=32000,…")


def add_mesh_arguments(command):
    """Give ``command`` --dp, --tp, --pp, --cp, --ep and --etp."""
    for name, what in (("dp", "data-parallel"), ("tp", "tensor-parallel"), ("pp", "pipeline-parallel"),
                       ("cp", "context-parallel"), ("ep", "expert-parallel")):
        command.add_argument(f"--{name}", default="1", metavar="N", help=f"{what} degree (default 1)")
    command.add_argument("--etp", metavar="N", help="tensor-parallel degree inside experts (default: --tp)")


def mesh_from_arguments(arguments):
    """The ``Mesh`` of the arguments that ``add_mesh_arguments`` added."""
    from .mesh import Mesh

    degrees = {name: whole(f"--{name}", getattr(arguments, name)) for name in ("dp", "tp", "pp", "cp", "ep")}
    return Mesh(**degrees, etp=None if arguments.etp is None else whole("--etp", arguments.etp))


def model_from_arguments(arguments):
    """The ``TransformerShape`` that --model, --hf-config or --shape describes, else None."""
    if arguments.model is not None:
        from .presets import preset

        return preset(arguments.model).model
    if arguments.hf_config is not None:
        from .hf_config import model_from_hf_config

        return model_from_hf_config(read_text(arguments.hf_config, "--hf-config"))
    return None if arguments.shape is None else shape_from_text(arguments.shape)


def shape_from_text(text):
    """The ``TransformerShape`` of "field=value,field=value,…": numbers, true or false, or names."""
    from dataclasses import fields

    from .models import TransformerShape

    kinds = {field.name: field.type for field in fields(TransformerShape) if field.type is not frozenset}
    given = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or name not in kinds:
            raise InvalidInput("--shape", part, "field=value with a field of " + ", ".join(kinds))
        if kinds[name] is bool:
            given[name] = check_choice(name, value.lower(), ("true", "false")) == "true"
        else:
            given[name] = value if kinds[name] is str else whole(name, value)
    missing = [name for name in ("hidden_size", "num_layers", "num_attention_heads", "vocab_size") if name not in given]
    if missing:
        raise InvalidInput("--shape", text, "also " + ", ".join(missing))
    return TransformerShape(**given)


def recipe_from_arguments(arguments):
    """The ``Recipe`` that --recipe or --recipe-file names."""
    from .json_input import read_object
    from .recipes import recipe

    if arguments.recipe_file is not None:
        return recipe(read_object(read_text(arguments.recipe_file, "--recipe-file"), "--recipe-file"))
    return recipe(arguments.recipe)


def read_text(path, field, most=LARGEST_FILE_BYTES):
    """The bytes of the file at ``path`` (``-``: standard input), at most ``most``."""
    if path == "-":
        content = sys.stdin.buffer.read(most + 1)
    elif "\0" in path:
        raise InvalidInput(field, path, "the name of a file")
    else:
        with open(path, "rb") as file:
            content = file.read(most + 1)
    if len(content) > most:
        raise InvalidInput(field, path, f"a file of at most {format_bytes(most)}")
    return content


def whole(field, text):
    """The whole number that ``text`` writes; raises ``InvalidInput`` (the range is checked by whoever uses it)."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        raise InvalidInput(field, text, "a whole number") from None
    if not number.is_integer():  # also NaN and the infinities
        raise InvalidInput(field, text, "a whole number")
    return int(number)


def optional_whole(field, text):
    """``whole``, or None for an argument that was not given."""
    return None if text is None else whole(field, text)


def byte_unit(text):
    """The byte unit that ``text`` names in any case, in its usual spelling."""
    spelled = {unit.lower(): unit for unit in BYTE_UNITS}.get(text.lower(), text)
    return check_choice("--unit", spelled, BYTE_UNITS)


def as_json(data):
    """``data`` as indented JSON text."""
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
