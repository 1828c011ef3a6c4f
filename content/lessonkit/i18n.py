"""The interface strings in the reader's language. They live in strings.json, for notebooks and pages alike."""

from functools import cache
from importlib.resources import files
from json import loads

LANGUAGES = ("en", "zh-CN")

_current = "en"


class LanguageError(ValueError):
    """A language or a string that does not exist; the message says which ones do."""


def use_language(lang: str) -> None:
    """Everything made from here on speaks `lang`, "en" or "zh-CN"; LanguageError for any other."""
    global _current
    _current = checked_language(lang)


def language() -> str:
    """The language in use: "en" until use_language says otherwise."""
    return _current


def checked_language(lang: str) -> str:
    """`lang` itself, if it is one of LANGUAGES; otherwise LanguageError."""
    if lang not in LANGUAGES:
        raise LanguageError(f"language {lang!r} is not known; accepted: {', '.join(LANGUAGES)}")
    return lang


def text(key: str, lang: str | None = None, **fields) -> str:
    """The string `key` in `lang` (default: the one in use), its {fields} filled in.

    LanguageError if the key does not exist or a field is missing."""
    entry = strings().get(key)
    if entry is None:
        raise LanguageError(f"no interface string {key!r} in lessonkit/strings.json")
    wording = entry[checked_language(lang or _current)]
    try:
        return wording.format(**fields)
    except KeyError as missing:
        raise LanguageError(f"string {key!r} needs the field {missing}") from None


@cache
def strings() -> dict[str, dict[str, str]]:
    """{key: {language: string}}, as strings.json has it."""
    return loads(files(__package__).joinpath("strings.json").read_text(encoding="utf-8"))
