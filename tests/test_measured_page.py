"""What the page of measured runs is made from: candidates in both languages, examples, the truth table, archives."""

import ast
import html
import json
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from lessonkit import i18n
from publish.errors import BuildError
from publish.lessons import LANGUAGES
from publish.local_notebooks import archive_name, local_lessons, write_archive
from publish.measured_page import example_files, examples
from publish.truth_table import GROUPS, TRUTH, group_name, in_words, tolerance_in_words, truth
from zeroledger import budget, explain
from zeroledger.measured import CATEGORIES, INSTANT_NAMES, METERS
from zeroledger.peers_reasons import REASONS
from zeroledger.snapshot_curves import KINDS
from zeroledger.snapshot_report import MOST_READINGS, report

CONTENT = Path(__file__).parents[1] / "content"
ROW = {"id": "a", "group": "states", "engine": "FSDP2", "ranks": 2, "setup": "toy", "quantity": "parameters held", "unit": "bytes",
       "predicted": [100, 90], "measured": [100, 91], "tolerance": "exact", "ok": False, "note": ""}
RECORD = {"format": "zeroledger-truth", "version": 1, "date": "2026-11-29", "seconds": 3, "versions": {"torch": "2.13.0"}, "hardware": "CPU",
          "rows": [ROW, ROW | {"group": "peak", "predicted": [1000.0], "measured": [1000.0], "tolerance": "5 %", "ok": True}],
          "missing": [{"group": "meters", "what": "device memory", "why": "no CUDA device here"}]}


def written(tmp_path, record):
    file = tmp_path / "truth.json"
    file.write_text(json.dumps(record), encoding="utf-8")
    return file


def test_whatever_the_package_names_has_words_in_both_languages():
    source = (CONTENT / "zeroledger/hypotheses.py").read_text(encoding="utf-8")
    keys = {node.elts[0].value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Tuple) and len(node.elts) == 3
            and isinstance(node.elts[0], ast.Constant) and re.fullmatch(r"[a-z0-9-]+", str(node.elts[0].value))}
    assert len(keys) > 20
    wanted = [f"candidate.{key.replace('-', '_')}" for key in keys]
    wanted += [f"kind.{name}" for name in (*KINDS, *CATEGORIES)] + [f"instant.{name}" for name in INSTANT_NAMES]
    wanted += [f"meter.{name.removesuffix('_bytes')}" for name in METERS]
    known = i18n.strings()
    assert [name for name in wanted if f"page.measured.{name}" not in known] == []
    assert [key for key in REASONS if f"page.estimators.reason.{key}" not in known] == []
    assert all(group_name(key, lang) for key in GROUPS for lang in LANGUAGES)


def test_examples_are_read_and_named():
    assert example_files()
    for lang in LANGUAGES:
        labels = [example.label for example in examples(lang)]
        assert len(set(labels)) == len(labels)
    for file in example_files():
        told = report(file.read_bytes())
        assert told["predicted"] and told["explained"]


def test_a_run_of_many_ranks_is_told_by_its_fullest():
    ranks = [{"rank": rank, "instants": [{"name": "peak", "allocated_bytes": 10**10 + rank}]} for rank in range(MOST_READINGS + 5)]
    run = {"format": "zeroledger-run", "version": 1, "config": {"model": "llama-2-7b", "dp": 64}, "ranks": ranks}
    told = report(run)
    assert told["num_readings"] == len(explain(run).instants) == MOST_READINGS + 5
    assert [each["rank"] for each in told["explained"]] == list(range(MOST_READINGS + 4, 4, -1))


def test_the_truth_table(tmp_path):
    record = truth(written(tmp_path, RECORD))
    assert (record.num_rows, record.num_met, record.versions) == (2, 1, "torch 2.13.0")
    states, peak, meters = record.groups
    assert (states.worst, peak.worst) == ("1.1%", "0")
    assert states.rows[0].measured == "100 / 91 bytes"
    assert (states.count, states.met, states.rows[0].ranks) == (1, 0, "2")
    assert meters.missing == (("device memory", "no CUDA device here"),) and not meters.rows
    assert truth(tmp_path / "none.json") is None


