"""The simulated training step on pages: the element that lessons hold, and a page of its own.

The build simulates the first run and draws it, so that the picture is there without Python or scripts.
"""

import json
from functools import cache
from html import escape

from lessonkit import i18n
from zeroledger.simulate import simulate
from zeroledger.simulate.picture import page_data

from .drawing import draw

SLUG = "timeline"


def timeline_html(lang, settings, cell_id):
    """A <zero-timeline> whose first run has `settings` (fields of zeroledger.simulate.Settings), seen from the fullest rank."""
    return _element(lang, json.dumps(settings, sort_keys=True), f"zl-{cell_id}")


def timeline_page(exporter, context):
    """The page "watch a training step" as HTML. `context` is a pages.PageContext of that page."""
    return exporter.render_template("timeline.html.j2", zero=context, timeline=timeline_html(context.lang, {}, SLUG))


@cache
def _element(lang, settings_json, element_id):
    run = simulate(**json.loads(settings_json))
    data = page_data(run, run.peak().rank)
    strings = {key: texts[lang] for key, texts in i18n.strings().items()}
    drawing = draw("render-timeline", {"data": data, "strings": strings, "id": element_id})
    inline = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return (f'<zero-timeline id="{element_id}" data-settings="{escape(settings_json)}">'
            f'<script type="application/json">{inline}</script>{drawing}</zero-timeline>')
