"""Other estimators beside ours: the table that the page shows before the reader chooses."""

import json
import subprocess
from functools import cache

from lessonkit import i18n
from zeroledger import PRESETS, compare_estimators

from . import paths
from .errors import BuildError

RENDER = paths.WEB / "src/page/render-estimators.mjs"
ASKED = {"model": "llama-2-7b", "dp_size": 8, "stage": 3, "seq_length": 2048, "micro_batch_size": 1}


def models():
    """(id, title) of every preset."""
    return [(name, preset.title) for name, preset in PRESETS.items()]


@cache
def estimators_table(lang):
    """The table for `ASKED` as HTML."""
    job = {"told": compare_estimators(**ASKED).as_dict(), "strings": {key: texts[lang] for key, texts in i18n.strings().items()}, "asked": ASKED}
    done = subprocess.run(["node", RENDER], input=json.dumps(job), capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        raise BuildError(f"the estimators' table could not be drawn: {done.stderr.strip()[-800:]}", "correct content/web/src/page")
    return done.stdout
