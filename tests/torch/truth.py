"""The truth runs: starts every job, prints what was predicted and measured, and writes results/truth.json.

    python tests/torch/truth.py [--quick] [--out FILE] [NAME…]

Run it with ``./build.sh torch``, which makes the environment. NAMEs choose jobs; the others keep the rows they have on
record, if those were taken with the same versions. A quick run is not put on record.
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
    done = {name: job(name, given.quick) for name in given.names or JOBS}
    rows = [each for found in done.values() for each in found["rows"]]
    failed = [each for each in rows if not each["ok"]]
    if given.out or not given.quick:
        print("written:", record(given.out or RECORD, done))
    for each in missing(done):
        print(f"not measured: {each['what']}: {each['why']}")
    for each in failed:
        print(show(each))
    print(f"{len(rows) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed or not rows else 0


NOTHING = {  # job that brought no rows → (group, what is missing, why)
    "gpu": ("meters", "allocated, reserved and device memory of a GPU, and its real peaks",
            "no CUDA device here; content/measure/measure_gpu.py measures them on a machine that has one"),
    "deepspeed": ("states", "DeepSpeed stages 0 to 3", "DeepSpeed could not be installed here"),
}


def missing(done):
    """What has no row although its job ran, and why."""
    return [{"group": group, "what": what, "why": why} for name, (group, what, why) in NOTHING.items()
            if name in done and not done[name]["rows"]]


def job(name, quick):
    """{"rows", "date", "seconds"} of one job with each number of ranks."""
    modules, counts = JOBS[name]
    if name == "deepspeed" and version_of("deepspeed") is None:
        counts = ()
    rows, started = [], time.monotonic()
    for ranks in counts if not quick or len(counts) < 3 else counts[1:2]:
        print(f"== {name}" + f", {ranks} ranks" * bool(ranks), flush=True)
        begun = time.monotonic()
        found = run(modules, ranks, quick)
        for each in found:
            print(show(each))
        print(f"== {sum(each['ok'] for each in found)} of {len(found)}, {time.monotonic() - begun:.0f} s", flush=True)
        rows += found
    return {"rows": [{"job": name, **each} for each in rows], "date": datetime.date.today().isoformat(),
            "seconds": round(time.monotonic() - started)}


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


def record(target, done):
    """Writes the file whose form README.md here describes; jobs that did not run keep what they had there."""
    versions = {name: version_of(name) for name in PACKAGES if version_of(name)} | {"python": platform.python_version()}
    before = json.loads(target.read_text(encoding="utf-8")) if target.exists() else {}
    kept = {}
    if before.get("versions") == versions:
        kept = {name: taken | {"rows": [each for each in before["rows"] if each["job"] == name]}
                for name, taken in before["jobs"].items()}
    jobs = {name: (kept | done)[name] for name in JOBS if name in kept | done}
    rows = [each for taken in jobs.values() for each in taken["rows"]]
    head = {"format": "zeroledger-truth", "version": 1, "date": max(taken["date"] for taken in jobs.values()),
            "seconds": sum(taken["seconds"] for taken in jobs.values()), "versions": versions,
            "hardware": f"CPU ({platform.machine()}, {os.cpu_count()} cores), gloo",
            "jobs": {name: {key: taken[key] for key in ("date", "seconds")} for name, taken in jobs.items()},
            "missing": missing(jobs)}
    lines = ",\n".join(map(json.dumps, rows))
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(head)[:-1] + f', "rows": [\n{lines}\n]}}\n', encoding="utf-8")
    return target


def version_of(name):
    """The installed version of a package, or None."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


if __name__ == "__main__":
    sys.exit(main())
