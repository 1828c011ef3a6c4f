"""Makes content/ importable, so that `pytest tests` works by itself too."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "content"))
