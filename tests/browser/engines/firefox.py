"""Firefox through its own WebDriver BiDi socket, without a driver program between.

Playwright drives only a Firefox of its own make; readers have the real one.
"""

import itertools
import json
import re
import shutil
import subprocess
import tempfile
import time
from base64 import b64decode
from pathlib import Path

import websocket  # websocket-client, which Jupyter brings

NAME = "firefox"
PROGRAM = "firefox-esr"
LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
START_S = 60
SCRIPT_S = 300
# What a reader sets in about:config, or in the settings under "block all cookies".
PREFERENCES = {
    "nothing": {},
    "storage": {"network.cookie.cookieBehavior": 2},
    "service worker": {"dom.serviceWorkers.enabled": False},
}


class Firefox:
    """One headless window. `version` says which Firefox it is."""

    name = NAME

    @staticmethod
    def missing() -> str | None:
        """The sentence that says what is not installed, or None."""
        return None if shutil.which(PROGRAM) else f"{PROGRAM} is not installed (Debian: apt install firefox-esr)"

    def __init__(self, withheld: str = "nothing"):
        self._numbers = itertools.count(1)
        self._profile = tempfile.mkdtemp(prefix="zero-firefox-")
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES[withheld].items()]
        (Path(self._profile) / "user.js").write_text("".join(lines))
        self._log = Path(self._profile) / "log.txt"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [PROGRAM, "--headless", "--no-remote", "--profile", self._profile, "--remote-debugging-port", "0"],
                stdout=log, stderr=subprocess.STDOUT)
        self._socket = websocket.create_connection(self._address() + "/session", timeout=SCRIPT_S, suppress_origin=True)
        session = self._ask("session.new", capabilities={})
        self.version = f"Firefox {session['capabilities']['browserVersion']}"
        self._context = self._ask("browsingContext.getTree")["contexts"][0]["context"]

    def _address(self) -> str:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            found = LISTENING.search(self._log.read_text())
            if found:
                return found[1]
            time.sleep(0.1)
        raise RuntimeError(f"Firefox did not open its BiDi socket in {START_S} s:\n{self._log.read_text()}")

    def _ask(self, method: str, **params):
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("id") == number:
                break  # events come between
        if answer["type"] == "error":
            raise RuntimeError(f"{method}: {answer['error']}: {answer['message']}")
        return answer["result"]

    def open(self, url: str) -> None:
        """Loads the address and waits for the load event."""
        self._ask("browsingContext.navigate", context=self._context, url=url, wait="complete")

    def size(self, width: int, height: int) -> None:
        """Sets the page's size in CSS pixels."""
        self._ask("browsingContext.setViewport", context=self._context, viewport={"width": width, "height": height})

    def run(self, body: str, *arguments, frame: str = ""):
        """The value of an async function's body in the page, given `args`; it travels as JSON. Raises on an error there.

        `frame`: an expression for the page's frame in which it runs, of whatever origin.
        """
        source = f"async (text) => {{ const args = JSON.parse(text); return JSON.stringify(await (async () => {{ {body} }})() ?? null); }}"
        answer = self._ask("script.callFunction", functionDeclaration=source, awaitPromise=True,
                           target={"context": self._frame(frame)}, arguments=[{"type": "string", "value": json.dumps(arguments)}])
        if answer["type"] == "exception":
            raise AssertionError(f"{self.version}: {answer['exceptionDetails']['text']}")
        return json.loads(answer["result"]["value"])

    def _frame(self, frame: str) -> str:
        if not frame:
            return self._context
        found = self._ask("script.evaluate", expression=f"({frame}).contentWindow", target={"context": self._context}, awaitPromise=False)
        return found["result"]["value"]["context"]

    def screenshot(self, path: Path) -> None:
        """Writes what the window shows as PNG."""
        path.write_bytes(b64decode(self._ask("browsingContext.captureScreenshot", context=self._context)["data"]))

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()
        self._socket.close()
        shutil.rmtree(self._profile, ignore_errors=True)
