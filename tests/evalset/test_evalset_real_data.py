"""The known sets: the counts that their descriptions state, and figures published with them."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import karat as kt
from karat.evalset.catalogue import VARIABLE
from karat.evalset.loading import KNOWN

Load = Callable[..., kt.EvalSet]


@pytest.fixture
def load(karat_data: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Load a known set, or skip the test where it is absent."""
    monkeypatch.setenv(VARIABLE, str(karat_data))

    def run(name: str, **options: object) -> kt.EvalSet:
        if not (karat_data / KNOWN[name].place).exists():
            pytest.skip(f"{KNOWN[name].place} is not in KARAT_DATA")
        return kt.load_evalset(name, **options)  # type: ignore[arg-type]

    return run


def shape(evalset: kt.EvalSet) -> tuple[int, int, int]:
    return len(evalset.systems), len(evalset), len(evalset.judgements)


def judged(evalset: kt.EvalSet, dimension: str) -> int:
    return int(np.isfinite(evalset.human(dimension)).sum())


def test_ted(load: Load) -> None:
    evalset = load("ted-zhen")
    assert shape(evalset) == (13, 529, 3 * 13 * 529)
    assert judged(evalset, "mqm") == 13 * 529
    assert {len(group) for group in evalset.references} == {1}
    assert len(set(evalset.groups or ())) == 5
    assert not any("<v>" in text or "</v>" in text for text in evalset.systems["SMU"] if text)


@pytest.mark.parametrize(("name", "other", "penalty"), [("ref", "refB", 5.5), ("refB", "ref", 0.4)])
def test_the_references_of_ted_are_as_good_as_stated(
    load: Load, name: str, other: str, penalty: float
) -> None:
    evalset = load("ted-zhen", references=other, leave_out=())
    assert -evalset.select(systems=[name]).human("mqm").mean() == pytest.approx(penalty, abs=0.05)


def test_believability(load: Load) -> None:
    evalset = load("believability")
    assert shape(evalset)[:2] == (3, 1982)
    for dimension in evalset.dimensions:
        assert judged(evalset, dimension) == 3 * 1976
    cells = np.zeros((3, 1982), dtype=int)
    rows = evalset.judgements
    actual = rows.select_rows(rows.dimension == 0)
    np.add.at(cells, (actual.system, actual.segment), 1)
    assert (cells[cells > 0].min(), cells.max()) == (2, 10)


@pytest.mark.parametrize(
    ("pair", "question", "dimension"),
    [
        ("fa-en", "ad", "adequacy"),
        ("fa-en", "fl", "fluency"),
        ("fa-en", "bl", "believability"),
        ("ko-en", "ad", "adequacy"),
    ],
)
def test_z_scores_are_those_that_were_published(
    load: Load, karat_data: Path, pair: str, question: str, dimension: str
) -> None:
    """The files whose stated numbers of annotators agree with their rows; others do not."""
    scores = load("believability", pairs=pair).human(dimension, "z")[0]
    folder = karat_data / "mt-believability" / "annotations" / pair
    with (folder / f"{pair}.{question}.csv").open(encoding="utf-8", newline="") as file:
        published = {int(row["SEGID"]): float(row["MEANSCORE"]) for row in csv.DictReader(file)}
    actual = [scores[segment - 1] for segment in published]
    np.testing.assert_allclose(actual, list(published.values()), atol=1e-12)


def test_summeval(load: Load) -> None:
    evalset = load("summeval")
    assert shape(evalset) == (16, 100, 4 * 1600)
    assert {len(group) for group in evalset.references} == {11}


def test_e2e(load: Load) -> None:
    evalset = load("e2e")
    counts = [len(group) for group in evalset.references]
    assert shape(evalset)[:2] == (21, 630)
    assert (min(counts), max(counts)) == (1, 45)
    assert (judged(evalset, "naturalness"), judged(evalset, "quality")) == (6012, 6012)
    assert 0.49 < np.nanmean(evalset.human("naturalness")) < 0.51  # somebody wins, somebody loses


