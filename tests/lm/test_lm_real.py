"""On real text: KenLM's scores, and what is known of the two smoothings."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import karat as kt


def lines(folder: Path, name: str) -> list[str]:
    with gzip.open(folder / "parallel-multi30k" / name, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n").lower() for line in file]


def test_captions(karat_data: Path, tmp_path: Path) -> None:
    """Kneser-Ney predicts new captions better than Katz with the same n-grams, as published."""
    train, new = lines(karat_data, "train.en.gz")[:8000], lines(karat_data, "val.en.gz")
    models = {
        smoothing: kt.LanguageModel.train(train, 4, smoothing, min_counts=[1, 1, 2, 2])
        for smoothing in ("kneser-ney", "katz")
    }
    perplexities = {
        smoothing: model.perplexity(new).perplexity for smoothing, model in models.items()
    }
    assert 10 < perplexities["kneser-ney"] < perplexities["katz"] < 100


def test_kenlm_on_captions(karat_data: Path, tmp_path: Path) -> None:
    kenlm = pytest.importorskip("kenlm", reason="the kenlm package is not installed")
    train, new = lines(karat_data, "train.en.gz")[:8000], lines(karat_data, "val.en.gz")
    model = kt.LanguageModel.train(train, 5, tok="none")
    model.write_arpa(tmp_path / "model.arpa")
    kenlm_model = kenlm.Model(str(tmp_path / "model.arpa"))
    for line, score in zip(new, model.score(new).tolist(), strict=True):
        assert score == pytest.approx(kenlm_model.score(line), abs=1e-5 * (len(line.split()) + 1))
