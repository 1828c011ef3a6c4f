"""Embeds on other people's pages: another origin, their own content security policy, storage blocked, sandboxed."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
import sys

import pytest
from hosts import serve_host
from playwright.sync_api import expect
from publish import paths

READY_MS = 90_000  # Python's first start on a machine with much else to do
ICON = '<link rel="icon" href="data:,">'
NO_STORAGE = """for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches'])
    Object.defineProperty(window, name, { get() { throw new DOMException('blocked', 'SecurityError'); } });"""
LISTEN = "window.got = []; addEventListener('zero-ledger', (event) => got.push({ id: event.target.id, ...event.detail }));"


@pytest.fixture
def host(tmp_path, watch):
    with serve_host(tmp_path) as served:
        watch.allow(rf"request to another origin: ({served.url}|{served.near_url})")
        yield served


def frame(site, frame_id, query, more=""):
    return f'<iframe id="{frame_id}" src="{site.url}cell/?{query}" width="100%" height="300" {more}></iframe>'


def page_of(site, *parts, title="Host"):
    listen = f"<script>{LISTEN}</script>"
    return f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>{ICON}{listen}<body>{"".join(parts)}<script src="{site.url}static/zero/embed.js"></script>'


def wait_for(page, event, frame_id):
    """The event of that frame, once it has come."""
    page.wait_for_function("([type, id]) => got.some((one) => one.type === type && one.id === id)", arg=[event, frame_id], timeout=READY_MS)
    return page.evaluate("([type, id]) => got.find((one) => one.type === type && one.id === id)", [event, frame_id])


def has_its_height(page, frame_id):
    """The frame is as high as its content."""
    page.wait_for_function(
        "(id) => { const sent = got.filter((one) => one.type === 'height' && one.id === id).at(-1); return sent && Math.abs(document.getElementById(id).clientHeight - sent.height) <= 1; }",
        arg=frame_id,
    )
    inside = page.frame_locator(f"#{frame_id}").locator("body").evaluate("(body) => [document.documentElement.scrollHeight, innerHeight]")
    assert inside[0] <= inside[1] + 1, inside


def predict(page, frame_id, number):
    place = page.frame_locator(f"#{frame_id}")
    place.locator("input[name=number]").fill(number, timeout=READY_MS)
    place.locator("zero-predict button[type=submit]").first.click()
    expect(place.locator(".zl-compare").first).to_be_visible(timeout=READY_MS)


def test_on_a_page_of_another_site_under_a_strict_policy(tmp_path, site, watch, open_page):
    """The smoke test of embeds: predict, run, check; events, height, a forged message, two embeds apart."""
    digest = base64.b64encode(hashlib.sha256(LISTEN.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; frame-src {site.origin}; script-src {site.origin} 'sha256-{digest}'; style-src 'none'; base-uri 'none'"
    with serve_host(tmp_path, {"Content-Security-Policy": policy}) as served:
        watch.allow(rf"request to another origin: {served.url}")
        wants = 'data-wants="ready predicted ran checked completed statement"'
        own = f"""<script defer src="{site.url}static/zero/zero-cell.js"></script>
