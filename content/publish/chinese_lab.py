"""Chinese copies of the lab's entry pages: zh/lab/, zh/notebooks/, zh/tree/.

JupyterLite has no language parameter in its URLs, but it merges the `jupyter-lite.json` of every folder
from an app up to the site's root. So the same scripts, entered below zh/, start in Chinese; a reader who
chooses another language in the menu keeps it, since a choice outranks a site's setting.
"""

import json
import shutil
from pathlib import Path

APPS = ("lab", "notebooks", "tree")
FOLDER = "zh"
SETTINGS = "jupyter-lite.json"
SETTINGS_NOTEBOOK = "jupyter-lite.ipynb"  # JupyterLite asks every folder for this one as well
SETTINGS_KEY = "jupyter-config-data"
LOCALE = {"@jupyterlab/translation-extension:plugin": {"locale": "zh_CN"}}


def add_chinese_apps(site: Path) -> None:
    """Writes the copies into a built JupyterLite, one level deeper than their originals."""
    folder = site / FOLDER
    folder.mkdir()
    settings = {"jupyter-lite-schema-version": 0, SETTINGS_KEY: {"settingsOverrides": LOCALE}}
    (folder / SETTINGS).write_text(json.dumps(settings, indent=1))
    shutil.copyfile(site / SETTINGS_NOTEBOOK, folder / SETTINGS_NOTEBOOK)
    for app in APPS:
        shutil.copytree(site / app, folder / app)
        page = folder / app / "index.html"
        page.write_text(one_level_deeper(page.read_text(encoding="utf-8")), encoding="utf-8")
        move_settings(folder / app / SETTINGS, app)


def one_level_deeper(html: str) -> str:
    """The page with its relative addresses, and the lite root's, lengthened by one `../`."""
    return (
        html.replace('="../', '="../../').replace("'../", "'../../").replace('lite-root=".."', 'lite-root="../.."')
    )


def move_settings(file: Path, app: str) -> None:
    """Tells the app its new address and where the shared files lie from there."""
    settings = json.loads(file.read_text())
    data = settings[SETTINGS_KEY]
    for name, value in data.items():
        if isinstance(value, str) and value.startswith("../"):
            data[name] = f"../{value}"
    data["appUrl"] = f"/{FOLDER}/{app}"
    file.write_text(json.dumps(settings, indent=1))
