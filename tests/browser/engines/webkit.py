"""WebKitGTK's MiniBrowser through WebKitWebDriver, in plain WebDriver requests, on a display of its own."""

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from base64 import b64decode
from pathlib import Path

NAME = "webkit"
DRIVER = "WebKitWebDriver"
DISPLAY_SERVER = "Xvfb"
BROWSERS = ("/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser", "/usr/lib/aarch64-linux-gnu/webkit2gtk-4.1/MiniBrowser")
SCRIPT_S = 300
START_S = 60
# MiniBrowser's own switches.
SWITCHES = {
    "nothing": [],
    "storage": ["--cookies-policy=never", "--features=-LocalStorage,-IndexedDBAPI,-CacheAPI"],
    "service worker": ["--features=-ServiceWorkers"],
}


class WebKit:
    """One window. `version` says which WebKitGTK it is."""

    name = NAME

    @staticmethod
    def missing() -> str | None:
        """The sentence that says what is not installed, or None."""
        lacking = [program for program in (DRIVER, DISPLAY_SERVER) if not shutil.which(program)]
        return f"{' and '.join(lacking)} not installed (Debian: apt install webkit2gtk-driver xvfb)" if lacking else None

    def __init__(self, withheld: str = "nothing"):
        self._display = subprocess.Popen(
            [DISPLAY_SERVER, "-displayfd", "1", "-screen", "0", "1400x7200x24", "-nolisten", "tcp"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        display = f":{self._display.stdout.readline().strip()}"
        port = free_port()
        self._driver = subprocess.Popen(
            [DRIVER, f"--port={port}"], env={**environment(), "DISPLAY": display}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._root = f"http://127.0.0.1:{port}"
        self._wait_for_driver()
        browser = next(path for path in BROWSERS if Path(path).exists())
        options = {"browserName": "MiniBrowser", "webkitgtk:browserOptions": {"binary": browser, "args": ["--automation", *SWITCHES[withheld]]}}
        session = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": options}})
        self._session = f"/session/{session['sessionId']}"
        self.version = f"WebKitGTK {session['capabilities']['browserVersion']}"
        self._ask("POST", f"{self._session}/timeouts", {"script": SCRIPT_S * 1000, "pageLoad": SCRIPT_S * 1000})

    def _wait_for_driver(self) -> None:
        deadline = time.monotonic() + START_S
        while True:
            try:
                return self._ask("GET", "/status")
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def _ask(self, method: str, path: str, body: dict | None = None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._root + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=SCRIPT_S) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise RuntimeError(f"{path}: {value['error']}: {value['message']}") from None

    def open(self, url: str) -> None:
        """Loads the address and waits for the load event."""
        self._ask("POST", f"{self._session}/url", {"url": url})

    def size(self, width: int, height: int) -> None:
        """Sets the window's size; the page gets a little less height than that."""
        self._ask("POST", f"{self._session}/window/rect", {"width": width, "height": height})

    def run(self, body: str, *arguments, frame: str = ""):
        """The value of an async function's body in the page, given `args`; it travels as JSON. Raises on an error there.

        `frame`: an expression for the page's frame in which it runs, of whatever origin.
        """
        if frame:
            element = self._ask("POST", f"{self._session}/execute/sync", {"script": f"return {frame}", "args": []})
            self._ask("POST", f"{self._session}/frame", {"id": element})
            try:
                return self.run(body, *arguments)
            finally:
                self._ask("POST", f"{self._session}/frame", {"id": None})
        source = f"""const done = arguments[arguments.length - 1], args = JSON.parse(arguments[0]);
            (async () => {{ {body} }})().then((value) => done(JSON.stringify({{ value: value ?? null }})),
                (error) => done(JSON.stringify({{ error: `${{error}}\\n${{error?.stack}}` }})));"""
        answer = json.loads(self._ask("POST", f"{self._session}/execute/async", {"script": source, "args": [json.dumps(arguments)]}))
        if "error" in answer:
            raise AssertionError(f"{self.version}: {answer['error']}")
        return answer["value"]

    def screenshot(self, path: Path) -> None:
        """Writes what the window shows as PNG."""
        path.write_bytes(b64decode(self._ask("GET", f"{self._session}/screenshot")))

    def close(self) -> None:
        try:
            self._ask("DELETE", self._session)
        finally:
            self._driver.terminate()
            self._display.terminate()
            self._driver.wait()
            self._display.wait()


def environment() -> dict:
    """This program's environment, without a Wayland session, which MiniBrowser would prefer to our display."""
    return {name: value for name, value in os.environ.items() if name != "WAYLAND_DISPLAY"} | {"WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1"}


def free_port() -> int:
    """A port of this machine that nothing listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
