"""The page "Your own run": example, refused files, other estimators; nothing leaves the site (conftest watches)."""

import json
import pickle

import pytest
from playwright.sync_api import expect

from lessonkit import i18n
from publish import paths

AXE = paths.NODE_MODULES / "axe-core/axe.min.js"
RUN = {"format": "zeroledger-run", "version": 1, "config": {"model": "llama-2-7b", "dp": 8, "engine": "fsdp2"},
       "ranks": [{"rank": 0, "instants": [{"name": "peak", "allocated_bytes": 22_000_000_000}]}]}
VIOLATIONS = "axe.run(document, {resultTypes: ['violations']}).then(result => result.violations.map(one => [one.id, one.nodes[0].html]))"


def walk(page, site, folder, lang):
    say = lambda key, **fields: i18n.text(f"page.measured.{key}", lang, **fields)  # noqa: E731
    page.goto(f"{site.url}{folder}/measured/")
    status, result = page.locator("zero-measured [data-part=status]"), page.locator("[data-part=result]")
    page.locator("[data-example$='cpu-step-snapshot.json']").click()
    expect(result.locator("h2").first).to_have_text(say("groups_title"))
    expect(result.locator("svg:visible")).to_have_count(2)
    page.add_script_tag(path=AXE)
    assert page.evaluate(VIOLATIONS) == []
    chooser = page.locator("input[type=file]")
    chooser.set_input_files({"name": "snap.pickle", "mimeType": "application/octet-stream", "buffer": pickle.dumps({"segments": []})})
    expect(status).to_have_text(say("pickle", name="snap.pickle"))
    expect(result).to_be_empty()
    broken = RUN | {"ranks": [{"rank": 9, "instants": RUN["ranks"][0]["instants"]}]}
    chooser.set_input_files({"name": "bad.json", "mimeType": "application/json", "buffer": json.dumps(broken).encode()})
    expect(status).to_contain_text("ranks[0].rank = 9")
    chooser.set_input_files({"name": "run.json", "mimeType": "application/json", "buffer": json.dumps(RUN).encode()})
    expect(result.locator("tbody th").first).to_have_text(say("instant.peak"))
    estimators = page.locator("zero-estimators")
    before = estimators.locator("tbody tr").nth(1).inner_text()
    estimators.locator("[name=stage]").select_option("1")
    expect(estimators.locator("tbody tr").nth(1)).to_contain_text(i18n.text("page.estimators.no_answer", lang))
    estimators.locator("[name=stage]").select_option("3")
    expect(estimators.locator("tbody tr").nth(1)).to_have_text(before, use_inner_text=True)


def test_a_file_of_ones_own_in_english(page, site):
    walk(page, site, "en", "en")


@pytest.mark.long
def test_a_file_of_ones_own_in_chinese_on_a_phone(open_page, site):
    page = open_page(viewport={"width": 360, "height": 780})
    walk(page, site, "zh", "zh-CN")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
