"""Interface strings: the same keys and the same {fields} in both languages, and clear errors for what is not there."""

import re
from string import Formatter

import pytest

from lessonkit import i18n

CHINESE = re.compile(r"[\u4e00-\u9fff]")
KEY = re.compile(r"(term|kit|cell|page|lab|quiz|embed|build)(\.[A-Za-z0-9_]+)+")


@pytest.fixture(autouse=True)
def english():
    i18n.use_language("en")
    yield
    i18n.use_language("en")


def fields(wording):
    return sorted(field for _, field, _, _ in Formatter().parse(wording) if field is not None)


def problems(strings):
    """What is wrong with a table of strings, one line each."""
    for key, entry in strings.items():
        if not KEY.fullmatch(key):
            yield f"{key}: the key does not look like area.name"
        if tuple(entry) != i18n.LANGUAGES:
            yield f"{key}: languages are {tuple(entry)}"
        elif fields(entry["en"]) != fields(entry["zh-CN"]):
            yield f"{key}: fields differ between languages"
        elif not all(wording.strip() for wording in entry.values()):
            yield f"{key}: empty"
        elif CHINESE.search(entry["en"]):
            yield f"{key}: Chinese in the English string"
        elif any(not field.isidentifier() for wording in entry.values() for field in fields(wording)):
            yield f"{key}: only plain {{name}} fields, JavaScript fills them too"


def test_every_string_has_both_languages_with_the_same_fields():
    assert list(problems(i18n.strings())) == []


@pytest.mark.parametrize("entry, wrong", [
    ({"en": "a"}, "languages"),
    ({"en": "a {n}", "zh-CN": "乙"}, "fields differ"),
    ({"en": "a", "zh-CN": " "}, "empty"),
    ({"en": "甲", "zh-CN": "甲"}, "Chinese"),
    ({"en": "{n:.1f}", "zh-CN": "{0}"}, "fields differ"),
])
def test_the_parity_check_sees(entry, wrong):
    assert wrong in " ".join(problems({"kit.x": entry}))


def test_glossary_terms():
    """The words of the glossary, which prose and interface share."""
    glossary = {"params": "参数", "grads": "梯度", "master_params": "主权重", "exp_avg": "一阶矩", "exp_avg_sq": "二阶矩",
                "model_states": "模型状态", "dp_size": "数据并行度", "stage": "ZeRO 阶段", "device_memory": "显存", "shard": "分片"}
    assert {name: i18n.text(f"term.{name}", "zh-CN") for name in glossary} == glossary


def test_text_follows_the_language_in_use():
    assert i18n.text("term.total") == "total"
    i18n.use_language("zh-CN")
    assert (i18n.language(), i18n.text("term.total")) == ("zh-CN", "合计")
    assert i18n.text("kit.chart.x_stage", stage=2) == "阶段 2"


@pytest.mark.parametrize("call, says", [
    (lambda: i18n.use_language("fr"), "'fr' is not known; accepted: en, zh-CN"),
    (lambda: i18n.text("kit.nothing"), "'kit.nothing'"),
    (lambda: i18n.text("kit.chart.x_stage"), "needs the field 'stage'"),
    (lambda: i18n.text("term.total", "zh"), "accepted: en, zh-CN"),
])
def test_errors_say_what_is_accepted(call, says):
    with pytest.raises(i18n.LanguageError, match=re.escape(says)):
        call()
