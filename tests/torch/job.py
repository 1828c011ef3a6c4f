"""One process of a truth run: runs case modules and writes their rows.

    python tests/torch/job.py OUT.json [--quick] MODULE…

Alone, or as one of several under torch.distributed.run, whose rank 0 writes.
"""

import argparse
import importlib
import os
import traceback
from pathlib import Path

import torch
import torch.distributed as dist
from rows import row, write


def main():
    """Rows of every module; a module that raises becomes a row that failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("modules", nargs="+")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    ranks = int(os.environ.get("WORLD_SIZE", 0))
    if ranks:
        dist.init_process_group("gloo")
    rows = []
    for name in given.modules:
        try:
            rows += importlib.import_module(name).rows(ranks, given.quick)
        except Exception as error:
            if ranks > 1:
                raise  # the others wait in a collective: end them all, the runner writes the row
            traceback.print_exc()
            rows.append(row("run", "PyTorch", ranks, name, f"{type(error).__name__}: {error}", "runs", 1, 0))
    if not ranks or dist.get_rank() == 0:
        write(given.out, rows)
    if ranks:
        dist.barrier()
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
