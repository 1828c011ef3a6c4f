"""A page of another site with each kind of embed on it, and what a reader does in them, in whichever engine."""

import time

from in_page import ANSWER, CHECK, EMBEDDED, RUN_CELLS, SHOWN, WALK

LOADS_WITHIN_S = 60
EXERCISE = "zero1-20b-4"
QUESTION = "stage-one-rows"
ICON = '<link rel="icon" href="data:,">'
LISTEN = "window.got = []; addEventListener('zero-ledger', (event) => got.push({ id: event.target.id, ...event.detail }));"
WANTS = 'data-wants="predicted ran checked"'
OWN = """<zero-cell id="own" lang="en" N="8" wants="checked" expect="ledger(7e9, N, 1).model_states_bytes_per_rank"><pre>
from zeroledger import *
ledger(7e9, N, stage=1).model_states_bytes_per_rank
</pre></zero-cell>"""


def embedding_page(site_url: str, sandbox: str = "") -> str:
    """The HTML. `sandbox`: the frames' attribute of that name, as text."""

    def frame(name, query):
        return f'<h2>{name}</h2><iframe id="{name}" src="{site_url}cell/?{query}" width="100%" height="300" frameborder="0" {WANTS} {sandbox}></iframe>'

    parts = [
        frame("exercise", f"id={EXERCISE}&lang=en"), frame("live", "id=ledger/live-rows&lang=zh"), frame("chart", "id=chart&lang=en&N=64&stage=3"),
        frame("timeline", "id=timeline&lang=en"), frame("question", f"id=quiz/{QUESTION}&lang=zh"),
        "" if sandbox else f'<script defer src="{site_url}static/zero/zero-cell.js"></script>{OWN}',
    ]
    return f"""<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Host</title>{ICON}
        <script>{LISTEN}</script><body>{"".join(parts)}<script src="{site_url}static/zero/embed.js"></script>"""


def wait_for_frame(engine, frame: str) -> None:
    """Until the frame, which loads when it is near, has left its empty first document. AssertionError after a minute."""
    deadline = time.monotonic() + LOADS_WITHIN_S
    while time.monotonic() < deadline:
        try:
            if engine.run("return location.href !== 'about:blank' && document.readyState === 'complete';", frame=frame):
                return
        except RuntimeError:  # it left while it was asked
            pass
        time.sleep(0.1)
    raise AssertionError(f"{frame} did not load within {LOADS_WITHIN_S} s")


def use_embeds(engine, answers: dict, kinds: tuple[str, ...]) -> None:
    """Predicts, runs, answers and checks in the embeds of the open page; each is as high as what it holds."""

    def inside(name, body, *arguments):
        place = f"document.querySelector('#{name}')"
        frame = f"{place}.querySelector('iframe')" if name == "own" else place
        engine.run(f"{place}.scrollIntoView();")
        wait_for_frame(engine, frame)
        return engine.run(body, *arguments, frame=frame)

    assert "64" in inside("chart", SHOWN)["text"]
    assert inside("exercise", WALK, answers)[EXERCISE] == ["skipped", "mistake", "right"]
    if "live" in kinds:
        assert [cell["status"] for cell in inside("live", RUN_CELLS)] == ["ok"]
    assert [verdict for verdict in inside("question", ANSWER, answers)[QUESTION][::2]] == ["open", "right"]
    if "own" in kinds:
        assert inside("own", CHECK) == "Right"
    for name in kinds:
        shown = inside(name, SHOWN)
        assert shown["overflow"] <= 1, (name, shown)
    heard = engine.run(EMBEDDED, "exercise")
    assert [one["verdict"] for one in heard if one["type"] == "checked"] == ["skipped", "mistake", "right"]
