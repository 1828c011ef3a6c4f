"""How a build step says that it cannot go on."""


class BuildError(Exception):
    """A failure with its reason and what the reader can do about it, each one line."""

    def __init__(self, reason: str, remedy: str):
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy
