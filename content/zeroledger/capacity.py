"""The largest model whose states fit: the ledger read backwards."""

from .errors import check_count
from .ledger import ledger

# Names of the ZeRO paper for stages 0 to 3 (arXiv:1910.02054 sec. 5).
STAGE_NAMES = {"baseline": 0, "Pos": 1, "Pos+g": 2, "Pos+g+p": 3}


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
