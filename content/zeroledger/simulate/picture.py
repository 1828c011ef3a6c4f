"""A run as plain data, all that a timeline picture needs: curves, lanes, the peak, the loop's text."""

from math import isfinite

from ..errors import check_choice
from ..ledger import ledger
from .log import FIELDS, MEMORY_EVENTS
from .memory import out_of_memory_text
from .model import layers_of
from .source import loop_lines

# From the bottom of the stack to its top: what stays, then what comes and goes.
CATEGORIES = ("params", "grads", "main_grads", "master_params", "exp_avg", "exp_avg_sq", "gathered_params", "staging",
              "unreduced_grads", "activations", "activation_grads")


def run_as_dict(run, ranks=None):
    """``run`` as a dict of lists, numbers and text.

    ``events`` has rows in the order of ``fields``; ``ranks[r]["curve"]`` the device's live bytes by category after each
    memory event, columns ``time_s``, ``event`` (index into ``events``), ``live`` {category: list}, ``reserved``;
    ``ranks[r]["lanes"]`` event indices by lane. ``static_bytes`` is the ideal ledger of one rank. Only ``ranks`` (None: all)
    are included.
    """
    seen = sorted({event.rank for event in run.events})  # a run may end before every rank did something
    chosen = seen if ranks is None else [check_choice("ranks", rank, seen) for rank in ranks]
    events = [event for event in run.events if event.rank in chosen]
    used = [category for category in CATEGORIES if any(event.category == category and event.tier == "device"
                                                       for event in events)]
    book = ledger(num_params_of(run), run.settings.dp_size, run.settings.stage, run.settings.recipe)
    return {
        "settings": run.settings.as_dict(), "losses": finite(run.losses), "num_params": book.num_params,
        "learning_rates": [step.learning_rate for step in run.steps], "out_of_memory": run.out_of_memory,
        "fields": list(FIELDS), "events": [list(event) for event in events], "categories": used,
        "ranks": {str(rank): _rank(run, events, rank, used) for rank in chosen},
        "static_bytes": book.model_states_bytes_per_rank, "total_s": run.total_s(),
        "loop": loop_lines(run.loop_file),
    }


def finite(value):
    """``value``, or a list of what is in it, with None for infinities and NaN, which JSON does not have."""
    if isinstance(value, (list, tuple)):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def num_params_of(run):
    """Parameters the model stands for: stored numbers times ``scale``."""
    return run.settings.scale * sum(layer.numel for layer in layers_of(run.settings, None))


def _rank(run, events, rank, used):
    curve = {"time_s": [], "event": [], "live": {category: [] for category in used}, "reserved": []}
    lanes = {"compute": [], "communication": [], "host": []}
    live, host_bytes = dict.fromkeys(used, 0), 0
    for index, event in enumerate(events):
        if event.rank != rank:
            continue
        if event.lane:
            lanes[event.lane].append(index)
        elif event.tier == "cpu":
            host_bytes += event.num_bytes
        elif event.event in MEMORY_EVENTS:
            live[event.category] += event.num_bytes
            curve["time_s"].append(event.start_s)
            curve["event"].append(index)
            curve["reserved"].append(event.reserved_bytes)
            for category in used:
                curve["live"][category].append(live[category])
    peak = run.peak(rank).as_dict()
    peak["index"] = _index_among(events, run.events[peak["index"]])
    return {"curve": curve, "lanes": lanes, "peak": peak, "host_bytes": host_bytes,
            "persistent_bytes": sum(run.persistent_bytes(rank).values())}


def _index_among(events, wanted):
    return next(index for index, event in enumerate(events) if event is wanted)


PAGE_FIELDS = ("event", "phase", "at", "tensor", "category", "lane", "numel", "num_bytes", "start_ns", "duration_ns", "line", "step",
               "micro_batch", "reserved_change")
NAMED = 6  # the first fields are indices into ``names``


def page_data(run, rank=0):
    """One rank of ``run`` as a picture on a page takes it: small enough for 20,000 events in a message.

    ``events`` has rows in the order of ``PAGE_FIELDS``, times in whole ns; words are indices into ``names``;
    ``reserved_change`` is in bytes, since the event before. Buffers on the host are left out of the events and summed in
    ``host_bytes``.
    """
    names, rows, reserved = {}, [], 0
    for event in run.events_of(rank):
        if event.tier == "cpu":
            continue
        words = (event.event, event.phase, event.at, event.tensor, event.category, event.lane)
        rows.append([*(names.setdefault(word, len(names)) for word in words), event.numel, event.num_bytes,
                     round(event.start_s * 1e9), round(event.end_s * 1e9) - round(event.start_s * 1e9), event.line, event.step,
                     event.micro_batch, event.reserved_bytes - reserved])
        reserved = event.reserved_bytes
    book = ledger(num_params_of(run), run.settings.dp_size, run.settings.stage, run.settings.recipe)
    return {
        "settings": run.settings.as_dict(), "num_params": book.num_params, "losses": finite(run.losses), "rank": rank,
        "categories": [category for category in CATEGORIES if category in names], "names": list(names),
        "fields": list(PAGE_FIELDS), "events": rows, "static_bytes": book.model_states_bytes_per_rank,
        "static_device_bytes": sum(run.persistent_bytes(rank).values()),
        "host_bytes": sum(run.persistent_bytes(rank, "cpu").values()), "loop": loop_lines(run.loop_file),
        "out_of_memory": out_of_memory_text(run.out_of_memory) if run.out_of_memory else None,
    }