<zero-cell id="own" lang="en" N="8" wants="checked" expect="ledger(7e9, N, 1).model_states_bytes_per_rank"><pre>
from zeroledger import *
ledger(7e9, N, 2).model_states_bytes_per_rank
</pre><details data-hint><summary>Hint</summary>Which stage?</details><details data-solution><summary>Solution</summary><pre>stage=1</pre></details></zero-cell>"""
        served.put("index.html", page_of(site, frame(site, "a", "id=zero1-20b-4&lang=en", wants), frame(site, "b", "id=zero1-20b-4&lang=zh"), own))
        page = open_page()
        page.goto(served.url)
        assert wait_for(page, "ready", "a")["kind"] == "exercise"
        predict(page, "a", "110 GB")
        assert wait_for(page, "predicted", "a")["value"] == 110e9
        checked = wait_for(page, "checked", "a")
        assert (checked["verdict"], checked["right"], checked["zero"]) == ("mistake", False, "zero-ledger/1")
        assert wait_for(page, "ran", "a")["status"] == "ok"
        actor = wait_for(page, "statement", "a")["statement"]["actor"]
        assert actor == {"objectType": "Agent", "account": {"homePage": site.url, "name": "anonymous"}}
        has_its_height(page, "a")
        # What a has kept, its twin b does not see; and b, which asked for heights alone, says nothing else.
        expect(page.frame_locator("#b").locator("input[name=number]")).to_have_value("")
        assert page.evaluate("got.filter(({ id, type }) => id === 'b' && type !== 'height')") == []
        page.evaluate("postMessage({ zero: 'zero-ledger/1', type: 'height', item: 'x', name: '', seq: 1, height: 9 }, '*'); 0")
        before = page.evaluate("got.length")
        cell = page.locator("#own").locator("iframe").content_frame
        cell.locator("[data-action=check]").click(timeout=READY_MS)
        expect(cell.locator("[data-part=outcome]")).to_contain_text("Not yet", timeout=READY_MS)
        assert wait_for(page, "checked", "own")["right"] is False
        cell.locator("[data-action=hint]").click()
        expect(cell.locator("[data-part=hints]")).to_contain_text("Which stage?")
        cell.locator(".cm-content").click()
        page.keyboard.press("Control+A")
        page.keyboard.insert_text("26e9 * 1.0 + 12.5e9")
        cell.locator("[data-action=check]").click()
        expect(cell.locator("[data-part=outcome]")).to_contain_text("Right", timeout=READY_MS)
        assert page.evaluate(f"got.slice({before}).every(({{ id }}) => id)"), "a forged message came through"


def test_a_bad_address_says_what_is_accepted(page, site):
    page.goto(f"{site.url}cell/?id=zero1-20b-4&lang=en&P=8B&stage=9&theme=blue")
    told = page.locator("[role=alert]")
    for words in ("stage: found “9”; accepted: 0, 1, 2 or 3", "theme: found “blue”; accepted: auto, light, dark", "P: found “8B”; accepted: 7B, 13B, 20B, 70B"):
        expect(told).to_contain_text(words)
    page.goto(f"{site.url}cell/?id=zero1-20b-5&lang=zh")
    expect(page.locator(".zl-ids code", has_text=re.compile(r"^zero1-20b-4$"))).to_be_visible()


def test_a_share_link_runs_nothing_and_keeps_what_the_reader_had(page, site, context_permissions):
    page.goto(f"{site.url}en/ledger/")
    cell = page.locator("zero-cell[cell-id=live-rows]")
    cell.scroll_into_view_if_needed()
    editor = cell.locator(".cm-content")
    editor.click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text("print('shared')")
    cell.locator("button.share").click()
    expect(cell.locator("input.link")).to_have_value(re.compile(r"#z1\."))
    link = cell.locator("input.link").input_value()
    page.keyboard.press("Escape")
    editor.click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text("print('my own')")
    page.wait_for_function("Object.values(localStorage).includes(\"print('my own')\")")
    page.goto("about:blank")
    page.goto(link)
    expect(cell.locator(".aside")).to_contain_text("comes from a link")
    expect(editor).to_have_text("print('shared')")
    expect(cell.locator(".output")).to_be_hidden()
    cell.locator("button.choice").click()
    expect(editor).to_have_text("print('my own')")
    page.goto("about:blank")
    page.goto(link[:-6])
    expect(page.locator("[data-part=link-problem]")).to_contain_text("damaged")
    cell.scroll_into_view_if_needed()
    expect(editor).to_have_text("print('my own')")


@pytest.fixture
def context_permissions(page):
    """Lets the page copy."""
    page.context.grant_permissions(["clipboard-write", "clipboard-read"])


def test_the_builder_makes_a_snippet_that_works(page, site, host, open_page):
    page.goto(f"{site.url}en/build/")
    page.locator("#build-id").select_option("ledger/live-by-hand")
    page.locator("#build-N").fill("zero")
    expect(page.locator("[data-part=problem]")).to_contain_text("N: found “zero”")
    page.locator("#build-N").fill("64")
    expect(page.locator("[data-part=problem]")).to_be_empty()
    preview = page.frame_locator("[data-part=preview] iframe")
    expect(preview.locator(".cm-content, pre.plain, zero-cell pre").first).to_contain_text("P, N = 7_000_000_000, 64", timeout=READY_MS)
    snippet = page.locator("[data-part=snippet]")
    expect(snippet).to_contain_text("N=64")
    html = snippet.text_content()
    other = open_page()
    other.goto(host.put("pasted.html", f"<!doctype html><title>x</title>{ICON}{html}"))
    expect(other.frame_locator("iframe").locator("zero-cell").first).to_contain_text("P, N = 7_000_000_000, 64", timeout=READY_MS)
    for kind, words in (("myst", "```{raw} html"), ("quarto", "```{=html}"), ("element", "<zero-cell"), ("link", "cell/?id=ledger/live-by-hand")):
        page.locator(f"input[name=kind][value={kind}]").check(force=True)
        expect(snippet).to_contain_text(words)
    page.locator("#build-seed").fill("may")
    with page.expect_download() as download:
        page.locator("[data-action=sheet]").click()
    sheet = download.value.path().read_text(encoding="utf-8")
    assert download.value.suggested_filename == "zero-ledger-answers-may.html"
    assert sheet.count("<li><b>") >= 40 and "<script" not in sheet and "GB" in sheet


# --- real hosts: minutes, so with --long only


@pytest.fixture(scope="session")
def host_tools():
    """The programs of an environment with MkDocs and Jupyter Book, made when it is not there."""
    environment = paths.BUILD / "embed-hosts"
    wanted = paths.TESTS / "browser" / "host-requirements.txt"
    installed = environment / "requirements.installed"
    if not installed.exists() or installed.read_text() != wanted.read_text():
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        subprocess.run([environment / "bin/pip", "install", "-q", "--disable-pip-version-check", "-r", wanted], check=True)
        shutil.copy(wanted, installed)
    return environment / "bin"


def markdown_of(site, kind):
    """A page with each kind of embed, in the host's own notation; snippets as the builder writes them."""
    script = f'<script src="{site.url}static/zero/embed.js" defer></script>'
    wants = 'data-wants="ready predicted ran checked completed"'
    element = f"""<div><script defer src="{site.url}static/zero/zero-cell.js"></script>
<zero-cell id="own" lang="zh" wants="checked ran" expect="6 * 7"><pre>
6 * 7
</pre></zero-cell></div>"""
    blocks = [
        frame(site, "exercise", "id=stages-grad-saving&lang=en&P=1.3B&N=16", wants), frame(site, "live", "id=ledger/live-rows&lang=zh", wants),
        frame(site, "chart", "id=chart&lang=en&N=64&stage=3"), frame(site, "timeline", "id=timeline&lang=en"),
        frame(site, "question", "id=quiz/stage-one-rows&lang=en", wants), frame(site, "quiz", "id=quiz/ledger&lang=en"), script, element,
    ]
    if kind == "myst":
        blocks = [f"```{{raw}} html\n{one}\n```" for one in blocks]
    return "# Host\n\nText before.\n\n" + "\n\n".join(blocks) + "\n\nText after.\n"


