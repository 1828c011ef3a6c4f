"""The page of API docs: every public name once, with its docstring, in both languages' chrome."""

import importlib
import inspect
import re

import pytest
from lessonkit import i18n

import zeroledger
from publish.api_docs import GROUPS, PACKAGE, docstring_html, exported, groups, read_modules
from publish.api_pages import api_page


@pytest.fixture(scope="module")
def pages():
    from publish import paths
    from publish.page_exporter import LessonPageExporter

    if not (paths.SCRIPTS / "page.css").is_file():
        pytest.skip("the browser scripts are not bundled (./build.sh does)")
    exporter = LessonPageExporter()
    return {lang: api_page(exporter, lang) for lang in ("en", "zh-CN")}


def test_every_exported_name_is_on_the_page():
    named = {entry.name for _, modules in groups() for module in modules for entry in module.entries}
    callables = {name for name in exported() if inspect.isclass(getattr(zeroledger, name))
                 or inspect.isfunction(getattr(zeroledger, name))}
    assert callables <= named
    assert exported() == set(zeroledger.__all__)


def test_each_module_is_on_the_page_once():
    shown = [module.name for _, modules in groups() for module in modules]
    assert len(shown) == len(set(shown))
    assert set(shown) == {name for name, module in read_modules().items() if module.entries}
    assert all(i18n.text(f"page.api.group.{key}", lang) for key in GROUPS for lang in ("en", "zh-CN"))


def test_the_groups_name_modules_that_exist():
    files = {file.stem for file in PACKAGE.glob("*.py")}
    assert {name for names in GROUPS.values() for name in names} <= files


@pytest.mark.parametrize("name", ("ledger", "budgets", "mesh", "simulate.settings"))
def test_signatures_and_docstrings_are_the_objects_own(name):
    module = importlib.import_module(f"zeroledger.{name}")
    for entry in read_modules()[name].entries:
        thing = getattr(module, entry.name)
        assert entry.doc == inspect.getdoc(thing)
        if inspect.isfunction(thing):
            assert [part.split("=")[0].split(":")[0].strip("* ") for part in entry.signature.split("(", 1)[1][:-1].split(", ")
                    if part != "*"][0] == next(iter(inspect.signature(thing).parameters), "")


@pytest.mark.parametrize("lang", ("en", "zh-CN"))
def test_addresses_are_unique_and_every_link_inside_leads_somewhere(pages, lang):
    found = re.findall(r' id="([^"]+)"', pages[lang])
    assert len(found) == len(set(found))
    assert set(re.findall(r'href="#([^"]+)"', pages[lang])) <= set(found)
    assert "ledger.ledger" in found and "budgets.budget" in found


def test_the_chinese_page_says_that_descriptions_are_english(pages):
    note = i18n.text("page.api.english_only", "zh-CN")
    assert note in pages["zh-CN"] and note not in pages["en"]
    assert '<html lang="zh-CN">' in pages["zh-CN"] and 'lang="en" class="zl-prose"' in pages["zh-CN"]


def test_docstrings_become_html():
    html = docstring_html("One ``code`` & more.\n\nTwo::\n\n    x < 1\n\n| a | b |\n| - | - |")
    assert html == ('<p>One <code>code</code> &amp; more.</p><p>Two:</p><pre tabindex="0">x &lt; 1</pre>'
                    '<pre tabindex="0">| a | b |\n| - | - |</pre>')
