"""What each rank holds for good: the model's persistent state, laid out for a ZeRO stage."""

from ..errors import ceil_div
from ..offload import role_of
from .arithmetic import CASTS
from .model import initial_weights, layers_of
from .rank import Rank

OFFLOADED_ROLES = {"none": (), "optimizer": ("optimizer", "grads"), "params": ("optimizer", "grads", "params")}


def chunk_numel(settings, tensor):
    """Elements of a tensor's piece on each rank, padding included: of its elements, or of whole rows of it."""
    if settings.sharding == "rows":
        return ceil_div(tensor.shape[0], settings.dp_size) * (tensor.numel // tensor.shape[0])
    return ceil_div(tensor.numel, settings.dp_size)


class Layout:
    """``dp_size`` ranks, each with its parameters, gradients and optimizer states: whole, or its piece of every tensor."""

    def __init__(self, settings, log):
        self.settings, self.log, self.stage = settings, log, settings.stage
        self.cast = CASTS[settings.precision]
        mixed = "master_params" in settings.categories and settings.precision != "fp64"
        self.cast_state = CASTS["fp32"] if mixed else self.cast
        self.layers = layers_of(settings, self.cast)
        self.ranks = [Rank(index, log, settings.device_bytes) for index in range(settings.dp_size)]
        self.chunk = {tensor.name: chunk_numel(settings, tensor) for layer in self.layers for tensor in layer.tensors}
        self._lay_out(initial_weights(settings, self.layers))

    def _lay_out(self, weights):
        for layer in self.layers:
            self.log.at = layer.name
            for tensor in layer.tensors:
                values = self.cast_state(weights[tensor.name])
                for rank in self.ranks:
                    self._store(rank, tensor, values)
        self.log.at = ""

    def _store(self, rank, tensor, values):
        own = self.piece(rank, tensor.name, values) if self.stage >= 1 else list(values)
        zeros = [0.0] * len(own)
        rank.optimizer[tensor.name] = {"weights": own, "exp_avg": zeros, "exp_avg_sq": zeros}
        rank.params[tensor.name] = self.cast(own if self.stage == 3 else list(values))
        rank.grads[tensor.name] = [0.0] * (len(own) if self.stage >= 2 else tensor.numel)
        for row in self.settings.recipe.rows:
            numel = self.row_numel(row, rank, tensor) * self.settings.scale
            if numel:
                rank.allocate(row.category, tensor.name, numel, row.bytes_for(numel), tier=self.tier(row))

    def row_numel(self, row, rank, tensor):
        """Elements of a recipe row that ``rank`` stores of ``tensor``; FSDP2 does not pad the optimizer's states."""
        if not row.is_sharded(self.stage):
            return tensor.numel
        chunk = self.chunk[tensor.name]
        if self.settings.sharding == "rows" and role_of(row.category) == "optimizer":
            return max(0, min(chunk, tensor.numel - rank.index * chunk))
        return chunk

    def tier(self, row):
        """"cpu" when the row is sharded and its role is offloaded, else "device"."""
        away = row.is_sharded(self.stage) and role_of(row.category) in OFFLOADED_ROLES[self.settings.offload]
        return "cpu" if away else "device"

    def piece(self, rank, name, values):
        """The rank's own piece of a whole tensor, padded with zeros."""
        chunk = self.chunk[name]
        own = list(values[rank.index * chunk:(rank.index + 1) * chunk])
        return own + [0.0] * (chunk - len(own))

    def joined(self, layer, source):
        """{tensor name: whole list} from the pieces that ``source(rank)`` holds."""
        return {tensor.name: [value for rank in self.ranks for value in source(rank)[tensor.name]][:tensor.numel]
                for tensor in layer.tensors}

    def weights_of(self, rank, layer):
        """The whole tensors of ``layer`` that the rank computes with, by short name."""
        source = rank.whole if self.stage == 3 else rank.params
        return {key: source[tensor.name] for key, tensor in zip(layer.keys, layer.tensors)}

    def whole_weights(self):
        """{tensor: whole list} of the weights as the optimizer holds them, of rank 0 where every rank holds a copy."""
        return self._whole(lambda rank: {name: state["weights"] for name, state in rank.optimizer.items()})

    def whole_gradients(self):
        """{tensor: whole list} of the averaged gradients that the optimizer saw in this step."""
        return self._whole(self._gradients_of)

    def _gradients_of(self, rank):
        """The rank's own gradients by tensor; 0 for those that a loop of one's own never used."""
        used = self.gradients[rank.index]
        return {name: used.get(name) or [0.0] * len(state["weights"]) for name, state in rank.optimizer.items()}

    def _whole(self, source):
        if self.stage == 0:
            return dict(source(self.ranks[0]))
        return {name: values for layer in self.layers for name, values in self.joined(layer, source).items()}

    def disagreement(self):
        """Largest difference between two ranks' copies of a parameter; 0 where each rank holds only its piece."""
        if self.stage == 3:
            return 0.0
        first = self.ranks[0].params
        return max(abs(mine - theirs) for rank in self.ranks for name in first
                   for mine, theirs in zip(rank.params[name], first[name]))

    def _size(self, numel, category):
        numel *= self.settings.scale
        return numel, int(numel * self.settings.bytes_per_param(category))

    def _allocate(self, rank, category, tensor, numel, as_row, event="allocate"):
        rank.allocate(category, tensor, *self._size(numel, as_row), event=event)
