"""Seconds that offloading adds to a step, for many configurations: ``offload_verdict``'s arithmetic on cached parts."""

from .budgets import offload_of
from .mesh import Mesh
from .offload_time import offload_verdict


class OffloadTimes:
    """Of variations of ``base`` on ``machine``."""

    def __init__(self, base, machine):
        self.base, self.machine, self._plans, self._verdicts = base, machine, {}, {}

    def extra(self, stage, dp, tp, pp, steps, placement, compute_s):
        """(seconds a step takes longer than its computing alone when nothing is speculated, whether the host has room)."""
        key = stage, dp, tp, pp, steps, placement
        if key not in self._verdicts:
            plan = self._plan(stage, dp, tp, pp, placement)
            self._verdicts[key] = offload_verdict(plan, self.machine, compute_s, steps)
        verdict = self._verdicts[key]
        fits = verdict.fits_host is not False and verdict.fits_nvme is not False
        return step_in_turn_s(verdict.busy_s, compute_s, placement.params == "device") - compute_s, fits

    def _plan(self, stage, dp, tp, pp, placement):
        key = stage, dp, tp, pp, placement
        if key not in self._plans:
            self._plans[key] = offload_of(self.base.changed(
                mesh=Mesh(dp=dp, tp=tp, pp=pp), stage=stage, micro_batch_size=1, recompute="none",
                sequence_parallel=False, placement=placement))
        return self._plans[key]


def step_in_turn_s(busy_s, compute_s, params_on_device):
    """``Verdict.step_s_in_turn`` for another ``compute_s``, from what a verdict says each resource works."""
    up_later = busy_s["PCIe up"] if params_on_device else 0.0
    passes = max(compute_s, busy_s["PCIe down"], 0.0 if params_on_device else busy_s["PCIe up"])
    update = max(busy_s["CPU update"], busy_s["NVMe read"], busy_s["NVMe write"])
    busiest = max(compute_s, *(seconds for name, seconds in busy_s.items() if name != "compute"))
    return max(passes + update + up_later, busiest)
