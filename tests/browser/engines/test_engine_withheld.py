"""The course where the browser stores nothing or has no service worker, by the reader's own setting, in each engine."""

import pytest
from conftest import ENGINES
from embedding import embedding_page, use_embeds
from hosts import serve_host
from in_page import ANSWER, KEPT, RUN_CELLS, WALK
from notebook import use_notebook

from lessonkit import i18n

NOT_KEPT = i18n.strings()["page.not_kept"]
LAB_NOT_KEPT = i18n.strings()["lab.not_kept"]["zh-CN"]
CASES = [(name, withheld) for name in ENGINES for withheld in ("storage", "service worker")]
pytestmark = [pytest.mark.long, pytest.mark.parametrize("engine, withheld", [(case, case[1]) for case in CASES], indirect=["engine"], ids=["-".join(case) for case in CASES], scope="module")]
ABLE = """
const attempts = {
  storage: () => localStorage.setItem('probe', '1'),
  caches: () => caches.open('probe'),
  worker: async () => { await navigator.serviceWorker.register(new URL('offline.js', location), { scope: 'en/' }); await navigator.serviceWorker.getRegistration('en/').then((one) => one.scope); },
};
const able = {};
for (const [name, attempt] of Object.entries(attempts)) able[name] = await Promise.resolve().then(attempt).then(() => true, () => false);
return able;
"""


def test_the_setting_holds(engine, withheld, site):
    engine.open(f"{site.url}index.html")
    able = engine.run(ABLE)
    assert not able["worker"]
    assert able["storage"] == able["caches"] == (withheld != "storage")


def test_lesson(engine, withheld, site, answers):
    engine.open(f"{site.url}en/ledger/")
    assert {tuple(seen) for seen in engine.run(WALK, answers).values()} == {("skipped", "mistake", "right")}
    cells = engine.run(RUN_CELLS)
    assert cells and {cell["status"] for cell in cells} == {"ok"}
    check_what_is_kept(engine, withheld, f"{site.url}zh/ledger/", "zh-CN")


def test_self_test(engine, withheld, site, answers):
    engine.open(f"{site.url}zh/quiz/")
    assert len(engine.run(ANSWER, answers)) == len(answers)
    check_what_is_kept(engine, withheld, f"{site.url}en/quiz/", "en")


def check_what_is_kept(engine, withheld, address, lang):
    """Either the next page knows what was entered, or it says that nothing lasts."""
    engine.open(address)
    page = engine.run(KEPT)
    is_kept = withheld != "storage"
    assert (page["kept"] > 0, any(NOT_KEPT[lang] in said for said in page["said"])) == (is_kept, not is_kept)


def test_embeds(engine, withheld, answers, site, tmp_path):
    with serve_host(tmp_path) as host:
        engine.open(host.put("index.html", embedding_page(site.url)))
        use_embeds(engine, answers, ("exercise", "live", "question", "own"))


def test_notebook(engine, withheld, site):
    if withheld == "storage":
        pytest.skip("JupyterLite does not start without storage; the lesson's page says so")
    use_notebook(engine, f"{site.url}zh/notebooks/index.html?path=zh/01-ledger.ipynb")
    assert LAB_NOT_KEPT not in engine.run("return document.body.innerText;")
