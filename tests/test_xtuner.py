"""xtuner's three instants as its README prints them, and where ours differ and why."""

import pytest
from cases import assert_matches, cases_of
from measured_models import llama

from zeroledger.activation_rows import ActivationSettings
from zeroledger.activations import layer_activations
from zeroledger.errors import ConfigError
from zeroledger.peers_xtuner import xtuner_instants, xtuner_num_params

GIB = 2**30
QWEN3_8B = llama(4096, 32, 8, 12288, num_layers=36, vocab=151936, head_dim=128, qk_norm=True)
CHUNK = 1024  # chunk_loss_size in xtuner_qwen_dense_8b_1node.yaml, which the README runs


@pytest.mark.parametrize("case", cases_of("timeline_peak"))
def test_the_printed_instants(case):
    inputs = case["inputs"]
    assert inputs["layers"] == QWEN3_8B.num_layers
    instants = xtuner_instants(QWEN3_8B, inputs["dp"], inputs["micro_batch"], inputs["seq"], inputs["recompute"], CHUNK)
    found = {instant.name: instant.num_bytes / GIB for instant in instants}
    rows = {row.what: row.num_bytes / GIB for instant in instants for row in instant.rows}
    found |= {"static_master_and_opt": rows["master weights and moments"], "master_grads": rows["master gradients"],
              "checkpoints": rows["checkpoints"]}
    assert_matches(found, case)


def test_its_parameters_leave_out_the_query_and_key_norms():
    assert QWEN3_8B.num_params - xtuner_num_params(QWEN3_8B) == 36 * 2 * 128
    assert xtuner_num_params(QWEN3_8B) / GIB == 7.628208160400391  # what it prints as "B"


def test_where_our_layer_differs():
    """Two tensors of the MLP's width are counted as hidden ones, two bytes of each log-sum-exp, and rotary inputs."""
    tokens = 32768
    ours = layer_activations(QWEN3_8B, ActivationSettings(1, tokens, norm_stats="none"))
    theirs = next(row for row in xtuner_instants(QWEN3_8B, 8, 1, tokens)[0].rows if row.what == "one layer")
    narrow = 2 * (12288 - 4096) * 2 * tokens  # activated gate and product
    log_sum_exp = 32 * 2 * tokens  # 4 bytes, not 2
    rotary_inputs = (4096 + 1024) * 2 * tokens  # nothing needs them in backward
    assert ours.num_bytes - theirs.num_bytes == narrow + log_sum_exp - rotary_inputs


def test_without_recompute_every_layer_stays():
    kept, redone = (xtuner_instants(QWEN3_8B, 8, 1, 1024, recompute=each)[0] for each in (False, True))
    assert kept.num_bytes > redone.num_bytes


def test_other_models_are_refused():
    with pytest.raises(ConfigError, match="a dense model"):
        xtuner_instants(llama(64, 4, 4, 96, num_experts=4, num_experts_per_tok=1), 8, 1, 64)
    with pytest.raises(ConfigError, match="dp_size"):
        xtuner_instants(QWEN3_8B, 0, 1, 64)
