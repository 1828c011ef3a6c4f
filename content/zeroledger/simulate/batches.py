"""Training data: short token sequences that a small model can learn to continue."""

from random import Random


def global_batch(settings, step):
    """The samples of one step, a list of (ids, targets); the same for every way to spread them over ranks.

    The next token is 3·token + 1, in sequences of at most half length 5·token + 2, modulo the vocabulary. So short
    and long sequences disagree, and it matters how their tokens are weighted.
    """
    random = Random(settings.seed * 1_000_003 + step + 1)
    return [_sample(settings, random) for _ in range(settings.samples_per_step)]


def _sample(settings, random):
    length = settings.seq_length
    if settings.unequal_lengths:
        length = 1 + int(random.random() * length)
    times, plus = (5, 2) if 2 * length <= settings.seq_length else (3, 1)
    tokens = [int(random.random() * settings.vocab_size)]
    for _ in range(length):
        tokens.append((times * tokens[-1] + plus) % settings.vocab_size)
    return tokens[:-1], tokens[1:]


def micro_batches(settings, step):
    """The global batch as ``[micro-batch][rank] -> samples``."""
    samples, size = global_batch(settings, step), settings.micro_batch_size
    parts = [samples[at:at + size] for at in range(0, len(samples), size)]
    return [parts[at:at + settings.dp_size] for at in range(0, len(parts), settings.dp_size)]
