"""``budget``, ``plan`` and ``explain`` on the command line: tables, JSON, one clear line on bad input."""

import json

import pytest
from test_cli import run

from zeroledger.cli import main

BUDGET = ("budget", "--model", "llama-2-7b", "--dp", "8")
PLAN = ("plan", "--model", "llama-2-7b", "--gpus", "4", "--global-batch", "8")


def text_of(capsys, *arguments):
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def test_budget_as_a_process():
    done = run(*BUDGET, "--unit", "GiB", "--card", "24 GB")
    assert done.returncode == 0 and not done.stderr
    assert "12.551 GiB" in done.stdout and "24.00 GiB" in done.stdout


def test_budget_json_with_fit_and_levers(capsys):
    data = json.loads(text_of(capsys, *BUDGET, "--json", "--card", "40 GB", "--levers"))
    assert data["staying_bytes"] == 13_476_831_232
    assert data["fit"]["verdict"] == "fits" and data["fit"]["margin_bytes"] == 40 * 2**30 - data["peak_bytes"]
    saved = [lever["saved_bytes"] for lever in data["levers"]]
    assert saved and saved == sorted(saved, reverse=True)


def test_budget_takes_a_deepspeed_file(capsys, tmp_path):
    file = tmp_path / "ds.json"
    file.write_text(json.dumps({"bf16": {"enabled": True}, "train_micro_batch_size_per_gpu": 2,
                                "zero_optimization": {"stage": 2}}))
    table = text_of(capsys, *BUDGET, "--deepspeed-config", str(file))
    assert "engine deepspeed" in table and "ZeRO stage 2" in table and "2 × 2,048 tokens" in table
    assert "leaves recompute open; taken as none" in table


def test_plan_both_ways(capsys):
    data = json.loads(text_of(capsys, *PLAN, "--json", "--top", "3"))
    assert len(data["plans"]) == 3 and data["considered"] > data["fit"] >= 3
    table = text_of(capsys, *PLAN, "--card", "16 GB", "--seq", "512")
    assert "configurations" in table and "fastest that does not fit" in table


def test_explain_a_file_and_standard_input(capsys, tmp_path):
    data = {"format": "zeroledger-run", "version": 1, "config": {"model": "llama-2-7b", "dp": 8},
            "ranks": [{"instants": [{"name": "peak", "allocated_bytes": 30_000_000_000}]}]}
    file = tmp_path / "run.json"
    file.write_text(json.dumps(data))
    table = text_of(capsys, "explain", str(file), "--unit", "GB")
    assert "Left unexplained" in table and "30.000 GB" in table
    piped = run("explain", "-", "--json", input=file.read_text())
    assert json.loads(piped.stdout)["instants"][0]["measured_bytes"] == 30_000_000_000


@pytest.mark.parametrize("arguments", [
    ("budget", "--params", "7e9"), (*BUDGET, "--stage", "4"), (*BUDGET, "--engine", "horovod"), (*BUDGET, "--tp", "3"),
    (*BUDGET, "--seq", "-5"), (*BUDGET, "--micro-batch", "x"), (*BUDGET, "--card", "big"), (*BUDGET, "--unit", "furlong"),
    (*BUDGET, "--fragmentation", "nan"), (*BUDGET, "--context", "-1"), (*BUDGET, "--recipe", "magic"),
    (*BUDGET, "--offload-params", "moon"), (*BUDGET, "--deepspeed-config", "/nowhere.json"),
    (*PLAN, "--gpus", "0"), (*PLAN, "--gpus", "8,,"), (*PLAN, "--efficiency", "2"), (*PLAN, "--link", "string"),
    (*PLAN, "--device", "abacus"), (*PLAN, "--global-batch", "0"), (*PLAN, "--top", "-1"),
    ("explain", "/nowhere.json"), ("explain", "/dev/null"),
])
def test_bad_input_is_one_line_and_status_2(capsys, arguments):
    try:
        status = main(list(arguments))
    except SystemExit as leaving:
        status = leaving.code
    captured = capsys.readouterr()
    assert status == 2 and not captured.out
    assert len(captured.err.strip().splitlines()) == 1 and "Traceback" not in captured.err


def test_a_hundred_megabytes_are_refused_at_once(tmp_path, capsys):
    file = tmp_path / "huge.json"
    with open(file, "wb") as written:
        written.truncate(100_000_000)
    assert main(["explain", str(file)]) == 2
    assert "at most 8 MB" in capsys.readouterr().err
