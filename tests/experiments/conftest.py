"""Experiments are scripts: their folder is put on the path, so that tests can import them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments"))
