"""`karat reproduce` on real data, cut so that each paper takes seconds."""

from __future__ import annotations

import gzip
from itertools import islice
from pathlib import Path

import pytest

import karat as kt
from karat.meta.plane_study import PAPER


def linked(folder: Path, data: Path, *places: str) -> Path:
    """A data folder that has some of the sets alone."""
    for place in places:
        if not (data / place).exists():
            pytest.skip(f"KARAT_DATA has no {place}")
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).symlink_to(data / place)
    return folder


def cut(folder: Path, data: Path, place: str, blocks: int, between: str = "\n\n") -> None:
    """Copy the first blocks of a file."""
    if not (data / place).exists():
        pytest.skip(f"KARAT_DATA has no {place}")
    split = (data / place).read_text("utf-8").split(between)[:blocks]
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    (folder / place).write_text(between.join(split) + between, "utf-8")


def test_aev_on_summaries_is_the_plane_of_the_documents(karat_data: Path, tmp_path: Path) -> None:
    reproduction = kt.reproduce("aev", linked(tmp_path, karat_data, "nuggets-realsumm"))
    karat_result = {row.item: round(row.value, 1) for row in reproduction.rows}
    assert karat_result == {
        "AEv(0,1)": 77.8,
        "AEv(1,1)": 4.7,
        "AEv(0,4)": 73.6,
        "AEv(1,4)": 0.0,
        "best cell": 79.9,
        "BLEU": 0.0,
    }
    assert [row.detail for row in reproduction.rows if row.item == "AEv(1,1)"] == ["r is negative"]
    assert [row.paper for row in reproduction.rows[:4]] == [
        row[place] for row in (PAPER[2].rows[1], PAPER[2].rows[4]) for place in (0, -1)
    ]
    assert [conclusion.verdict for conclusion in reproduction.conclusions] == ["holds", "undecided"]
    assert "Tables 1, 2, 4, 5, 6: no counterpart in these data." in reproduction.notes
    assert reproduction.invented == ""


def test_gtm_on_translations(karat_data: Path, tmp_path: Path) -> None:
    place = "mt-ted-zhen/mqm_ted_zhen.tsv"
    reproduction = kt.reproduce("gtm", linked(tmp_path, karat_data, place))
    single = {
        (row.item, row.measure): round(row.value, 3) for row in reproduction.rows if row.at == 1
    }
    assert single["F, 1 reference", "Spearman"] == 0.247
    assert single["BLEU, 1 reference", "Spearman"] == 0.085
    assert single["F, 1 reference", "Pearson"] > single["BLEU, 1 reference", "Pearson"]
    # Single shuffles disagree on the order of F, recall and precision, and on fluency.
    assert [conclusion.verdict for conclusion in reproduction.conclusions] == [
        "holds",
        "undecided",
        "undecided",
    ]
    assert reproduction.conclusions[1].evidence.endswith("true of 4 of 10 shuffles")
    assert reproduction.data == ("ted-zhen",)


def test_fergus_on_part_of_a_treebank(karat_data: Path, tmp_path: Path) -> None:
    for part, sentences in (("train", 1500), ("dev", 100)):
        cut(tmp_path, karat_data, f"treebank-ewt/en_ewt-ud-{part}.conllu", sentences)
    reproduction = kt.reproduce("fergus", tmp_path)
    assert reproduction.conclusions[0].verdict == "holds"
    assert (reproduction.settings["trained"], reproduction.settings["tested"]) == (1500, 100)
    assert reproduction.summary.endswith("on treebank-ewt.")


def test_pem_on_translations(karat_data: Path, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    linked(tmp_path, karat_data, "mt-ted-zhen/mqm_ted_zhen.tsv")
    place = "parallel-tatoeba-enzh/en-zh.tsv.gz"
    (tmp_path / place).parent.mkdir()
    with (
        gzip.open(karat_data / place, "rt", encoding="utf-8") as unsplit,
        gzip.open(tmp_path / place, "wt", encoding="utf-8") as part,
    ):
        part.writelines(islice(unsplit, 2000))
    reproduction = kt.reproduce("pem", tmp_path)
    table = {
        (row.item, row.measure): row.value for row in reproduction.rows if row.source == "Table 2"
    }
    assert round(table["adequacy and overall", "r, sentences"], 3) == 0.736
    assert round(table["dissimilarity and overall", "r, systems"], 3) == -0.525
    assert reproduction.conclusions[2].verdict == "fails"
    better = reproduction.conclusions[3]
    assert better.claim == "PEM agrees with judges better than BLEU does."
    assert better.verdict != "holds"  # it rests on the control pairs
    assert "BLEU 0.198" in better.evidence.partition("; without: ")[0]
    assert "BLEU 0.186" in better.evidence.partition("; without: ")[2]
    judges = {
        row.item for row in reproduction.rows if row.source == "Table 3" and "judge" in row.item
    }
    assert judges == {f"PEM and judge rater{k}" for k in (1, 2, 3, 4, 5, 7)}
    (between,) = [row for row in reproduction.rows if row.source == "Table 1"]
    assert between.measure == "r, systems"  # the set of the sentences is not there
    assert round(between.value, 3) == 0.370


def test_nuggeteer_on_some_topics(karat_data: Path, tmp_path: Path) -> None:
    cut(tmp_path, karat_data, "nuggets-rag24/nugget_assignment.20241108.jl", 45, "\n")
    reproduction = kt.reproduce("nuggeteer", tmp_path)
    assert reproduction.data == ("rag24",)
    order = [row.value for row in reproduction.rows if row.source == "Table 4"]
    assert order[0] < order[1] < order[3]
    assert {row.source for row in reproduction.rows} == {
        *("Table 2", "Table 3", "Table 4", "section 4.4", "Table 5", "Figure 5")
    }
