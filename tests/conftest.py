"""Makes content/ importable, here and in programs that tests start, so that `pytest tests` works by itself too."""

import os
import sys
from pathlib import Path

CONTENT = str(Path(__file__).resolve().parents[1] / "content")
sys.path.insert(0, CONTENT)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (CONTENT, os.environ.get("PYTHONPATH"))))

from hypothesis import HealthCheck, settings  # noqa: E402  (after the path is set, as everything that tests import)

# Examples are timed by the wall clock; a busy machine would fail tests that are right.
settings.register_profile("zero", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("zero")


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="also run the tests marked long: walks and hosts that a commit need not wait for")


def pytest_configure(config):
    config.addinivalue_line("markers", "long: minutes of browser time; runs with ./build.sh test --long only")


def pytest_collection_modifyitems(config, items):
    """Leaves the long tests out unless they were asked for."""
    if config.getoption("--long"):
        return
    long = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if not item.get_closest_marker("long")]
