"""The chart of lesson 6 on pages: every setting computed by the package, drawn by the page's own script."""

import json
from functools import cache

from lessonkit import i18n
from lessonkit import parallel_books as books
from zeroledger import CARDS, PRESETS

from .drawing import draw

MODELS = books.MODELS


@cache
def parallel_grid():
    """Models, degrees, cards; "states"[model][tp][stage][row] and "activations"[model][tp][sp][recompute] in bytes a rank."""
    return {
        "models": [{"id": name, "title": PRESETS[name].title} for name in books.MODELS],
        "tp_sizes": list(books.TP_SIZES), "num_cards": books.NUM_CARDS, "recompute": list(books.RECOMPUTE), "seq_length": books.SEQ_LENGTH,
        "categories": [category for category, _ in books.state_rows(books.MODELS[0], 1, 0)] + ["activations"],
        "cards": [{"name": card.name, "memory_bytes": card.memory_bytes} for card in CARDS],
        "states": [[[[size for _, size in books.state_rows(name, tp, stage)] for stage in books.STAGES] for tp in books.TP_SIZES]
                   for name in books.MODELS],
        "activations": [[[[books.activation_bytes(name, tp, sp, mode) for mode in books.RECOMPUTE] for sp in (False, True)]
                         for tp in books.TP_SIZES] for name in books.MODELS],
    }


def parallel_html(lang, start, cell_id):
    """A <zero-parallel> that begins with the settings `start` (those of parallel_books.START may be left out)."""
    return _element(lang, json.dumps({**books.START, **start}, sort_keys=True), f"zl-{cell_id}")


def parallel_figures(model):
    """Every amount that the chart can be made to show for `model`, as text: "47427792896 B" and so on, for the gate."""
    grid, at = parallel_grid(), books.MODELS.index(model)
    rows = [rows for stages in grid["states"][at] for rows in stages]
    kept = [size for modes in grid["activations"][at] for sizes in modes for size in sizes]
    return "\n".join(f"{size} B" for size in {*kept, *(sum(row) for row in rows), *(size for row in rows for size in row)})


@cache
def _element(lang, start_json, element_id):
    strings = {key: texts[lang] for key, texts in i18n.strings().items()}
    drawing = draw("render-parallel", {"grid": parallel_grid(), "strings": strings, "start": json.loads(start_json), "id": element_id})
    inline = json.dumps(parallel_grid(), separators=(",", ":")).replace("<", "\\u003c")
    return f'<zero-parallel id="{element_id}"><script type="application/json">{inline}</script>{drawing}</zero-parallel>'
