"""What tensor, sequence, pipeline and expert parallelism send: per block and micro-batch, scaled to a step.

Messages are activations, so these grow with tokens, where data parallelism grows with parameters.
"""

from .collectives import CollectiveRow, Communication
from .errors import check_choice, check_count, check_flag

RECOMPUTE = ("none", "selective", "full")
MEGATRON = "arXiv:1909.08053 sec. 3; arXiv:2205.05198 sec. 4.2 (sequence parallelism)"


def tensor_parallel(micro_batch_size, seq_length, hidden_size, tp_size, *, sequence_parallel=False, recompute="none",
                    dtype="bf16", num_layers=1, gradient_accumulation_steps=1):
    """Collectives of ``num_layers`` transformer blocks for all micro-batches of a step; buffers of b·s·h elements.

    Without sequence parallelism two all-reduces forward (after attention, after the MLP) and two backward; full
    recompute repeats the forward ones, so six (ZeRO sec. 8: 12 × seq × hidden). With it each all-reduce becomes a
    reduce-scatter and an all-gather, and backward gathers both inputs once more because only a slice was kept.
    Selective recompute repeats the attention core, which sends nothing.
    """
    check_choice("recompute", recompute, RECOMPUTE)
    message = _message(micro_batch_size, seq_length, hidden_size)
    times = check_count("num_layers", num_layers) * check_count("gradient_accumulation_steps", gradient_accumulation_steps)
    tp_size = check_count("tp_size", tp_size)

    def row(op, calls, phase):
        return CollectiveRow(op, "tp", tp_size, times * calls, times * calls * message, dtype, "activations", phase)

    again = 2 if recompute == "full" else 0
    if not check_flag("sequence_parallel", sequence_parallel):
        rows = (row("all_reduce", 2, "forward"), row("all_reduce", 2 + again, "backward"))
    else:
        rows = (row("all_gather", 2, "forward"), row("reduce_scatter", 2, "forward"),
                row("all_gather", 2 + 2 + again, "backward"), row("reduce_scatter", 2 + again, "backward"))
    name = f"tensor parallel over {tp_size}{', sequence parallel' if sequence_parallel else ''}, recompute {recompute}"
    return Communication(name, rows, MEGATRON)


def pipeline_parallel(micro_batch_size, seq_length, hidden_size, pp_size, *, dtype="bf16",
                      gradient_accumulation_steps=1, virtual_stages=1, tp_size=1):
    """Sends of an inner pipeline stage: activations on and their gradients back, for each micro-batch and virtual stage.

    Ranks of a tensor-parallel group send a slice each (Megatron's scatter-gather), so the buffer is b·s·h / ``tp_size``.
    Source: arXiv:2104.04473 sec. 4.1.
    """
    message = -(-_message(micro_batch_size, seq_length, hidden_size) // check_count("tp_size", tp_size))
    calls = check_count("gradient_accumulation_steps", gradient_accumulation_steps)
    calls *= check_count("virtual_stages", virtual_stages)
    pp_size = check_count("pp_size", pp_size)
    calls *= pp_size > 1
    rows = tuple(CollectiveRow("send_recv", "pp", pp_size, calls, calls * message, dtype, payload, phase)
                 for payload, phase in (("activations", "forward"), ("activation grads", "backward")))
    return Communication(f"pipeline over {pp_size}", rows, "arXiv:2104.04473 sec. 4.1")


def expert_parallel(micro_batch_size, seq_length, hidden_size, experts_per_token, ep_size, *, recompute="none",
                    dtype="bf16", num_layers=1, gradient_accumulation_steps=1):
    """All-to-alls of ``num_layers`` mixture layers: dispatch and combine, forward and backward, tokens spread evenly.

    A token travels once for each of its ``experts_per_token`` experts. Source: arXiv:2006.16668 (GShard) sec. 3.
    """
    check_choice("recompute", recompute, RECOMPUTE)
    message = _message(micro_batch_size, seq_length, hidden_size) * check_count("experts_per_token", experts_per_token)
    times = check_count("num_layers", num_layers) * check_count("gradient_accumulation_steps", gradient_accumulation_steps)
    ep_size = check_count("ep_size", ep_size)
    rows = tuple(CollectiveRow("all_to_all", "ep", ep_size, times * calls, times * calls * message, dtype, "tokens", phase)
                 for calls, phase in ((2, "forward"), (4 if recompute == "full" else 2, "backward")))
    return Communication(f"experts over {ep_size}", rows, "arXiv:2006.16668 sec. 3")


def _message(micro_batch_size, seq_length, hidden_size):
    sizes = {"micro_batch_size": micro_batch_size, "seq_length": seq_length, "hidden_size": hidden_size}
    numel = 1
    for field, size in sizes.items():
        numel *= check_count(field, size, 1, 10**9)
    return numel
