"""The log and the run as plain data, bad settings, and what the subpackage may import and how long it may take."""

import ast
import json
import subprocess
import sys
from itertools import accumulate
from pathlib import Path

import pytest

from zeroledger.simulate import simulate
from zeroledger.simulate import source, training_loop
from zeroledger.simulate.picture import page_data
from zeroledger.simulate.log import COLLECTIVES, FIELDS, MEMORY_EVENTS

PACKAGE = Path(training_loop.__file__).parent
MODULES = sorted(PACKAGE.glob("*.py"))
CORE = ("training_loop", "cluster", "exchange", "layout", "rank", "adam", "arithmetic", "layers", "model")  # the transformer adds attention
RUN = simulate()
PLAIN = RUN.as_dict()


def test_a_run_is_plain_data():
    assert json.loads(json.dumps(PLAIN, allow_nan=False)) == PLAIN


def test_events_are_of_known_kinds_and_complete():
    kinds = {"forward", "backward", "adam", *MEMORY_EVENTS, *COLLECTIVES} - {"all_reduce"}
    assert {event.event for event in RUN.events} == kinds
    assert {event.event for event in simulate(stage=0).events} >= {"all_reduce"}
    assert {event.event for event in simulate(offload="params", recompute="full").events} >= {"offload", "upload", "recompute"}
    assert PLAIN["fields"] == list(FIELDS) and all(len(row) == len(FIELDS) for row in PLAIN["events"])


def test_the_curve_is_what_the_events_add_up_to():
    curve, peak = PLAIN["ranks"]["1"]["curve"], PLAIN["ranks"]["1"]["peak"]
    column = FIELDS.index("live_bytes")
    totals = [sum(stack) for stack in zip(*curve["live"].values())]
    assert totals == [PLAIN["events"][index][column] for index in curve["event"]]
    assert max(totals) == peak["num_bytes"] == sum(peak["live"].values()) == sum(size for *_, size in peak["buffers"])
    assert PLAIN["events"][peak["index"]][column] == peak["num_bytes"]
    assert curve["time_s"] == sorted(curve["time_s"])
    bytes_column = [PLAIN["events"][index][FIELDS.index("num_bytes")] for index in curve["event"]]
    assert list(accumulate(bytes_column)) == totals


def test_one_rank_can_be_asked_for_alone():
    alone = RUN.as_dict(ranks=[2])
    assert list(alone["ranks"]) == ["2"] and {row[0] for row in alone["events"]} == {2}
    everything = PLAIN["ranks"]["2"]["curve"]
    assert alone["ranks"]["2"]["curve"]["live"] == everything["live"]
    with pytest.raises(ValueError, match="ranks = 9"):
        RUN.as_dict(ranks=[9])


@pytest.mark.parametrize("event, words", [
    ("all_gather", "all_gather(layer"), ("prefetch", "all_gather(next_layer, early=True)"), ("release", "ranks.release(layer)"),
    ("reduce_scatter", "ranks.reduce_scatter(ranks.bucket)"), ("backward", "ranks.backward(layer)"), ("adam", "ranks.adam(layer)"),
    ("forward", "ranks.forward(layer)"),
])
def test_every_event_points_to_its_line_of_the_loop(event, words):
    text = {PLAIN["loop"][each.line - 1].strip() for each in RUN.events if each.event == event}
    assert any(words in line for line in text), text


def test_the_loop_s_text_comes_from_an_archive_where_sources_are_missing(monkeypatch):
    monkeypatch.setattr("linecache.getlines", lambda name: [])
    monkeypatch.setattr("pkgutil.get_data", lambda package, name: Path(training_loop.__file__).read_bytes()
                        if (package, name) == ("zeroledger.simulate", "training_loop.py.txt") else None)
    assert source.loop_lines(training_loop.__file__) == Path(training_loop.__file__).read_text("utf-8").splitlines()
    assert source.loop_lines("<cell 3>") == []