WORDS = """
import {{ instantWords }} from '{module}';
const [names, strings] = JSON.parse(process.argv[1]);
console.log(JSON.stringify(names.map((name) => instantWords(name, strings))));
"""


def test_every_instant_of_a_budget_has_words():
    names = {instant.name for engine, stages in (("ideal", (0, 1, 3)), ("fsdp2", (3,)), ("deepspeed", (0, 2, 3))) for stage in stages
             for recompute in ("none", "full") for chunks in (1, 4)
             for instant in budget("llama-2-7b", mesh=4, stage=stage, engine=engine, recompute=recompute, loss_chunks=chunks).instants}
    module = (CONTENT / "web/src/page/instant-words.js").as_uri()
    for lang in LANGUAGES:
        strings = {key: words[lang] for key, words in i18n.strings().items() if key.startswith("page.instant.")}
        done = subprocess.run(["node", "--input-type=module", "-e", WORDS.format(module=module), json.dumps([sorted(names), strings])],
                              capture_output=True, text=True, check=True)
        told = json.loads(done.stdout)
        assert told == sorted(names) if lang == "en" else None not in told and len(set(told)) == len(names)


def test_the_record_is_told_in_both_languages(tmp_path):
    record = json.loads(TRUTH.read_text(encoding="utf-8"))
    for quantity in {row["quantity"] for row in record["rows"]}:
        assert html.unescape(in_words("quantity", quantity, "en")) == quantity and "<span" not in in_words("quantity", quantity, "zh-CN")
    for row in record["rows"]:
        assert html.unescape(tolerance_in_words(row["tolerance"], "en")) == row["tolerance"] and "<span" not in tolerance_in_words(row["tolerance"], "zh-CN")
    assert tolerance_in_words("at most 64", "zh-CN") == "不超过 64"
    for each in record["missing"]:
        assert "<span" not in in_words("missing", each["what"], "zh-CN") + in_words("missing", each["why"], "zh-CN")
    assert in_words("quantity", "never heard of", "zh-CN") == '<span lang="en">never heard of</span>'


def test_a_comparison_that_failed_is_the_one_shown(tmp_path):
    fine = ROW | {"ok": True, "measured": [100, 90], "ranks": 4}
    group = truth(written(tmp_path, RECORD | {"rows": [fine, ROW, fine], "missing": []})).groups[0]
    assert [(row.count, row.met, row.ranks, row.measured) for row in group.rows] == [(3, 2, "2, 4", "100 / 91 bytes")]


@pytest.mark.parametrize("change", [{"format": "x"}, {"version": 2}, {"rows": [ROW | {"group": "weather"}]}, {"rows": [{"group": "peak"}]},
                                    {"versions": None}])
def test_a_broken_record_fails_the_build(tmp_path, change):
    with pytest.raises(BuildError, match="truth.json"):
        truth(written(tmp_path, RECORD | change))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_archives_hold_all_that_their_notebooks_need(tmp_path, lang):
    lessons = local_lessons()
    assert set(lessons) == {8, 9}
    for lesson in lessons.values():
        path = tmp_path / archive_name(lesson)
        write_archive(lesson, lang, path)
        first = path.read_bytes()
        write_archive(lesson, lang, path)
        assert path.read_bytes() == first, "equal content gives equal bytes"
        names = {name.split("/", 1)[1] for name in zipfile.ZipFile(path).namelist()}
        assert {lesson.notebook_name, "small_training.py", "zeroledger_measure.py", "zeroledger/__init__.py", "lessonkit/strings.json",
                "LICENSE"} <= names
        source = zipfile.ZipFile(path).read(f"{path.stem}/{lesson.notebook_name}").decode()
        for exercise in re.findall(r'predict\(\\"([a-z0-9-]+)\\"\)', source):
            assert f"exercises/{exercise}.toml" in names
