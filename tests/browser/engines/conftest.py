"""The site in three engines, and with what some readers' browsers withhold.

- `engine`: Chromium, Firefox and WebKit in turn, each with `open`, `run`, `size`, `screenshot` and `version`.
  One that is not installed is skipped, and the reason says how to get it. A test asks for a browser that withholds
  something by `@pytest.mark.parametrize("engine", [("firefox", "storage"), …], indirect=True)`; where the engine has
  a setting for it, it is the real one (`PREFERENCES`, `SWITCHES`).

What a test does, it does by script inside the page: WebKit's driver knows no real mouse in menus, Firefox has no
driver program. What only real input can show is tested in Chromium, one folder up.
"""

import pytest
from chromium_engine import Chromium
from firefox import Firefox
from webkit import WebKit

from lessonkit import bank, questions
from publish import paths

ENGINES = ("chromium", "firefox", "webkit")
SCREENSHOTS = paths.BUILD / "engines"


@pytest.fixture(scope="module", params=ENGINES)
def engine(request):
    """One engine after the other."""
    name, withheld = request.param if isinstance(request.param, tuple) else (request.param, "nothing")
    if name == "chromium":
        engine = Chromium(request.getfixturevalue("browser"), withheld)
    else:
        kind = {"firefox": Firefox, "webkit": WebKit}[name]
        if kind.missing():
            pytest.skip(kind.missing())
        engine = kind(withheld)
    engine.size(1280, 900)
    yield engine
    engine.close()


@pytest.fixture(autouse=True)
def forgotten(engine):
    """What the test before left in the site's storage."""
    engine.run("try { localStorage.clear(); } catch { /* there is none */ }")


@pytest.fixture
def keep(engine):
    """keep(name) writes a screenshot to .build/engines/<engine>-<name>.png, to be looked at."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return lambda name: engine.screenshot(SCREENSHOTS / f"{engine.name}-{name}.png")


@pytest.fixture(scope="session")
def answers():
    """What to enter for each exercise and item: {name: {"right": …, "wrong": … or None}}."""
    return {name: number(name) for name in bank.ids()} | {name: choice(name) for name in questions.ids()}


def number(name: str) -> dict:
    """The right number with its unit, and the first known mistake's."""
    values = bank.load(name).evaluate()
    unit = " B" if values["unit"] == "bytes" else ""
    return {"right": f"{values['answer']}{unit}", "wrong": next((f"{one['value']}{unit}" for one in values["mistakes"]), None)}


def choice(name: str) -> dict:
    """The ids of the options to choose, or in their order."""
    question = questions.load(name)
    right, options = list(question.answer), [option.id for option in question.options]
    wrong = right[::-1] if question.kind == "ordering" else next([one] for one in options if [one] != right)
    return {"right": right, "wrong": wrong}
