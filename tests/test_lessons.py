"""Lesson sources: rules, figures in prose, notebooks in both languages, and pages from them."""

import json
import re

import pytest
from bs4 import BeautifulSoup

from publish import executed, lessons, pages
from publish.explorer_grid import explorer_grid, model_entry, read_model
from lessonkit.computed_text import ValueInProseError, fill_values, find_typed_figures
from publish.lessons import LANGUAGES, LessonError, load_lesson, load_lessons
from publish.page_exporter import LessonPageExporter, code_html, typeset
from zeroledger import PRESETS, ledger

HEADER = """# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
# zero:
#   slug: toy
#   number: 3
#   checked: 2026-09-10
#   title: {en: "Toy <b>", zh-CN: "玩具"}
#   summary: {en: "About a toy.", zh-CN: "关于玩具。"}
# ---
"""
BODY = """
# %% [markdown] id="intro" lang="en"
# ## First *part*
#
# It takes {{ ledger(7e9) | GB 0 }}.
#
# | a | b |
# | --- | --- |
# | 1 | 2 |

# %% [markdown] id="intro" lang="zh-CN"
# ## 第一部分
#
# 一共 {{ ledger(7e9) | GB 0 }}。

# %% id="setup" tags=["setup"]
from zeroledger import *
from lessonkit import predict

# %% id="live-sum" tags=["live"]
print(ledger(num_params=7e9).model_states_bytes_per_rank)

# %% id="guess" tags=["predict", "page-only"]
predict("zero2-20b-10")

# %% id="extra" tags=["lite-only"]
print("only in the notebook")
"""


@pytest.fixture
def write(tmp_path):
    """Writes a lesson source and returns its path."""

    def write_source(body=BODY, header=HEADER, name="03_toy.py"):
        path = tmp_path / name
        path.write_text(header + body, encoding="utf-8")
        return path

    return write_source


# Figures in prose


@pytest.mark.parametrize("written, shown", [
    ("{{ ledger(7e9) | GB 0 }}", "112 GB"),
    ("{{ ledger(7e9) | GiB 1 }}", "104.3 GiB"),
    ("{{ ledger(7e9, dp_size=8, stage=2) | GB }}", "26.3 GB"),
    ("{{ ledger(7e9, dp_size=8, stage=2) | GB 2 }}", "26.25 GB"),
    ("{{ ledger(7e9).model_states_bytes_per_rank | count }}", "112,000,000,000"),
    ('{{ PRESETS["llama-2-7b"].num_params | count }}', "6,738,415,616"),
    ("{{ ADAM_MIXED.bytes_per_param | int }}", "16"),
    ("{{ 7e9 | short }}", "7B"),
    ("{{ GIB / GB | num 3 }}", "1.074"),
    ("{{ 1 / 8 | pct 1 }}", "12.5%"),
    ("{{ 8 | word }}, {{ 8 | part }}, {{ 2 | part }}", "eight, an eighth, half"),
    ("{{ 64 | word }}, {{ 7 | part }}", "64, 1/7"),
    ("{{ 8 | han }}、{{ 10 | han }}、{{ 16 | han }}、{{ 64 | han }}、{{ 128 | han }}", "八、十、十六、六十四、128"),
    ('a card of {{ "16 GB" }}', "a card of 16 GB"),
    ('{{ "a | b" }}', None),
])
def test_a_figure_is_computed(written, shown):
    if shown is None:
        with pytest.raises(ValueInProseError):
            fill_values(written)
    else:
        assert fill_values(written) == shown


@pytest.mark.parametrize("written, says", [
    ("{{ ledger(7e9) }}", "needs a format"),
    ("{{ ledger(7e9) | GBs }}", "accepted are int"),
    ("{{ ledger(7e9) | GB(2) }}", "GiB 1"),
    ("{{ ledgr(7e9) | GB }}", "ledgr"),
    ("{{ 7.5 | int }}", "whole number"),
    ("{{ ledger(7e9, stage=4) | GB }}", "stage"),
    ("{{ __import__('os').getcwd() }}", "__import__"),
    ("{{ ledger(7e9).__class__ | int }}", "private"),
    ("{{ | GB }}", "GB"),
])
def test_a_figure_that_cannot_be_computed_says_why(written, says):
    with pytest.raises(ValueInProseError, match=re.escape(says)):
        fill_values(written)


@pytest.mark.parametrize("prose, found", [
    ("It takes 112 GB.", ["112 GB"]),
    ("一共112GB，也就是 104.3 GiB。", ["112GB", "104.3 GiB"]),
    ("1,234 TB and 0.5 MiB", ["1,234 TB", "0.5 MiB"]),
    ("**24 GB** cards", ["24 GB"]),
    ('{{ 2 * 7e9 | GB 0 }} and {{ "16 GB" }}', []),
    ("`L.table(unit=\"GB\")` and `16 GB` in code", []),
    ("```\n112 GB\n```", []),
    ("16 bytes, 2 字节, 10 GBit, H100-80GBs, GB", []),
])
def test_typed_figures_are_found(prose, found):
    assert find_typed_figures(prose) == found


