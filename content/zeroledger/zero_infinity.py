"""The sizing and bandwidth formulas of ZeRO-Infinity (arXiv:2104.07857), as published.

Shapes: ``num_layers`` blocks of ``hidden_size`` with ``num_attention_heads``, sequences of ``seq_length``, one
activation checkpoint every ``checkpoint_interval`` blocks (ci). All results are exact bytes.
"""

from dataclasses import dataclass

from .errors import InvalidInput, check_choice, check_count, check_number

SOURCE = "arXiv:2104.07857 sec. 3 (sizes), sec. 4 (bandwidth)"
STATE_BYTES_PER_PARAM = 20  # fp16 weight and gradient 4, fp32 weight, gradient and two moments 16


@dataclass(frozen=True)
class InfinitySizes:
    """The columns of the paper's Fig. 2a for one model and batch.

    ``model_states_bytes`` counts 20 bytes a parameter (240·L·h²), with an fp32 gradient; others of its sentences
    write 192·L·h² (16 bytes). ``working_*`` are the largest single operator's weights with gradients, and one
    checkpoint interval's activations.
    """

    num_params: int
    model_states_bytes: int
    activation_checkpoint_bytes: int
    activation_bytes: int
    working_states_bytes: int
    working_activation_bytes: int


def infinity_sizes(num_layers, hidden_size, num_attention_heads, seq_length, batch_size, checkpoint_interval=1):
    """``InfinitySizes`` for ``batch_size`` sequences (per node or per GPU, as the column asks). Raises ``InvalidInput``.

    The paper's formula for working activations is in bytes: b·s·ci·(16h + 2·heads·s). Full activations repeat it for
    every block.
    """
    sizes = {"num_layers": num_layers, "hidden_size": hidden_size, "num_attention_heads": num_attention_heads,
             "seq_length": seq_length, "batch_size": batch_size, "checkpoint_interval": checkpoint_interval}
    layers, h, heads, s, b, interval = (check_count(field, size) for field, size in sizes.items())
    num_params = 12 * layers * h * h
    block = b * s * (16 * h + 2 * heads * s)
    return InfinitySizes(
        num_params=num_params,
        model_states_bytes=STATE_BYTES_PER_PARAM * num_params,
        activation_checkpoint_bytes=-(-2 * b * s * h * layers // interval),
        activation_bytes=block * layers,
        working_states_bytes=4 * h * 4 * h,  # the h → 4h matrix, 2 + 2 bytes an element
        working_activation_bytes=interval * block,
    )


TRAFFIC = ("params and grads", "optimizer states", "activation checkpoints")


def arithmetic_intensity(traffic, seq_length, batch_size, hidden_size=None, checkpoint_interval=1):
    """Operations for each byte moved (sec. 4.1): s·b for parameters and gradients, s·b/4 for optimizer states,
    24·h·ci for activation checkpoints. ``batch_size`` is per GPU. Raises ``InvalidInput``."""
    check_choice("traffic", traffic, TRAFFIC)
    if traffic == "activation checkpoints":
        return 24 * check_count("hidden_size", hidden_size) * check_count("checkpoint_interval", checkpoint_interval)
    tokens = check_count("seq_length", seq_length) * check_count("batch_size", batch_size)
    return tokens if traffic == "params and grads" else tokens / 4


def efficiency(intensity, bytes_per_s, achievable_flops):
    """Share of its time a device computes when every byte is waited for (eq. 6): ait·bw / (ait·bw + peak), no overlap."""
    rate = check_number("intensity", intensity) * check_number("bytes_per_s", bytes_per_s)
    if check_number("achievable_flops", achievable_flops) <= 0:
        raise InvalidInput("achievable_flops", achievable_flops, "a number above 0")
    return rate / (rate + achievable_flops)
