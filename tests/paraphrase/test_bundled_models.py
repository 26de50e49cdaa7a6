"""The bundled models: the commands of their README build them again, bit for bit."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import karat
from karat.paraphrase.pem.model import bundled_model_path
from karat.storage.store import read_store

DATA = Path(karat.__file__).parent / "data" / "paraphrase"
FOLDER = "src/karat/data/paraphrase/"


def commands() -> dict[str, list[str]]:
    """The commands of the README, by the file that they write."""
    text = (DATA / "README.md").read_text("utf-8").replace("\\\n", " ")
    command_lines = [
        line.split()[1:] for line in re.findall(r"^    (karat paraphrase train.*)", text, re.M)
    ]
    return {words[-1].removeprefix(FOLDER): words for words in command_lines}


def without_versions(about: Any) -> Any:
    """What a model says of itself, but for the version of Karat that made it."""
    if not isinstance(about, Mapping):
        return about
    return {key: without_versions(value) for key, value in about.items() if key != "karat"}


@pytest.mark.parametrize("name", ["bundled", "bundled-paper"])
def test_a_bundled_model_can_be_built_again(
    name: str, folder: Path, output: Callable[..., str]
) -> None:
    place = Path(bundled_model_path(name))
    if name == "bundled-paper":
        pytest.importorskip("sklearn")
    *words, _ = commands()[place.name]
    (folder / "en-fr.tsv").write_bytes((DATA / "en-fr.tsv").read_bytes())
    output(*(word.replace(FOLDER, "") for word in words), "again.npz")
    again, bundled = (
        read_store(path, "paraphrase model", 1) for path in (folder / "again.npz", place)
    )
    assert without_versions(again.about) == without_versions(bundled.about)
    assert again.arrays.keys() == bundled.arrays.keys()
    for part, array in bundled.arrays.items():
        if name == "bundled":
            np.testing.assert_array_equal(again.arrays[part], array, err_msg=part)
        else:  # scikit-learn solves the regression
            np.testing.assert_allclose(again.arrays[part], array, rtol=1e-6, err_msg=part)
