"""What readers read, in both languages: mixed Chinese and Latin set alike, no English left in Chinese, one word for each term."""

import json
import re
from pathlib import Path

import pytest

from lessonkit import bank, i18n
from publish.lessons import load_lessons
from publish.quiz_page import all_questions

GLOSSARY = json.loads((Path(__file__).parent / "data/glossary.json").read_text(encoding="utf-8"))
HAN = "\u4e00-\u9fff"
# Code, tags, fields and addresses are no prose; nor, in the interface's plain strings, a command or a quoted name of a field.
NOT_PROSE = re.compile(r"```.*?```|`[^`\n]*`|<[^>\n]+>|\{\{.*?\}\}|\{\w+\}|https?://\S+|(?<=\])\([^)\n]*\)|python -m [a-z ]+[\w.]*|\"[a-z_]+\"", re.DOTALL)
ITALIC = re.compile(r"(?<!\*)\*[^*\n]+\*(?!\*)")  # titles of papers, in their own language
RULES = {
    "half-width mark beside Chinese": re.compile(rf"[{HAN}）”][,;:!?.](?!\w)|[,;:!?][{HAN}]"),
    "half-width bracket beside Chinese": re.compile(rf"[{HAN}]\(|\)[{HAN}]"),
    "straight quotation mark": re.compile(rf"[{HAN}] ?[\"']|[\"'] ?[{HAN}]"),
    "three dots": re.compile(r"\.\.\."),
    "two blanks": re.compile(r"\S {2,}\S"),
    "no blank between Chinese and Latin": re.compile(rf"[{HAN}][A-Za-z0-9]|[A-Za-z0-9%][{HAN}]"),
    "blank beside a full-width mark": re.compile(r" [，。；：？！、）”]|[，。；：？！、（“](?<!\*\*) (?!\*)"),
    "English left": re.compile(r"\b[a-z]+ [a-z]+ [a-z]{2,}"),
}
FAULTY = {
    "half-width mark beside Chinese": "显存,内存", "half-width bracket beside Chinese": "显存(GB)", "straight quotation mark": '所谓"峰值"',
    "three dots": "等等...", "two blanks": "一个  rank", "no blank between Chinese and Latin": "8个rank", "blank beside a full-width mark": "显存 ，内存",
    "English left": "这是 the peak of memory",
}


def interface_texts(lang):
    return [(f"strings.json, {key}", texts[lang]) for key, texts in i18n.strings().items()]


def exercise_texts(lang):
    for exercise in (one for item in map(bank.load, bank.ids()) for one in (item, *item.variants())):
        yield f"{exercise.id}.toml, prompt", exercise.prompt(lang)
        yield from ((f"{exercise.id}.toml, {mistake['id']}", mistake["text"][lang]) for mistake in exercise.evaluate()["mistakes"])


def question_texts(lang):
    for question in all_questions():
        named = {"prompt": question.prompt, "solution": question.solution}
        named |= {f"hint {at}": hint for at, hint in enumerate(question.hints)}
        for option in question.options:
            named |= {option.id: option.text, f"{option.id}, because": option.because or {}}
        yield from ((f"questions/{question.id}.toml, {name}", texts[lang]) for name, texts in named.items() if texts)


def lesson_texts(lang):
    for lesson in load_lessons():
        yield f"{lesson.path.name}, title", lesson.title[lang]
        yield f"{lesson.path.name}, summary", lesson.summary[lang]
        for cell in lesson.notebook(lang, "page").cells:
            if cell.cell_type == "markdown":
                yield f"{lesson.path.name}, cell {cell.id}", cell.source


SOURCES = {"interface": interface_texts, "exercises": exercise_texts, "questions": question_texts, "lessons": lesson_texts}


def prose(text):
    """Without code and the like; rows of tables without their padding."""
    return re.sub(r" *\| *", "|", ITALIC.sub("§", NOT_PROSE.sub("§", text)))


def faults(text):
    """`rule: where` for each rule that the Chinese text breaks."""
    return [f"{rule}: …{prose(text)[max(0, found.start() - 12):found.end() + 12]}…"
            for rule, pattern in RULES.items() for found in pattern.finditer(prose(text))]


@pytest.mark.parametrize("rule, text", FAULTY.items())
def test_a_faulty_text_is_found(rule, text):
    assert rule in {fault.partition(":")[0] for fault in faults(text)}


@pytest.mark.parametrize("text", ["8 个 rank，各存 16P/N 字节（见 `a,b`）。", "**参数。** 这一行", "| 阶段 | GB |", "*ZeRO: Memory and more*，第 5 节"])
def test_a_proper_text_is_not(text):
    assert faults(text) == []


@pytest.mark.parametrize("source", SOURCES)
def test_chinese_is_set_alike(source):
    assert [f"{where}: {fault}" for where, text in SOURCES[source]("zh-CN") for fault in faults(text)] == []


@pytest.mark.parametrize("source", SOURCES)
def test_english_has_no_chinese_marks_and_no_two_blanks(source):
    odd = re.compile(rf"[{HAN}，。；：？！（）、]|[^\s.|] {{2,}}[^\s|]")
    assert [f"{where}: {found}" for where, text in SOURCES[source]("en") for found in odd.findall(prose(text))] == []


@pytest.mark.parametrize("source", SOURCES)
def test_one_word_for_each_term(source):
    shunned = [(word, term["zh-CN"]) for term in GLOSSARY for word in term["avoid"]]
    assert [f"{where}: {word}; the glossary says {term}" for where, text in SOURCES[source]("zh-CN")
            for word, term in shunned if word in prose(text)] == []


def test_the_glossary_is_what_the_interface_says_and_the_course_uses():
    course = "\n".join(text for source in SOURCES.values() for _, text in source("zh-CN"))
    for term in GLOSSARY:
        assert term["zh-CN"] in course, term["zh-CN"]
        if f"term.{term['key']}" in i18n.strings():
            assert i18n.strings()[f"term.{term['key']}"] == {"en": term["en"], "zh-CN": term["zh-CN"]}


def test_lessons_are_numbered_in_one_way():
    """第 4 课, as above each title; 第四课 beside it would be another way."""
    written = re.compile("第[一二三四五六七八九十]课")
    assert [where for source in SOURCES.values() for where, text in source("zh-CN") if written.search(text)] == []