def build_mkdocs(tools, folder, text):
    (folder / "docs").mkdir(parents=True)
    (folder / "docs/index.md").write_text(text, encoding="utf-8")
    # The built-in theme, told to leave out what it would fetch from elsewhere.
    (folder / "mkdocs.yml").write_text("site_name: Host\nuse_directory_urls: false\ntheme: {name: mkdocs, highlightjs: false}\n")
    subprocess.run([tools / "mkdocs", "build", "-q", "-f", folder / "mkdocs.yml"], check=True)
    return folder / "site", "index.html"


def build_jupyter_book(tools, folder, text):
    folder.mkdir(parents=True)
    (folder / "index.md").write_text(text, encoding="utf-8")
    (folder / "_toc.yml").write_text("format: jb-book\nroot: index\n")
    (folder / "_config.yml").write_text("title: Host\nexecute: {execute_notebooks: 'off'}\n")
    subprocess.run([tools / "jupyter-book", "build", "-q", folder], check=True)
    return folder / "_build/html", "index.html"


def listen(page):
    page.add_init_script(LISTEN)


def drive(page, site):
    """Each kind on the page: predicted, run, checked, told, as high as it is."""
    page.locator("#exercise").scroll_into_view_if_needed()
    expect(page.frame_locator("#exercise").locator(".zl-predict-prompt").first).to_contain_text("1.3B", timeout=READY_MS)
    predict(page, "exercise", "2 GB")
    assert wait_for(page, "predicted", "exercise")["value"] == 2e9
    assert wait_for(page, "ran", "exercise")["status"] == "ok"
    wait_for(page, "completed", "exercise")
    has_its_height(page, "exercise")
    page.locator("#live").scroll_into_view_if_needed()
    live = page.frame_locator("#live")
    live.locator("button.run").click(timeout=READY_MS)
    expect(live.locator(".output .out")).to_contain_text("112", timeout=READY_MS)
    assert wait_for(page, "ran", "live")["status"] == "ok"
    has_its_height(page, "live")
    page.locator("#chart").scroll_into_view_if_needed()
    chart = page.frame_locator("#chart")
    expect(chart.locator("[data-part=n]")).to_have_text("64", timeout=READY_MS)
    has_its_height(page, "chart")
    page.locator("#timeline").scroll_into_view_if_needed()
    expect(page.frame_locator("#timeline").locator("svg:visible").first).to_be_visible(timeout=READY_MS)
    has_its_height(page, "timeline")
    page.locator("#question").scroll_into_view_if_needed()
    question = page.frame_locator("#question")
    question.locator("[name=option]").first.check(timeout=READY_MS)
    question.locator("button[type=submit]").click()
    wait_for(page, "checked", "question")
    page.locator("#quiz").scroll_into_view_if_needed()
    expect(page.frame_locator("#quiz").locator("zero-question").nth(2)).to_be_visible(timeout=READY_MS)
    has_its_height(page, "quiz")
    page.locator("#own").scroll_into_view_if_needed()
    own = page.locator("#own").locator("iframe").content_frame
    own.locator("[data-action=check]").click(timeout=READY_MS)
    expect(own.locator("[data-part=outcome]")).to_contain_text("正确", timeout=READY_MS)
    assert wait_for(page, "checked", "own")["right"] is True


