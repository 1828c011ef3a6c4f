"""<zero-cell> in a page: what a reader clicks, types and sees."""

import html
from pathlib import Path

import pytest
from playwright.sync_api import expect

AXE = Path(__file__).parents[2] / "content" / "web" / "node_modules" / "axe-core" / "axe.min.js"
READY_MS = 60_000  # on a machine with much else to do
CTRL_ENTER = "Control+Enter"


@pytest.fixture
def cells(page, site):
    """cells(html) puts live cells on a page of the site, and gives the page back."""

    def put(*markup, lang="en", before=None):
        page.goto(site.url + "en/")  # any page will do
        if before:
            before(page)
        page.evaluate(
            """([lang, markup]) => {
                document.documentElement.lang = lang;
                document.head.innerHTML = `<title>Cells</title><link rel="icon" href="data:,">
                    <style>:root { color-scheme: light dark } body { font-family: sans-serif }</style>`;
                document.body.innerHTML = `<main><h1>Cells</h1>${markup}</main>`;
                window.runs = [];
                document.addEventListener('zero-run', (event) => window.runs.push(event.detail));
            }""",
            [lang, "\n".join(markup)],
        )
        page.add_script_tag(url=site.url + "static/zero/cell.js", type="module")
        page.wait_for_function("!!customElements.get('zero-cell')")
        return page

    return put


def cell(code, cell_id="a", attributes=""):
    """The markup of a cell; its code also stands in the page when there are no scripts."""
    return f'<zero-cell id="{cell_id}" {attributes}><pre><code>{html.escape(code)}</code></pre></zero-cell>'


def part(page, name, cell_id="a"):
    return page.locator(f"#{cell_id} .{name}")


def run(page, cell_id="a"):
    """Click Run and wait until that run is over."""
    before = page.evaluate("runs.length")
    part(page, "run", cell_id).click()
    page.wait_for_function(f"runs.length === {before + 1}", timeout=READY_MS)
    return page.evaluate("runs.at(-1)")


def type_code(page, code, cell_id="a"):
    part(page, "cm-content", cell_id).click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(code)


def test_prints_and_shows_the_last_value(cells):
    page = cells(cell("print('hello', 3)\n'x' * 3"))
    run(page)
    expect(part(page, "output")).to_have_text("hello 3\n")
    expect(part(page, "value")).to_have_text("'xxx'")
    expect(part(page, "status")).to_contain_text("Done in")
    expect(part(page, "notice")).to_be_hidden()


def test_output_comes_while_the_code_runs(cells):
    page = cells(cell("import sys, time\nprint('first')\nprint('careful', file=sys.stderr)\ntime.sleep(30)"))
    part(page, "run").click()
    expect(part(page, "output .out")).to_have_text("first\n", timeout=READY_MS)
    expect(part(page, "output .err")).to_have_text("careful\n")
    part(page, "stop").click()
    expect(part(page, "notice")).to_contain_text("Stopped")


def test_traceback_and_what_it_means(cells):
    page = cells(cell("def f(n):\n    return 1 / n\n\nf(0)"))
    run(page)
    expect(part(page, "traceback")).to_contain_text('File "<cell>", line 4, in <module>')
    expect(part(page, "traceback")).to_contain_text("ZeroDivisionError: division by zero")
    expect(part(page, "notice")).to_contain_text("The code raised ZeroDivisionError")
    expect(part(page, "notice")).to_contain_text("Variables are kept")


@pytest.mark.parametrize("code, outcome", [("while True: pass", "Variables are kept"), pytest.param("sum(range(10**12))", "the variables are gone", marks=pytest.mark.long)])
def test_stop_and_run_again(cells, code, outcome):
    page = cells(cell(code), cell("'again'", "b"))
    part(page, "run").click()
    expect(part(page, "status")).to_contain_text("Running", timeout=READY_MS)
    part(page, "stop").click()
    expect(part(page, "notice")).to_contain_text("Stopped", timeout=3000)
    expect(part(page, "notice")).to_contain_text(outcome)
    run(page, "b")
    expect(part(page, "value", "b")).to_have_text("'again'")


@pytest.mark.parametrize("code, outcome", [
    pytest.param("kept = 1\nwhile True: pass", "Variables are kept", marks=pytest.mark.long), ("sum(range(10**12))", "the variables are gone"),
])
def test_limit_and_run_again(cells, code, outcome):
    page = cells(cell(code, attributes='limit="1"'))
    result = run(page)
    assert 950 < result["elapsedMs"] < 4500
    expect(part(page, "notice")).to_contain_text("Ended at the limit of 1 s")
    expect(part(page, "notice")).to_contain_text(outcome)
    type_code(page, "'again'")
    run(page)
    expect(part(page, "value")).to_have_text("'again'")
    expect(part(page, "notice")).to_be_hidden()


