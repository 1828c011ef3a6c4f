"""The browser packages of content/web/package-lock.json, by `npm ci`."""

from publish import paths
from publish.console import Console
from publish.steps import Step
from publish.tools import run_tool

INSTALLED = paths.NODE_MODULES / ".package-lock.json"  # npm writes it last


def install(console: Console) -> None:
    """Installs exactly what the lock file names into content/web/node_modules."""
    run_tool(
        ["npm", "ci", "--no-audit", "--no-fund"], "npm", cwd=paths.WEB,
        remedy="check the network, then run the same command again",
    )


STEP = Step(
    "npm packages", install,
    inputs=(paths.WEB / "package.json", paths.WEB / "package-lock.json"),
    outputs=(INSTALLED,),
)
