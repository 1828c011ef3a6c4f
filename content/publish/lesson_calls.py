"""What lessons and pages agree on: languages, kinds of cells, and the one call that a cell of ours consists of."""

import ast

LANGUAGES = ("en", "zh-CN")
FOLDER_OF_LANGUAGE = {"en": "en", "zh-CN": "zh"}
KINDS = ("setup", "live", "predict", "explore", "timeline", "parallel")


def predicted_exercise(source):
    """The exercise id in a predict cell's one call, `predict("adam-20b-total")`."""
    return str(_only_call(source, "predict")[0][0])


def explorer_start(source):
    """The keyword arguments of an explore cell's one call, `explore(dp_size=8, stage=1)`, as a dict."""
    return _only_call(source, "explore")[1]


def timeline_start(source):
    """The keyword arguments of a timeline cell's one call, `timeline(stage=3, dp_size=4)`, as a dict."""
    return _only_call(source, "timeline")[1]


def parallel_start(source):
    """The keyword arguments of a parallel cell's one call, `parallel(model="llama-2-70b", tp_size=8)`, as a dict."""
    return _only_call(source, "parallel")[1]


def _only_call(source, name):
    """Positional and keyword arguments of the single call `name(…)` in `source`, all literals."""
    body = ast.parse(source).body
    call = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == name):
        raise ValueError(f"got {source!r}")
    return (
        [ast.literal_eval(argument) for argument in call.args],
        {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords},
    )
