"""What a mistake does to the training, in words and as two curves: the same lines as on the page of the simulated step."""

from html import escape

from .i18n import text

WIDTH, HEIGHT, MARGIN = 320, 90, 6
INK, GREY = "currentColor", "#767676"


def effect_html(effect: dict, lang: str) -> str:
    """Verdict, figures and loss curves of what ``zeroledger.simulate.effect.effect`` returned."""
    check = effect["check"]
    name = _say("breaks." + check["name"], lang) if not check["ok"] else ""
    verdict = _say("effect.same", lang) if check["ok"] else _say("effect.differs", lang, name=name)
    items = "".join(f"<li>{escape(line)}</li>" for line in effect_lines(effect, lang))
    return (f'<div role="status"><p>{escape(_say("effect.title", lang))}</p><p><b>{escape(verdict)}</b></p>'
            f"<ul>{items}</ul>{_curves(effect, lang)}</div>")


def effect_lines(effect: dict, lang: str) -> list[str]:
    """The check's figures, one line each."""
    check = effect["check"]
    lines = [_say("effect.gradient", lang, difference=_short(check["worst_difference"]), largest=_short(check["largest_gradient"]))]
    if check["ratio"] is not None and abs(check["ratio"] - 1) > 1e-9:
        lines.append(_say("effect.ratio", lang, ratio=_short(check["ratio"])))
    if check["flipped"]:
        lines.append(_say("effect.flipped", lang, count=check["flipped"]))
    if check["disagreement"]:
        lines.append(_say("effect.disagreement", lang, difference=_short(check["disagreement"])))
    lines.append(_say("effect.update", lang, ratio=_short(check["first_update"])))
    rate, expected = check["learning_rates"][-1], check["expected_learning_rates"][-1]
    if rate != expected:
        lines.append(_say("effect.rates", lang, rate=_short(rate), expected=_short(expected)))
    return lines


def _say(key, lang, **fields):
    return text(f"page.timeline.{key}", lang, **fields)


def _short(number):
    return "∞" if number is None else f"{number:.4g}"


def _curves(effect, lang):
    losses, expected = effect["losses"], effect["expected_losses"]
    finite = [loss for loss in (*losses, *expected) if loss is not None]
    low, high = min(finite), max(finite)

    def curve(values, colour, dash):
        points = " ".join(f"{MARGIN + at / max(len(values) - 1, 1) * (WIDTH - 2 * MARGIN):.1f},"
                          f"{HEIGHT - MARGIN - (loss - low) / ((high - low) or 1) * (HEIGHT - 2 * MARGIN):.1f}"
                          for at, loss in enumerate(values) if loss is not None)
        return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'

    last = ["∞" if values[-1] is None else f"{values[-1]:.3f}" for values in (losses, expected)]
    said = _say("effect.chart", lang, steps=len(expected), loss=last[0], expected=last[1])
    return (f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" style="max-width:100%" role="img" '
            f'aria-label="{escape(said)}">{curve(expected, GREY, "5 4")}{curve(losses, INK, "none")}</svg>'
            f"<p>{escape(said)}<br>— {escape(_say('effect.this_run', lang))} &nbsp; - - {escape(_say('effect.one_rank', lang))}</p>")
