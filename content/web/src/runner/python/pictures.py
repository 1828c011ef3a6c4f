"""What a value looks like, if it can draw itself: the protocol of notebooks, `_repr_svg_` and `_repr_png_`."""

import base64

from guard import RUNNER_FILES

MAX_PICTURE_BYTES = 1_000_000  # protocol.js repeats it


def picture_of(value):
    """{"kind": "svg", "data": text} or {"kind": "png", "data": base64 text}; None for a value that does not draw itself.

    Raises TypeError if it draws something else, ValueError if that is longer than MAX_PICTURE_BYTES.
    """
    svg = _drawn(value, "_repr_svg_", str)
    if svg is not None:
        return {"kind": "svg", "data": svg}
    png = _drawn(value, "_repr_png_", bytes)
    if png is not None:
        return {"kind": "png", "data": base64.b64encode(png).decode("ascii")}
    return None


def _drawn(value, name, kind):
    """What the method returns. Its class must have it: a module or a class of the reader's is not drawn."""
    draw = getattr(type(value), name, None)
    drawing = None if draw is None else draw(value)
    if drawing is None:
        return None
    if type(drawing) is not kind:
        raise TypeError(f"{type(value).__name__}.{name}() returned {type(drawing).__name__}; it must return {kind.__name__}")
    if len(drawing) > MAX_PICTURE_BYTES:
        raise ValueError(f"the picture of {type(value).__name__} is {len(drawing)} long; at most {MAX_PICTURE_BYTES} fit")
    return drawing


RUNNER_FILES.add(picture_of.__code__.co_filename)
