"""Options out of all range, and damaged models: one sentence, exit code 2, no traceback."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from karat.paraphrase.pem.model import bundled_model_path
from karat.storage.store import read_store, write_store

Called = Callable[..., subprocess.CompletedProcess[str]]

SCORE = ("nuggets", "score", "heron", "--key", "demo-nuggets")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ("lm", "train", "text.txt", "-o", "m.lm", "--memory", "nan"),
            "nan is not a number of gigabytes",
        ),
        (
            ("lm", "train", "text.txt", "-o", "m.lm", "--memory", "inf"),
            "inf is not a number of gigabytes",
        ),
        ((*SCORE, "--beta", "1e300"), "beta=1e+300"),
        (("meta", "demo", "-m", "bleu", "--reference", "9" * 5000), "no option 'references'"),
    ],
)
def test_options_out_of_range(run_karat: Called, folder: Path, args: tuple[str, ...], message: str):
    (folder / "text.txt").write_text("a b\nb a\n")
    completed = run_karat(*args)
    assert completed.returncode == 2
    assert message in completed.stderr
    assert completed.stderr.count("\n") == 1
    assert not (folder / "x.html").exists()


def test_an_unexpected_error_is_not_a_failed_gate() -> None:
    program = "from karat.cli.main import cli, run\ncli.invoke = lambda context: 1 / 0\nrun()"
    done = subprocess.run(
        [sys.executable, "-c", program, "metrics"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 70
    assert "ZeroDivisionError" in done.stderr
    assert done.stderr.endswith("this is a bug in karat; please report it with the lines above\n")


@pytest.mark.parametrize(
    "name", ["mean_copy", "generate.rewrites.pivot_bytes", "generate.rewrites.source_bytes"]
)
def test_damaged_model(run_karat: Called, folder: Path, name: str):
    store = read_store(bundled_model_path(), "paraphrase model", 1)
    about = {k: v for k, v in store.about.items() if k not in ("kind", "version")}
    broken = store.arrays[name].copy()
    broken[:] = np.nan if name == "mean_copy" else 255
    write_store(
        folder / "m.npz", "paraphrase model", 1, about, store.arrays | {name: np.array(broken)}
    )
    (folder / "text.txt").write_text("the house is big\n")
    completed = run_karat("paraphrase", "generate", "text.txt", "--model", "m.npz")
    assert completed.returncode == 2
    assert "damaged" in completed.stderr
    assert completed.stderr.count("\n") == 1
