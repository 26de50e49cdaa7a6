"""`pivot_f1` as a metric, the target F1 and explanations."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.small_tables import PAPER, table

import karat as kt
from karat.errors import InputError, MetricError
from karat.lm.model import LanguageModel
from karat.metrics.names import metric as parse
from karat.paraphrase.pem.features import (
    PivotSettings,
    pivot_statistics,
    pooled_f1,
    target_statistics,
)
from karat.paraphrase.pem.metrics import PivotF1
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.pem.scoring import explain_pair
from karat.paraphrase.table.phrase_table import table_digest
from karat.text.tokens import Recipe

R, P = "Morning , sir .", "Hello , Querrien ."
COUNTS = {"a b": {"x y": 2, "y": 1}, "c": {"y z": 1, "x": 1}, "a": {"x": 4, "z z z": 2}}


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("tables") / "paper.npz"
    table(PAPER).save(path)
    return str(path)


@pytest.fixture(scope="session")
def other(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("tables") / "other.npz"
    table(COUNTS).save(path)
    return str(path)


def test_its_name_and_signature(place: str) -> None:
    metric = PivotF1(place, edge=0, renormalise=True)
    assert str(metric) == f"pivot_f1:table={place},edge=0,renormalise=yes"
    assert parse(str(metric)) == metric
    assert f"table={place}@{table_digest(place)},order=4," in metric.signature()
    assert parse(metric.signature()) == metric


def test_a_signature_of_another_table_is_refused(place: str, other: str) -> None:
    signature = PivotF1(place).signature().replace(place, other)
    with pytest.raises(MetricError, match="is not the one of the signature"):
        parse(signature)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pivot_f1", "needs a phrase table"),
        ("pivot_f1:table=none.npz", "none.npz: No such file"),
        ("pivot_f1:table=x,edge=2", "edge=2 is out of range"),
        ("pivot_f1:table=x,order=10", "order=10 is out of range"),
    ],
)
def test_what_cannot_be_scored(name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        kt.metric(name).corpus([P], [R])


def model(folder: Path, *pivots: str) -> str:
    """A paraphrase model with the worked example's table for each pivot language."""
    words = LanguageModel.train([R, P], order=2, tok="none")
    path = folder / "model.npz"
    PEM.of({name: table(PAPER) for name in pivots}, words).save(path)
    return str(path)


def test_a_model_with_one_pivot_language_has_a_table(place: str, tmp_path: Path) -> None:
    score = PivotF1(model(tmp_path, "fr"), edge=0).corpus([P], [R])
    assert score.parts == PivotF1(place, edge=0).corpus([P], [R]).parts


def test_a_model_with_two_pivot_languages_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MetricError, match=r"has 2 pivot languages \(fr, de\)"):
        PivotF1(model(tmp_path, "fr", "de")).corpus([P], [R])


def test_paths_with_commas_are_quoted() -> None:
    assert str(PivotF1("a,b.npz")) == 'pivot_f1:table="a,b.npz"'


def test_the_worked_example(place: str) -> None:
    score = PivotF1(place, edge=0).corpus([P], [R])
    assert score.value == 0.38
    assert score.parts == pytest.approx(
        {
            "precision": 0.38,
            "recall": 0.38,
            "order1": 0.725,
            "order2": 0.3,
            "order3": 0,
            "order4": 0,
        }
    )


words = st.lists(st.sampled_from("abcd"), max_size=7).map(" ".join)
several = st.lists(st.tuples(words, words), min_size=1, max_size=5)


@settings(max_examples=40)
@given(pairs=several)
def test_rows_add_up_and_the_scale_holds(other: str, pairs: list[tuple[str, str]]) -> None:
    originals, paraphrases = map(list, zip(*pairs, strict=True))
    metric = PivotF1(other)
    rows = metric.stats(paraphrases, originals, threads=1)
    stats = pivot_statistics(table(COUNTS), originals, paraphrases, threads=1)
    np.testing.assert_array_equal(rows, stats.reshape(len(pairs), -1))
    corpus = metric.corpus(paraphrases, originals, threads=1).value
    assert corpus == pytest.approx(float(pooled_f1(stats.sum(axis=0))))
    segments = metric.segments(paraphrases, originals, threads=1)
    np.testing.assert_allclose(segments, pooled_f1(stats))
    assert (segments >= 0).all()
    assert (segments <= 1 + 1e-12).all()
    identical = metric.segments(originals, originals, threads=1)
    assert [v == pytest.approx(1.0) for v in identical] == [bool(o) for o in originals]


