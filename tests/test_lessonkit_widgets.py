"""The widgets: the explorer follows every control, the predict cell keeps its answer until commit or skip, imports stay lazy."""

import json
import subprocess
import sys

import pytest

import lessonkit
from lessonkit import bank, feedback
from lessonkit.again import evaluate_again
from zeroledger import PRESETS


@pytest.fixture(autouse=True)
def english():
    lessonkit.use_language("en")
    yield
    lessonkit.use_language("en")


def test_a_prediction_of_a_ratio_keeps_its_fraction():
    assert [feedback.read(written, "count") for written in ("5.5", "９.18", "1.5B", "24")] == [5.5, 9.18, 1_500_000_000, 24]
    assert feedback.amount(5.5, "count") == "5.50"


class TestImports:
    def loaded(self, code):
        """Which of the heavy modules are loaded after `code` in a new interpreter."""
        report = "import sys, json; print(json.dumps([m for m in ('ipywidgets', 'IPython', 'matplotlib', 'numpy') if m in sys.modules]))"
        done = subprocess.run([sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True, timeout=60)
        return json.loads(done.stdout.splitlines()[-1])

    def test_importing_the_kit_loads_nothing_heavy(self):
        assert self.loaded("from lessonkit import *\nuse_language('zh-CN')\nimport lessonkit.bank; lessonkit.bank.load('adam-20b-total').evaluate()") == []

    def test_a_predict_cell_needs_no_matplotlib(self):
        assert "matplotlib" not in self.loaded("import lessonkit; lessonkit.predict('adam-20b-total')")

    def test_a_chart_needs_no_pyplot(self):
        assert self.loaded("import lessonkit, sys; lessonkit.explore(); assert 'matplotlib.pyplot' not in sys.modules")


class TestExplorer:
    def test_ten_drags_give_ten_pictures(self):
        explorer = lessonkit.explore()
        pictures = []
        for dp_size in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
            explorer.dp_size.value = dp_size
            pictures.append(bytes(explorer.picture.value))
        assert len(set(pictures)) == 10 and all(picture.startswith(b"\x89PNG") for picture in pictures)

    @pytest.mark.parametrize("control, value, table", [
        ("stage", 3, "14 GB"), ("unit", "GiB", "104.3 GiB"), ("model", "llama-2-7b", "107.8 GB"), ("dp_size", 4, "112 GB"),
    ])
    def test_picture_and_table_follow(self, control, value, table):
        explorer = lessonkit.explore(dp_size=8)
        picture = explorer.picture.value
        getattr(explorer, control).value = value
        assert explorer.picture.value != picture and table in explorer.table.value

    def test_start_settings(self):
        explorer = lessonkit.explore(model="llama-2-70b", dp_size=64, stage=3, unit="GiB")
        assert explorer.ledger.num_params == PRESETS["llama-2-70b"].num_params
        assert (explorer.ledger.dp_size, explorer.ledger.stage) == (64, 3) and "GiB" in explorer.table.value

    @pytest.mark.parametrize("written, num_params", [("13B", 13_000_000_000), ("７e9", 7_000_000_000), ("1_500_000_000", 1_500_000_000)])
    def test_a_custom_count(self, written, num_params):
        explorer = lessonkit.explore()
        explorer.model.value, explorer.custom.value = "custom", written
        assert explorer.ledger.num_params == num_params and explorer.problem.value == ""

    def test_a_pasted_config(self):
        config = {"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
                  "intermediate_size": 11008, "vocab_size": 32000, "tie_word_embeddings": False}
        explorer = lessonkit.explore()
        explorer.model.value, explorer.custom.value = "custom", json.dumps(config)
        assert explorer.ledger.num_params == 6_738_415_616

    @pytest.mark.parametrize("written, named", [("lots", "lots"), ("-1", "-1"), ('{"model_type": "llama"}', "num_attention_heads"), ("<b>", "&lt;b&gt;"), ("0", "num_params")])
    def test_what_cannot_be_read_is_named_and_nothing_moves(self, written, named):
        explorer = lessonkit.explore()
        picture = explorer.picture.value
        explorer.model.value, explorer.custom.value = "custom", written
        assert named in explorer.problem.value and explorer.picture.value == picture
        explorer.custom.value = "13B"
        assert explorer.problem.value == "" and explorer.picture.value != picture

    def test_the_custom_field_shows_only_when_asked_for(self):
        explorer = lessonkit.explore()
        assert explorer.custom.layout.display == "none"
        explorer.model.value = "custom"
        assert explorer.custom.layout.display is None

    def test_chinese(self):
        lessonkit.use_language("zh-CN")
        explorer = lessonkit.explore()
        assert explorer.stage.description == "ZeRO 阶段" and "主权重" in explorer.table.value

    def test_without_widgets_there_is_a_table(self):
        bundle = lessonkit.explore()._repr_mimebundle_()
        assert "112" in bundle["text/plain"] and "<table>" in bundle["text/html"]
        assert "application/vnd.jupyter.widget-view+json" in bundle


class TestPredict:
    ANSWER = "68 GB"

    def shown(self, predictor):
        """Everything the front end holds of the widget."""
        from ipywidgets import Widget

        def states(widget):
            yield {key: str(value) for key, value in widget.get_state().items()}
            for child in getattr(widget, "children", ()):
                yield from states(child)
        assert isinstance(predictor.widget, Widget)
        bundle = {key: value for key, value in predictor._repr_mimebundle_().items() if key.startswith("text/")}
        return json.dumps([*states(predictor.widget), bundle], ensure_ascii=False)

    def test_nothing_is_computed_or_shown_before_the_commit(self, monkeypatch):
        def too_early(self):
            raise AssertionError("evaluated before the commit")
        monkeypatch.setattr(bank.Exercise, "evaluate", too_early)
        predictor = lessonkit.predict("zero2-20b-10")
        shown = self.shown(predictor)
        assert "20B parameters on 10 ranks" in shown
        assert "63.3" not in shown and self.ANSWER not in shown and "ledger(" not in shown
        predictor.number.value = "32 GB"
        assert predictor.result.value == "" and not predictor.done

    def test_a_known_mistake_is_named_after_the_commit(self):
        predictor = lessonkit.predict("zero2-20b-10")
        predictor.number.value = "32 GB"
        predictor.commit.click()
        assert predictor.feedback.mistake_id == "divided-params"
        for part in ("32 GB", self.ANSWER, "63.3 GiB", "-52.9%", "that is stage 3", "ledger(num_params=20e9, dp_size=10, stage=2)", "68.00 GB"):
            assert part in predictor.result.value

    def test_enter_commits(self):
        predictor = lessonkit.predict("zero2-20b-10")
        predictor.number.value = "68 GB"
        predictor.number._handle_custom_msg({"event": "submit"}, [])
        assert predictor.feedback.verdict == "right" and "Right, within 2%" in predictor.result.value

    def test_skip_shows_the_result_without_a_verdict(self):
        predictor = lessonkit.predict("zero2-20b-10")
        predictor.skip.click()
        assert predictor.done and predictor.feedback is None
        assert self.ANSWER in predictor.result.value and "Skipped" in predictor.result.value

    @pytest.mark.parametrize("written", ["", "many", "32 G", "<script>", "32", "３２"])
    def test_an_unreadable_number_keeps_the_gate_shut(self, written):
        predictor = lessonkit.predict("zero2-20b-10")
        predictor.number.value = written
        predictor.commit.click()
        assert not predictor.done and not predictor.number.disabled
        assert ("needs a number" in predictor.result.value or "needs a unit" in predictor.result.value) and "<script>" not in predictor.result.value and self.ANSWER not in predictor.result.value

    def test_the_first_commit_stands(self):
        predictor = lessonkit.predict("zero2-20b-10")
        predictor.number.value = "32 GB"
        predictor.commit.click()
        before = predictor.result.value
        predictor.number.value = "68 GB"
        predictor.commit.click()
        predictor.skip.click()
        assert predictor.result.value == before and predictor.number.disabled and predictor.commit.disabled

    def test_far_off_numbers_are_told_as_a_factor(self):
        predictor = lessonkit.predict("zero2-20b-10")
        predictor.number.value = "68 TB"
        predictor.commit.click()
        assert "×1,000" in predictor.result.value

    def test_chinese(self):
        lessonkit.use_language("zh-CN")
        predictor = lessonkit.predict("zero2-20b-10")
        predictor.number.value = "３２　ＧＢ"
        predictor.commit.click()
        assert "那是阶段 3" in predictor.result.value and predictor.commit.description == "提交并运行"

    def test_reason_and_confidence_are_kept_and_shown(self):
        predictor = lessonkit.predict("zero2-20b-10")
        assert predictor.confidence.value is None  # the reader says how sure they are, or does not
        predictor.number.value, predictor.reason.value, predictor.confidence.value = "68 GB", " <b>rows</b> ", 3
        predictor.reason._handle_custom_msg({"event": "submit"}, [])
        assert "You wrote: &lt;b&gt;rows&lt;/b&gt;" in predictor.result.value and "certain" in predictor.result.value

    @pytest.mark.parametrize("written, place", [("68 GB", 160.0), ("6.8 GB", 92.0), ("680 TB", 296.0), ("32 GB", 137.7)])
    def test_the_error_stands_on_a_logarithmic_scale(self, written, place):
        predictor = lessonkit.predict("zero2-20b-10")
        predictor.number.value = written
        predictor.commit.click()
        assert f'x2="{place:.1f}" y1="16" y2="16" stroke="#b3261e"' in predictor.result.value

    def test_hints_come_in_steps_and_compute_nothing(self, monkeypatch):
        monkeypatch.setattr(bank.Exercise, "evaluate", lambda self: pytest.fail("evaluated for a hint"))
        predictor = lessonkit.predict("zero2-20b-10")
        for number in (1, 2):
            assert not predictor.hint.button.disabled
            predictor.hint.button.click()
            assert f"Hint {number} of 2" in predictor.hint.room.value
        assert predictor.hint.button.disabled and self.ANSWER not in self.shown(predictor)

    def test_a_second_try_with_other_inputs(self):
        predictor = lessonkit.predict("zero2-20b-10")
        assert predictor.again is None
        predictor.skip.click()
        again = predictor.again
        assert again.widget in predictor.widget.children and again.inputs["num_params"].value == "20,000,000,000"
        again.inputs["dp_size"].value, again.number.value = "4", "2P"
        again.commit.click()
        assert "needs a number" in again.result.value
        again.number.value = "80 GB"  # 16P/N: the parameters divided too
        again.number._handle_custom_msg({"event": "submit"}, [])
        assert all(part in again.result.value for part in ("20B parameters on 4 ranks", "110 GB", "that is stage 3"))
        assert "80 GB" not in predictor.result.value  # the first result stands
        again.inputs["dp_size"].value = "0"
        again.commit.click()
        assert "dp_size" in again.result.value and "<table" not in again.result.value

    def test_a_second_try_takes_fractions_where_the_bank_has_some(self):
        item = bank.load("same-first-update")
        written = {"extra": "1", "beta1": "0.8", "beta2": "0.95"}
        other, values = evaluate_again(item, written)
        assert "β₁ = 0.8, β₂ = 0.95" in other.prompt("en") and values["answer"] == 776
        with pytest.raises(ValueError, match="beta1"):
            evaluate_again(item, written | {"beta1": "most"})

    def test_a_second_trys_explanations_follow_its_inputs(self):
        _, values = evaluate_again(bank.load("tp-activations-70b"), {"seq_length": "4096", "tp_size": "4"})
        assert values["mistakes"][0]["text"]["en"].startswith("Everything divided by four")
