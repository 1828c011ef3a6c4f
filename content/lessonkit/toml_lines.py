"""Finds the line of a field in TOML text, so that an error can point at it. tomllib gives lines for syntax errors only."""

import re

_HEADER = re.compile(r"\s*(\[\[?)\s*([\w.-]+)\s*\]\]?")
_KEY = re.compile(r"\s*\"?([\w-]+)\"?\s*=")


def line_of(source: str, path: str) -> int | None:
    """The 1-based line where `path` ("unit", "prompt.en", "mistake[1].value") stands, or where its table begins
    when the field is missing; None when neither is there."""
    places = _places(source)
    while path:
        if path in places:
            return places[path]
        path = path.rpartition(".")[0]
    return None


def _places(source):
    """{path: line} of every header and key that starts a line."""
    places, prefix, counts = {}, "", {}
    for line, content in enumerate(source.splitlines(), start=1):
        if header := _HEADER.match(content):
            prefix = _header_path(*header.groups(), counts)
            places.setdefault(prefix, line)
        elif key := _KEY.match(content):
            places.setdefault(f"{prefix}.{key[1]}" if prefix else key[1], line)
    return places


def _header_path(bracket, name, counts):
    """The path of a table; the n-th [[mistake]] is mistake[n]."""
    if bracket == "[":
        return name
    counts[name] = counts.get(name, -1) + 1
    return f"{name}[{counts[name]}]"
