"""The reader's own predictions on one page: order, export and import, deletion, axe."""

import json

import pytest
from playwright.sync_api import expect

from publish import paths

AXE = paths.NODE_MODULES / "axe-core/axe.min.js"
MADE = {
    "zero2-20b-10": {"value": 68_000_000_000, "text": "68 GB", "reason": "", "confidence": 3, "skipped": False},
    "zero1-20b-4": {"value": 80_000_000_000, "text": "80 GB", "reason": "", "confidence": 1, "skipped": False},
    "adam-20b-total": {"value": 40_000_000_000, "text": "40 GB", "reason": "2P", "confidence": 3, "skipped": False},
    "stages-grad-saving": {"value": None, "text": "", "reason": "", "confidence": None, "skipped": True},
}
ANSWERED = {"misses": 1, "hints": 0, "solved": False, "shown": False, "sure": 3, "given": ["s3n64"],
            "first": {"right": False, "confidence": 3, "given": "a · b", "error": None, "prompt": None}}


def open_with(page, site, lang, made):
    page.goto(f"{site.url}{lang}/calibration/")
    page.evaluate("made => Object.entries(made).forEach(([id, one]) => localStorage.setItem(`zero:predict:${id}`, JSON.stringify(one)))", made)
    page.reload()
    return page


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_confident_errors_come_first_and_all_can_be_deleted(page, site, lang):
    open_with(page, site, lang, MADE)
    rows = page.locator("tr[data-verdict]")
    expect(rows).to_have_count(3)
    expect(page.locator(".zl-sureness-table tr")).to_have_count(2)
    assert [row.locator("td b").first.inner_text() for row in rows.all()] == ["40 GB", "80 GB", "68 GB"]
    expect(rows.first).to_contain_text("−87.5%")
    page.add_script_tag(path=AXE)
    assert page.evaluate("axe.run(document, {resultTypes: ['violations']}).then(result => result.violations.map(one => [one.id, one.nodes[0].html]))") == []
    page.on("dialog", lambda dialog: dialog.accept())
    page.locator("[data-action=delete]").click()
    expect(rows).to_have_count(0)
    assert page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('zero:predict:'))") == []


def test_what_was_exported_can_be_imported_elsewhere(open_page, site, tmp_path):
    page = open_with(open_page(), site, "en", MADE)
    page.evaluate("one => localStorage.setItem('zero:quiz:order-states', JSON.stringify(one))", ANSWERED)
    page.reload()
    with page.expect_download() as download:
        page.locator("[data-action=export]").click()
    download.value.save_as(tmp_path / "mine.json")
    assert json.loads((tmp_path / "mine.json").read_text(encoding="utf-8")) == {"zero": "predictions", "predictions": MADE, "quiz": {"order-states": ANSWERED}}
    here = {**MADE["adam-20b-total"], "text": "30 GB", "value": 30_000_000_000}
    other = open_with(open_page(), site, "zh", {"adam-20b-total": here})
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    other.locator("[data-part=import-file]").set_input_files(tmp_path / "other.json")
    expect(other.locator("[data-part=calibration-problem]")).to_contain_text("other.json")
    other.locator("[data-part=import-file]").set_input_files(tmp_path / "mine.json")
    expect(other.locator("tr[data-verdict]")).to_have_count(4)
    assert [other.locator("tr[data-verdict] td b").first.inner_text()] == ["30 GB"]  # what was here stays
    expect(other.locator("[data-part=calibration-report]")).to_contain_text("4")
    expect(other.locator("[data-part=calibration-problem]")).to_be_empty()
