"""`./build.sh bench [--quick] [--json FILE] [NAME…]`: every figure a ratio against a baseline of the same run.

Nothing here fails for being slow; a figure that misses its target says MISSES. `--quick` takes one round of each, to see
that the benchmarks themselves work. NAMEs pick benchmarks (the table below lists them). `--readme` puts all figures into
tests/bench/README.md.
"""

import argparse
import datetime
import json
import os
import platform
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "content"), str(ROOT / "tests" / "browser"), str(ROOT / "tests" / "bench")]

from playwright.sync_api import Browser, sync_playwright  # noqa: E402

from publish import paths  # noqa: E402
from publish.chromium import find_chromium  # noqa: E402
from publish.serve import make_server  # noqa: E402
from readme_table import write_table  # noqa: E402

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--enable-precise-memory-info")
PREFIX = "/courses/zero/"
BENCHMARKS = {
    "page": "bench_page", "wire": "bench_wire", "runner": "bench_runner", "guard": "bench_guard", "slider": "bench_slider", "planner": "bench_planner", "build": "bench_build",
    "growth": "bench_growth", "notebook": "bench_notebook", "peers": "bench_peers", "soak": "bench_soak", "class": "bench_class", "embeds": "bench_embeds",
    "small": "bench_small",
}


@dataclass(frozen=True)
class Bench:
    """What a benchmark is given: a browser, the served site, and how often to repeat."""

    browser: Browser
    url: str
    quick: bool
    flags: tuple[str, ...] = FLAGS  # what the browser was started with

    def rounds(self, usual: int) -> int:
        return 1 if self.quick else usual


def main() -> None:
    options = argparse.ArgumentParser(prog="./build.sh bench", description=__doc__.partition("\n\n")[2])
    options.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    options.add_argument("--quick", action="store_true", help="one round of each")
    options.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    options.add_argument("--readme", action="store_true", help="also put them into tests/bench/README.md")
    chosen = options.parse_args()
    unknown = sorted(set(chosen.names) - set(BENCHMARKS))
    if unknown:
        options.error(f"NAME is {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    server = make_server(paths.DIST, 0, PREFIX)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}{PREFIX}"
    figures, machine, failed = {}, machine_here(), []
    with sync_playwright() as playwright:
        for name in chosen.names or BENCHMARKS:
            browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
            machine["chromium"] = browser.version
            figures[name] = []
            try:
                run(name, Bench(browser, url, chosen.quick), figures[name])
            except Exception:  # the others are still to be measured
                traceback.print_exc()
                failed.append(name)
            browser.close()
            if chosen.json:
                chosen.json.write_text(json.dumps({"machine": machine, "quick": chosen.quick, "figures": figures}, indent=1) + "\n", encoding="utf-8")
    if chosen.readme:
        write_table(machine, figures, chosen.quick)
    if failed:
        sys.exit(f"did not come to their end: {', '.join(failed)}")


def run(name: str, bench: Bench, figures: list[dict]) -> None:
    """Measures one benchmark; prints its rows and adds them to `figures` as they come."""
    module, started = import_module(BENCHMARKS[name]), time.monotonic()
    print(f"\n== {name}: {module.__doc__.splitlines()[0]}", flush=True)
    for row in module.measure(bench):
        print(row, flush=True)
        figures.append(row.as_dict())
    print(f"   ({time.monotonic() - started:.0f} s)", flush=True)


def machine_here() -> dict:
    """What the figures depend on besides the programs."""
    info = Path("/proc/cpuinfo")
    models = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")] if info.is_file() else []
    return {
        "date": datetime.date.today().isoformat(), "cpu": models[0] if models else platform.processor() or platform.machine(),
        "cores": os.cpu_count(), "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None, "python": platform.python_version(),
    }


if __name__ == "__main__":
    main()
