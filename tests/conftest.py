"""Makes content/ importable, here and in programs that tests start, so that `pytest tests` works by itself too."""

import os
import sys
from pathlib import Path

CONTENT = str(Path(__file__).resolve().parents[1] / "content")
sys.path.insert(0, CONTENT)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (CONTENT, os.environ.get("PYTHONPATH"))))
