"""A lesson's notebook, open in JupyterLite's lab, for tests and benchmarks that use it as a reader does."""

import re

from playwright.sync_api import expect
from publish import lessons, paths

READY_TIMEOUT_MS = 90_000  # the first start of the kernel on a busy machine
RUN_TIMEOUT_MS = 240_000
# So tall that JupyterLab, which only renders what is in view, renders the whole notebook.
TALL = {"width": 1280, "height": 9000}
APPS = {"en": "lab/index.html?path=en/", "zh-CN": "zh/lab/index.html?path=zh/"}
FIRST, *LATER = sorted(file.stem.replace("_", "-") + ".ipynb" for file in (paths.CONTENT / "lessons").glob("[0-9]*.py"))
MENU_RUN = {"en": "Run", "zh-CN": "运行"}
LANGUAGES = tuple(APPS)


class Notebook:
    """An open lesson notebook in the lab."""

    def __init__(self, page, site, lang, name=FIRST):
        self.page, self.lang = page, lang
        page.set_default_timeout(READY_TIMEOUT_MS)
        page.goto(site.url + APPS[lang] + name)
        page.locator(".jp-Toolbar-kernelName", has_text="Pyodide").wait_for()  # before that the indicator says idle, and Run All does nothing
        page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()
        self.code_cells = page.locator(".jp-Notebook .jp-CodeCell")
        self.outputs = page.locator(".jp-Notebook .jp-OutputArea-output")

    def run_all(self):
        """Runs every cell from the menu and waits until each has its number."""
        self.start_all()
        self.wait_until_run()

    def start_all(self):
        """Asks for every cell from the menu."""
        self.page.locator(".lm-MenuBar-itemLabel", has_text=re.compile(f"^{MENU_RUN[self.lang]}$")).click()
        self.page.locator('.lm-Menu-item[data-command="runmenu:run-all"]').click()

    def wait_until_run(self):
        """Waits until no code cell is waiting (`[*]`) or untouched (`[ ]`)."""
        self.page.wait_for_function(
            """() => [...document.querySelectorAll('.jp-Notebook .jp-CodeCell .jp-InputPrompt')]
                .every((prompt) => /^\\[\\d+\\]:$/.test(prompt.textContent.trim()))""",
            timeout=RUN_TIMEOUT_MS,
        )
        assert self.code_cells.count() >= 3

    def wait_until_painted(self):
        """Waits until the kernel has answered every widget message and the page has drawn the answers."""
        self.page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def run_new_cell(self, source):
        """Adds a cell at the end, runs it, and its text output comes back."""
        self.add_cell(source)
        return self.code_cells.last.locator(".jp-OutputArea-output").inner_text().strip()

    def add_cell(self, source):
        """Adds a cell at the end and runs it."""
        before = self.code_cells.count()
        self.page.locator(".jp-Notebook .jp-Cell").last.click(position={"x": 40, "y": 10})  # further left lies what folds the cell
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("b")
        expect(self.code_cells).to_have_count(before + 1)
        self.page.keyboard.press("Enter")
        self.page.keyboard.insert_text(source)
        self.page.keyboard.press("Control+Enter")
        self.wait_until_run()

    def cell(self, cell_id):
        """The cell with this source, since the lab shows no ids."""
        number = code_ids(self.lang).index(cell_id)
        return self.code_cells.nth(number)

    def failures(self):
        """Texts of error outputs and of everything written to stderr, warnings of missing glyphs among them."""
        kinds = ("application/vnd.jupyter.error", "application/vnd.jupyter.stderr")
        selector = ", ".join(f'.jp-OutputArea-output[data-mime-type="{kind}"]' for kind in kinds)
        return self.page.locator(selector).all_inner_texts()


def lesson_notebook(lang):
    """The first lesson's notebook as the build renders it."""
    return lessons.load_lessons()[0].notebook(lang)


def code_ids(lang):
    """The ids of its code cells, in order."""
    return [cell.id for cell in lesson_notebook(lang).cells if cell.cell_type == "code"]
