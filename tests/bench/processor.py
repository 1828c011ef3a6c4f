"""How much processor time the browser's renderers use, as Chromium counts it in steps of 10 ms."""

QUIET_MS, QUIET_S = 500, 0.02


class Processor:
    """The processor time of the browser's renderers."""

    def __init__(self, browser):
        self.protocol = browser.new_browser_cdp_session()

    def renderers(self) -> list[dict]:
        processes = self.protocol.send("SystemInfo.getProcessInfo")["processInfo"]
        return [each for each in processes if each["type"] == "renderer"]

    def pids(self) -> list[int]:
        return [each["id"] for each in self.renderers()]

    def seconds(self) -> float:
        return sum(each["cpuTime"] for each in self.renderers())

    def seconds_of(self, work) -> float:
        before = self.seconds()
        work()
        return self.seconds() - before

    def wait_until_quiet(self, page) -> None:
        """Returns when the renderers rest."""
        while self.seconds_of(lambda: page.wait_for_timeout(QUIET_MS)) > QUIET_S:
            pass
