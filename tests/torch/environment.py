"""`./build.sh torch`: makes .build/torch what the requirements here say, then hands over to truth.py in it.

Standard library only; it needs neither Node nor the environment of the site.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / ".build" / "torch"
LOG = FOLDER.parent / "log" / "torch-packages.txt"
BASE, DEEPSPEED = HERE / "requirements.txt", HERE / "requirements-deepspeed.txt"
INSTALLED = FOLDER / "requirements.installed"  # what was installed, and whether DeepSpeed could be; written last
WITHOUT = "without DeepSpeed"


def main(words):
    """Never comes back where all is well: the truth runs take the process over."""
    LOG.parent.mkdir(parents=True, exist_ok=True)
    python = FOLDER / ("Scripts" if os.name == "nt" else "bin") / "python"
    wanted = BASE.read_text(encoding="utf-8") + DEEPSPEED.read_text(encoding="utf-8")
    known = INSTALLED.read_text(encoding="utf-8") if INSTALLED.exists() else ""
    if not known.startswith(wanted):
        print(f"PyTorch into {FOLDER.relative_to(Path.cwd())} (only when {BASE.parent.name}/requirements*.txt have changed; "
              "some minutes)", flush=True)
        if not python.exists():
            venv.create(FOLDER, with_pip=True)
        if not pip(python, BASE):
            sys.exit(f"build.sh: pip could not install {BASE}\n  what to do: see {LOG}; check the network, then run it again")
        has_deepspeed = pip(python, DEEPSPEED, "--no-build-isolation")
        INSTALLED.write_text(wanted + ("" if has_deepspeed else WITHOUT), encoding="utf-8")
        if not has_deepspeed:
            print(f"DeepSpeed could not be installed (see {LOG}): the runs go on without it; remove {INSTALLED} to try again")
    return subprocess.call([python, HERE / "truth.py", *words])


def pip(python, requirements, *options):
    """Whether pip installed them; what it said is in the log."""
    command = [python, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off", *options, "-r", requirements]
    with LOG.open("a", encoding="utf-8") as log:
        return subprocess.call(command, stdout=log, stderr=log, env=os.environ | {"DS_BUILD_OPS": "0", "DS_ACCELERATOR": "cpu"}) == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
