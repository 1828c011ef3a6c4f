"""The bank's files: one TOML file an item, in the clone or in the installed wheel."""

import tomllib


class ExerciseError(ValueError):
    """An item of the bank that cannot be used: names file, line where known, field, and what is accepted."""


def refuse(problem: str) -> None:
    """What happens to a fault of an item unless somebody collects them: ExerciseError with its text."""
    raise ExerciseError(problem)


def item_ids(folder) -> list[str]:
    """The ids of all items in `folder`, sorted."""
    return sorted(item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml"))


def read_item(folder, item_id: str, noun: str) -> str:
    """The TOML source of item `item_id`; ExerciseError, calling it a `noun`, when there is none."""
    item = folder.joinpath(f"{item_id}.toml")
    if not item.is_file():
        raise ExerciseError(f"no {noun} {item_id!r}; there are: {', '.join(item_ids(folder)) or 'none'}")
    return item.read_text(encoding="utf-8")


def item_data(file_name: str, source: str) -> dict:
    """The fields written in `source`; ExerciseError naming the file when it is not TOML."""
    try:
        return tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise ExerciseError(f"{file_name}: not TOML: {error}") from None
