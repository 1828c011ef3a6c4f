"""Where everything lies. All other modules take their folders from here."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONTENT = ROOT / "content"
PUBLISH = CONTENT / "publish"
WEB = CONTENT / "web"
NODE_MODULES = WEB / "node_modules"
TESTS = ROOT / "tests"

BUILD = ROOT / ".build"
CACHE = BUILD / "cache"  # downloads; kept until `clean`
STAGE = BUILD / "stage"  # what each step makes
STAMPS = BUILD / "stamps"  # what each step was made from
LOGS = BUILD / "log"  # what the tools printed
DIST = ROOT / "dist"

# The folders of stage/, one owner each (the step of the same name).
FONT = STAGE / "font"
WHEEL = STAGE / "wheel"
DOWNLOAD = STAGE / "download"  # what readers may take along, under names that stay
LITE = STAGE / "lite"  # input of `jupyter lite build`
PYODIDE = LITE / "static" / "pyodide"
NOTEBOOKS = STAGE / "notebooks"
JUPYTERLITE = STAGE / "jupyterlite"  # its output
BYTECODE = STAGE / "byte-code"
BYTECODE_WHEELS = STAGE / "byte-code-wheels"
SCRIPTS = STAGE / "scripts"
PAGES = STAGE / "pages"
API = STAGE / "api"
SCRIPT_PARTS = STAGE / "script-parts"
EXPORTER = STAGE / "exporter"
TEACH = STAGE / "teach"
