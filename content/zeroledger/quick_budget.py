"""Peaks of very many configurations of one model: ``budget``'s own instants, split into two parts that are made once.

At every named instant the live bytes are *tokens' part* (activations, logits, inputs, their gradients) plus *weights'
part* (states, gathers, buffers). The first depends on layout, micro-batch and recompute, the second on layout, stage,
ranks and offload; so each is computed for its own key, and a configuration costs one addition an instant. The tokens'
part grows in proportion to the micro-batch and, by equal steps, to the micro-batches that wait in a pipeline.
``tests/test_planner.py`` holds the result to ``budget``'s on random configurations.
"""

from operator import add

from .budgets import UNCERTAINTY, candidate_stages, is_estimated
from .engines import engine_instants
from .mesh import Mesh
from .offload import Placement


class QuickBudgets:
    """Peaks of variations of ``base``, a ``Training``: its mesh, stage, batch, recompute and placement are replaced."""

    def __init__(self, base):
        self.base, self.percent = base, UNCERTAINTY[base.engine][0]
        self._stages, self._tokens, self._weights, self._scaled = {}, {}, {}, {}

    def peak(self, stage, dp, tp, pp, micro_batch_size, steps, recompute, sequence_parallel=False, placement=Placement()):
        """(peak, low, high) bytes of one configuration; raises ``InvalidInput`` as ``Training`` does."""
        worst = low = high = 0
        accumulates = steps > 1 and self.base.engine != "ideal"  # whose gradients are always there
        weights = self.weights(stage, dp, tp, pp, accumulates, placement)
        for exact, tokens in zip(weights, self.tokens(
                tp, pp, micro_batch_size, min(steps, pp), recompute, sequence_parallel)):
            here = max(map(add, exact, tokens[0]))
            if here > worst:
                worst = here
            low = max(low, max(map(add, exact, tokens[1])))
            high = max(high, max(map(add, exact, tokens[2])))
        return worst, low, high

    def weights(self, stage, dp, tp, pp, accumulates, placement):
        """For every candidate pipeline stage the weights' part of each instant, bytes."""
        key = stage, dp, tp, pp, accumulates, placement
        if key not in self._weights:
            run = self.base.changed(
                mesh=Mesh(dp=dp, tp=tp, pp=pp), stage=stage, micro_batch_size=1, recompute="none", sequence_parallel=False,
                gradient_accumulation_steps=2 if accumulates else 1, placement=placement)
            self._weights[key] = tuple(self._part(run, pp_rank, estimated=False) for pp_rank in self.stages(run, tp, pp))
        return self._weights[key]

    def stages(self, run, tp, pp):
        """The candidate pipeline stages of a layout."""
        if pp not in self._stages:
            self._stages[pp] = candidate_stages(run)
        return self._stages[pp]

    def tokens(self, tp, pp, micro_batch_size, waves, recompute, sequence_parallel):
        """For every candidate stage the tokens' part of each instant: (bytes, low end, high end)."""
        key = tp, pp, micro_batch_size, waves, recompute, sequence_parallel
        if key not in self._scaled:
            parts = self._affine(tp, pp, micro_batch_size, waves, recompute, sequence_parallel)
            self._scaled[key] = tuple(self._range(part) for part in parts)
        return self._scaled[key]

    def _range(self, part):
        off = [size * self.percent // 100 for size in part]
        return part, [size - less for size, less in zip(part, off)], [size + more for size, more in zip(part, off)]

    def _affine(self, tp, pp, micro_batch_size, waves, recompute, sequence_parallel):
        """Each part from its values at micro-batches 1 and 2, and at one wave and two where a pipeline waits."""
        if not self._is_affine(tp, sequence_parallel):
            return self._tokens_at(tp, pp, micro_batch_size, waves, recompute, sequence_parallel)
        one = self._tokens_at(tp, pp, 1, 1, recompute, sequence_parallel)
        two = self._tokens_at(tp, pp, 2, 1, recompute, sequence_parallel)
        parts = [[first + (micro_batch_size - 1) * (second - first) for first, second in zip(*pair)]
                 for pair in zip(one, two)]
        if waves == 1:
            return parts
        waiting = self._tokens_at(tp, pp, 1, 2, recompute, sequence_parallel)
        held = [min(pp - pp_rank, waves) - 1 for pp_rank in self._stages[pp]]
        return [[size + micro_batch_size * times * (more - less) for size, less, more in zip(part, first, second)]
                for part, times, first, second in zip(parts, held, one, waiting)]

    def _is_affine(self, tp, sequence_parallel):
        positions = -(-self.base.seq_length // self.base.mesh.cp)
        return self.base.loss_chunks == 1 and (not sequence_parallel or positions % tp == 0)

    def _tokens_at(self, tp, pp, micro_batch_size, waves, recompute, sequence_parallel):
        key = tp, pp, micro_batch_size, waves, recompute, sequence_parallel
        if key not in self._tokens:
            stage = self.base.stage if self.base.engine == "fsdp2" else 1
            run = self.base.changed(
                mesh=Mesh(dp=1, tp=tp, pp=pp), stage=stage, micro_batch_size=micro_batch_size, recompute=recompute,
                gradient_accumulation_steps=waves, sequence_parallel=sequence_parallel, placement=Placement())
            self._tokens[key] = tuple(self._part(run, pp_rank, estimated=True) for pp_rank in self.stages(run, tp, pp))
        return self._tokens[key]

    @staticmethod
    def _part(run, pp_rank, estimated):
        _, instants = engine_instants(run, pp_rank)
        return [sum(row.num_bytes for row in instant.rows if is_estimated(row) == estimated) for instant in instants]

