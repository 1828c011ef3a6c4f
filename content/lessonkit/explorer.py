"""The explorer of a lesson notebook: controls for model, N, stage and unit; a chart and a table that follow them."""

from html import escape

import ipywidgets as widgets
from zeroledger import PRESETS, ledger, model_from_hf_config, parse_count

from .chart_text import STAGES, UNIT_BYTES, alternative
from .charts import LedgerChart
from .controls import Shown, choice, labelled, message, stack, toggle
from .i18n import language, text
from .tables import table_html

DP_SIZES = tuple(2**exponent for exponent in range(11))
PLAIN_7B, CUSTOM = "7b", "custom"
NUM_PARAMS_7B = 7_000_000_000
FOR_SCREEN_READERS = "position:absolute; width:1px; height:1px; overflow:hidden; clip-path:inset(50%); white-space:nowrap"


class Explorer(Shown):
    """Draws at once and again whenever a control moves. The current ledger is `.ledger`.

    The controls are public (`model`, `custom`, `dp_size`, `stage`, `unit`): set their `.value` from code as well.
    """

    def __init__(self, model=PLAIN_7B, dp_size=8, stage=0, unit="GB"):
        self.lang = language()
        self.num_params = NUM_PARAMS_7B
        self.model = choice(self._say("model"), self._models(), model)
        self.custom = labelled(widgets.Text(description=self._say("custom"), placeholder=self._say("custom_hint")))
        self.dp_size = labelled(widgets.SelectionSlider(description=self._say("dp_size"), options=DP_SIZES, value=dp_size))
        self.stage = toggle(self._say("stage"), STAGES, stage)
        self.unit = toggle(self._say("unit"), tuple(UNIT_BYTES), unit)
        self.problem, self.table = widgets.HTML(), widgets.HTML()
        self._read_model()
        self.chart = LedgerChart(self._ledgers(), stage, unit, self.lang)
        self.picture = widgets.Image(format="png", layout=widgets.Layout(max_width="100%"))
        self.spoken = widgets.HTML()  # beside the picture: a tooltip on an Image breaks its view in the browser
        self._show()
        for control, follow in ((self.model, self._model_changed), (self.custom, self._model_changed),
                                (self.dp_size, self._changed), (self.stage, self._changed), (self.unit, self._changed)):
            control.observe(follow, "value")
        controls = [self.model, self.custom, self.problem, self.dp_size, self.stage, self.unit]
        super().__init__(stack([*controls, self.picture, self.spoken, self.table]))

    @property
    def ledger(self):
        """The ledger of the settings as they stand."""
        return self._ledgers()[self.stage.value]

    def plain_text(self):
        """The table, for where widgets cannot be shown."""
        return self.ledger.table(unit=self.unit.value)

    def html(self):
        """The same as an HTML table."""
        return table_html(self.ledger, self.unit.value, self.lang)

    def _say(self, name):
        return text(f"kit.explore.{name}", self.lang)

    def _models(self):
        presets = [(preset.title, name) for name, preset in PRESETS.items()]
        return [(self._say("model_7b"), PLAIN_7B), *presets, (self._say("model_custom"), CUSTOM)]

    def _ledgers(self):
        return [ledger(self.num_params, self.dp_size.value, stage) for stage in STAGES]

    def _model_changed(self, _change):
        self._read_model()
        self._show()

    def _changed(self, _change):
        self._show()

    def _read_model(self):
        """Takes the parameter count from the controls; what cannot be read is named and leaves the count as it was."""
        custom = self.model.value == CUSTOM
        self.custom.layout.display = None if custom else "none"
        self.problem.value = ""
        if not custom:
            self.num_params = NUM_PARAMS_7B if self.model.value == PLAIN_7B else PRESETS[self.model.value].num_params
        elif self.custom.value.strip():
            self._read_custom(self.custom.value.strip())

    def _read_custom(self, written):
        try:
            num_params = model_from_hf_config(written).num_params if written.startswith("{") else parse_count(written)
            self.num_params = ledger(num_params).num_params  # ledger refuses what is out of range
        except ValueError as error:
            self.problem.value = message(text("kit.explore.cannot_read", self.lang, reason=error))

    def _show(self):
        stage, unit = self.stage.value, self.unit.value
        self.chart.update(self._ledgers(), stage, unit)
        self.picture.value = self.chart.png()
        self.spoken.value = f'<span style="{FOR_SCREEN_READERS}">{escape(alternative(self.ledger, unit, self.lang))}</span>'
        self.table.value = self.html()
