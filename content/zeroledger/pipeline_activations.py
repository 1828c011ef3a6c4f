"""How many layers' activations a pipeline rank holds at once."""

from .errors import ConfigError, check_choice, check_count

SCHEDULES = ("1f1b", "gpipe")


def layers_in_flight(num_layers, pp_size=1, interleave=1, stage_index=0, num_micro_batches=None, schedule="1f1b"):
    """Layers × micro-batches whose activations stage ``stage_index`` (from 0) holds at its peak, an exact integer.

    1F1B: the first stage holds p micro-batches of its L/p layers, that is L layers whatever p is; stage i holds p − i.
    Interleaved in m chunks a rank, the first holds L·(1 + (p − 1)/(p·m)) (arXiv:2205.05198 sec. 4.2.3), because
    2(p − i − 1) + (m − 1)p + 1 chunks are warmed up. GPipe holds every micro-batch. Fewer micro-batches than that
    (``num_micro_batches``; None: enough) hold less. Raises ``ConfigError`` when p·m does not divide the layers.
    """
    num_layers = check_count("num_layers", num_layers, 1, 10**6, ConfigError)
    pp_size = check_count("pp_size", pp_size, 1, num_layers, ConfigError)
    interleave = check_count("interleave", interleave, 1, num_layers, ConfigError)
    stage_index = check_count("stage_index", stage_index, 0, pp_size - 1, ConfigError)
    check_choice("schedule", schedule, SCHEDULES, ConfigError)
    if num_layers % (pp_size * interleave):
        raise ConfigError("num_layers", num_layers, f"a multiple of pp_size × interleave = {pp_size * interleave}")
    chunk_layers = num_layers // (pp_size * interleave)
    if schedule == "gpipe":
        if num_micro_batches is None:
            raise ConfigError("num_micro_batches", None, "their number, because GPipe holds every micro-batch")
        return check_count("num_micro_batches", num_micro_batches, 1, error=ConfigError) * chunk_layers * interleave
    chunks = _warmup_chunks(pp_size, interleave, stage_index)
    if num_micro_batches is not None:
        chunks = min(chunks, interleave * check_count("num_micro_batches", num_micro_batches, 1, error=ConfigError))
    return chunks * chunk_layers


def _warmup_chunks(pp_size, interleave, stage_index):
    """Forward passes of chunks that a stage runs before its first backward, that one's own included."""
    if interleave == 1 or pp_size == 1:
        return (pp_size - stage_index) * interleave
    return 2 * (pp_size - stage_index - 1) + (interleave - 1) * pp_size + 1


def pipeline_output_bytes(seq_length, micro_batch_size, hidden_size, pp_size, element_bytes=2):
    """Bytes of stage outputs that the first stage keeps needlessly unless they are freed once sent: s·b·h·p elements.

    arXiv:2205.05198 Appendix B (2.73 "GB" for its 530B model, which is GiB).
    """
    total = 1
    for field, value in (("seq_length", seq_length), ("micro_batch_size", micro_batch_size),
                         ("hidden_size", hidden_size), ("pp_size", pp_size), ("element_bytes", element_bytes)):
        total *= check_count(field, value, 1, error=ConfigError)
    return total
