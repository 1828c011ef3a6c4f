"""A reader who opens the first lesson and runs its first cell."""

DONE = "document.querySelector('zero-cell').shadowRoot.querySelector('.status').textContent.startsWith('Done')"
WAIT_MS = 120_000


def run_first_cell(page, url: str) -> None:
    """Returns when the run is done."""
    page.goto(f"{url}en/ledger/")
    page.locator("zero-cell").first.get_by_role("button", name="Run").click()
    page.wait_for_function(DONE, timeout=WAIT_MS)
