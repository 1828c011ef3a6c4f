"""Chromium, with the same few verbs as the other two engines."""

from pathlib import Path


class Chromium:
    """One page in a context of its own. `version` says which Chromium it is."""

    name = "chromium"

    def __init__(self, browser):
        self.version = f"Chromium {browser.version}"
        self._context = browser.new_context()
        self._page = self._context.new_page()

    def open(self, url: str) -> None:
        """Loads the address and waits for the load event."""
        self._page.goto(url)

    def size(self, width: int, height: int) -> None:
        """Sets the page's size in CSS pixels."""
        self._page.set_viewport_size({"width": width, "height": height})

    def run(self, body: str, *arguments):
        """The value of an async function's body in the page, given `args`. Raises on an error there."""
        return self._page.evaluate(f"async (args) => {{ {body} }}", list(arguments))

    def screenshot(self, path: Path) -> None:
        """Writes what the window shows as PNG."""
        self._page.screenshot(path=path)

    def close(self) -> None:
        self._context.close()
