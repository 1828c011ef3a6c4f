"""Tensor parallelism, sequence parallelism and recomputation over one rank's memory: what the chart of lesson 6 shows.

A fixed number of cards is arranged as TP × DP. For each TP degree: the rows of model states, and the activations that
all layers keep for backward. Standard library and zeroledger only.
"""

from zeroledger import ActivationSettings, Mesh, layer_activations, mesh_ledger, preset

MODELS = ("llama-2-7b", "llama-2-70b", "qwen2.5-72b", "llama-3.1-405b")
NUM_CARDS = 64
TP_SIZES = (1, 2, 4, 8, 16)
STAGES = (0, 1, 2, 3)
RECOMPUTE = ("none", "selective", "full")
MICRO_BATCH_SIZE = 1
SEQ_LENGTH = 4096
START = {"model": "llama-2-70b", "tp_size": 8, "stage": 1, "sequence_parallel": False, "recompute": "none"}


def state_rows(model, tp_size, stage):
    """[(category, bytes)] of model states on the fullest rank, with the cards that TP leaves as data-parallel ranks."""
    book = mesh_ledger(preset(model).model, Mesh(dp=NUM_CARDS // tp_size, tp=tp_size), stage)
    return [(row.category, row.bytes_per_rank) for row in book.rows]


def activation_bytes(model, tp_size, sequence_parallel, recompute):
    """Bytes that all layers keep on a rank for backward, BF16 and flash attention; logits are not in it."""
    shape = preset(model).model
    settings = ActivationSettings(MICRO_BATCH_SIZE, SEQ_LENGTH, recompute=recompute, tp_size=tp_size,
                                  sequence_parallel=sequence_parallel and tp_size > 1)
    return shape.num_layers * layer_activations(shape, settings).num_bytes
