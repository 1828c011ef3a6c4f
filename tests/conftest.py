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
