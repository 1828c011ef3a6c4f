"""A reader in a lesson's notebook in JupyterLite, in whichever engine: Run All, the slider, a cell that never ends."""

from in_page import MOVE_NOTEBOOK_SLIDER, RUN_ALL, RUN_IN_LAST_CELL

LIMIT_S = 20  # no shorter than the first cell may take on a busy machine
# JupyterLab renders what is in view alone; so tall it renders every cell.
TALL = (1280, 7000)


def use_notebook(engine, address: str) -> None:
    """Opens the first lesson's notebook at this address and does all that."""
    engine.size(*TALL)
    engine.open(f"{address}&zero-limit={LIMIT_S}")
    ran = engine.run(RUN_ALL)
    assert ran["cells"] >= 5 and ran["errors"] == [], ran
    assert "26.25 GB" in ran["text"]  # 2P + 14P/N bytes of 7B parameters on 8 ranks, by hand
    moved = engine.run(MOVE_NOTEBOOK_SLIDER)
    assert moved["before"] != moved["after"] and moved["width"] >= 600, moved
    assert "TimeLimitExceeded" in engine.run(RUN_IN_LAST_CELL, "kept = 7\nwhile True: pass")
    kept = engine.run(RUN_IN_LAST_CELL, "kept")
    assert kept.endswith("7"), kept
