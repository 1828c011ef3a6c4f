"""How many elements each group of a recipe counts (``recipes.GROUPS``)."""

from .errors import InvalidInput, check_count


def group_numel(group, num_params, model=None, trained_params=None):
    """Elements of ``group`` in a model of ``num_params`` parameters.

    Raises ``InvalidInput`` when the group needs a model or ``trained_params`` and none was given.
    """
    if group in ("all", "frozen"):
        return num_params
    if group == "trained":
        return local_group_numel((), group, trained_params)
    if model is None:
        raise InvalidInput("model", None, f"a model, because the recipe counts {group!r} apart")
    return local_group_numel(model.tensors(), group)


def local_group_numel(tensors, group, trained_params=None):
    """Elements of ``group`` among ``tensors``; for "trained", ``trained_params`` itself."""
    if group == "trained":
        if trained_params is None:
            raise InvalidInput("trained_params", None, "the number of trained parameters, because the rest is frozen")
        return check_count("trained_params", trained_params)
    if group == "factors":
        return sum(factored_numel(tensor.shape) for tensor in tensors)
    wanted = group == "matrices"
    return sum(tensor.numel for tensor in tensors if is_hidden_matrix(tensor) == wanted)


def is_hidden_matrix(tensor):
    """Whether Muon updates this tensor: two-dimensional and inside a layer, so not embedding, head, norm or bias."""
    return len(tensor.shape) == 2 and tensor.owner in ("layer", "expert")


def factored_numel(shape):
    """Elements that Adafactor keeps for a tensor: row and column means of a matrix, all of a vector.

    arXiv:1804.04235 sec. 3; for more dimensions the last two are factored, as the reference implementation does.
    """
    if len(shape) < 2:
        return shape[0] if shape else 1
    *outer, rows, columns = shape
    batches = 1
    for length in outer:
        batches *= length
    return batches * (rows + columns)
