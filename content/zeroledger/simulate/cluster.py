"""All virtual ranks of one process, and the verbs that the training loop is written in. Every verb acts on all ranks."""

from .adam import adam_update, learning_rate_at
from .arithmetic import add_lists
from .exchange import Exchange
from .layers import cross_entropy, cross_entropy_grad


class Cluster(Exchange):
    """Verbs that compute, and where the run is. ``bucket`` lists layers whose gradients wait for their reduction."""

    def __init__(self, settings, log):
        super().__init__(settings, log)
        self.prefetch_depth = settings.prefetch_depth
        # A step on zero gradients leaves weights and moments as they are and only counts.
        self.bucket, self.adam_steps = [], 1 if "extra_adam_step" in settings.breaks else 0
        self.tokens, self.loss_sum, self.gradients, self.largest_update = 0, 0.0, [], 0.0

    def enter(self, phase, layer):
        """Say what is being worked on; the log and error messages repeat it."""
        self.log.phase, self.log.at = phase, layer.name

    def enter_micro_batch(self, number):
        """Say which micro-batch of the step this is."""
        self.log.micro_batch = number
        self.enter("forward", self.layers[0])

    def layers_after(self, layer):
        """The layers that forward computes next, nearest first."""
        return self.layers[self.layers.index(layer) + 1:]

    def layers_before(self, layer):
        """The layers that backward computes next, nearest first."""
        return self.layers[:self.layers.index(layer)][::-1]

    def bucket_would_overflow(self, layer):
        """Whether the bucket holds something and has no room for ``layer``'s gradients."""
        numel = self.settings.scale * sum(each.numel for each in [*self.bucket, layer])
        return bool(self.bucket) and numel > self.settings.reduce_bucket_numel

    def load(self, batch):
        """Put each rank's samples of a micro-batch in place."""
        for rank, samples in zip(self.ranks, batch):
            rank.ids, rank.targets = [ids for ids, _ in samples], [targets for _, targets in samples]
            rank.flow = rank.ids
            self._allocate(rank, "activations", f"{self.layers[0].name}.input", rank.num_tokens, "params")

    def forward(self, layer):
        """Compute ``layer`` from what flows in; keep its input and what backward needs, pass its output on."""
        for rank in self.ranks:
            rank.inputs[layer] = rank.flow
            rank.flow, rank.kept[layer] = layer.forward_all(self.weights_of(rank, layer), rank.flow)
            self._allocate_kept(rank, layer, rank.kept[layer])
            if layer is not self.layers[-1]:
                self._allocate(rank, "activations", f"{self._after(layer)}.input", numel_of(rank.flow), "params")
            self._compute(rank, "forward", layer, 1)

    def loss(self):
        """Add up the loss of every rank's samples; backward starts from its gradient by the logits."""
        for rank in self.ranks:
            self.tokens += rank.num_tokens
            self.loss_sum += sum(map(cross_entropy, rank.flow, rank.targets))
            scale = 1 / rank.num_tokens if "mean_of_means" in self.settings.breaks else 1.0
            rank.flow = [cross_entropy_grad(rows, targets, scale) for rows, targets in zip(rank.flow, rank.targets)]
            self._allocate(rank, "activation_grads", "logits", numel_of(rank.flow), "params")

    def drop(self, layer):
        """Forget what can be recomputed of ``layer``: all but its input, or only its attention weights."""
        names = layer.recomputable[self.settings.recompute]
        for rank in self.ranks:
            for name in names:
                rank.free("activations", f"{layer.name}.{name}")
            rank.kept[layer] = [{name: each[name] for name in each if name not in names} for each in rank.kept[layer]]

    def recompute(self, layer):
        """Compute again what ``drop`` forgot."""
        mode = self.settings.recompute
        for rank in self.ranks if layer.recomputable[mode] else ():
            again = layer.recompute_all(self.weights_of(rank, layer), rank.inputs[layer], rank.kept[layer], mode)
            self._allocate_kept(rank, layer, again)
            rank.kept[layer] = [{**kept, **new} for kept, new in zip(rank.kept[layer], again)]
            self._compute(rank, "recompute", layer, 1 if mode == "full" else 0)

    def backward(self, layer):
        """Gradients of ``layer``'s input and tensors, from the gradient of its output; then its activations go."""
        for rank in self.ranks:
            flow, grads = layer.backward_all(self.weights_of(rank, layer), rank.inputs.pop(layer), rank.kept[layer], rank.flow)
            self._keep_grads(rank, layer, {tensor.name: self.cast(grads[key])
                                           for key, tensor in zip(layer.keys, layer.tensors)})
            if flow is not None:
                self._allocate(rank, "activation_grads", f"{layer.name}.input", numel_of(flow), "params")
            self._compute(rank, "backward", layer, 2)
            rank.flow = flow
            rank.free("activation_grads", f"{self._after(layer)}.input" if layer is not self.layers[-1] else "logits")
            for name in rank.kept.pop(layer)[0]:
                rank.free("activations", f"{layer.name}.{name}")
            rank.free("activations", f"{layer.name}.input")

    def _keep_grads(self, rank, layer, grads):
        """Stages 0 and 1 add to the whole gradient; stages 2 and 3 hold it only until it is reduced."""
        kept = rank.unreduced if self.stage >= 2 else rank.grads
        if self.stage >= 2 and ("unreduced_grads", layer.name) not in rank.live:
            self._allocate(rank, "unreduced_grads", layer.name, layer.numel, self.settings.grad_category)
        for name, values in grads.items():
            kept[name] = self.cast(add_lists(kept[name], values)) if name in kept else values

    def _after(self, layer):
        return self.layers[self.layers.index(layer) + 1].name

    def adam(self, layer):
        """Every rank updates the piece of ``layer`` whose optimizer states it holds, from the averaged gradient."""
        rate, divisor = self.learning_rate(), self.divisor()
        for rank in self.ranks:
            for tensor in layer.tensors:
                grads = rank.grads[tensor.name]
                own = self.piece(rank, tensor.name, grads) if self.stage == 1 else grads
                own = [value / divisor for value in own]
                self.gradients[rank.index][tensor.name] = own
                state = rank.optimizer[tensor.name]
                change = adam_update(state, own, rate, self.adam_steps, self.cast_state)
                self.largest_update = max(self.largest_update, change)
                self._write_params(rank, tensor.name, self.cast(state["weights"]))
            self._adam_time(rank, layer)

    def _write_params(self, rank, name, updated):
        if self.stage in (0, 3):
            rank.params[name] = list(updated)
            return
        first = rank.index * self.chunk[name]
        last = min(first + self.chunk[name], len(rank.params[name]))
        rank.params[name][first:last] = updated[:max(0, last - first)]

    def _adam_time(self, rank, layer):
        numel = sum(len(rank.optimizer[tensor.name]["weights"]) for tensor in layer.tensors)
        traffic = 2 * sum(row.bytes_for(numel * self.settings.scale) for row in self.settings.recipe.rows)
        costs = self.settings.costs
        if self.settings.offload == "none":
            rank.compute("adam", layer, numel * self.settings.scale, traffic / costs.device_bytes_per_s)
            return
        if self.stage == 1:
            self._offload_grads(rank, layer)
        rank.move("adam", layer.name, "", numel * self.settings.scale, 0, traffic / costs.host_adam_bytes_per_s)
        if self.settings.offload == "optimizer":
            rank.move("upload", layer.name, "params", *self._size(numel, "params"), self._host_seconds(numel, "params"))
        rank.now = max(rank.now, rank.host_free)

    def wait_for_all(self):
        """Let every rank wait for all communication and copying."""
        self._wait_until(max(max(rank.now, rank.wire_free, rank.host_free) for rank in self.ranks))

    def zero_grads(self):
        """Start a step: Adam counts on, gradients, token count and loss at 0."""
        self.adam_steps += 1
        self.tokens, self.loss_sum, self.gradients, self.largest_update = 0, 0.0, [{} for _ in self.ranks], 0.0
        for rank in self.ranks:
            rank.grads = {name: [0.0] * len(values) for name, values in rank.grads.items()}

    def divisor(self):
        """What the summed gradient is divided by: the tokens of the global batch."""
        steps = self.settings.gradient_accumulation_steps
        if "mean_of_means" in self.settings.breaks:
            return len(self.ranks) * steps
        return self.tokens / steps if "no_accumulation_division" in self.settings.breaks else self.tokens

    def learning_rate(self):
        """The rate of this step."""
        per_step = len(self.ranks) if "schedule_per_rank" in self.settings.breaks else 1
        return learning_rate_at(self.settings, self.log.step * per_step)

    def _allocate_kept(self, rank, layer, kept):
        for name in kept[0]:
            self._allocate(rank, "activations", f"{layer.name}.{name}", numel_of([each[name] for each in kept]), "params")

    def _compute(self, rank, event, layer, passes):
        flops = 2 * passes * layer.numel * rank.num_tokens * self.settings.scale
        rank.compute(event, layer, layer.numel * self.settings.scale, flops / self.settings.costs.flops_per_s)


def numel_of(samples):
    """Numbers in a list of samples, each a list of rows (or of token ids)."""
    return sum(len(row) if isinstance(row, list) else 1 for rows in samples for row in rows)