# Rules of a source


@pytest.mark.parametrize("change, says", [
    (("{{ ledger(7e9) | GB 0 }}.", "112 GB."), "cell intro (en), line 17: '112 GB' is typed by hand"),
    (("{{ ledger(7e9) | GB 0 }}。", "{{ ledgr(7e9) | GB 0 }}。"), "cell intro (zh-CN), line 26: {{ ledgr(7e9) | GB 0 }}"),
    (('id="live-sum"', 'id="Live Sum"'), "cell id 'Live Sum'"),
    (('id="live-sum"', 'id="setup"'), "cell setup, line 32: this id is already taken"),
    (('lang="zh-CN"\n# ##', 'lang="zh"\n# ##'), "lang 'zh'"),
    (('["live"]', '["life"]'), "tag 'life'"),
    (('predict("zero2-20b-10")', "predict(which)"), "cell guess, line 35: expected one call of predict"),
    (('# %% [markdown] id="intro" lang="zh-CN"\n# ## 第一部分\n#\n# 一共 {{ ledger(7e9) | GB 0 }}。\n', ""), "has no text in zh-CN"),
])
def test_a_faulty_source_is_refused_with_its_place(write, change, says):
    assert change[0] in BODY
    with pytest.raises(LessonError, match=re.escape(says)):
        for lang in LANGUAGES:
            load_lesson(write(BODY.replace(*change, 1))).notebook(lang)


@pytest.mark.parametrize("line, says", [
    ("#   slug: toy\n", "zero.slug: expected str, got None"),
    ("#   number: 3\n", "zero.number: expected int"),
    ('#   title: {en: "Toy <b>", zh-CN: "玩具"}\n', "zero.title: expected dict"),
])
def test_a_missing_header_field_is_named(write, line, says):
    with pytest.raises(LessonError, match=re.escape(says)):
        load_lesson(write(header=HEADER.replace(line, "")))


def with_values(*lines):
    """HEADER with a `values:` block of these lines."""
    block = "".join(f"#   {line}\n" for line in ("values:", *lines))
    return HEADER.removesuffix("# ---\n") + block + "# ---\n"


def test_named_values_serve_the_prose_and_each_other(write):
    header = with_values('  run: "ledger(7e9, 8, 2)"', '  half: "run.model_states_bytes_per_rank // 2"')
    lesson = load_lesson(write(BODY.replace("{{ ledger(7e9) | GB 0 }}", "{{ half | GB 3 }}, {{ run | GB 2 }}"), header=header))
    text = next(cell for cell in lesson.notebook("en").cells if cell.id == "intro").source
    assert "13.125 GB, 26.25 GB" in text


@pytest.mark.parametrize("line, says", [
    ('  run: "ledger(7e9, 0)"', "run: .*dp_size"),
    ('  later: "earlier + 1"', "'earlier' is neither"),
    ("  seven: 7", "expressions as text"),
])
def test_a_faulty_named_value_is_named(write, line, says):
    with pytest.raises(LessonError, match=says):
        load_lesson(write(header=with_values(line)))


def test_a_file_name_without_number_is_refused(write):
    with pytest.raises(LessonError, match="NN_slug.py"):
        load_lesson(write(name="toy.py"))


# Notebooks


def test_notebooks_of_both_languages_share_code_and_ids(write):
    english, chinese = (load_lesson(write()).notebook(lang) for lang in LANGUAGES)
    assert [cell.id for cell in english.cells] == ["title", "intro", "setup", "live-sum", "extra", "check-yourself", "check-yourself-predictions"]
    assert [cell.id for cell in chinese.cells] == [cell.id for cell in english.cells]
    codes = [[cell.source for cell in notebook.cells if cell.cell_type == "code"] for notebook in (english, chinese)]
    assert codes[0][0] == 'LANG = "en"\nfrom zeroledger import *\nfrom lessonkit import predict'
    assert codes[1][0] == 'LANG = "zh-CN"\nfrom zeroledger import *\nfrom lessonkit import predict'
    assert codes[0][1:] == codes[1][1:]
    assert "112 GB" in english.cells[1].source and "112 GB" in chinese.cells[1].source


def test_metadata_lie_under_one_key(write):
    notebook = load_lesson(write()).notebook("zh-CN")
    assert notebook.metadata.zero == {
        "lesson": "toy", "number": 3, "lang": "zh-CN", "title": "玩具", "summary": "关于玩具。", "minutes": 1, "checked": "2026-09-10",
    }
    assert {key for cell in notebook.cells for key in cell.metadata} == {"zero", "tags"}
    assert [cell.metadata.zero.kind for cell in notebook.cells] == ["title", "prose", "setup", "live", "code", "prose", "calibration"]


