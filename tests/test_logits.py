"""Head and loss: kept and peak bytes as measured, slices, vocabulary parallelism."""

import pytest
from cases import cases_of
from hypothesis import given
from hypothesis import strategies as st
from measured_models import gpt, torch_runs

from zeroledger.activation_rows import ActivationSettings
from zeroledger.errors import ConfigError
from zeroledger.logits import LossSettings, loss_account, loss_settings

MEASURED = cases_of("activation_measured", prefix="tt-act-")


def settings_of(case, **options):
    inputs = case["inputs"]
    return LossSettings(inputs["s"] * inputs["b"], inputs["V"], inputs["h"], upcast="no_upcast" not in case["id"],
                        **options)


@pytest.mark.parametrize("case", [case for case in MEASURED if "logits" in case.id])
def test_kept_and_peak_as_measured(case):
    expected = case["expected"]
    account, alone = loss_account(settings_of(case)), loss_account(settings_of(case, keep_logits=False))
    assert account.settings.logits_numel == expected["sbV"]
    assert account.saved_bytes == expected["saved_bytes"]
    assert account.saved_bytes / expected["sbV"] == expected["saved_per_sbV"]
    assert account.peak_bytes == expected["alloc_peak_over_base"]
    assert account.peak_bytes / expected["sbV"] == expected["peak_per_sbV"]
    assert alone.peak_bytes / expected["sbV"] == expected["peak_per_sbV_logits_not_kept"]
    assert account.peak.name == "loss backward: log-softmax"


@pytest.mark.parametrize("upcast, keep, kept_bytes, peak_bytes", [
    (True, True, 4, 14), (True, False, 4, 12), (False, True, 2, 8), (False, False, 2, 6)])
def test_bytes_per_logit(upcast, keep, kept_bytes, peak_bytes):
    account = loss_account(LossSettings(1000, 1000, 1, upcast=upcast, keep_logits=keep))
    assert account.kept_rows[0].num_bytes == kept_bytes * 10**6
    assert account.peak_bytes // 10**6 == peak_bytes


@pytest.mark.parametrize("case", torch_runs("chunked_loss"))
def test_slices_as_measured(case):
    inputs = case["inputs"]
    account = loss_account(LossSettings(inputs["tokens"], inputs["V"], inputs["h"], upcast=inputs["upcast"],
                                        keep_logits=False, num_chunks=inputs["chunks"]))
    assert account.peak_bytes == case["expected"]["peak_bytes"]


@given(tokens=st.integers(2, 500), vocab=st.integers(2, 3000), chunks=st.integers(2, 16))
def test_slicing_keeps_no_logits(tokens, vocab, chunks):
    chunks = min(chunks, tokens)
    whole = LossSettings(tokens, vocab, 8)
    sliced = loss_account(LossSettings(tokens, vocab, 8, num_chunks=chunks))
    assert not sliced.kept_rows
    assert sum(row.num_bytes for row in sliced.input_rows) == sum(
        row.num_bytes for row in loss_account(whole).input_rows)
    logits = [row.num_bytes for row in sliced.peak.rows if row.account == "logits"]
    assert sum(logits) <= 14 * sliced.settings.chunk_tokens * vocab


@given(tokens=st.integers(1, 300), vocab=st.integers(1, 3000), tp=st.sampled_from((1, 2, 3, 8)))
def test_vocabulary_parallel_ranks_hold_the_whole_together(tokens, vocab, tp):
    one, share = LossSettings(tokens, vocab, 8), LossSettings(tokens, vocab, 8, tp_size=tp)
    assert one.logits_numel <= tp * share.logits_numel < one.logits_numel + tp * tokens
    assert loss_account(share).peak_bytes <= loss_account(one).peak_bytes


def test_fp32_needs_no_copy():
    account = loss_account(LossSettings(100, 100, 4, dtype="fp32", keep_logits=False))
    assert not any("fp32" in row.what for instant in account.instants for row in instant.rows)
    assert account.peak_bytes // 10**4 == 12  # log-probabilities and two gradients of 4 bytes


def test_settings_from_a_model():
    settings = ActivationSettings(2, 64, tp_size=2, sequence_parallel=True, cp_size=2)
    derived = loss_settings(gpt(64, 4, vocab=500), settings, num_chunks=4)
    assert (derived.tokens, derived.vocab_size, derived.tp_size, derived.num_chunks) == (64, 500, 2, 4)
    assert loss_account(derived).input_rows[0].num_bytes == 32 * 64 * 2  # cut over tp as well


@pytest.mark.parametrize("fields, named", [
    ({"tokens": 0}, "tokens"), ({"vocab_size": "many"}, "vocab_size"), ({"num_chunks": 9}, "num_chunks"),
    ({"upcast": 1}, "upcast"), ({"hidden_size": 1.5}, "hidden_size"), ({"tp_size": -1}, "tp_size")])
def test_bad_settings_name_the_field(fields, named):
    with pytest.raises(ConfigError) as caught:
        LossSettings(**({"tokens": 8, "vocab_size": 10, "hidden_size": 4} | fields))
    assert caught.value.field == named
