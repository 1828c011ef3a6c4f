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


def open_with(page, site, lang, made):
    page.goto(f"{site.url}{lang}/calibration/")
    page.evaluate("made => Object.entries(made).forEach(([id, one]) => localStorage.setItem(`zero:predict:${id}`, JSON.stringify(one)))", made)
    page.reload()
    return page


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_confident_errors_come_first_and_all_can_be_deleted(page, site, lang):
    open_with(page, site, lang, MADE)
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(3)
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
    with page.expect_download() as download:
        page.locator("[data-action=export]").click()
    download.value.save_as(tmp_path / "mine.json")
    assert json.loads((tmp_path / "mine.json").read_text(encoding="utf-8"))["predictions"] == MADE
    other = open_with(open_page(), site, "zh", {})
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    other.locator("[data-part=import-file]").set_input_files(tmp_path / "other.json")
    expect(other.locator("[data-part=calibration-problem]")).to_contain_text("other.json")
    other.locator("[data-part=import-file]").set_input_files(tmp_path / "mine.json")
    expect(other.locator("tbody tr")).to_have_count(3)
    expect(other.locator("[data-part=calibration-problem]")).to_be_empty()