@pytest.mark.long
@pytest.mark.parametrize("build, kind", [(build_mkdocs, "html"), (build_jupyter_book, "myst")], ids=["mkdocs", "jupyter-book"])
def test_on_the_page_of_a_real_publisher(build, kind, host_tools, tmp_path, site, watch, open_page):
    folder, name = build(host_tools, tmp_path / "host", markdown_of(site, kind))
    with serve_host(folder) as served:
        for origin in (served.url, served.near_url):
            watch.allow(rf"request to another origin: {origin}")
        watch.allow(r"(request to another origin|failed request): https://")  # what the publisher's own theme asks for
        watch.allow(r"console error: Failed to load resource: net::ERR_NAME_NOT_RESOLVED")
        watch.allow(r"page error: Identifier 'THEBE_JS_URL'")  # and what it does wrong itself
        watch.allow(rf"console error: Got invalid theme mode|(console error|status 404).*{served.url}favicon.ico")
        page = open_page()
        listen(page)
        page.goto(served.url + name, wait_until="domcontentloaded")
        drive(page, site)


@pytest.mark.long
def test_with_storage_blocked(host, site, open_page):
    page = open_page(NO_STORAGE)
    page.goto(host.put("index.html", page_of(site, frame(site, "a", "id=zero1-20b-4&lang=en", 'data-wants="predicted ran"'))))
    predict(page, "a", "140 GB")
    assert wait_for(page, "ran", "a")["status"] == "ok"
    expect(page.frame_locator("#a").locator("zero-predict")).to_have_attribute("data-verdict", "right")


@pytest.mark.long
def test_in_a_sandbox_without_an_origin(host, site, open_page):
    """allow-scripts alone, on a host that sends no CORS header: everything loads as classic scripts."""
    page = open_page()
    sandbox = 'sandbox="allow-scripts" data-wants="predicted ran checked"'
    parts = [frame(site, "a", "id=zero1-20b-4&lang=en&seed=may", sandbox), frame(site, "b", "id=chart&lang=zh&N=8", sandbox), frame(site, "c", "id=quiz/order-states&lang=en", sandbox)]
    requested = []
    page.on("request", lambda request: requested.append(request.url))
    page.goto(host.put("index.html", page_of(site, *parts)))
    expect(page.frame_locator("#b").locator("svg").first).to_be_visible(timeout=READY_MS)
    question = page.frame_locator("#c")
    question.locator("button[type=submit]").click(timeout=READY_MS)
    expect(question.locator("[data-part=feedback]")).not_to_be_empty()
    assert not [url for url in requested if "/parts/" in url or "pyodide" in url], "Python came before a click"
    predict(page, "a", "140 GB")
    assert wait_for(page, "predicted", "a")["unit"] == "bytes"
    assert wait_for(page, "ran", "a")["status"] == "ok"
    assert page.frame_locator("#a").locator("body").evaluate("() => origin") == "null"
    has_its_height(page, "a")


