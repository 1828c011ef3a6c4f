"""The palette: visible against its background, and told apart by lightness and under simulated colour blindness."""

from importlib.resources import files
from itertools import combinations
from json import loads

import pytest

PALETTE = loads(files("lessonkit").joinpath("palette.json").read_text())
THEMES = ("light", "dark")
# In the order of the stack; main_grads is optional, so grads also touches master_params.
NEIGHBOURS = [("params", "grads"), ("grads", "main_grads"), ("grads", "master_params"), ("main_grads", "master_params"),
              ("master_params", "exp_avg"), ("exp_avg", "exp_avg_sq"),
              # what comes and goes in a simulated step, on top of them
              ("exp_avg_sq", "gathered_params"), ("exp_avg_sq", "activations"), ("gathered_params", "staging"),
              ("gathered_params", "unreduced_grads"), ("gathered_params", "activations"), ("unreduced_grads", "activations"),
              ("activations", "activation_grads")]
# Full dichromacy: Machado, Oliveira, Fernandes (2009), https://doi.org/10.1109/TVCG.2009.113, severity 1.0, on linear RGB.
VISION = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((.152286, 1.052583, -.204868), (.114503, .786281, .099216), (-.003882, -.048116, 1.051998)),
    "deutan": ((.367322, .860646, -.227968), (.280085, .672501, .047413), (-.011820, .042940, .968881)),
    "tritan": ((1.255528, -.076749, -.178779), (-.078411, .930809, .147602), (.004733, .691367, .303900)),
}


def linear_rgb(colour, vision="normal"):
    channels = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= .04045 else ((c + .055) / 1.055) ** 2.4 for c in channels]
    return [min(1, max(0, sum(m * c for m, c in zip(row, linear)))) for row in VISION[vision]]


def luminance(colour):
    return sum(w * c for w, c in zip((.2126, .7152, .0722), linear_rgb(colour)))


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + .05) / (dark + .05)


def cielab(colour, vision="normal"):
    r, g, b = linear_rgb(colour, vision)
    x, y, z = (.4124 * r + .3576 * g + .1805 * b) / .9505, .2126 * r + .7152 * g + .0722 * b, (.0193 * r + .1192 * g + .9505 * b) / 1.089
    fx, fy, fz = (t ** (1 / 3) if t > .008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def distance(one, other, vision):
    return sum((a - b) ** 2 for a, b in zip(cielab(one, vision), cielab(other, vision))) ** .5


def colours(theme):
    return {name: entry[theme] for name, entry in PALETTE["categories"].items()}


def test_the_measures_are_the_usual_ones():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=.01)
    assert cielab("#ff0000") == pytest.approx((53.2, 80.1, 67.2), abs=.2)


@pytest.mark.parametrize("theme", THEMES)
def test_contrast_with_the_background(theme):
    background = PALETTE["background"][theme]
    low = {name: contrast(colour, background) for name, colour in colours(theme).items()}
    assert min(low.values()) >= 3, low
    assert contrast(PALETTE["card_line"][theme], background) >= 3
    assert contrast(PALETTE["ink"][theme], background) >= 7


@pytest.mark.parametrize("theme", THEMES)
def test_neighbours_in_the_stack_differ_in_lightness(theme):
    of = colours(theme)
    steps = {(a, b): abs(cielab(of[a])[0] - cielab(of[b])[0]) for a, b in NEIGHBOURS}
    assert min(steps.values()) >= 12, steps


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("vision", VISION)
def test_any_two_colours_differ_under(vision, theme):
    apart = {pair: distance(*map(colours(theme).get, pair), vision) for pair in combinations(PALETTE["categories"], 2)}
    assert min(apart.values()) >= 15, min(apart.items(), key=lambda item: item[1])
