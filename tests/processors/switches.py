"""Environments in which this processor behaves like another one, and the proof that it does.

Each switch sets one variable, which must be there before the process starts. `took_effect` runs a
process under it and looks: OpenBLAS names its kernel, numpy lists its features, and the C
library's functions give other last bits. Switches of different variables can be set together.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

CPUINFO = Path("/proc/cpuinfo")
KERNELS = {"Prescott": ("Prescott", "Katmai"), "Haswell": ("Haswell",), "SkylakeX": ("SkylakeX",)}
"""Names by which OpenBLAS calls them; a build for newer processors may take an older name."""


class Switch(NamedTuple):
    """A variable of the environment, and what the processor must have for it."""

    name: str
    variable: str
    value: str
    needs: tuple[str, ...] = ()


def environment(*switches: Switch) -> dict[str, str]:
    """The environment of a process under some switches."""
    together = {switch.variable: switch.value for switch in switches}
    return {**os.environ, "OPENBLAS_NUM_THREADS": "1", **together}


def oldest(switches: list[Switch]) -> list[Switch]:
    """The oldest of what each variable can be here: the first switch that takes effect."""
    chosen: dict[str, Switch] = {}
    for switch in switches:
        if switch.variable not in chosen and not why_not(switch):
            chosen[switch.variable] = switch
    return list(chosen.values())


def features() -> list[str]:
    """Features that numpy chooses its loops by, and this processor has."""
    simd_config = np.show_config(mode="dicts")["SIMD Extensions"]
    return list(simd_config.get("found", []))


def switches() -> list[Switch]:
    """All switches, whether or not this processor can do with them."""
    blas = "OPENBLAS_CORETYPE"
    off = ",".join(f"-{name}" for name in ("AVX2", "FMA", "FMA4", "AVX512F", "AVX512VL"))
    return [
        Switch("BLAS Prescott", blas, "Prescott", ("sse2",)),
        Switch("BLAS Haswell", blas, "Haswell", ("avx2", "fma")),
        Switch("BLAS SkylakeX", blas, "SkylakeX", ("avx512f", "avx512dq", "avx512bw", "avx512vl")),
        Switch("numpy without dispatch", "NPY_DISABLE_CPU_FEATURES", " ".join(features())),
        Switch("C library without FMA", "GLIBC_TUNABLES", f"glibc.cpu.hwcaps={off}", ("fma",)),
    ]


def flags() -> set[str]:
    """What the processor says it can do; empty where that is not to be read."""
    if not CPUINFO.exists():
        return set()
    lines = CPUINFO.read_text("utf-8", errors="replace").split("\n")
    flag_lists = [line.split(":", 1)[1].split() for line in lines if line.startswith("flags")]
    return set(flag_lists[0]) if flag_lists else set()


@cache
def why_not(switch: Switch) -> str:
    """Why this processor cannot be switched so; empty if it can."""
    missing = [name for name in switch.needs if name not in flags()]
    if missing:
        return f"{switch.name}: this processor has no {', '.join(missing)}"
    if not switch.value:
        return f"{switch.name}: numpy has no loops to choose from on this processor"
    return "" if took_effect(switch) else f"{switch.name}: {switch.variable} has no effect here"


PROBE = """
import json, math, random
import numpy as np
try:
    from numpy._core._multiarray_umath import __cpu_features__ as features
except ImportError:
    from numpy.core._multiarray_umath import __cpu_features__ as features
np.ones((2, 2)) @ np.ones((2, 2))
draw = random.Random(1)
numbers = [draw.uniform(-30, 30) for _ in range(20000)]
libm = [math.exp(x) for x in numbers] + [math.pow(abs(x), 1.7) for x in numbers]
print(json.dumps({"numpy": sorted(k for k, v in features.items() if v), "libm": libm}))
"""


def probe(variables: dict[str, str]) -> tuple[dict[str, object], str]:
    """What numpy and the C library do in an environment, and the name of OpenBLAS's kernel."""
    process = subprocess.run(
        [sys.executable, "-c", PROBE],
        check=False,
        env={**variables, "OPENBLAS_VERBOSE": "2"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    if process.returncode:
        return {}, ""
    core_lines = [line for line in (process.stdout + process.stderr).split("\n") if "Core" in line]
    json_line = next(line for line in process.stdout.split("\n") if line.startswith("{"))
    return json.loads(json_line), " ".join(core_lines)


def took_effect(switch: Switch) -> bool:
    """Whether a process under the switch is seen to behave differently."""
    switched, core = probe(environment(switch))
    if switch.variable == "OPENBLAS_CORETYPE":
        return any(name in core for name in KERNELS[switch.value])
    plain, _ = probe({**os.environ})
    library = "numpy" if switch.variable.startswith("NPY") else "libm"
    return bool(switched) and switched[library] != plain[library]
