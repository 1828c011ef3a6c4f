"""Counts the collectives that a process starts, whichever engine starts them."""

from torch.utils._python_dispatch import TorchDispatchMode

# c10d's operator → (collective, where its full buffer is: argument number)
OPERATORS = {"allreduce_": ("all_reduce", 0), "broadcast_": ("broadcast", 0), "reduce_": ("reduce", 0),
             "_allgather_base_": ("all_gather", 0), "_reduce_scatter_base_": ("reduce_scatter", 1)}
LARGEST_SCALAR = 4  # elements; overflow checks and norms are not payload


class Counting(TorchDispatchMode):
    """While active, ``calls`` and ``numel`` map each collective to its calls and full-buffer elements."""

    def __init__(self):
        super().__init__()
        self.calls, self.numel, self.others = {}, {}, set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.namespace == "c10d":
            self.count(func._schema.name.partition("::")[2], args)
        return func(*args, **(kwargs or {}))

    def count(self, operator, args):
        if operator not in OPERATORS:
            self.others.add(operator)
            return
        name, position = OPERATORS[operator]
        given = args[position]
        numel = sum(tensor.numel() for tensor in (given if isinstance(given, (list, tuple)) else [given]))
        if numel > LARGEST_SCALAR:
            self.calls[name] = self.calls.get(name, 0) + 1
            self.numel[name] = self.numel.get(name, 0) + numel