def test_of_several_references_the_best_counts(other: str) -> None:
    metric = PivotF1(other)
    first, two = (metric.segments(["a b c"], [r])[0] for r in ("c a b", "d"))
    assert first > two
    assert metric.segments(["a b c"], [["d", "c a b"]])[0] == first


def test_it_compares_systems(other: str) -> None:
    systems = {"A": ["a b c", "c c"], "B": ["d d", "c"]}
    comparison = kt.compare(systems, ["a b", "c"], [f"pivot_f1:table={other}"], baseline="A")
    assert comparison["A", f"pivot_f1:table={other}"].score.value > 0.3


# ------------------------------------------------------------------------------ dissimilarity


@settings(max_examples=40)
@given(original=words, paraphrase=words, order=st.integers(1, 4))
def test_the_target_f1_counts_ngrams(original: str, paraphrase: str, order: int) -> None:
    stats = target_statistics([original], [paraphrase], Recipe("none"), order)[0]
    for n in range(1, order + 1):
        bags = [
            Counter(tuple(s[i : i + n]) for i in range(len(s) - n + 1))
            for s in (paraphrase.split(), original.split())
        ]
        common = (bags[0] & bags[1]).total()
        assert stats[n - 1].tolist() == [common, bags[0].total(), bags[1].total()]


def test_the_target_f1_stems_english() -> None:
    assert pooled_f1(target_statistics(["The Dogs barked"], ["the dog barks"])).tolist() == [1]


# --------------------------------------------------------------------------------- explanations


def test_an_explanation_has_every_step() -> None:
    explanation = explain_pair(table(PAPER), R, P, PivotSettings(edge=0))
    assert [(p.words, p.times, p.in_table) for p in explanation.paraphrase] == [
        (("Hello", ","), 10, True),
        (("Querrien",), 0.5, False),
        ((".",), 50, True),
    ]
    assert explanation.paraphrase[0].probability == 10 / 70
    assert explanation.paraphrase[0].edges == ((("Bonjour", ","), 0.9), (("Salut", ","), 0.1))
    assert explanation.paraphrase[1].edges == ((("Querrien",), 1.0),)
    assert [(g.words, g.common) for g in explanation.grams if g.common] == [
        ((",",), 1.0),
        ((".",), 1.0),
        (("Bonjour",), 0.9),
        (("Bonjour", ","), 0.9),
    ]
    assert (explanation.pivot_f1, explanation.precision, explanation.recall) == (0.38, 0.38, 0.38)
    assert explanation.by_order == pytest.approx((0.725, 0.3, 0, 0))
    assert explanation.target_f1 == pytest.approx(2 * 2 / 20)


@settings(max_examples=40)
@given(original=words, paraphrase=words, edge=st.sampled_from([0.1, 0.4]), again=st.booleans())
def test_an_explanation_adds_up(original: str, paraphrase: str, edge: float, again: bool) -> None:
    rule = PivotSettings(edge=edge, renormalise=again)
    explanation = explain_pair(table(COUNTS), original, paraphrase, rule)
    sums = np.zeros((4, 3))
    for gram in explanation.grams:
        sums[len(gram.words) - 1] += gram.common, gram.paraphrase, gram.original
    np.testing.assert_allclose(sums, explanation.pivot)
    for sentence, phrases in (
        (original, explanation.original),
        (paraphrase, explanation.paraphrase),
    ):
        assert [w for p in phrases for w in p.words] == sentence.split()
        for p in phrases:
            number = table(COUNTS).find(p.words)
            assert p.in_table == (number is not None)
            translations = table(COUNTS).translations(number) if number is not None else p.edges
            assert len(p.edges) + p.left_out == len(translations)
            assert not again or sum(q for _, q in p.edges) == pytest.approx(1)
