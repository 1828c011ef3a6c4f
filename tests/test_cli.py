"""The command line, run as a process the way a user runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CONTENT = Path(__file__).parent.parent / "content"


def run(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": str(CONTENT), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run([sys.executable, "-m", "zeroledger", *arguments], capture_output=True, text=True, timeout=120,
                          env=environment, encoding="utf-8", **options)


def test_ledger_table():
    done = run("ledger", "--params", "7e9", "--dp", "8", "--stage", "3", "--unit", "GiB")
    assert done.returncode == 0
    assert "13.04 GiB" in done.stdout and "exp_avg_sq" in done.stdout


def test_ledger_json_is_exact():
    data = json.loads(run("ledger", "--params", "7e9", "--dp", "8", "--stage", "3", "--json").stdout)
    assert data["model_states_bytes_per_rank"] == 14_000_000_000
    assert data["rows"][0]["category"] == "params"
    assert data["rows"][0]["bytes_per_rank"] == 1_750_000_000


def test_ledger_of_a_preset_and_of_a_config_file_agree(tmp_path):
    from zeroledger import PRESETS

    file = tmp_path / "config.json"
    file.write_text(json.dumps(PRESETS["llama-3.1-8b"].config))
    by_name = run("ledger", "--model", "llama-3.1-8b", "--dp", "8", "--stage", "2", "--json")
    by_file = run("ledger", "--hf-config", str(file), "--dp", "8", "--stage", "2", "--json")
    by_pipe = run("ledger", "--hf-config", "-", "--dp", "8", "--stage", "2", "--json", input=file.read_text())
    assert by_name.stdout == by_file.stdout == by_pipe.stdout
    assert json.loads(by_name.stdout)["inputs"]["num_params"] == 8_030_261_248


def test_presets_and_recipes():
    assert "6,738,415,616" in run("presets").stdout
    assert {each["name"]: each["num_params"] for each in json.loads(run("presets", "--json").stdout)}["gpt2-xl"] == 1_557_611_200
    assert "adam-mixed" in run("recipes").stdout
    assert "master_params" in run("recipes", "adam-mixed").stdout
    assert json.loads(run("recipes", "--json").stdout)[0]["rows"]


def test_mesh_rule_hybrid_and_own_recipe(tmp_path):
    def total(*arguments):
        return json.loads(run("ledger", *arguments, "--json").stdout)["model_states_bytes_per_rank"]

    llama = ("--model", "llama-2-7b", "--dp", "8", "--stage", "3")
    assert total(*llama, "--tp", "2") < total(*llama)
    assert total(*llama, "--rule", "fsdp2") >= total(*llama)
    assert total(*llama, "--shard-size", "4") == total("--model", "llama-2-7b", "--dp", "4", "--stage", "3")
    file = tmp_path / "recipe.json"
    file.write_text('{"rows": [["params", "fp8", 1]]}')
    assert total("--params", "7B", "--recipe-file", str(file)) == 7_000_000_000


def test_a_shape_by_hand():
    shape = "hidden_size=4096, num_layers=32, num_attention_heads=32, vocab_size=32000, intermediate_size=11008, norm=rmsnorm"
    by_hand = json.loads(run("ledger", "--shape", shape, "--json").stdout)
    assert by_hand["inputs"]["num_params"] == 6_738_415_616
    tied = json.loads(run("ledger", "--shape", shape + ",tie_word_embeddings=true", "--json").stdout)
    assert tied["inputs"]["num_params"] == 6_738_415_616 - 32000 * 4096


def test_peers():
    assert "45.4" in run("peers", "--model", "llama-2-7b").stdout
    assert json.loads(run("peers", "--model", "llama-2-7b", "--json").stdout)[0]["who"] == "zeroledger"


def test_a_preset_tensor_by_tensor():
    table = run("presets", "mixtral-8x7b").stdout
    assert "15,032,385,536" in table and "46,702,792,704" in table
    data = json.loads(run("presets", "gpt2-xl", "--json").stdout)
    assert sum(tensor["numel"] for tensor in data["tensors"]) == data["num_params"]


@pytest.mark.parametrize("arguments, said", [
    (["ledger", "--params", "-7"], "--params"),
    (["ledger", "--params", "nan"], "--params"),
    (["ledger", "--params", "seven"], "'seven'"),
    (["ledger", "--params", "7B", "--dp", "0"], "dp = 0"),
    (["ledger", "--params", "7B", "--dp", "two"], "--dp = 'two'"),
    (["ledger", "--params", "7B", "--dp", "inf"], "--dp = 'inf'"),
    (["ledger", "--params", "7B", "--dp", "9" * 5000], "--dp"),
    (["ledger", "--params", "7B", "--tp", "2"], "--model, --hf-config or --shape"),
    (["ledger", "--params", "7B", "--dp", "8", "--shard-size", "3"], "shard_size = 3"),
    (["ledger", "--model", "llama-2-7b", "--tp", "3"], "num_attention_heads 32"),
    (["ledger", "--model", "llama-2-7b", "--rule", "fsdp1"], "zero_redundancy"),
    (["ledger", "--model", "llama-2-7b", "--rule", "fsdp2", "--stage", "2"], "stage = 2"),
    (["ledger", "--model", "llama-2-7b", "--rule", "fsdp2", "--stage", "3", "--rank", "1"], "rank = 1"),
    (["ledger", "--model", "llama-2-7b", "--rank", "1"], "--rule"),
    (["ledger", "--model", "llama-2-7b", "--recipe", "lora"], "trained_params"),
    (["ledger", "--params", "7B", "--recipe-file", "/no/such/file"], "/no/such/file"),
    (["presets", "llama"], "llama-2-7b"),
    (["ledger", "--shape", "hidden_size=8"], "num_layers"),
    (["ledger", "--shape", "hidden=8"], "hidden_size"),
    (["ledger", "--shape", ""], "field=value"),
    (["ledger", "--shape", "hidden_size=8,num_layers=2,num_attention_heads=3,vocab_size=9"], "num_attention_heads = 3"),
    (["ledger", "--shape", "hidden_size=8,num_layers=x,num_attention_heads=2,vocab_size=9"], "num_layers = 'x'"),
    (["ledger", "--shape", "hidden_size=8,num_layers=2,num_attention_heads=2,vocab_size=9,qkv_bias=1"], "qkv_bias"),
    (["peers", "--params", "7B"], "--model"),
    (["peers", "--model", "mixtral-8x7b"], "dense"),
    (["ledger", "--params", "7B", "--stage", "4"], "stage = 4"),
    (["ledger", "--params", "7B", "--unit", "GiBi"], "--unit"),
    (["ledger", "--params", "7B", "--recipe", "none"], "adam-mixed"),
    (["ledger", "--params", "7B", "--model", "llama-2-7b"], "not allowed"),
    (["ledger", "--model", "llama"], "llama-2-7b"),
    (["ledger", "--hf-config", "/no/such/file"], "/no/such/file"),
    (["ledger", "--hf-config", "/"], "/"),
    (["ledger"], "required"),
    (["recipes", "none"], "adam-mixed"),
    (["sum"], "invalid choice"),
    ([], "required"),
])
def test_bad_input_is_one_line_and_status_2(arguments, said):
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"model_type": "llama"}', "[" * 100_000, '{"a":' * 50_000,
                                     '{"model_type": "bert"}', "\x00", '{"model_type": "llama", "hidden_size": NaN}',
                                     '{"model_type": ["llama"]}', "1" * 5000])
def test_a_broken_config_file_is_one_line_and_status_2(content):
    done = run("ledger", "--hf-config", "-", input=content)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_a_huge_config_file_is_refused_quickly(tmp_path):
    file = tmp_path / "config.json"
    with file.open("wb") as sparse:
        sparse.truncate(100_000_000)
    done = run("ledger", "--hf-config", str(file))
    assert done.returncode == 2 and "at most" in done.stderr


def test_a_reader_that_closes_early_sees_no_traceback():
    command = f'"{sys.executable}" -m zeroledger presets | head -1; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PYTHONPATH": str(CONTENT)})
    assert done.stderr == ""
