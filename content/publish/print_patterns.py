"""Hatching for charts on paper, one kind for each memory category, so that they are told apart without colour.

On the screen nothing changes. In print the fill of a category becomes its colour with white hatching over it: an SVG
pattern for charts, the same as a CSS gradient for the swatches of tables.
"""

TILE = 6  # px; a pattern repeats after as much
DOWN, UP, FLAT, STEEP = "M-1 5l2 2M0 0l6 6M5 -1l2 2", "M-1 1l2 -2M0 6l6 -6M5 7l2 -2", "M0 3h6", "M3 0v6"
# Neighbours in a stack have different kinds. Each is (path in a tile, angles of the lines, in degrees).
KINDS = {
    "params": ("", ()),
    "grads": (UP, (135,)),
    "main_grads": (DOWN, (45,)),
    "master_params": (STEEP, (90,)),
    "exp_avg": (FLAT, (0,)),
    "exp_avg_sq": (UP + DOWN, (45, 135)),
    "gathered_params": (STEEP + FLAT, (0, 90)),
    "staging": (DOWN, (45,)),
    "unreduced_grads": (FLAT, (0,)),
    "activations": (UP, (135,)),
    "activation_grads": (STEEP + DOWN, (45, 90)),
}


def patterns_svg(categories):
    """An <svg> without size that holds the patterns of `categories` (names)."""
    made = "".join(_pattern(name) for name in categories)
    return f'<svg class="zl-patterns" width="0" height="0" aria-hidden="true" focusable="false"><defs>{made}</defs></svg>'


def patterns_css(categories):
    """The rules that put the patterns of `categories` in place on paper."""
    rules = "".join(_rule(name) for name in categories)
    return f"@media print{{{rules}}}"


def _pattern(name):
    lines = f'<path d="{KINDS[name][0]}" stroke="#fff" stroke-width="1.3"/>' if KINDS[name][0] else ""
    return (f'<pattern id="zl-paper-{name}" width="{TILE}" height="{TILE}" patternUnits="userSpaceOnUse">'
            f'<rect width="{TILE}" height="{TILE}" style="fill:var(--zl-{name})"/>{lines}</pattern>')


def _rule(name):
    lines = ",".join(f"repeating-linear-gradient({angle}deg,#0000 0 2px,#fff 2px 3.5px)" for angle in KINDS[name][1])
    return (f".zl-{name}{{fill:url(#zl-paper-{name})}}"
            f".zl-swatch.zl-{name}{{background-image:{lines or 'none'};print-color-adjust:exact;-webkit-print-color-adjust:exact}}")
