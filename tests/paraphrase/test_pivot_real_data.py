"""A table of real captions, and real paraphrases."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from karat.paraphrase.align.parallel_text import read_parallel
from karat.paraphrase.pem.features import pivot_statistics, pooled_f1
from karat.paraphrase.pem.judged_pairs import control_sentences
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.table.moses import read_moses, write_moses
from karat.paraphrase.table.phrase_table import PhraseTable
from karat.paraphrase.table.training import train_pivot


@pytest.fixture(scope="module")
def table(karat_data: Path) -> PhraseTable:
    folder = karat_data / "parallel-multi30k"
    return train_pivot([read_parallel(folder / "val.en.gz", folder / "val.fr.gz")])


@pytest.fixture(scope="module")
def pairs(karat_data: Path) -> tuple[list[str], list[str], list[float]]:
    with (karat_data / "paraphrase-twitter" / "twitter.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    texts = ([row[name] for row in rows] for name in ("source", "candidate"))
    return (*texts, [float(row["score"]) for row in rows])  # type: ignore[return-value]


def test_scores_follow_the_judges(
    table: PhraseTable, pairs: tuple[list[str], list[str], list[float]]
) -> None:
    originals, candidates, judged = pairs
    scores = pooled_f1(pivot_statistics(table, originals, candidates))
    assert ((scores >= 0) & (scores <= 1 + 1e-12)).all()
    assert np.corrcoef(scores, judged)[0, 1] > 0.3
    np.testing.assert_allclose(pooled_f1(pivot_statistics(table, originals, originals)), 1)


@pytest.mark.parametrize("name", ["bundled", "bundled-paper"])
def test_the_caution_about_the_bundled_model_is_true(
    name: str, pairs: tuple[list[str], list[str], list[float]]
) -> None:
    originals, candidates, judged = pairs
    model = PEM.open(name)
    scores = model.score(originals, candidates)
    pem, pivot = (np.corrcoef(column, judged)[0, 1] for column in (scores.pem, scores.pivot_f1))
    assert f"{len(judged):,} judged headlines" in model.cautions[0]
    assert f"Pearson {pem:.2f}; its pivot F1 alone: {pivot:.2f}" in model.cautions[0]


def test_the_bundled_model_is_not_below_its_pivot_f1(
    pairs: tuple[list[str], list[str], list[float]],
) -> None:
    originals, candidates, judged = pairs
    scores = PEM.open().score(originals, candidates)
    pem, pivot = (np.corrcoef(column, judged)[0, 1] for column in (scores.pem, scores.pivot_f1))
    assert pem > pivot + 0.02
    first = list(dict.fromkeys(originals))
    controls = control_sentences(first)
    bad = PEM.open().with_copies("bad")
    means = {name: bad.score(first, texts).pem.mean() for name, texts in controls.items()}
    assert means["control-identity"] == 2
    assert PEM.open().score(first, first).pem.tolist() == [5] * len(first)
    assert means["control-random"] == pytest.approx(1, abs=0.2)
    assert means["control-unigram"] == pytest.approx(1, abs=0.2)


def test_translations_are_probabilities(table: PhraseTable) -> None:
    starts = table.arrays["edge_offsets"][:-1]
    sums = np.add.reduceat(table.arrays["edge_probabilities"], starts)
    np.testing.assert_allclose(sums, 1)
    assert table.find(["a", "man"]) is not None


def test_moses_and_back(table: PhraseTable, tmp_path: Path) -> None:
    write_moses(table, tmp_path / "t.gz")
    again = read_moses(tmp_path / "t.gz", table.about)
    for name, array in table.arrays.items():
        np.testing.assert_array_equal(array, again.arrays[name])
