"""The page of API docs in a browser: reachable from the home, readable without scripts, narrow screens, accessible."""

import pytest
from playwright.sync_api import expect
from test_pages_static import violations

FOLDERS = {"en": "The package, name by name", "zh": "软件包参考"}


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_home_leads_to_it(open_page, site, folder):
    page = open_page(java_script_enabled=False)
    page.goto(f"{site.url}{folder}/")
    page.get_by_role("link", name=FOLDERS[folder]).click()
    page.wait_for_url(f"{site.url}{folder}/api/")
    expect(page.locator("h1")).to_have_text(FOLDERS[folder])
    expect(page.locator("[id='ledger.ledger']")).to_contain_text("from zeroledger import ledger")


@pytest.mark.parametrize("folder", FOLDERS)
def test_accessible_and_no_wider_than_a_telephone(page, site, folder):
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{site.url}{folder}/api/")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert violations(page) == []


def test_the_index_leads_to_a_name(page, site):
    page.goto(f"{site.url}en/api/")
    page.locator("summary").first.click()
    page.get_by_role("link", name="parse_bytes", exact=True).first.click()
    expect(page.locator("[id='units.parse_bytes']")).to_be_in_viewport()
    page.locator("[data-language='zh-CN']").click()
    page.wait_for_url(f"{site.url}zh/api/**")
