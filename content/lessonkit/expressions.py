"""Evaluates the expressions of the exercise bank: arithmetic, comparisons and calls into zeroledger, nothing else."""

import ast

_ALLOWED = (
    ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Attribute, ast.Call, ast.keyword, ast.Subscript, ast.Tuple,
    ast.UnaryOp, ast.USub, ast.UAdd, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod,
    ast.Compare, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.BoolOp, ast.And, ast.Or,
)
_BUILTINS = {"min": min, "max": max, "sum": sum, "round": round}


class ExpressionError(ValueError):
    """An expression that is not allowed, or that fails; the message shows it."""


def evaluate(expression: str, inputs: dict):
    """The value of `expression` over zeroledger's public names, `inputs`, and min, max, sum, round.

    ExpressionError when it does more than that (powers, comprehensions, private attributes …) or when it fails."""
    tree = _parsed(expression)
    names = public_names() | _BUILTINS | inputs
    for node in ast.walk(tree):
        _check(node, names, expression)
    try:
        return eval(compile(tree, "<exercise>", "eval"), {"__builtins__": {}}, names)
    except Exception as error:
        raise ExpressionError(f"{expression!r} fails: {type(error).__name__}: {error}") from error


def public_names() -> dict:
    """What `from zeroledger import *` brings: {name: value}."""
    names = {}
    exec("from zeroledger import *", names)
    return {name: value for name, value in names.items() if name != "__builtins__"}


def _parsed(expression):
    try:
        return ast.parse(expression.strip(), mode="eval")
    except SyntaxError as error:
        raise ExpressionError(f"{expression!r} is not an expression: {error.msg}") from None


def _check(node, names, expression):
    if not isinstance(node, _ALLOWED):
        raise ExpressionError(f"{expression!r}: {type(node).__name__} is not allowed; use arithmetic and calls into zeroledger")
    if isinstance(node, ast.Name) and node.id not in names:
        raise ExpressionError(f"{expression!r}: {node.id!r} is neither an input nor a public name of zeroledger")
    if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
        raise ExpressionError(f"{expression!r}: {node.attr!r} is private")
