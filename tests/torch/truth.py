"""The truth runs: starts every job, prints what was predicted and measured, and writes results/truth.json.

    python tests/torch/truth.py [--quick] [--out FILE] [NAME…]

Run it with ``./build.sh torch``, which makes the environment. NAMEs choose jobs; only a whole run is put on record.
Exits with 1 if a reading misses its tolerance or a job does not end.
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path

from rows import row, show

HERE = Path(__file__).parent
RECORD = HERE / "results" / "truth.json"
RANKS = (1, 2, 4)
# name → (modules that one process runs, numbers of ranks; 0: alone, without torchrun)
JOBS = {
    "kit": (("truth_kit",), (0, 2)),
    "activations": (("truth_activations",), (0,)),
    "breaks": (("truth_breaks",), (0, 2)),
    "states": (("truth_states", "truth_equivalence"), RANKS),
    "deepspeed": (("truth_deepspeed",), RANKS),
    "peaks": (("truth_peaks",), (0,)),
    "gpu": (("truth_gpu",), (0,)),  # no rows without a GPU
}
LIMIT_S = 1800  # for one job
PACKAGES = ("torch", "deepspeed", "numpy")


def main():
    """Runs the chosen jobs; an exit status comes back."""
    parser = argparse.ArgumentParser(prog="./build.sh torch", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="jobs: " + ", ".join(JOBS))
    parser.add_argument("--quick", action="store_true", help="the part that takes a few minutes")
    parser.add_argument("--out", type=Path, help="where to write the rows")
    given = parser.parse_args()
    unknown = set(given.names) - set(JOBS)
    if unknown:
        parser.error(f"no such job: {', '.join(sorted(unknown))} (there are {', '.join(JOBS)})")
    started, rows, missing = time.monotonic(), [], [NO_GPU] if not has_cuda() else []
    for name in given.names or JOBS:
        found, absent = job(name, given.quick)
        rows += found
        missing += absent
    failed = [each for each in rows if not each["ok"]]
    target = given.out or (RECORD if not given.quick and not given.names else None)
    if target:
        record(target, rows, missing, time.monotonic() - started)
        print(f"written: {target}")
    for each in missing:
        print(f"not measured: {each['what']}: {each['why']}")
    for each in failed:
        print(show(each))
    print(f"{len(rows) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed or not rows else 0


NO_GPU = {"group": "meters", "what": "allocated, reserved and device memory of a GPU, and its real peaks",
          "why": "no CUDA device here; content/measure/measure_gpu.py measures them on a machine that has one"}


def has_cuda():
    """Whether torch sees a GPU, asked in a process of its own."""
    code = "import torch; print(torch.cuda.is_available())"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "True"


def job(name, quick):
    """(rows, what could not be measured) of one job with each number of ranks."""
    modules, counts = JOBS[name]
    if name == "deepspeed" and version_of("deepspeed") is None:
        return [], [{"group": "states", "what": "DeepSpeed stages 0 to 3", "why": "DeepSpeed could not be installed here"}]
    rows = []
    for ranks in counts if not quick or len(counts) < 3 else counts[1:2]:
        print(f"== {name}" + f", {ranks} ranks" * bool(ranks), flush=True)
        begun = time.monotonic()
        found = run(modules, ranks, quick)
        for each in found:
            print(show(each))
        print(f"== {sum(each['ok'] for each in found)} of {len(found)}, {time.monotonic() - begun:.0f} s", flush=True)
        rows += found
    return rows, []


def run(modules, ranks, quick):
    """The rows that the processes wrote, or one that failed with their last words."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "rows.json"
        words = [str(HERE / "job.py"), str(out), *modules, *["--quick"] * quick]
        launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={ranks}"] if ranks else []
        try:
            done = subprocess.run([sys.executable, "-W", "ignore", *launcher, *words], env=environment(), cwd=folder,
                                  capture_output=True, text=True, timeout=LIMIT_S)
            said = done.stderr
        except subprocess.TimeoutExpired:
            said = f"not over after {LIMIT_S} s"
        if out.exists():
            return json.loads(out.read_text(encoding="utf-8"))
    print(said[-4000:], file=sys.stderr)
    last = said.strip().splitlines()[-1:] or ["no output"]
    return [row("run", "PyTorch", ranks, " ".join(modules), f"the processes ended without rows: {last[0]}", "runs", 1, 0)]


def environment():
    """One thread a process, so that sums and workspaces are always the same; imports from this clone."""
    paths = [HERE.parents[1] / "content", HERE.parent, HERE.parents[1] / "content" / "measure"]
    return os.environ | {"OMP_NUM_THREADS": "1", "DS_ACCELERATOR": "cpu", "PYTHONPATH": os.pathsep.join(map(str, paths)),
                         "TORCH_CPP_LOG_LEVEL": "ERROR", "PYTHONWARNINGS": "ignore"}


def record(target, rows, missing, seconds):
    """Writes the file whose form README.md here describes."""
    head = {"format": "zeroledger-truth", "version": 1, "date": datetime.date.today().isoformat(), "seconds": round(seconds),
            "versions": {name: version_of(name) for name in PACKAGES if version_of(name)} | {"python": platform.python_version()},
            "hardware": f"CPU ({platform.machine()}, {os.cpu_count()} cores), gloo"}
    lines = ",\n".join(map(json.dumps, rows))
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(head)[:-1] + f', "missing": {json.dumps(missing)}, "rows": [\n{lines}\n]}}\n', encoding="utf-8")


def version_of(name):
    """The installed version of a package, or None."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


if __name__ == "__main__":
    sys.exit(main())