def test_cells_for_one_surface_stay_there(write):
    lesson = load_lesson(write())
    assert "guess" not in [cell.id for cell in lesson.notebook("en", "lite").cells]
    on_page = [cell.id for cell in lesson.notebook("en", "page").cells]
    assert "guess" in on_page and "extra" not in on_page


def test_written_notebooks_are_the_same_bytes_each_time(write, tmp_path):
    lesson = load_lesson(write())
    first = {path.relative_to(tmp_path / "a"): path.read_bytes() for path in lessons.write_notebooks([lesson], tmp_path / "a")}
    second = {path.relative_to(tmp_path / "b"): path.read_bytes() for path in lessons.write_notebooks([lesson], tmp_path / "b")}
    assert first == second
    assert sorted(map(str, first)) == ["en/03-toy.ipynb", "en/04-self-test.ipynb", "zh/03-toy.ipynb", "zh/04-self-test.ipynb"]


def test_a_cell_that_fails_stops_the_build_by_name(write):
    source = BODY.replace("print(ledger(num_params=7e9).model_states_bytes_per_rank)", "1 / 0")
    with pytest.raises(LessonError, match="03_toy.py, cell live-sum: .*ZeroDivisionError"):
        lessons.execute(load_lesson(write(source)).notebook("en"), "03_toy.py")


def test_published_lessons_have_prose_and_exercises_in_both_languages():
    found = load_lessons()
    assert [lesson.number for lesson in found] == sorted({lesson.number for lesson in found})
    for lesson in found:
        english, chinese = (lesson.notebook(lang, "page") for lang in LANGUAGES)
        for one, other in zip(english.cells, chinese.cells, strict=True):
            assert one.id == other.id
            if one.cell_type == "markdown" and one.id != "title":
                assert re.search(r"[\u4e00-\u9fff]", other.source), f"{lesson.path.name}, cell {one.id}: no Chinese"
                assert not re.search(r"[\u4e00-\u9fff]", one.source), f"{lesson.path.name}, cell {one.id}: Chinese in English"


def test_a_notebook_runs_again_only_when_its_code_changes(write, tmp_path, monkeypatch):
    runs = []
    monkeypatch.setattr(executed, "execute", lambda notebook, where: runs.append(where) or lessons.execute(notebook, where))

    def outputs(body):
        notebook = load_lesson(write(body)).notebook("en", "page")
        executed.execute_all([(notebook, "03_toy.py")], tmp_path / "kept")
        return [cell.outputs for cell in notebook.cells if cell.id == "live-sum"]

    first = outputs(BODY)
    assert first[0][0].text == "112000000000\n"
    assert outputs(BODY.replace("First *part*", "Other words")) == first
    assert len(runs) == 1
    assert outputs(BODY.replace("num_params=7e9", "num_params=1e9"))[0][0].text == "16000000000\n"
    assert len(runs) == 2


def test_a_failing_cell_is_not_kept(write, tmp_path):
    notebook = load_lesson(write(BODY.replace("print(ledger", "print(1 / 0, ledger"))).notebook("en", "page")
    for _ in range(2):
        with pytest.raises(LessonError, match="cell live-sum"):
            executed.execute_all([(notebook, "03_toy.py")], tmp_path / "kept")


# Pages


def made_page(lesson, lang="en", neighbours=()):
    """The lesson's page, its code run, as parsed HTML."""
    notebook = lessons.execute(lesson.notebook(lang, "page"), lesson.path.name)
    return BeautifulSoup(pages.lesson_page(LessonPageExporter(), lesson, lang, notebook, neighbours), "html.parser")


@pytest.fixture
def toy_page(write):
    return made_page(load_lesson(write()))


def test_a_page_holds_text_code_and_output(toy_page):
    assert toy_page.html["lang"] == "en"
    assert toy_page.h1.text == "Toy <b>"
    assert [h2.text for h2 in toy_page.find_all("h2")] == ["First part"]
    assert [(a["href"], a.text) for a in toy_page.select(".zl-toc a")] == [("#intro", "First part")]
    cell = toy_page.select_one("#live-sum zero-cell")
    assert cell.text == "from zeroledger import *\n\nprint(ledger(num_params=7e9).model_states_bytes_per_rank)"
    assert toy_page.select_one('[data-output-of="live-sum"] .zl-stdout').text == "112000000000\n"


def test_a_page_asks_without_giving_the_answer_away(toy_page):
    question = toy_page.select_one("#guess zero-predict")
    assert question["exercise"] == "zero2-20b-10"
    assert "10 ranks, ZeRO stage 2" in question.text
    assert not re.search(r"68 GB|63\.3|68000000000|print\(", str(question))


