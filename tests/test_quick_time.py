"""The planner's quick step times against the rows and operations they abbreviate."""


import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeroledger import PRESETS, TransformerShape
from zeroledger.collectives import INTERCONNECTS
from zeroledger.communication import zero_paper
from zeroledger.compute import compute_s, step_flops
from zeroledger.errors import InvalidInput
from zeroledger.model_parallel_communication import pipeline_parallel, tensor_parallel
from zeroledger.quick_time import StepTimes

MODEL = PRESETS["llama-2-7b"].model
LINKS = {"dp": INTERCONNECTS["infiniband-hdr"], "tp": INTERCONNECTS["nvlink-a100"], "pp": INTERCONNECTS["pcie4-x16"]}
TIMES = StepTimes(MODEL, 2048, "a100", LINKS["dp"], LINKS["tp"], LINKS["pp"])
RECOMPUTE = st.sampled_from(["none", "selective", "full"])


@given(stage=st.integers(0, 3), dp=st.integers(1, 64), tp=st.sampled_from([1, 2, 4, 8]), pp=st.sampled_from([1, 2, 4, 8]),
       micro=st.integers(1, 4), steps=st.integers(1, 8), recompute=RECOMPUTE, sequence=st.booleans())
def test_parts_equal_the_rows(stage, dp, tp, pp, micro, steps, recompute, sequence):
    got = TIMES.step(stage, dp, tp, pp, micro, steps, recompute, sequence)
    flops = step_flops(MODEL, micro, 2048, recompute, gradient_accumulation_steps=steps).hardware_flops
    assert got.compute_s == pytest.approx(compute_s(flops, "a100") / (tp * pp))
    tensor = tensor_parallel(micro, 2048, 4096, tp, sequence_parallel=sequence, recompute=recompute, num_layers=32 // pp,
                             gradient_accumulation_steps=steps)
    assert got.tensor_s == pytest.approx(tensor.lower_bound_s(LINKS))
    pipeline = pipeline_parallel(micro, 2048, 4096, pp, gradient_accumulation_steps=steps, tp_size=tp)
    assert got.pipeline_s == pytest.approx(pipeline.lower_bound_s(LINKS))
    assert got.bubble_s == pytest.approx(got.compute_s * (pp - 1) / steps)  # arXiv:2104.04473 sec. 2.2: (p−1)/m
    data = zero_paper(-(-MODEL.num_params // (tp * pp)), dp, stage, gradient_accumulation_steps=steps)
    after = data.total(phase="step")["wire_bytes"] / LINKS["dp"].bytes_per_s
    hideable = data.lower_bound_s(LINKS) - after
    assert got.data_s == pytest.approx(max(hideable - got.compute_s, 0) + after, rel=1e-6, abs=1e-6)
    assert got.total_s == pytest.approx(sum(vars(got).values())) and getattr(got, got.bottleneck) == max(vars(got).values())


def test_alone_a_step_is_its_computing():
    got = TIMES.step(3)
    assert got.total_s == got.compute_s and got.bottleneck == "compute_s"


@pytest.mark.parametrize("call, field", [
    (lambda: TIMES.step(4), "stage"),
    (lambda: TIMES.step(3, 0), "dp_size"),
    (lambda: TIMES.step(3, 1, 1.5), "tp_size"),
    (lambda: TIMES.step(3, pp_size=33), "pp_size"),
    (lambda: TIMES.step(3, recompute="some"), "recompute"),
    (lambda: TIMES.step(3, sequence_parallel=1), "sequence_parallel"),
    (lambda: StepTimes(MODEL, 0, "a100", "pcie3-x16"), "seq_length"),
    (lambda: StepTimes(TransformerShape(8, 1, 1, 8), 8, "a100", "string"), "interconnect"),
])
def test_bad_input_names_the_field(call, field):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert caught.value.field == field
