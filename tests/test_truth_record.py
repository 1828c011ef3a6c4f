"""The record of the last truth runs (./build.sh torch): whole, consistent, every reading within its tolerance, and still
what the package predicts today where that can be asked without torch."""

import json
import re
import sys
from pathlib import Path

import pytest
from toy_gpt import toy_gpt

from zeroledger import explain, frameworks
from zeroledger.communication import ddp, zero_redundancy_optimizer

TORCH = Path(__file__).parent / "torch"
RECORD = json.loads((TORCH / "results" / "truth.json").read_text(encoding="utf-8"))
ROWS = RECORD["rows"]
GROUPS = {"states", "collectives", "activations", "peak", "equivalence", "breaks", "kit"}
ENGINES = {"PyTorch", "DDP", "ZeroRedundancyOptimizer", "FSDP2", "DeepSpeed"}
TOYS = {f"{sum(frameworks.numel_of(shape) for _, shape in toy_gpt(name)):,}": name for name in ("even", "uneven")}


def test_the_record_is_whole():
    assert (RECORD["format"], RECORD["version"]) == ("zeroledger-truth", 1)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", RECORD["date"]) and {"torch", "deepspeed", "python"} <= set(RECORD["versions"])
    assert GROUPS <= {each["group"] for each in ROWS} and ENGINES <= {each["engine"] for each in ROWS}
    assert {1, 2, 4} <= {each["ranks"] for each in ROWS if each["engine"] == "FSDP2"}
    assert {1, 2, 4} <= {each["ranks"] for each in ROWS if each["engine"] == "DeepSpeed"}
    ids = [each["id"] for each in ROWS]
    assert len(set(ids)) == len(ids)


def test_what_has_no_rows_is_said():
    if not any(each["group"] == "meters" for each in ROWS):
        assert [each["group"] for each in RECORD["missing"]] == ["meters"]
    else:
        assert RECORD["missing"] == []


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_every_reading_is_within_its_tolerance(group):
    for each in (row for row in ROWS if row["group"] == group):
        pairs = list(zip(each["predicted"], each["measured"], strict=True))
        assert pairs and each["ok"], each["id"]
        if each["tolerance"] == "exact":
            assert each["predicted"] == each["measured"], each["id"]
        elif each["tolerance"].startswith("at most"):
            assert all(found <= bound for bound, found in pairs), each["id"]
        else:
            share = float(each["tolerance"].removesuffix(" %")) / 100
            assert all(abs(found - expected) <= share * abs(found) for expected, found in pairs), each["id"]


def toy_of(row):
    """The toy model that a row's setup names."""
    return toy_gpt(TOYS[re.match(r"GPT of ([\d,]+) parameters", row["setup"])[1]])


def spread(numbers, ranks):
    """One number a rank: a row writes it once where all are equal."""
    return numbers * ranks if len(numbers) == 1 else numbers


def test_pytorch_s_states_are_still_predicted():
    rules = {"DDP": frameworks.ddp_states, "ZeroRedundancyOptimizer": frameworks.zero_redundancy_states,
             "FSDP2": frameworks.fsdp2_states}
    chosen = [row for row in ROWS if row["group"] == "states" and row["engine"] in rules and row["quantity"] == "optimizer state"]
    assert len(chosen) > 20
    for row in chosen:
        states = rules[row["engine"]]([shape for _, shape in toy_of(row)], row["ranks"])
        assert spread(row["measured"], row["ranks"]) == [
            each["exp_avg"] + each["exp_avg_sq"] + each["step"] for each in states], row["id"]


def test_replicated_collectives_are_still_predicted():
    rules = {"DDP": ddp, "ZeroRedundancyOptimizer": zero_redundancy_optimizer}
    chosen = [row for row in ROWS if row["group"] == "collectives" and row["engine"] in rules and row["unit"] == "elements"]
    assert len(chosen) > 10
    for row in chosen:
        sent = rules[row["engine"]](toy_of(row), row["ranks"])
        assert row["measured"] == [sent.total(row["quantity"].partition(" ")[0])["numel"]], row["id"]


def test_gathers_and_peaks_reach_70_billion_parameters():
    peaks = [row for row in ROWS if row["group"] == "peak"]
    largest = max(int(re.search(r"of ([\d,]+) parameters", row["setup"])[1].replace(",", "")) for row in peaks)
    assert largest > 65e9 and all(row["tolerance"] == "5 %" for row in peaks)


@pytest.mark.parametrize("path", sorted((TORCH / "results").glob("run-*.json")), ids=lambda path: path.stem)
def test_measured_runs_are_explained(path):
    told = explain(path.read_text(encoding="utf-8"))
    states = [each for each in told.instants if each.name == "after_step"]
    for each in states:  # parameters to the byte; Adam's counters are all that the prediction leaves out of the states
        difference = {row[0]: row[3] for row in each.rows}
        assert difference["params"] == difference["grads"] == 0 and 0 <= difference["optimizer"] < 1000


def test_rows_know_their_own_verdict(monkeypatch):
    monkeypatch.syspath_prepend(str(TORCH))
    sys.modules.pop("rows", None)
    from rows import row

    assert row("g", "e", 2, "s", "q", "bytes", [5, 5], [5, 5])["measured"] == [5]
    assert not row("g", "e", 2, "s", "q", "bytes", [5, 5], [5, 6])["ok"]
    assert not row("g", "e", 2, "s", "q", "bytes", [5, 5], [5, 5, 5])["ok"]
    assert not row("g", "e", 1, "s", "q", "bytes", [], [])["ok"]
    assert row("g", "e", 1, "s", "q", "bytes", 104, 100, 5)["ok"] and not row("g", "e", 1, "s", "q", "bytes", 106, 100, 5)["ok"]
    assert row("g", "e", 1, "s", "q", "ratio", 1e-6, 1e-7, "at most")["ok"]
    assert not row("g", "e", 1, "s", "q", "ratio", 1e-6, float("nan"), "at most")["ok"]
