"""Step times of many configurations of one model in little time: what a planner ranks by.

The same figures as ``step_flops`` and the ``Communication`` rows, in closed form and without objects in between; tests
hold them together. Times are lower bounds while efficiency is 1: peak rates, no latency, perfect overlap of data-parallel
traffic with computing. Tensor- and pipeline-parallel traffic sits on the critical path and is added.
"""

from dataclasses import dataclass

from .collectives import interconnect
from .compute import RECOMPUTE, compute_s, step_flops
from .dtypes import dtype_bytes
from .errors import InvalidInput, check_choice, check_count, check_flag, check_stage


@dataclass(frozen=True)
class StepSeconds:
    """Parts of one optimizer step, seconds: they add up to ``total_s``.

    ``bubble_s`` is what the pipeline waits at its ends, ``data_s`` the data-parallel traffic that computing cannot hide.
    """

    compute_s: float
    bubble_s: float
    tensor_s: float
    pipeline_s: float
    data_s: float

    @property
    def total_s(self):
        """Seconds of the step."""
        return self.compute_s + self.bubble_s + self.tensor_s + self.pipeline_s + self.data_s

    @property
    def bottleneck(self):
        """The name of the largest part."""
        parts = vars(self)
        return max(parts, key=parts.get)


class StepTimes:
    """Step times of one ``model`` at one ``seq_length``; making it counts operations once, asking is arithmetic.

    ``data_link``, ``tensor_link`` and ``pipeline_link`` are ``Interconnect``s or their names; ``device`` an
    ``Accelerator`` or its name. ``param_dtype`` is what is gathered and what activations travel in.
    """

    def __init__(self, model, seq_length, device, data_link, tensor_link=None, pipeline_link=None, *, efficiency=1.0,
                 causal=False, param_dtype="bf16", reduce_dtype="bf16"):
        self.num_params, self.num_layers, self.hidden_size = model.num_params, model.num_layers, model.hidden_size
        self.seq_length = check_count("seq_length", seq_length, 1, 10**9)
        self.sequence_s = {mode: compute_s(step_flops(model, 1, seq_length, mode, causal).hardware_flops, device, efficiency)
                           for mode in RECOMPUTE}
        data, tensor = interconnect(data_link), interconnect(tensor_link or data_link)
        self.data_rate, self.tensor_rate = data.bytes_per_s, tensor.bytes_per_s
        self.pipeline_rate = interconnect(pipeline_link or data_link).bytes_per_s
        self.param_bytes = dtype_bytes(param_dtype, "param_dtype")
        self.reduce_bytes = dtype_bytes(reduce_dtype, "reduce_dtype")

    def step(self, stage, dp_size=1, tp_size=1, pp_size=1, micro_batch_size=1, gradient_accumulation_steps=1,
             recompute="none", sequence_parallel=False):
        """The ``StepSeconds`` of one configuration; the model is cut evenly over ``tp_size`` × ``pp_size`` devices.

        Raises ``InvalidInput`` naming the field.
        """
        check_stage(stage)
        check_choice("recompute", recompute, RECOMPUTE)
        check_flag("sequence_parallel", sequence_parallel)
        sizes = {"dp_size": dp_size, "tp_size": tp_size, "pp_size": pp_size, "micro_batch_size": micro_batch_size,
                 "gradient_accumulation_steps": gradient_accumulation_steps}
        for field, size in sizes.items():
            if type(size) is not int or not 1 <= size <= 10**9:  # the slow check explains itself
                sizes[field] = check_count(field, size, 1, 10**9)
        dp, tp, pp, micro, steps = sizes.values()
        if pp > self.num_layers:
            raise InvalidInput("pp_size", pp, f"at most the model's {self.num_layers} layers")
        per_micro_batch_s = micro * self.sequence_s[recompute] / (tp * pp)
        compute = steps * per_micro_batch_s
        message_bytes = micro * self.seq_length * self.hidden_size * self.param_bytes
        hideable, after = self._data_seconds(stage, dp, tp * pp, steps)
        return StepSeconds(
            compute, (pp - 1) * per_micro_batch_s,
            steps * self.num_layers / pp * self._tensor_bytes(message_bytes, tp, recompute, sequence_parallel) / self.tensor_rate,
            2 * steps * message_bytes / tp / self.pipeline_rate if pp > 1 else 0.0,
            max(hideable - compute, 0.0) + after)

    def _data_seconds(self, stage, dp, cut, steps):
        """(seconds that can hide behind computing, seconds after the optimizer step), as ``zero_paper`` counts."""
        gather = self.num_params * self.param_bytes / cut * (dp - 1) / dp / self.data_rate
        reduce = self.num_params * self.reduce_bytes / cut * (dp - 1) / dp / self.data_rate
        if stage == 0:
            return 2 * reduce, 0.0
        if stage == 3:
            return steps * (2 * gather + reduce), 0.0
        return (steps if stage == 2 else 1) * reduce, gather

    @staticmethod
    def _tensor_bytes(message_bytes, tp, recompute, sequence_parallel):
        """Wire bytes of one block, as ``tensor_parallel`` counts: all-reduces count twice, gathers and scatters once."""
        halves = 12 if recompute == "full" else 8
        return (halves + (2 if sequence_parallel else 0)) * message_bytes * (tp - 1) / tp
