"""Reading JSON that somebody pasted: bounded in size and depth, with errors that say what is wrong."""

from .errors import ConfigError, shown

LARGEST_TEXT = 4_000_000  # characters; a model's config.json has a few thousand
DEEPEST = 64  # levels of nesting; a config has three or four


def read_object(given, field, most=LARGEST_TEXT):
    """``given`` as a dict: a dict itself, or JSON text (or UTF-8 bytes) of an object, at most ``most`` characters.

    Raises ``ConfigError`` for anything else: text that is too large, cut off, nested too deeply, or no object.
    """
    if isinstance(given, dict):
        return given
    if not isinstance(given, (str, bytes, bytearray)):
        raise ConfigError(field, given, "a dict, or JSON text of an object")
    if len(given) > most:
        raise ConfigError(field, given[:40], f"at most {most:,} characters of JSON (got {len(given):,})")
    text = _text(given, field)
    if is_deeper_than(text, DEEPEST):
        raise ConfigError(field, text[:40], f"JSON nested at most {DEEPEST} levels deep")
    parsed = _parsed(text, field)
    if not isinstance(parsed, dict):
        raise ConfigError(field, parsed, "a JSON object {…}")
    return parsed


def _text(given, field):
    if isinstance(given, str):
        return given.removeprefix("\ufeff")
    try:
        return given.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(field, bytes(given[:40]), "JSON in UTF-8") from None


def _parsed(text, field):
    import json

    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        where = f"line {problem.lineno}, column {problem.colno}: {problem.msg}"
        raise ConfigError(field, text[:40], f"complete JSON ({where})") from None
    except ValueError as problem:  # integers of thousands of digits
        raise ConfigError(field, text[:40], f"JSON with ordinary numbers ({problem})") from None


def is_deeper_than(text, levels):
    """Whether brackets outside strings nest more than ``levels`` deep in ``text``.

    Parsers recurse once a level, and in a browser a deep recursion ends the interpreter instead of raising.
    """
    if text.count("[") + text.count("{") <= levels:
        return False
    import re

    depth = 0
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', text):
        if token[0] in "[{":
            depth += 1
            if depth > levels:
                return True
        elif token[0] in "]}":
            depth -= 1
    return False


class Fields:
    """Typed reading of a JSON object's fields; ``None`` (JSON null) counts as absent."""

    def __init__(self, values, label):
        self.values, self.label = values, label

    def get(self, name, default=None):
        """The raw value, or ``default`` where it is absent or null."""
        value = self.values.get(name)
        return default if value is None else value

    def count(self, name, default=..., minimum=1):
        """A whole number of at least ``minimum``; without ``default`` the field must be there."""
        from .errors import check_count

        value = self.get(name)
        if value is None:
            if default is ...:
                raise ConfigError(name, None, f"a whole number: {self.label} does not have the field")
            return default
        return check_count(name, value, minimum, 10**9, ConfigError)

    def flag(self, name, default):
        """True or False."""
        value = self.get(name, default)
        if not isinstance(value, bool):
            raise ConfigError(name, value, "true or false")
        return value

    def text(self, name, default=None):
        """A text."""
        value = self.get(name, default)
        if not isinstance(value, str):
            raise ConfigError(name, value, f"a text ({shown(default)} when absent)" if default else "a text")
        return value