def test_everything_a_page_refers_to_is_relative(toy_page):
    addresses = [tag.get("href") or tag.get("src") for tag in toy_page.select("[href], [src]")]
    assert len(addresses) > 8
    for address in addresses:
        assert not re.match(r"(https?:)?//|/", address), address


def test_the_other_language_is_one_link_away(toy_page):
    switch = {link["data-language"]: link["href"] for link in toy_page.select("[data-language]")}
    assert switch == {"en": "../../en/toy/", "zh-CN": "../../zh/toy/"}
    assert {link["hreflang"] for link in toy_page.select("link[rel=alternate]")} == set(LANGUAGES)


def test_neighbouring_lessons_are_linked(write):
    lesson = load_lesson(write())
    page = made_page(lesson, "zh-CN", (("page.next", lesson),))
    assert [(a["href"], a["rel"], a.text) for a in page.select(".zl-neighbours a")] == [("../toy/", ["next"], "下一课玩具")]


def test_the_grid_is_only_where_an_explorer_is(toy_page, write):
    assert toy_page.select_one("#zl-grid") is None
    source = BODY + '\n# %% id="move" tags=["explore"]\nexplore(dp_size=64, stage=3)\n'
    page = made_page(load_lesson(write(source.replace("import predict", "import explore, predict"))))
    assert json.loads(page.select_one("#zl-grid").string) == explorer_grid()
    explorer = page.select_one("#move zero-explorer")
    assert f"{ledger(7e9, 64, 3).model_states_bytes_per_rank:,} B" in explorer.select_one("tfoot").text
    assert len(explorer.select("svg")) == 2


def test_the_answer_files_carry_what_a_verdict_needs(tmp_path):
    pages.write_answers(tmp_path)
    answer = json.loads((tmp_path / "zero2-20b-10.json").read_text(encoding="utf-8"))
    assert answer["answer"] == ledger(20e9, dp_size=10, stage=2).model_states_bytes_per_rank
    assert answer["code"].startswith("from zeroledger import *\n")
    assert len(answer["mistake_expressions"]) == len(answer["mistakes"]) > 3
    assert set(answer["mistakes"][0]["text"]) == set(LANGUAGES)


def test_figures_stay_with_their_unit_and_tables_scroll():
    html = typeset("<p>It is 112 GB, see <code>16 GB</code>.</p><table><tr><td>1</td></tr></table>")
    assert '<span class="zl-quantity">112 GB</span>, see <code>16 GB</code>' in html
    assert '<div class="zl-table"' in html


def test_an_empty_corner_of_a_table_is_no_header():
    html = typeset("<table><tr><th></th><th>a</th><th><code>b</code></th></tr></table>")
    assert html.count("<th>") == 2 and "<td></td>" in html


def test_highlighting_keeps_the_text():
    source = "x = 1  # <b>\n\nprint('a & b')"
    assert BeautifulSoup(f"<pre>{code_html(source)}</pre>", "html.parser").text == source


# The explorer's grid


def test_the_grid_is_what_the_package_says():
    grid = explorer_grid()
    assert {model["id"] for model in grid["models"]} == {"7b", *PRESETS}
    assert grid["dp_sizes"] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
    for model in grid["models"]:
        for at, dp_size in enumerate(grid["dp_sizes"]):
            for stage in range(4):
                one = ledger(model["num_params"], dp_size, stage)
                assert model["totals"][at][stage] == one.model_states_bytes_per_rank
                assert model["bytes"][at][stage] == [row.bytes_per_rank for row in one.rows]


def test_the_formula_adds_up_to_the_ledger():
    grid = explorer_grid()
    for stage, terms in enumerate(grid["stages"]):
        expected = terms["whole_bytes_per_param"] * 8000 + terms["sharded_bytes_per_param"] * 8000 // 8
        assert expected == ledger(8000, 8, stage).model_states_bytes_per_rank


def test_the_worker_runs_the_same_functions():
    scope = {}
    exec(explorer_grid()["worker_source"], scope)
    assert scope["model_entry"](scope["read_model"]("7B", "x"), [8], "adam-mixed") == model_entry(
        {"id": "custom", "title": "x", "num_params": 7_000_000_000, "source": ""}, [8], "adam-mixed")


@pytest.mark.parametrize("text, says", [
    ("many", "P"), ("0", "P: 0"), ("{}", "model_type"), ('{"model_type": "llama"}', "hidden_size|num_attention_heads|vocab_size|num_hidden_layers"),
    ("{not json", "JSON|json"),
])
def test_a_model_that_cannot_be_read_names_the_field(text, says):
    assert re.search(says, read_model(text, "x")["error"])
