"""The stacked bars of bytes per rank, drawn by matplotlib once and then only moved."""

from zeroledger import CARDS, format_bytes

from .chart_text import STAGES, UNIT_BYTES, category_name, title
from .figures import Picture, palette
from .fonts import chart_fonts
from .i18n import language, text

SIZE_INCHES = (7.2, 4.2)
FADED = 0.35  # opacity of the bars of the stages that are not chosen
CARD_LABEL_AT = 3.4  # right of the last bar
HEADROOM = 1.14  # of the tallest bar, so that its label fits


class LedgerChart:
    """One bar per ZeRO stage, stacked by category, the chosen stage in full colour, with lines for common cards.

    Light theme, because notebook outputs stay on white paper when saved."""

    def __init__(self, ledgers, stage, unit="GB", lang=None):
        """`ledgers`: four of them, stages 0 to 3, of the same recipe. See update for the rest."""
        self.lang, self.families = chart_fonts(lang or language())
        self.picture = Picture(SIZE_INCHES)
        self.figure = self.picture.figure
        self.axes = self.figure.add_subplot()
        self.palette = palette()
        self._draw_once(ledgers)
        self.update(ledgers, stage, unit)

    def update(self, ledgers, stage, unit):
        """Moves everything to the values of `ledgers`, with `stage` (0–3) in full colour, in "GB" or "GiB"."""
        per_unit = UNIT_BYTES[unit]
        for ledger, label, faded in zip(ledgers, self.totals, [other != stage for other in STAGES]):
            self._stack(ledger, per_unit, FADED if faded else 1)
            height = ledger.model_states_bytes_per_rank / per_unit
            label.set(text=format_bytes(ledger.model_states_bytes_per_rank, unit), y=height, fontweight="normal" if faded else "bold")
        top = HEADROOM * _axis_end(max(ledger.model_states_bytes_per_rank for ledger in ledgers)) / per_unit
        self.axes.set_ylim(0, top)
        self.axes.set_ylabel(text("kit.chart.y_axis", self.lang, unit=unit))
        self.axes.set_title(title(ledgers[0], self.lang))
        self._move_card_lines(per_unit, top)

    def png(self) -> bytes:
        """The picture as it stands now."""
        return self.picture.png()

    def _draw_once(self, ledgers):
        places = range(len(STAGES))
        self.bars = {row.category: self._bars(row.category, places) for row in ledgers[0].rows}
        paper = {"facecolor": self.palette["background"]["light"], "edgecolor": "none", "pad": 0.5}
        self.totals = [self._label(place, 0, "", ha="center", va="bottom", bbox=paper) for place in places]
        self.cards = [(card, *self._card_line(card)) for card in CARDS]
        self.axes.set_xlim(-0.5, len(STAGES) - 0.05)
        self.axes.set_xticks(places, [text("kit.chart.x_stage", self.lang, stage=stage) for stage in STAGES])
        self.axes.spines[["top", "right"]].set_visible(False)
        self.figure.legend(loc="outside lower center", ncols=len(self.bars), frameon=False, prop={"family": self.families, "size": 9})
        for label in (*self.axes.get_xticklabels(), self.axes.yaxis.label, self.axes.title):
            label.set_fontfamily(self.families)
        self.axes.title.set_fontsize(11)

    def _bars(self, category, places):
        colour = self.palette["categories"][category]["light"]
        name = category_name(category, self.lang)
        return self.axes.bar(places, 0, width=0.62, color=colour, edgecolor=self.palette["background"]["light"], linewidth=0.8, label=name)

    def _card_line(self, card):
        colour = self.palette["card_line"]["light"]
        line = self.axes.axhline(0, color=colour, linestyle=(0, (4, 3)), linewidth=0.9, zorder=0.5)
        return line, self._label(CARD_LABEL_AT, 0, text("kit.chart.card", self.lang, card=card.name), color=colour, va="bottom", fontsize=8)

    def _label(self, x, y, wording, **style):
        return self.axes.text(x, y, wording, fontfamily=self.families, **({"fontsize": 9} | style))

    def _stack(self, ledger, per_unit, opacity):
        bottom = 0
        for row in ledger.rows:
            bar = self.bars[row.category][ledger.stage]
            bar.set(y=bottom / per_unit, height=row.bytes_per_rank / per_unit, alpha=opacity)
            bottom += row.bytes_per_rank

    def _move_card_lines(self, per_unit, top):
        """Each card's line to its height; hidden where it leaves the picture, its label where two would overlap."""
        lowest_free = 0
        for card, line, label in sorted(self.cards, key=lambda entry: entry[0].memory_bytes):
            height = card.memory_bytes / per_unit
            line.set(ydata=[height, height], visible=height < top)
            label.set(y=height, visible=lowest_free <= height < 0.96 * top)
            if label.get_visible():
                lowest_free = height + 0.05 * top


def _axis_end(highest):
    """The highest bar, or the smallest card that holds it, in bytes; as on the pages (chart.js)."""
    return max(highest, min((card.memory_bytes for card in CARDS if card.memory_bytes > highest), default=0))
