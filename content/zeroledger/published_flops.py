"""Formulas and comparisons of arXiv:2205.05198 (Korthikanti et al.), as printed, faults included.

B sequences of s tokens, hidden size h, L layers, vocabulary V. ``compute`` counts the same from the tensors.
"""

from .errors import InvalidInput, check_count, check_number


def paper_model_flops(global_batch_size, seq_length, hidden_size, num_layers, vocab_size):
    """Eq. 7, exact: 72BLsh² (1 + s/6h + V/12hL) operations an iteration, forward and backward."""
    b, s, h, layers, v = _sizes(global_batch_size, seq_length, hidden_size, num_layers, vocab_size)
    return 72 * b * layers * s * h * h + 12 * b * layers * s * s * h + 6 * b * s * h * v


def paper_selective_flops(global_batch_size, seq_length, hidden_size, num_layers, vocab_size):
    """Eq. 8, exact: 72BLsh² (1 + s/3h + V/12hL), with selective recomputation.

    It does not follow from the paper's own text: repeating the two products of the attention core (4Bs²hL) gives
    s/6h + s/18h, not s/3h. ``compute.step_flops`` counts the operations; this function repeats the print.
    """
    b, s, h, layers, _ = _sizes(global_batch_size, seq_length, hidden_size, num_layers, vocab_size)
    extra = 12 * b * layers * s * s * h
    return paper_model_flops(global_batch_size, seq_length, hidden_size, num_layers, vocab_size) + extra


def paper_selective_percent(seq_length, hidden_size):
    """Eq. 9 as printed: selective recomputation costs s/6h more operations, in per cent (2.7 for GPT-3)."""
    return 100 * check_count("seq_length", seq_length) / (6 * check_count("hidden_size", hidden_size))


def counted_selective_percent(seq_length, hidden_size):
    """The same from the operations of the paper's Appendix A: 4Bs²h on 72Bsh² + 12Bs²h a layer, in per cent."""
    s, h = check_count("seq_length", seq_length), check_count("hidden_size", hidden_size)
    return 100 * 4 * s / (72 * h + 12 * s)


def overhead_percent(time, baseline):
    """How much longer ``time`` is than ``baseline`` (same unit), in per cent; negative when shorter (Table 4)."""
    return 100 * (_positive("time", time) / _positive("baseline", baseline) - 1)


def throughput_increase_percent(time_before, time_after):
    """How many more iterations fit in a second after the change, in per cent (Table 5)."""
    return 100 * (_positive("time_before", time_before) / _positive("time_after", time_after) - 1)


def _positive(field, value):
    if check_number(field, value) <= 0:
        raise InvalidInput(field, value, "a number above 0")
    return value


def _sizes(global_batch_size, seq_length, hidden_size, num_layers, vocab_size):
    given = {"global_batch_size": global_batch_size, "seq_length": seq_length, "hidden_size": hidden_size,
             "num_layers": num_layers, "vocab_size": vocab_size}
    return tuple(check_count(field, value) for field, value in given.items())