def test_an_edit_of_an_older_lesson_is_offered(cells):
    page = cells(cell("print('old')"))
    part(page, "code").click()
    type_code(page, "print('mine')")
    page = cells(cell("print('new')"))
    expect(part(page, "aside")).to_contain_text("code has changed since you edited it")
    expect(part(page, "code")).to_contain_text("print('new')")
    part(page, "aside").get_by_role("button", name="Show my version").click()
    expect(part(page, "code")).to_contain_text("print('mine')")
    page = cells(cell("print('new')"))
    expect(part(page, "code")).to_contain_text("print('mine')")
    expect(part(page, "aside")).to_be_hidden()


def test_a_limit_above_60_is_60(cells):
    page = cells(cell("1", attributes='limit="600"'), cell("1", "b", 'limit="nonsense"'), cell("1", "c", 'limit="-5"'))
    assert page.evaluate("[...document.querySelectorAll('zero-cell')].map((cell) => cell.limitSeconds)") == [60, 60, 60]


@pytest.mark.long
def test_countdown_after_ten_seconds(cells):
    page = cells(cell("import time\ntime.sleep(100)", attributes='limit="30"'))
    part(page, "run").click()
    expect(part(page, "status")).to_contain_text("ends by itself in", timeout=READY_MS)
    page.wait_for_function("document.querySelector('#a').shadowRoot.querySelector('.status').textContent.match(/in 1[0-9] s/)")
    part(page, "stop").click()
    expect(part(page, "notice")).to_contain_text("Stopped")


def test_a_run_clicked_early_runs_once_when_python_is_ready(cells):
    page = cells(cell("print('once')"))
    page.evaluate("for (let i = 0; i < 3; i += 1) document.querySelector('#a').run()")
    expect(part(page, "status")).to_contain_text("Python")
    expect(part(page, "output")).to_have_text("once\n", timeout=READY_MS)
    page.wait_for_function("runs.length === 1")
    run(page)
    assert page.evaluate("runs.length") == 2


def test_loading_is_told_in_steps_and_bytes(cells):
    page = cells(cell("1"))
    page.evaluate(
        """() => {
            window.told = [];
            const status = document.querySelector('#a').shadowRoot.querySelector('.status');
            new MutationObserver(() => told.push(status.textContent)).observe(status, { childList: true });
        }"""
    )
    run(page)
    told = " | ".join(page.evaluate("told"))
    assert "Starting Python" in told and "Done in" in told, told


def test_python_starts_by_itself_when_a_cell_is_near(cells, page, site):
    cells(cell("1"))
    page.wait_for_function(
        f"import('{site.url}static/zero/runner.js').then((m) => m.runnerFor('{site.url}').state === 'ready')", timeout=READY_MS
    )


def test_python_does_not_start_by_itself_when_data_is_saved(cells, page, site):
    requested = []
    page.on("request", lambda request: requested.append(request.url))
    saving = lambda page: page.evaluate("Object.defineProperty(navigator, 'connection', { value: { saveData: true } })")  # noqa: E731
    cells(cell("1"), before=saving)
    expect(part(page, "cm-content")).to_be_visible()
    assert not [url for url in requested if "pyodide" in url]
    run(page)
    expect(part(page, "value")).to_have_text("1")


def test_a_failed_load_is_explained_and_can_be_tried_again(cells, page, watch):
    watch.allow(r"(failed request|console error): .*")
    page.route("**/pyodide.asm.wasm*", lambda route: route.abort())
    cells(cell("6 * 7"))
    part(page, "run").click()
    expect(part(page, "notice")).to_contain_text("Python could not be loaded", timeout=READY_MS)
    expect(part(page, "notice")).to_contain_text("pyodide.asm.wasm")
    page.unroute("**/pyodide.asm.wasm*")
    part(page, "retry").click()
    expect(part(page, "value")).to_have_text("42", timeout=READY_MS)


def test_a_run_that_the_browser_ended_with_the_page_is_told(open_page, site):
    page = open_page("if (location.host && window === top) sessionStorage.setItem('zero:running:/courses/zero/zh/ledger/:live-rows', '1')")
    page.goto(site.url + "zh/ledger/")
    notice = page.locator("zero-cell[cell-id=live-rows]").locator(".notice")
    expect(notice).to_contain_text("内存")
    expect(page.locator("zero-cell .notice:visible")).to_have_count(1)
    page.locator("zero-cell[cell-id=live-rows] .run").click()
    expect(notice).to_be_hidden()
    expect(page.locator("zero-cell[cell-id=live-rows] .status")).to_contain_text("完成", timeout=READY_MS)
    assert page.evaluate("Object.keys(sessionStorage).filter((key) => key.startsWith('zero:running'))") == []


def test_keys_run_the_code(cells):
    page = cells(cell("print('keys')"))
    part(page, "cm-content").click()
    for count, keys in enumerate((CTRL_ENTER, "Shift+Enter"), 1):
        page.keyboard.press(keys)
        page.wait_for_function(f"runs.length === {count}", timeout=READY_MS)
    assert page.evaluate("document.querySelector('#a').source") == "print('keys')"