@pytest.mark.long
def test_ten_on_one_page_share_one_python_and_nothing_else(host, site, open_page):
    page = open_page()
    wasm = []
    page.on("request", lambda request: wasm.append(request.url) if "asm.wasm" in request.url else None)
    code = "import builtins, sys\nseen = [name for name in dir(builtins) if name.startswith('left_by')], hasattr(sys, 'left_by_me'), 'kept' in globals()\nbuiltins.left_by_me = sys.left_by_me = 1\nprint(*seen)\nkept = 1"
    cells = "".join(f'<zero-cell id="c{number}" lang="en" wants="ran"><pre>{code}</pre></zero-cell>' for number in range(10))
    shared = "".join(f'<zero-cell id="s{number}" lang="en" state="team" wants="ran"><pre>{line}</pre></zero-cell>' for number, line in enumerate(("kept = 41", "print(kept + 1)")))
    page.goto(host.put("index.html", page_of(site, f'<script defer src="{site.url}static/zero/zero-cell.js"></script>', cells, shared)))
    for number in range(10):
        page.locator(f"#c{number}").scroll_into_view_if_needed()
        cell = page.locator(f"#c{number}").locator("iframe").content_frame
        cell.locator("button.run").click(timeout=READY_MS)
        if number == 0:
            wait_for(page, "ran", "c0")
    for number in range(10):
        wait_for(page, "ran", f"c{number}")
        cell = page.locator(f"#c{number}").locator("iframe").content_frame
        expect(cell.locator(".output .out")).to_have_text("[] False False\n", timeout=READY_MS)
    assert len(wasm) == 1
    for number in range(2):
        page.locator(f"#s{number}").scroll_into_view_if_needed()
        page.locator(f"#s{number}").locator("iframe").content_frame.locator("button.run").click(timeout=READY_MS)
        wait_for(page, "ran", f"s{number}")
    expect(page.locator("#s1").locator("iframe").content_frame.locator(".output .out")).to_have_text("42\n")
    # The frame that holds Python goes: the next run loads it again.
    leader = page.evaluate("[...document.querySelectorAll('zero-cell')].findIndex((one) => { one.remove(); return true; })")
    assert leader == 0
    again = page.locator("#c5").locator("iframe").content_frame
    page.locator("#c5").scroll_into_view_if_needed()
    page.evaluate("got.length = 0")
    again.locator("button.run").click()
    assert wait_for(page, "ran", "c5")["status"] == "ok"


@pytest.mark.long
def test_messages_from_others_are_ignored(host, site, open_page):
    """A frame hears its parent alone; the script hears the frames of the site alone."""
    page = open_page()
    forged = json.dumps({"zero": "zero-ledger/1", "type": "completed", "item": "x", "name": "", "seq": 1, "success": True})
    host.put("stranger.html", f"<title>s</title>{ICON}<script>answers = []; onmessage = ({{ data }}) => answers.push(data); parent.postMessage({forged}, '*'); parent.frames[0].postMessage({{zero: 'zero-ledger/1', type: 'hello', wants: ['ready', 'height', 'completed']}}, '*');</script>")
    stranger = f'<iframe id="stranger" src="{host.near_url}stranger.html"></iframe>'
    page.goto(host.put("index.html", page_of(site, frame(site, "a", "id=code&lang=en"), stranger)))
    wait_for(page, "height", "a")
    page.evaluate("window.silent = []; addEventListener('message', ({ data, source }) => silent.push([data.type, source === frames[1]]));")
    page.locator("#stranger").evaluate("(one) => { one.src += '?again'; }")
    page.wait_for_function("silent.some(([type, isStranger]) => isStranger && type === 'completed')")
    assert page.evaluate("got.filter(({ type }) => type === 'completed')") == []
    # The frame has dealt with the stranger's greeting when it has answered this later one of its parent's.
    page.evaluate("got.length = 0; frames[0].postMessage({ zero: 'zero-ledger/1', type: 'hello', wants: ['ready', 'height'] }, '*')")
    wait_for(page, "ready", "a")
    assert page.frame_locator("#stranger").locator("html").evaluate("() => answers") == []
