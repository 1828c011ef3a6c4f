"""Prints what FSDP2 and ZeroRedundancyOptimizer hold on each rank for tensors of awkward shapes (CPU, gloo).

The readings with torch 2.13.0 are MEASURED in tests/test_sharding.py. Needs torch:
    python tests/torch/measure_shards.py
"""

import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer

SHAPES = [(7, 5), (2, 3), (9,), (10, 4, 3), (1,), (4, 4), (3, 11)]
FP32_BYTES = 4


class Tensors(nn.Module):
    """Parameters of the given shapes, all used in one sum."""

    def __init__(self):
        super().__init__()
        self.tensors = nn.ParameterList([nn.Parameter(torch.randn(shape)) for shape in SHAPES])

    def forward(self, scale):
        return sum((tensor * scale).sum() for tensor in self.tensors)


def run(rank, num_ranks, results):
    """One rank: shard, train a step, report (rank, held, stored, state held, tensors and elements of the other rule)."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(29600 + num_ranks))
    dist.init_process_group("gloo", rank=rank, world_size=num_ranks)
    sharded, whole = Tensors(), Tensors()
    fully_shard(sharded, mesh=init_device_mesh("cpu", (num_ranks,)))
    adam = torch.optim.Adam(sharded.parameters())
    zero = ZeroRedundancyOptimizer(whole.parameters(), optimizer_class=torch.optim.Adam)
    for model, optimizer in ((sharded, adam), (whole, zero)):
        model(torch.tensor(1.0)).backward()
        optimizer.step()
    local = [parameter.to_local() for parameter in sharded.parameters()]
    moments = [state["exp_avg"].to_local() for state in adam.state.values()]
    owned = [state["exp_avg"] for state in zero.optim.state.values()]
    results.put((rank, sum(each.numel() for each in local),
                 sum(each.untyped_storage().nbytes() for each in local) // FP32_BYTES,
                 sum(each.numel() for each in moments), sum(each.numel() for each in owned), len(owned)))
    dist.barrier()
    dist.destroy_process_group()


def main():
    """A line for each number of ranks and each rank."""
    for num_ranks in (2, 3, 5):
        context = mp.get_context("spawn")
        results = context.Queue()
        processes = [context.Process(target=run, args=(rank, num_ranks, results)) for rank in range(num_ranks)]
        for process in processes:
            process.start()
        rows = sorted(results.get(timeout=100) for _ in processes)
        for process in processes:
            process.join()
        print(num_ranks, [row[1:] for row in rows])


if __name__ == "__main__":
    main()
