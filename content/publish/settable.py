"""Which inputs of a live cell an embedding page may set: literals in its code that stand for P, N, stage, model or card."""

import ast

# Input → names of variables and keyword arguments that mean it.
NAMES = {"P": ("P", "num_params"), "N": ("N", "dp_size"), "stage": ("stage",), "model": ("model",), "card": ("card",)}
_INPUT_OF = {name: key for key, names in NAMES.items() for name in names}


def settable_inputs(source):
    """{input: {"value": the literal, "spans": [[start, end], …]}}, spans in UTF-16 units, which JavaScript counts in.

    An input is left out where its places hold different values: one number could not say which is meant."""
    found = {}
    for name, literal in _literals(ast.parse(source)):
        found.setdefault(_INPUT_OF[name], []).append(literal)
    offsets = _line_offsets(source)
    return {
        key: {"value": literals[0].value, "spans": [_span(source, offsets, one) for one in literals]}
        for key, literals in found.items() if len({repr(one.value) for one in literals}) == 1
    }


def _literals(tree):
    """(name, constant) for each assignment and keyword argument of a known name with a literal."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword):
            pairs = [(node.arg, node.value)]
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            pairs = [(getattr(target, "id", None), value) for target, value in _assigned(node.targets[0], node.value)]
        else:
            continue
        yield from ((name, value) for name, value in pairs if name in _INPUT_OF and _is_literal(value))


def _assigned(target, value):
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return zip(target.elts, value.elts)
    return [(target, value)]


def _is_literal(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str)) and not isinstance(node.value, bool)


def _line_offsets(source):
    """Start of each line in UTF-8 bytes, which is what ast counts columns in."""
    offsets = [0]
    for line in source.encode().split(b"\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    return offsets


def _span(source, offsets, node):
    ends = offsets[node.lineno - 1] + node.col_offset, offsets[node.end_lineno - 1] + node.end_col_offset
    return [len(source.encode()[:end].decode().encode("utf-16-le")) // 2 for end in ends]