def test_tab_indents_and_escape_then_tab_leaves(cells):
    page = cells(cell("x = 1"))
    focused = "document.querySelector('#a').shadowRoot.activeElement.className"
    part(page, "cm-content").click()
    page.keyboard.press("Home")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('#a').source") == "    x = 1"
    assert "cm-content" in page.evaluate(focused)
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert "run" in page.evaluate(focused)
    expect(part(page, "cm-content")).to_have_attribute("aria-label", "Python code. Ctrl+Enter runs it; Escape, then Tab leaves the editor.")


def test_edited_code_survives_a_reload_until_it_is_reset(cells):
    page = cells(cell("print(1)"))
    type_code(page, "print(2)")
    page.wait_for_function("Object.values(localStorage).includes('print(2)')")
    cells(cell("print(1)"))
    assert page.evaluate("document.querySelector('#a').source") == "print(2)"
    part(page, "reset").click()
    assert page.evaluate("document.querySelector('#a').source") == "print(1)"
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('zero:cell')).length") == 0
    expect(part(page, "reset")).to_be_hidden()
    cells(cell("print(3)"))
    assert page.evaluate("document.querySelector('#a').source") == "print(3)"


def test_cells_share_variables_unless_told_otherwise(cells):
    page = cells(
        cell("shared = 5"), cell("shared", "b"), cell("shared", "c", "fresh"), cell("shared", "d", 'session="other"'),
    )
    for cell_id in "abcd":
        run(page, cell_id)
    assert [result["errorType"] for result in page.evaluate("runs")] == [None, None, "NameError", "NameError"]


def test_stopping_a_waiting_cell_leaves_the_running_one_alone(cells):
    page = cells(cell("import time\ntime.sleep(2)\n'done'"), cell("'second'", "b"))
    part(page, "run", "a").click()
    expect(part(page, "status", "a")).to_contain_text("Running", timeout=READY_MS)
    part(page, "run", "b").click()
    expect(part(page, "status", "b")).to_contain_text("Waiting for another cell")
    part(page, "stop", "b").click()
    expect(part(page, "notice", "b")).to_contain_text("Stopped")
    expect(part(page, "value", "a")).to_have_text("'done'")


def test_what_is_printed_is_shown_as_text(cells):
    page = cells(cell("print('<img src=x onerror=\"window.broken = 1\"><script>window.broken = 1</script>')\nclass R:\n    def __repr__(self): return '<b>bold</b>'\nR()"))
    run(page)
    expect(part(page, "output")).to_contain_text("<img src=x")
    expect(part(page, "value")).to_have_text("<b>bold</b>")
    assert page.evaluate("window.broken") is None


@pytest.mark.parametrize("code", [
    "while True: print('for ever and ever')", *(pytest.param(code, marks=pytest.mark.long) for code in ("print('x' * 10**7)", "while True: print('x' * 50, end='')")),
])
def test_a_lot_of_output_does_not_freeze_the_page(cells, code):
    page = cells(cell("1"), cell(code, "b", 'limit="30"'))
    run(page)
    page.evaluate(
        """() => {
            window.longestPause = 0;
            let last = performance.now();
            setInterval(() => { const now = performance.now(); longestPause = Math.max(longestPause, now - last); last = now; }, 20);
        }"""
    )
    run(page, "b")
    expect(part(page, "notice", "b")).to_contain_text("Too much output")
    assert page.evaluate("document.querySelector('#b').shadowRoot.querySelector('.output').textContent.length") > 15_000
    assert page.evaluate("longestPause") < 1000


def test_speaks_chinese(cells):
    page = cells(cell("1 / 0"), lang="zh-CN")
    expect(part(page, "run")).to_have_text("运行")
    run(page)
    expect(part(page, "notice")).to_contain_text("代码引发了 ZeroDivisionError")


@pytest.mark.parametrize("width", [pytest.param(1280, marks=pytest.mark.long), 360])
def test_fits_the_screen(open_page, cells, page, width):
    page.set_viewport_size({"width": width, "height": 800})
    cells(cell("print('a very long line of code that does not fit on a small screen at all', 1, 2, 3)\nprint('-' * 300)"))
    run(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    boxes = [part(page, name).bounding_box() for name in ("run", "copy")]
    assert all(box["width"] >= 24 and box["height"] >= 32 and box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_accessible(cells, page, scheme):
    page.emulate_media(color_scheme=scheme)
    cells(cell("import sys\n# comment\nprint('out', 1.5)\nprint('err', file=sys.stderr)\n1 / 0"), cell("'value'", "b"))
    run(page)
    run(page, "b")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    violations = page.evaluate("axe.run(document).then((found) => found.violations.map((v) => [v.id, v.nodes.map((n) => n.html.slice(0, 200))]))")
    assert violations == []


def test_without_scripts_the_code_is_there(open_page, site):
    page = open_page(java_script_enabled=False)
    page.route(site.url + "plain.html", lambda route: route.fulfill(
        body=f'<!doctype html><html lang="en"><title>x</title><link rel="icon" href="data:,"><body>{cell("print(1)")}'
        '<script type="module" src="static/zero/cell.js"></script></body></html>', content_type="text/html"))
    page.goto(site.url + "plain.html")
    expect(page.locator("zero-cell code")).to_have_text("print(1)")
    expect(page.locator("zero-cell code")).to_be_visible()
