"""What all tests share: the oracles' path, one Hypothesis profile, and where the real data is."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

sys.path.insert(0, str(Path(__file__).parent))

# The same examples on every run; HYPOTHESIS_PROFILE=explore looks for new ones.
_CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
_COMMON = settings(
    deadline=None, suppress_health_check=_CHECKS, phases=set(Phase) - {Phase.explain}
)
settings.register_profile("karat", _COMMON, derandomize=True, max_examples=60)
settings.register_profile("explore", _COMMON, derandomize=False, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "karat"))

logging.getLogger("sacrebleu").setLevel(logging.ERROR)


@pytest.fixture(scope="session")
def karat_data() -> Path:
    """The folder of real data that KARAT_DATA names."""
    named = os.environ.get("KARAT_DATA")
    if not named:
        pytest.skip("KARAT_DATA is not set: no real data to test on")
    folder = Path(named)
    if not folder.is_dir():
        pytest.skip(f"KARAT_DATA={named} is no folder: no real data to test on")
    return folder
