"""Makes content/ importable, so that `pytest tests` works by itself too."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "content"))

from hypothesis import settings  # noqa: E402 (after the path, like the tests)

settings.register_profile("any machine", deadline=None)  # a busy machine is no failure
settings.load_profile("any machine")
