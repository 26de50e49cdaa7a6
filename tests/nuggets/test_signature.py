"""Signatures: whatever changes a number changes them."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from types import MappingProxyType

import pytest
from nuggets.nugget_world import world

import karat as kt
from karat import registry
from karat.nuggets.prediction.paper import Paper
from karat.nuggets.prediction.predictions import Calibrated, parse_classifier
from karat.nuggets.scores.official import OfficialSettings
from karat.nuggets.scores.pourpre import Pourpre
from karat.nuggets.scores.words import count_weights, pooled_idf
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.settings import NamedSettings

KEY, RUNS, JUDGED = world(questions=8, runs=6)
SET = NuggetSet(
    "s", KEY, MappingProxyType({run.tag: run for run in RUNS}), JUDGED.without(["run5"])
)
FINAL = f"|karat={kt.__version__}"
END = f"idf=pooled|interval=these{FINAL}"


def signed(rule: NamedSettings | None = None, nuggets: NuggetSet = SET, **more: object) -> str:
    return kt.score_nuggets(nuggets, classifier=rule, **more).signature  # type: ignore[arg-type]


def by_paper(**changed: object) -> Paper:
    return Paper(**changed)  # type: ignore[arg-type]


def test_what_is_in_it() -> None:
    plain = "nugget-f:beta=3,weights=vital,strict=no,judgements=corrected"
    plain += f"|key={KEY.digest}"
    none, plain = f"{plain}|judged=none", f"{plain}|judged={SET.judgements.digest}"
    assert signed() == f"{plain}|guess=calibrated:learned=160,responses=48|{END}"
    assert signed(guess=False) == f"{plain}|guess=none{FINAL}"
    assert signed(nuggets=replace(SET, judgements=kt.NuggetSet("e", KEY).judgements)) == (
        f"{none}|guess=calibrated:learned=nothing,responses=48|{END}"
    )
    assert signed(by_paper(threshold_model="global", stop="en")) == (
        f"{plain}|guess=paper:n=2,weight=idf,stem=none,stop=en@4fade683,tok=intl,normalised=no,"
        f"once=no,on_responses=no,thresholds=global,learned=160,responses=48|{END}"
    )


def test_a_stemmer_of_others_is_named_with_its_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._DECLARED, "stemmers", {})
    kt.register(str.upper, "stemmers", "upper")
    kt.register(lambda word: word[:3], "stemmers", "three")
    assert ",stem=upper@builtins," in signed(by_paper(stem="upper"))
    assert f",stem=three@{__name__}," in signed(parse_classifier("paper:stem=three"))
    assert ",stem=porter,stop=" in signed(by_paper(stem="porter"))
    for written in (f"three@{__name__}", "three"):
        assert parse_classifier(f"paper:stem={written}") == by_paper(stem="three")


def test_no_two_ways_have_the_same() -> None:
    rules = [
        Calibrated(),
        by_paper(),
        by_paper(n=1),
        by_paper(once=True),
        by_paper(responses=True),
        by_paper(threshold_model="nugget"),
        by_paper(threshold_model="best-f"),
        by_paper(threshold=4.0),
        by_paper(threshold=4.0000001),
    ]
    signatures = [signed(rule) for rule in rules]
    settings = (OfficialSettings(5), OfficialSettings(3.0000001), OfficialSettings(strict=True))
    signatures += [signed(official_settings=scoring) for scoring in settings]
    signatures += [signed(corrected=False), signed(guess=False), signed(general=True)]
    signatures += [
        signed(nuggets=SET.select("run5", "run4")),
        signed(by_paper(n=1), SET.select("run5")),
    ]
    assert all(first != second for first, second in combinations(signatures[:-2], 2))
    # Runs whose judgements quote all they said are known either way: the same number.
    assert signatures[-2:] == [signatures[0], signatures[2]]


def test_likelier_thresholds_are_named_with_what_was_asked_for() -> None:
    done = kt.score_nuggets(SET, classifier=by_paper())
    assert done.predictions is not None
    assert done.predictions.paper is not None
    model = done.predictions.paper.thresholds.model
    assert f",thresholds=auto/{model}," in done.signature


def test_counts_need_no_idf() -> None:
    rule = Paper(weight="count")
    assert f"|idf=none|interval=these{FINAL}" in signed(rule)


def test_a_corpus_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    signatures = []
    for text in ("the comet\n", "the orchard\n"):
        corpus.write_text(text)
        signatures.append(signed(Calibrated(idf=str(corpus))))
    assert len(set(signatures)) == 2
    assert all(f"|idf={corpus}@" in signature for signature in signatures)


def test_pourpre_names_its_idf() -> None:
    def rare(words: object) -> object:
        return words

    variants = [
        Pourpre(),
        Pourpre(weigh=pooled_idf(RUNS)),
        Pourpre(weigh=pooled_idf(RUNS[:3])),
        Pourpre(weigh=rare),  # type: ignore[arg-type]
        Pourpre(stop="en"),
        Pourpre(threshold=0.1),
        Pourpre(threshold=0.1000001),
    ]
    assert len({pourpre.signature for pourpre in variants}) == len(variants)
    assert variants[0].signature == (
        "pourpre:beta=3,weigh=count,stem=porter,stop=none,threshold=0,partial_allowance=no,"
        f"weights=vital{FINAL}"
    )
    assert "weigh=rare," in variants[3].signature
    assert replace(variants[3], weigh=count_weights).signature == variants[0].signature
