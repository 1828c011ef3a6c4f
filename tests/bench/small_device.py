"""A Chromium that a control group of Linux holds to so much memory and to a share of the processors, workers included."""

import contextlib
import os
import tempfile
from pathlib import Path

from publish.chromium import find_chromium

ROOT = Path("/sys/fs/cgroup")
NAME = f"zero-ledger-bench-{os.getpid()}"
PERIOD_US = 20_000
MISSING = "no control group can be made here (it takes root on Linux): nothing is measured"


class SmallDevice:
    """The group's files, in either version of the interface. OSError where there are none."""

    def __init__(self, memory_bytes: int, slowdown: float):
        quota_us = int(PERIOD_US * os.cpu_count() / slowdown)
        if (ROOT / "cgroup.controllers").is_file():
            self.memory, self.folders = ROOT / NAME, [ROOT / NAME]
            settings = {"memory.max": memory_bytes, "memory.swap.max": 0, "cpu.max": f"{quota_us} {PERIOD_US}"}
            self.peak_file, self.kills_file = "memory.peak", "memory.events"
        else:
            self.memory, processors = ROOT / "memory" / NAME, ROOT / "cpu" / NAME
            self.folders = [self.memory, processors]
            settings = {"memory.limit_in_bytes": memory_bytes, "cpu.cfs_period_us": PERIOD_US, "cpu.cfs_quota_us": quota_us}
            self.peak_file, self.kills_file = "memory.max_usage_in_bytes", "memory.oom_control"
        for folder in self.folders:
            folder.mkdir()
        for name, value in settings.items():
            file = next((folder / name for folder in self.folders if (folder / name).exists()), None)
            if file:
                file.write_text(str(value))
            elif name != "memory.swap.max":
                raise OSError(f"no {name}")

    def peak_bytes(self) -> int:
        return int((self.memory / self.peak_file).read_text())

    def kills(self) -> int:
        """How often the system ended one of its processes for lack of memory."""
        lines = dict(line.split() for line in (self.memory / self.kills_file).read_text().splitlines())
        return int(lines["oom_kill"])

    def remove(self) -> None:
        for folder in self.folders:
            with contextlib.suppress(OSError):
                folder.rmdir()


@contextlib.contextmanager
def small_browser(chromium, flags, memory_bytes: int, slowdown: float):
    """(browser, device); None where there are no control groups. `chromium` is Playwright's."""
    try:
        device = SmallDevice(memory_bytes, slowdown)
    except OSError:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="zero-small-") as folder:
        starter = Path(folder) / "chromium"
        joins = "".join(f"echo $$ > {group}/cgroup.procs\n" for group in device.folders)
        starter.write_text(f'#!/bin/sh\n{joins}exec "{find_chromium() or chromium.executable_path}" "$@"\n')
        starter.chmod(0o755)
        browser = chromium.launch(executable_path=starter, args=flags, timeout=120_000)
        try:
            yield browser, device
        finally:
            browser.close()
            device.remove()
