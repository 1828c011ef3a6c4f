"""The real meters of this machine's GPUs: what measure_gpu.py reads, against the prediction. No rows without a GPU."""

import tempfile
from pathlib import Path

import measure_gpu
import torch
from rows import row

from zeroledger import explain

PER_CENT = {"fsdp2": 5, "ideal": 10}  # budgets.UNCERTAINTY of estimated rows, here asked of the whole reading


def rows(ranks, quick):
    """A row for each case and instant."""
    if not torch.cuda.is_available():
        return []
    found = []
    with tempfile.TemporaryDirectory() as folder:
        measure_gpu.main(folder)
        for path in sorted(Path(folder).glob("run-*.json")):
            found += of_run(path.stem.removeprefix("run-"), explain(path.read_text(encoding="utf-8")))
    return found


def of_run(case, told):
    """Rows of one file: allocated bytes of every instant on rank 0, with the other meters said beside."""
    training = told.run.training
    words = f"{training.model.num_params:,} parameters, {case}, {told.run.device}"
    for each in told.instants:
        if each.rank == 0:
            beside = [f"{name} {size:,}" for name, size in (("reserved beyond it", each.reserve_bytes),
                                                            ("outside the allocator", each.outside_bytes)) if size is not None]
            yield row("meters", {"fsdp2": "FSDP2"}.get(training.engine, "PyTorch"), training.mesh.world_size, words,
                      f"{each.meter}, {each.name}", "bytes", each.predicted_bytes, each.measured_bytes, PER_CENT[training.engine],
                      ", ".join(beside))
