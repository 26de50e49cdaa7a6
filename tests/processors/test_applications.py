"""The applications compute the same bits on every processor.

The libraries below Karat choose among routines by the processor: OpenBLAS, numpy, the C library.
Each can be told to do without what it found, and is.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from numpy._core import _multiarray_umath as numpy_core

HERE = Path(__file__).parent

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="knows the processors of x86-64 alone"
)


def _numpy_features() -> str:
    """What numpy found beyond what it was built to need."""
    have = numpy_core.__cpu_features__
    return " ".join(name for name in numpy_core.__cpu_dispatch__ if have.get(name))


OLD = {
    "OPENBLAS_CORETYPE": "Prescott",
    "NPY_DISABLE_CPU_FEATURES": _numpy_features(),
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F",
}


def _digests(environment: dict[str, str]) -> dict[str, str]:
    paths = [str(HERE.parent), *filter(None, sys.path)]
    done = subprocess.run(
        [sys.executable, str(HERE / "applications.py")],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment},
        timeout=600,
    )
    assert not done.returncode, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_applications_give_the_same_bits() -> None:
    pytest.importorskip("sklearn")
    found = _digests({})
    assert len(found) > 20
    assert _digests(OLD) == found
