"""Formulas and tables of the ZeRO papers, as printed there, computed from recipes and shapes."""

from .errors import InvalidInput, check_choice, check_count
from .ledger import ledger

# Names of the ZeRO paper for stages 0 to 3 (arXiv:1910.02054 sec. 5).
STAGE_NAMES = {"baseline": 0, "Pos": 1, "Pos+g": 2, "Pos+g+p": 3}
OFFLOAD_NODES = {"p16": 2, "g16": 2, "update": 12}  # bytes per parameter at each node of ZeRO-Offload's graph


def max_model_params(memory_bytes, dp_size, stage, mp_size=1, recipe="adam-mixed"):
    """The most parameters whose model states alone fit ``memory_bytes`` on each rank: an exact integer.

    Model parallelism of degree ``mp_size`` multiplies it. Nothing is left for activations. arXiv:1910.02054 Table 2
    prints this rounded, and for mp_size > 1 multiplies the already rounded figure.
    """
    memory_bytes, mp_size = check_count("memory_bytes", memory_bytes), check_count("mp_size", mp_size)
    if ledger(1, dp_size, stage, recipe).model_states_bytes_per_rank > memory_bytes:
        return 0
    fits, too_many = 1, 2
    while ledger(too_many, dp_size, stage, recipe).model_states_bytes_per_rank <= memory_bytes:
        fits, too_many = too_many, 2 * too_many
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if ledger(middle, dp_size, stage, recipe).model_states_bytes_per_rank <= memory_bytes:
            fits = middle
        else:
            too_many = middle
    return fits * mp_size


def offload_gpu_bytes_per_param(on_cpu=()):
    """GPU bytes per parameter when the nodes named in ``on_cpu`` live in host memory (ZeRO-Offload, one GPU).

    Nodes: "p16", "g16", "update" (fp32 weights and moments). Forward and backward run on the GPU, so the 16-bit
    weights take their 2 bytes there even when "p16" is on the host. arXiv:2101.06840 Table 1: 16, 14, 4, 2.
    """
    if isinstance(on_cpu, str):
        raise InvalidInput("on_cpu", on_cpu, "a collection of names")
    for node in on_cpu:
        check_choice("on_cpu", node, OFFLOAD_NODES)
    return sum(size for node, size in OFFLOAD_NODES.items() if node == "p16" or node not in on_cpu)


def zero_infinity_params(num_layers, hidden_size):
    """12·L·h²: a transformer's matrices alone (arXiv:2104.07857 eq. 1)."""
    return 12 * check_count("num_layers", num_layers) * check_count("hidden_size", hidden_size) ** 2


def zero_infinity_model_states_bytes(num_layers, hidden_size):
    """240·L·h² bytes, 20 per parameter: fp16 weights and gradients, fp32 weights, gradients and moments (eq. 2).

    The paper's own ZeRO arithmetic has 16: the four extra bytes are an fp32 gradient. One set of notes prints 192.
    """
    return 20 * zero_infinity_params(num_layers, hidden_size)


def zero_infinity_checkpoint_bytes(num_layers, hidden_size, seq_length, batch_size, layers_per_checkpoint=1):
    """2·b·s·h·L/ci bytes of activation checkpoints (eq. 3)."""
    tokens = check_count("batch_size", batch_size) * check_count("seq_length", seq_length)
    interval = check_count("layers_per_checkpoint", layers_per_checkpoint)
    return 2 * tokens * check_count("hidden_size", hidden_size) * check_count("num_layers", num_layers) // interval


def zero_infinity_working_model_bytes(hidden_size):
    """16·h² bytes: weights and gradients of the largest operator, h → 4h, in 16 bits (MSWM, eq. 4)."""
    return 4 * 4 * check_count("hidden_size", hidden_size) ** 2


def zero_infinity_working_activation_bytes(hidden_size, num_heads, seq_length, batch_size, layers_per_checkpoint=1):
    """b·s·ci·(16h + 2as) bytes between two checkpoints (AWM, eq. 5).

    Multiplied by L/ci it is what a model without checkpoints keeps. The table as remembered needs twice this at two
    samples a GPU; we follow the formula.
    """
    tokens = check_count("batch_size", batch_size) * check_count("seq_length", seq_length)
    width = 16 * check_count("hidden_size", hidden_size) + 2 * check_count("num_heads", num_heads) * seq_length
    return tokens * check_count("layers_per_checkpoint", layers_per_checkpoint) * width
