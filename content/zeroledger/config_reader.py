"""Reading configuration files field by field: defaults, "auto", dotted names in errors, and what nobody asked for."""

from .errors import ConfigError, check_count, check_flag, check_number


class ConfigReader:
    """Reads one JSON object field by field, remembering what was left open ("auto") and what nobody asked for.

    Every method returns the default for an absent or null field and None for "auto". Errors name the dotted path.
    """

    def __init__(self, values, prefix="", unknown=None):
        self.values, self.prefix = values, prefix
        self.unknown = [] if unknown is None else unknown
        self.asked = set()

    def _find(self, names):
        """(name, value) of the first of ``names`` that is there and not null; (first name, None) otherwise."""
        names = (names,) if isinstance(names, str) else names
        self.asked.update(names)
        for name in names:
            if self.values.get(name) is not None:
                return name, self.values[name]
        return names[0], None

    def _read(self, names, default, check):
        name, value = self._find(names)
        if value is None:
            return default
        path = self.prefix + name
        if isinstance(value, str) and value.strip().lower() == "auto":
            self.unknown.append(path)
            return None
        return check(path, value)

    def count(self, names, default=None, minimum=0, maximum=2**63 - 1):
        """A whole number in ``minimum … maximum``; 5e8 counts."""
        return self._read(names, default, lambda path, value: check_count(path, value, minimum, maximum, ConfigError))

    def number(self, names, default=None, minimum=0.0, maximum=float("inf")):
        """A finite number."""
        return self._read(names, default, lambda path, value: check_number(path, value, minimum, maximum, ConfigError))

    def flag(self, names, default=False):
        """True or False."""
        return self._read(names, default, lambda path, value: check_flag(path, value, ConfigError))

    def choice(self, names, choices, default=None):
        """One of ``choices``: a dict gives what each text or number stands for, upper and lower case alike."""
        known = choices if isinstance(choices, dict) else {each: each for each in choices}
        folded = {str(key).lower(): meaning for key, meaning in known.items()}

        def check(path, value):
            if isinstance(value, bool) or not isinstance(value, (str, int)) or str(value).lower() not in folded:
                raise ConfigError(path, value, "one of " + ", ".join(map(str, known)))
            return folded[str(value).lower()]

        return self._read(names, default, check)

    def text(self, names, default=None):
        """A text."""
        def check(path, value):
            if not isinstance(value, str):
                raise ConfigError(path, value, "a text")
            return value

        return self._read(names, default, check)

    def section(self, name, default=None):
        """A ``ConfigReader`` of the object under ``name`` (empty when absent)."""
        value = self._find(name)[1]
        value = {} if value is None else value
        if not isinstance(value, dict):
            raise ConfigError(self.prefix + name, value, "an object {…}")
        return ConfigReader(value, f"{self.prefix}{name}.", self.unknown)

    def left_over(self, harmless):
        """(paths of fields in ``harmless``, paths of all other fields nobody asked for), two tuples."""
        rest = [name for name in self.values if name not in self.asked]
        known = tuple(self.prefix + name for name in rest if name in harmless)
        return known, tuple(self.prefix + str(name) for name in rest if name not in harmless)
