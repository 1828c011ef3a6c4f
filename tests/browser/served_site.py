"""Where the tests' site lies; a module of its own, since a second conftest.py answers to the same name."""

from dataclasses import dataclass

PREFIX = "/courses/zero/"


@dataclass
class Site:
    """The served site: `origin` without, `url` with the path it lies below."""

    origin: str
    url: str
