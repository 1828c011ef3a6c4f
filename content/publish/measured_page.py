"""The page "Your own run": a measured file of the reader's beside its prediction, and what belongs to it for download.

`measure/` of the site holds the measuring kit (content/measure) and example files: what PyTorch measured for the truth
runs (tests/torch/results/run-*.json) and content/measurements/examples.
"""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from lessonkit import i18n
from zeroledger.errors import InvalidInput
from zeroledger.snapshot_report import report

from . import paths
from .errors import BuildError
from .estimators_table import ASKED, estimators_table, models
from .truth_table import TRUTH, group_name, in_words, tolerance_in_words, truth

SLUG = "measured"
FOLDER = "measure"
KIT = paths.CONTENT / "measure/zeroledger_measure.py"
RESULTS = paths.TESTS / "torch/results"
KIT_CODE = '''from zeroledger_measure import Measure

measure = Measure(model, optimizer, "run.json", snapshot="snapshot.json",
                  config={"model": "llama-2-7b", "seq_length": 2048})
for batch in measure(batches):
    ...            # your loop as it was'''


@dataclass(frozen=True)
class Example:
    """A file to try: `address` from the site's root, `label` in the page's language."""

    address: str
    label: str


def example_files():
    """The example files, measured runs first."""
    return [*sorted(RESULTS.glob("run-*.json")), *sorted((paths.CONTENT / "measurements/examples").glob("*.json"))]


def examples(lang):
    """`Example` of each file. BuildError for one that the page would refuse."""
    return [Example(f"{FOLDER}/examples/{file.name}", _label(file, lang)) for file in example_files()]


def measured_page(exporter, context):
    """The page as HTML. `context` is a pages.PageContext of that page."""
    return exporter.render_template(
        "measured.html.j2", zero=context, examples=examples(context.lang), kit_code=KIT_CODE, models=models(), asked=ASKED,
        estimators_table=estimators_table(context.lang), truth=truth(), group_name=group_name,
        in_words=in_words, tolerance_in_words=tolerance_in_words)


def write_files(folder):
    """Kit and examples into `folder`, which is measure/ of the site."""
    (folder / "examples").mkdir(parents=True, exist_ok=True)
    for file in (KIT, KIT.with_name("measure_gpu.py")):
        shutil.copyfile(file, folder / file.name)
    if TRUTH.is_file():
        shutil.copyfile(TRUTH, folder / TRUTH.name)
    for file in example_files():
        shutil.copyfile(file, folder / "examples" / file.name)


def _label(file: Path, lang):
    try:
        told = report(file.read_bytes())
    except InvalidInput as error:
        raise BuildError(f"{file.name}: {error}", "correct the example file") from error
    if told["kind"] == "snapshot":
        return i18n.text("page.measured.example_snapshot" if told["curve"]["reserved"] else "page.measured.example_snapshot_cpu", lang)
    config = told["config"]
    ranks = len(json.loads(file.read_bytes())["ranks"])
    key = "page.measured.example_run" if config["recompute"] == "none" else "page.measured.example_run_recomputed"
    return i18n.text(key, lang, engine=config["engine"], stage=config["stage"], ranks=ranks)
