"""The collectives: gathering weights and reducing gradients, in numbers, memory and time.

They really move numbers between the ranks' own lists: at stage 3 a rank that has not gathered a layer holds only its
piece of it. ``numel`` of a collective is that of the full buffer, padding included.
"""

from ..collectives import ring_wire_bytes
from .arithmetic import add_lists
from .layout import Layout


class Exchange(Layout):
    """Verbs that communicate. ``gathers`` and ``reducing`` hold what is under way, and when it ends in seconds."""

    def __init__(self, settings, log):
        super().__init__(settings, log)
        self.gathers, self.reducing = {}, None  # {layer: end}, (end, layers)

    def all_gather(self, layer, early=False):
        """Stage 3: start to make ``layer`` whole on every rank; nothing to do if that was started before."""
        if layer in self.gathers:
            return
        chunks = sum(self.chunk[tensor.name] for tensor in layer.tensors)
        for rank in self.ranks:
            if self.settings.offload == "params":
                self._allocate(rank, "staging", layer.name, chunks, "params")
                rank.move("upload", layer.name, "params", *self._size(chunks, "params"), self._host_seconds(chunks, "params"))
            self._allocate(rank, "gathered_params", layer.name, chunks * len(self.ranks), "params",
                           "prefetch" if early else "gather")
        self.gathers[layer] = self._collective("all_gather", layer.name, chunks * len(self.ranks), "params")
        whole = self.joined(layer, lambda rank: rank.params)  # one list, read by all
        for rank in self.ranks:
            rank.whole.update(whole)

    def wait_for_gather(self, layer):
        """Let every rank wait for the gather of ``layer``."""
        self._wait_until(self.gathers[layer])
        if self.settings.offload == "params" and ("staging", layer.name) in self.ranks[0].live:
            for rank in self.ranks:
                rank.free("staging", layer.name)

    def release(self, layer):
        """Give back the gathered weights of ``layer``; the rank's own piece stays."""
        del self.gathers[layer]
        for rank in self.ranks:
            for tensor in layer.tensors:
                del rank.whole[tensor.name]
            rank.free("gathered_params", layer.name, "release")

    def all_gather_updated(self, layer):
        """Stages 1 and 2: every rank sends the piece it updated into everybody's whole copy; no new memory."""
        padded = sum(self.chunk[tensor.name] for tensor in layer.tensors) * len(self.ranks)
        self._collective("all_gather", layer.name, padded, "params")
        whole = self.joined(layer, lambda rank: {
            tensor.name: self.piece(rank, tensor.name, rank.params[tensor.name]) for tensor in layer.tensors})
        for rank in self.ranks:
            rank.params.update({name: list(values) for name, values in whole.items()})

    def all_reduce(self, layers):
        """Every rank gets the sum of all ranks' gradients of ``layers``; at stages 2 and 3 it keeps its piece of it."""
        self._reduce("all_reduce", layers, sum(layer.numel for layer in layers))

    def reduce_scatter(self, layers):
        """Every rank gets its own piece of the sum of all ranks' gradients of ``layers``."""
        padded = sum(self.chunk[tensor.name] for layer in layers for tensor in layer.tensors) * len(self.ranks)
        self._reduce("reduce_scatter", layers, padded)

    def _reduce(self, op, layers, numel):
        end = self._collective(op, " + ".join(layer.name for layer in layers), numel, self.settings.grad_category)
        self.reducing = (end, layers)
        for tensor in (tensor for layer in layers for tensor in layer.tensors):
            name = tensor.name
            parts = [(rank.unreduced if self.stage >= 2 else rank.grads)[name] for rank in self.ranks]
            totals = [self.cast(list(map(sum, zip(*parts))))] * len(parts)
            for rank, total in zip(self.ranks, parts if "skip_reduce" in self.settings.breaks else totals):
                if self.stage >= 2:
                    rank.grads[name] = self.cast(add_lists(rank.grads[name], self.piece(rank, name, total)))
                    del rank.unreduced[name]
                elif op == "all_reduce":
                    rank.grads[name] = list(total)
                else:
                    first = rank.index * self.chunk[name]
                    rank.grads[name][first:first + self.chunk[name]] = total[first:first + self.chunk[name]]

    def wait_for_reduction(self):
        """Let every rank wait for the reduction under way, and free the whole gradients it read."""
        if self.reducing is None:
            return
        end, layers = self.reducing
        self.reducing = None
        self._wait_until(end)
        for rank in self.ranks if self.stage >= 2 else ():
            for layer in layers:
                rank.free("unreduced_grads", layer.name)
                if self.settings.offload != "none":
                    self._offload_grads(rank, layer)

    def _offload_grads(self, rank, layer):
        category, numel = self.settings.grad_category, sum(self.chunk[tensor.name] for tensor in layer.tensors)
        rank.move("offload", layer.name, category, *self._size(numel, category), self._host_seconds(numel, category))

    def _host_seconds(self, numel, category):
        return self._size(numel, category)[1] / self.settings.costs.host_bytes_per_s

    def _collective(self, op, tensor, numel, category):
        """When the collective ends: it starts once every rank is there and the wire is free."""
        numel, num_bytes = self._size(numel, category)
        from_host = category == "params" and self.settings.offload == "params"
        start = max(max(rank.now, rank.wire_free, rank.host_free * from_host) for rank in self.ranks)
        link = self.settings.costs.link
        end = start + (link.latency_s if len(self.ranks) > 1 else 0) + (
            ring_wire_bytes(op, num_bytes, len(self.ranks)) / link.bytes_per_s)
        for rank in self.ranks:
            rank.communicate(op, tensor, category, numel, num_bytes, start, end)
        if not self.settings.overlap:
            self._wait_until(end)
        return end

    def _wait_until(self, end):
        for rank in self.ranks:
            rank.now = max(rank.now, end)
