"""Chromium, with the same few verbs as the other two engines."""

import json
import shutil
import tempfile
from pathlib import Path

from chromium_flags import CHROMIUM_FLAGS, NO_SERVICE_WORKER

from publish.chromium import find_chromium

BLOCK = 2  # Chromium's number for it in its settings


class Chromium:
    """One page in a context of its own. `version` says which Chromium it is."""

    name = "chromium"

    def __init__(self, browser, withheld: str = "nothing"):
        self.version = f"Chromium {browser.version}"
        self._profile = tempfile.mkdtemp(prefix="zero-chromium-")
        if withheld == "storage":  # the reader's own setting, which lies in the profile
            preferences = Path(self._profile) / "Default/Preferences"
            preferences.parent.mkdir()
            preferences.write_text(json.dumps({"profile": {"default_content_setting_values": {"cookies": BLOCK}}}))
        self._context = browser.browser_type.launch_persistent_context(self._profile, executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        if withheld == "service worker":  # Chromium has no setting of its own; Playwright's block lets a registration wait for ever
            self._context.add_init_script(NO_SERVICE_WORKER)
        self._page = self._context.pages[0]

    def open(self, url: str) -> None:
        """Loads the address and waits for the load event."""
        self._page.goto(url)

    def size(self, width: int, height: int) -> None:
        """Sets the page's size in CSS pixels."""
        self._page.set_viewport_size({"width": width, "height": height})

    def run(self, body: str, *arguments, frame: str = ""):
        """The value of an async function's body in the page, given `args`. Raises on an error there.

        `frame`: an expression for the page's frame in which it runs, of whatever origin.
        """
        place = self._page.evaluate_handle(frame).as_element().content_frame() if frame else self._page
        return place.evaluate(f"async (args) => {{ {body} }}", list(arguments))

    def screenshot(self, path: Path) -> None:
        """Writes what the window shows as PNG."""
        self._page.screenshot(path=path)

    def close(self) -> None:
        self._context.close()
        shutil.rmtree(self._profile, ignore_errors=True)
