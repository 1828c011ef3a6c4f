"""What an optimizer step holds on top of weights, gradients and states, by implementation.

``numel`` is the rank's own share. PyTorch's Adam: the default on a GPU is *foreach*, whose list of denominators is as
large as the parameters (torch.optim docs: "~ sizeof(params) more peak memory"); *fused* has none; *forloop* works one
tensor at a time. DeepSpeed converts low-precision gradients to fp32 first: flat copy and fp32 copy live together.
"""

from .dtypes import dtype_bytes
from .errors import check_choice, check_count
from .instants import MemoryRow

IMPLEMENTATIONS = ("foreach", "fused", "forloop")


def adam_step_rows(numel, dtype="fp32", implementation="foreach", largest_numel=None):
    """Rows of an Adam step over ``numel`` elements of ``dtype``: its temporaries, a tuple of ``MemoryRow``.

    foreach holds as many elements as the parameters (the square roots of ``exp_avg_sq``); forloop three times the
    largest tensor (``largest_numel``: square roots, quotient, and the tensor before's, still referred to); fused
    nothing. Measured so with torch 2.13. Raises ``InvalidInput``.
    """
    numel = check_count("numel", numel, 0)
    check_choice("implementation", implementation, IMPLEMENTATIONS)
    if implementation == "fused":
        return ()
    if implementation == "forloop":
        numel = 3 * check_count("largest_numel", largest_numel, 0, numel)
    return (MemoryRow("temporary", f"Adam denominators ({implementation})", numel * dtype_bytes(dtype)),)


def deepspeed_step_rows(numel, grad_dtype="bf16", sub_group_numel=None):
    """Rows of DeepSpeed's step over a partition of ``numel`` elements: flat gradients and their fp32 copy.

    Stages 1 and 2 convert the whole partition at once; stage 3 ``sub_group_numel`` elements at a time
    (``sub_group_size``, default 10⁹). fp32 gradients are flattened but not converted. Raises ``InvalidInput``.
    """
    numel = check_count("numel", numel, 0)
    if sub_group_numel is not None:
        numel = min(numel, check_count("sub_group_numel", sub_group_numel, 1))
    size = dtype_bytes(grad_dtype, "grad_dtype")
    rows = [MemoryRow("temporary", f"gradients in one {grad_dtype} buffer", numel * size)]
    if size < 4:
        rows.append(MemoryRow("temporary", "gradients in fp32 for the optimizer", numel * 4))
    return tuple(rows)


def fused_buffer_bytes(num_params, element_bytes=4):
    """Bytes of one buffer over all gradients, as frameworks fuse them before a norm or an all-reduce.

    ZeRO's CB keeps its size constant instead: 6 GB for 1.5B parameters, 12 for 3B (arXiv:1910.02054 sec. 3.2, 6.2).
    """
    return check_count("num_params", num_params) * check_count("element_bytes", element_bytes, 1, 16)