def test_realsumm(load: Load, karat_data: Path) -> None:
    evalset = load("realsumm")
    assert shape(evalset) == (25, 100, 2500)
    lines = (karat_data / KNOWN["realsumm"].place / "SCUs.txt").read_text("utf-8").split("\n")
    units = np.array([len(line.split("\t")) for line in lines])
    assert units.sum() == 1056
    shares = evalset.human("coverage") * units
    np.testing.assert_allclose(shares, shares.round(), atol=1e-9)
    assert not any("<t>" in text for group in evalset.references for text in group)


def test_rag24(load: Load) -> None:
    evalset = load("rag24")
    assert shape(evalset) == (45, 21, 6 * 927)
    assert sum(outputs.count(None) for outputs in evalset.systems.values()) == 45 * 21 - 927
    strict, lenient = evalset.human("strict-all"), evalset.human("all")
    assert (strict[np.isfinite(strict)] <= lenient[np.isfinite(lenient)]).all()


def test_paraphrases(load: Load) -> None:
    evalset = load("paraphrase-twitter")
    assert shape(evalset) == (1, 7159, 7159)
    assert len(set(evalset.groups or ())) == 761


@pytest.mark.parametrize("name", ["ted-zhen", "summeval", "realsumm", "rag24"])
def test_known_sets_come_back_from_our_own_folders(load: Load, tmp_path: Path, name: str) -> None:
    evalset = load(name)
    kt.save_evalset(evalset, tmp_path / name)
    assert kt.load_evalset(tmp_path / name) == evalset


def test_wmt23(karat_data: Path) -> None:
    """Twelve systems; error ratings add up to the official scores; BLEU is the published one."""
    folder = karat_data / "mt-wmt23-ende"
    if not folder.exists():
        pytest.skip("mt-wmt23-ende is not in KARAT_DATA")
    evalset = kt.load_evalset(folder)
    assert shape(evalset)[:2] == (12, 557)
    assert judged(evalset, "mqm") == 12 * 460
    assert evalset.human("mqm.rating") == pytest.approx(evalset.human("mqm"), nan_ok=True)
    published: dict[str, list[float]] = {}
    lines = (folder / "metric-scores" / "en-de" / "BLEU-refA.seg.score").read_text().splitlines()
    for system, value in map(str.split, lines):
        published.setdefault(system, []).append(float(value))
    references = [list(group) for group in evalset.references]
    for name, outputs in evalset.systems.items():
        scores = kt.BLEU().segments([text or "" for text in outputs], references)
        assert scores.tolist() == pytest.approx(published[name], abs=1e-9)


@pytest.mark.parametrize("format", ["dir", "jsonl"])
def test_a_real_treebank_s_trees_are_read_back_and_scored(
    format: str, karat_data: Path, tmp_path: Path
) -> None:
    """EWT's words have spaces, quotes and anything else; its sentences are put in reverse order."""
    bank = kt.read_conllu(karat_data / "treebank-ewt" / "en_ewt-ud-dev.conllu")
    trees = [bank[i][0] for i in range(400)]
    turned = [" ".join(reversed(tree.words)) for tree in trees]
    loaded_evalset = kt.make_evalset(
        "ewt", {"turned": turned, "same": list(map(str, trees))}, trees=trees
    )
    kt.save_evalset(loaded_evalset, tmp_path / f"ewt.{format}", format)
    evalset = kt.load_evalset(tmp_path / f"ewt.{format}")
    assert evalset == loaded_evalset
    for name in ("simple_tree_accuracy", "generation_tree_accuracy", "quality_accuracy"):
        scored = kt.score(evalset, metrics=[name])
        assert scored["turned", name].score.value == kt.metric(name).corpus(turned, trees).value
        assert scored["same", name].score.value == pytest.approx(1, abs=1e-3)