@pytest.mark.parametrize("change, words", [
    ({"dp_size": 0}, "dp_size = 0: expected a whole number from 1"),
    ({"dp_size": "four"}, "dp_size = 'four'"), ({"dp_size": 2.5}, "dp_size = 2.5"), ({"dp_size": True}, "dp_size = True"),
    ({"reduce_bucket_numel": -1}, "reduce_bucket_numel = -1"), ({"prefetch_depth": -1}, "prefetch_depth = -1"),
    ({"stage": 4}, "stage = 4"), ({"model": "rnn"}, "model = 'rnn': expected one of mlp, transformer"),
    ({"recompute": "all"}, "recompute = 'all'"), ({"recompute": "selective"}, "recompute = 'selective': expected none or full"),
    ({"offload": "optimizer", "stage": 0}, "stage = 0: expected 1 or more"), ({"offload": "params", "stage": 2}, "stage = 2"),
    ({"recipe": "lora"}, "recipe = 'lora'"), ({"recipe": "nothing"}, "recipe = 'nothing'"), ({"breaks": "typo"}, "breaks = 'typo'"),
    ({"learning_rate": float("nan")}, "learning_rate = nan"), ({"learning_rate": -1}, "learning_rate = -1"),
    ({"model": "transformer", "num_attention_heads": 3}, "num_attention_heads = 3: expected a divisor of hidden_size 8"),
    ({"device_bytes": "many"}, "device_bytes = 'many'"), ({"precision": "fp8"}, "precision = 'fp8'"),
    ({"num_layers": 64, "hidden_size": 512, "num_steps": 1000}, "expected a run of at most"),
    ({"hiden_size": 8}, "settings = 'hiden_size': expected one of model"), ({"overlap": "yes"}, "overlap = 'yes'"),
    ({"costs": 3}, "costs = 3"), ({"breaks": 3}, "breaks = 3"),
], ids=str)
def test_bad_settings_say_what_is_accepted(change, words):
    with pytest.raises(ValueError) as error:
        simulate(**change)
    assert words in str(error.value)


def test_settings_must_be_settings():
    with pytest.raises(ValueError, match="settings = {}: expected a Settings"):
        simulate({})


def test_twenty_thousand_events():
    run = simulate(dp_size=8, num_layers=8, gradient_accumulation_steps=4, num_steps=4)
    assert len(run.events) > 20_000
    assert len(run.as_dict(ranks=[0])["ranks"]) == 1


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_modules_are_small_documented_and_import_only_the_standard_library(module):
    text = module.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert len(text.splitlines()) <= 220 and ast.get_docstring(tree)
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else (
            [node.module] if isinstance(node, ast.ImportFrom) and not node.level else [])
        assert all(name.split(".")[0] in sys.stdlib_module_names for name in names)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{module.name}: {node.name} has no docstring"


def test_the_core_can_be_read_in_one_sitting():
    assert sum(code_lines(PACKAGE / f"{name}.py") for name in CORE) <= 600


def code_lines(file):
    """Lines that hold code: no blank ones, comments or docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    held = set()
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        if isinstance(node, ast.stmt) and not is_text:
            inner = getattr(node, "body", [node])
            held.update(range(node.lineno, node.end_lineno + 1) if inner == [node] else range(node.lineno, inner[0].lineno))
    texts = {line for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
             for line in range(node.lineno, node.end_lineno + 1)}
    written = file.read_text(encoding="utf-8").splitlines()
    return sum(1 for line in held - texts if written[line - 1].strip() and not written[line - 1].strip().startswith("#"))


def test_importing_zeroledger_does_not_load_the_simulator():
    code = "import sys, zeroledger; print([name for name in sys.modules if 'simulate' in name])"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent.parent)
    assert done.stdout.strip() == "[]"


def test_page_data_says_the_same_in_less_room():
    data = page_data(RUN, 1)
    plain = json.dumps(data, allow_nan=False)
    fields = dict(zip(data["fields"], zip(*data["events"])))
    events = RUN.events_of(1)
    for name in ("event", "phase", "at", "tensor", "category", "lane"):
        assert [data["names"][index] for index in fields[name]] == [getattr(event, name) for event in events]
    for name in ("numel", "num_bytes", "line", "step", "micro_batch"):
        assert list(fields[name]) == [getattr(event, name) for event in events]
    assert list(accumulate(fields["reserved_change"])) == [event.reserved_bytes for event in events]
    assert fields["start_ns"] == pytest.approx([event.start_s * 1e9 for event in events], abs=0.5)
    ends = [start + duration for start, duration in zip(fields["start_ns"], fields["duration_ns"])]
    assert ends == pytest.approx([event.end_s * 1e9 for event in events], abs=0.5)
    assert len(plain) < 100 * len(events)


def test_twenty_thousand_events_of_one_rank_fit_into_a_message():
    run = simulate(dp_size=1, num_layers=24, gradient_accumulation_steps=8, num_steps=6)
    data = page_data(run)
    assert len(data["events"]) > 20_000
    assert len(json.dumps(data)) < 2_000_000  # MAX_JSON_CHARS of the runner


def test_host_buffers_are_summed_and_left_out():
    run = simulate(offload="optimizer")
    data = page_data(run)
    assert data["host_bytes"] == sum(run.persistent_bytes(0, "cpu").values()) > 0
    assert data["static_device_bytes"] == sum(run.persistent_bytes(0).values()) == data["static_bytes"] - data["host_bytes"]
