"""Pseudo-documents, against loops over shuffled segments and concatenated text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from oracles import matching_rules as rules
from oracles.pair_loops import pearson
from oracles.small_sets import small_set

import karat as kt
from karat.errors import InputError
from karat.meta.reliability import reliability
from karat.meta.scores import score_evalset
from karat.meta.views import view


def document_score(metric: kt.Metric, joined: bool, texts: list[str], groups: list) -> float:
    """The score of a document's segments: as a corpus, or as one text with whole references."""
    if joined:
        texts, groups = [" ".join(texts)], [[" ".join(part) for part in zip(*groups, strict=True)]]
    return metric.sign * metric.corpus(texts, groups).value


@pytest.mark.parametrize("documents", ["summed", "joined"])
@pytest.mark.parametrize("name", ["bleu", "ter", "gtm:preset=paper"])
@pytest.mark.parametrize("length", [1, 2, 4])
def test_documents_are_scored_as_their_text_is(name: str, length: int, documents: str) -> None:
    evalset = small_set(1)
    metric, human = kt.metric(name), evalset.human("quality")
    curves = reliability(
        score_evalset(evalset, name),
        "quality",
        lengths=[length],
        statistics=["pearson"],
        documents=documents,
        repeats=3,
        seed=5,
    )
    assert curves.rows[0].documents == 9 // length
    rng = np.random.default_rng([5, length])
    for value in curves.values[0]:
        order = rng.permutation(9).tolist()
        xs, ys = [], []
        for k, texts in enumerate(evalset.systems.values()):
            for start in range(0, 9 // length * length, length):
                part = order[start : start + length]
                good = [j for j in part if texts[j] is not None and not np.isnan(human[k, j])]
                if good:
                    xs.append(float(np.mean([human[k, j] for j in good])))
                    references = [list(evalset.references[j]) for j in good]
                    single = [texts[j] or "" for j in good]
                    ys.append(document_score(metric, documents == "joined", single, references))
        assert value == pytest.approx(pearson(xs, ys), abs=1e-9)


def test_metrics_see_the_same_documents_and_seeds_repeat() -> None:
    scored = score_evalset(small_set(2), ["bleu", "rouge1"])
    alone = score_evalset(small_set(2), ["rouge1"])
    both = reliability(scored, "quality", lengths=[2, 3], repeats=4)
    curves = reliability(alone, "quality", lengths=[2, 3], repeats=4)
    custom = [
        pair for pair in zip(both.rows, both.values, strict=True) if pair[0].metric == "rouge1"
    ]
    assert len(both.rows) == 2 * len(curves.rows) == 8
    for (a, x), b, y in zip(custom, curves.rows, curves.values, strict=True):
        assert a == b
        assert np.array_equal(x, y)
        assert a.value == pytest.approx(np.mean(x))
        assert (a.low, a.high) == (x.min(), x.max())


def test_a_set_and_what_was_scored_are_the_same() -> None:
    evalset = small_set(2)
    options = {"lengths": [1, 3], "repeats": 3}
    curves = reliability(evalset, "quality", metrics=["chrf"], **options)  # type: ignore[arg-type]
    two = reliability(score_evalset(evalset, "chrf"), "quality", **options)  # type: ignore[arg-type]
    assert curves.rows == two.rows
    assert curves.settings == two.settings


@pytest.mark.parametrize("documents", ["summed", "joined"])
def test_references_are_taken_in_all_combinations(documents: str) -> None:
    evalset = small_set(3, references=3)
    options = {"metrics": ["gtm:e=2"], "statistics": ["spearman"], "lengths": [2], "repeats": 3}
    reliability_curves = reliability(
        evalset,
        "quality",
        reference_counts=(1, 2, 3),
        documents=documents,
        **options,  # type: ignore[arg-type]
    )
    assert [row.references for row in reliability_curves.rows] == [1, 2, 3]
    for values, sets in zip(
        reliability_curves.values,
        ([(0,), (1,), (2,)], [(0, 1), (0, 2), (1, 2)], [(0, 1, 2)]),
        strict=True,
    ):
        curves = [
            reliability(
                evalset.select(references=places),
                "quality",
                documents=documents,
                **options,  # type: ignore[arg-type]
            ).values[0]
            for places in sets
        ]
        assert np.array_equal(values, np.concatenate(curves))


def test_combinations_may_take_shuffles_in_turn() -> None:
    evalset = small_set(3, references=3)
    settings: dict[str, Any] = {
        "metrics": ["gtm:e=2"],
        "statistics": ["spearman"],
        "lengths": [2],
        "reference_counts": (2,),
        "repeats": 4,
    }
    crossed = reliability(evalset, "quality", **settings)
    in_turn = reliability(evalset, "quality", shuffles_per_combination=2, **settings)
    assert crossed.shuffles[2].tolist() == [0, 1, 2, 3] * 3
    assert in_turn.shuffles[2].tolist() == [0, 1, 2, 3, 0, 1]
    by_combination = crossed.values[0].reshape(3, 4)
    expected = [*by_combination[0, :2], *by_combination[1, 2:], *by_combination[2, :2]]
    assert in_turn.values[0].tolist() == expected
    assert in_turn.rows[0].value == pytest.approx(np.mean(expected))
    with pytest.raises(kt.InputError, match="there are only 4 shuffles"):
        reliability(evalset, "quality", shuffles_per_combination=5, **settings)
    with pytest.raises(
        kt.InputError, match="shuffles_per_combination=0 is out of range: expected at least 1"
    ):
        reliability(evalset, "quality", shuffles_per_combination=0, **settings)


def test_more_combinations_than_are_wanted_are_drawn() -> None:
    evalset = small_set(3, references=4)
    options = {"lengths": [2], "repeats": 2, "reference_counts": [2], "metrics": ["rouge1"]}
    subset, all_values = (
        reliability(evalset, "quality", combinations=n, **options)
        for n in (3, 6)  # type: ignore[arg-type]
    )
    assert len(subset.values[0]) == 3 * 2
    assert len(all_values.values[0]) == 6 * 2
    assert set(subset.values[0]) <= set(all_values.values[0])
    assert "2 references: 3 of 6 combinations of 4." in subset.notes
    assert "2 references: all 6 combinations of 4." in all_values.notes


def test_joined_documents_match_across_their_segments() -> None:
    """Two sentences whose words changed places: nothing is shared within a segment."""
    rows = [kt.Judgement(s, str(i), "ann", "q", v) for s, v in (("a", 1), ("b", 2)) for i in (1, 2)]
    evalset = kt.make_evalset(
        "swapped",
        {"a": ["c d", "a b"], "b": ["x y", "x y"]},
        references=[["a b"], ["c d"]],
        segments=["1", "2"],
        groups=["d", "d"],
        dimensions=[kt.Dimension("q")],
        judgements=rows,
    )
    scored, human = score_evalset(evalset, "gtm:preset=paper"), evalset.human("q")
    (metric,) = scored.metrics
    assert view("document", scored, human).metrics[metric].tolist() == [[0], [0]]
    # Of "c d a b" and "a b c d" two runs of two: size sqrt(8), P = R = F = sqrt(8) / 4.
    level_view = view("document-joined", scored, human).metrics[metric]
    assert level_view.tolist() == [[pytest.approx(8**0.5 / 4)], [0]]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_joined_documents_have_the_maximum_matching_of_their_text(seed: int) -> None:
    """Against all matchings there are, of documents of few words."""
    evalset = small_set(seed, systems=2, segments=3, references=1, missing=0.4)
    short = replace(
        evalset,
        systems={
            name: tuple(text and " ".join(text.split()[:2]) for text in texts)
            for name, texts in evalset.systems.items()
        },
        references=tuple((" ".join(group[0].split()[:3]),) for group in evalset.references),
        groups=("d", "d", "d"),
    )
    human = np.where([[t is not None for t in ts] for ts in short.systems.values()], 1.0, np.nan)
    level_view = view("document-joined", score_evalset(short, "gtm:preset=paper"), human)
    ((values,),) = (list(level_view.metrics.values()),)
    for k, texts in enumerate(short.systems.values()):
        good = [j for j, text in enumerate(texts) if text is not None]
        custom = [w for j in good for w in (texts[j] or "").split()]
        peer_result = [w for j in good for w in short.references[j][0].split()]
        if not good:
            assert np.isnan(values[k, 0])
            continue
        size = rules.best_sum(custom, [peer_result], 2) ** 0.5
        assert values[k, 0] == pytest.approx(rules.f_measure(size, len(custom), len(peer_result)))


def test_joined_documents_need_as_many_references_for_all() -> None:
    evalset = small_set(4)
    uneven = replace(evalset, references=(evalset.references[0][:1], *evalset.references[1:]))
    with pytest.raises(InputError, match=r"has 2 references and '1' has 1: joined documents need"):
        view("document-joined", score_evalset(uneven, "gtm"), uneven.human("quality"))
    curves = reliability(
        uneven, "quality", metrics=["gtm"], reference_counts=[1], documents="joined", repeats=1
    )
    assert len(curves.rows) == 2 * 2  # two lengths of which there are four documents


def test_numbers_of_references_may_vary() -> None:
    evalset = small_set(1)
    first, *others = evalset.references
    varying = replace(evalset, references=((*first, "one more"), *others))
    curves = reliability(varying, "quality", lengths=[1], repeats=2)
    assert {row.references for row in curves.rows} == {None}
    assert curves.settings["references"] == (None,)


def test_what_is_undefined_is_nan() -> None:
    evalset = small_set(3, value=lambda *_: 1.0)
    curves = reliability(
        score_evalset(evalset, "bleu"), "quality", lengths=[2], statistics=["pearson"], repeats=2
    )
    (row,) = curves.rows
    assert np.isnan(curves.values[0]).all()
    assert np.isnan([row.value, row.low, row.high]).all()
    assert row.undefined == 2


def test_curves_are_tested_by_signed_ranks_over_lengths() -> None:
    evalset = small_set(5, references=2)
    curves = reliability(
        evalset,
        "quality",
        metrics=["bleu", "ter"],
        reference_counts=[1, 2],
        statistics=["pearson", "rmse"],
        lengths=[1, 2, 3, 4],
        repeats=3,
    )
    assert len(curves.tests) == 2 * 6  # every two of four curves, by both statistics
    curve = {
        (by, metric, number): [
            row.value
            for row in curves.rows
            if (row.statistic, row.metric, row.references) == (by, metric, number)
        ]
        for by in ("pearson", "rmse")
        for metric in ("bleu", "ter")
        for number in (1, 2)
    }
    for test in curves.tests:
        a = np.array(curve[test.statistic, test.first, test.first_references])
        b = np.array(curve[test.statistic, test.second, test.second_references])
        better = a > b if test.statistic == "pearson" else a < b
        assert (test.lengths, test.better) == (4, int(better.sum()))
        assert test.delta == pytest.approx(float((a - b).mean()))
        assert test.p == kt.wilcoxon(a, b).p


def test_its_result_says_how_it_was_made() -> None:
    curves = kt.reliability(small_set(1), metrics=["bleu", "ter"], lengths=[1, 2], repeats=2)
    assert curves.settings["dimensions"] == ("quality", "unjudged")
    assert curves.settings["metrics"] == ("bleu", "ter")
    assert curves.settings["references"] == (2,)
    assert curves.signature.count("nrefs=2") == 2
    assert "shuffled 2 times (seed 12345)" in curves.notes[0]
    assert any("bleu, not by bleu:eff=yes" in note for note in curves.notes)
    assert any("ter negated" in note for note in curves.notes)
    titles = [figure.title for figure in curves.document().figures]
    assert titles[:2] == ["Reliability: quality, pearson", "Reliability: quality, spearman"]
    assert curves.to_pandas()["length"].tolist() == [1, 2] * 8
    assert len(curves.records("tests")) == len(curves.tests) == 4


def test_many_curves_have_a_chart_for_each_number_of_references() -> None:
    small_sample = {"lengths": [1, 2], "repeats": 1, "statistics": ["pearson"]}
    names = ["bleu", "ter", "chrf", "rouge1", "gtm"]
    curves = kt.reliability(
        small_set(1),
        "quality",
        metrics=names,
        reference_counts=[1, 2],
        **small_sample,  # type: ignore[arg-type]
    )
    titles = [figure.title for figure in curves.document().figures]
    assert titles == [
        "Reliability: quality, pearson, 1 reference",
        "Reliability: quality, pearson, 2 references",
    ]


BAD = [
    ({"lengths": [0]}, "pseudo-documents of 0 segments: expected 1 to 9"),
    ({"lengths": [10]}, "pseudo-documents of 10 segments: expected 1 to 9"),
    ({"lengths": [2, 2]}, "has 2 twice"),
    ({"repeats": 0}, "repeats=0 is out of range: expected at least 1"),
    ({"combinations": 0}, "combinations=0 is out of range: expected at least 1"),
    ({"seed": -1}, "seed=-1 is out of range: expected at least 0"),
    (
        {"reference_counts": [3]},
        "reference counts 3: expected 1 to 2, the number that segment 1 of small has",
    ),
    ({"reference_counts": [0]}, "reference counts 0: expected 1 to 2"),
    ({"reference_counts": [1, 1]}, r"reference_counts=\(1, 1\) has 1 twice"),
    ({"statistics": ["spa"]}, "spa compares systems, not pseudo-documents: choose another"),
    ({"statistics": ["pearsn"]}, "statistic 'pearsn': expected one of"),
    ({"statistics": []}, "no statistic was given: at least one is needed"),
    ({"metrics": []}, "no metric was given: at least one is needed"),
    ({"documents": "glued"}, "documents='glued' is not one of summed, joined"),
    ({"dimensions": "speed"}, "small has no dimension 'speed'"),
    ({"normalise": "y"}, "normalise='y' is not one of none, z"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_what_cannot_be_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        reliability(small_set(4), **{"dimensions": "quality", **arguments})


@pytest.mark.parametrize("documents", ["summed", "joined"])
def test_progress_counts_shuffles_and_may_stop_the_work(documents: str) -> None:
    reports: list[tuple[int, int, str]] = []
    evalset = small_set(4)
    options = {"lengths": [1, 3], "repeats": 2, "documents": documents}
    reliability(evalset, progress=lambda *x: reports.append(x), **options)  # type: ignore[arg-type]
    numbers = [done for done, total, stage in reports if (total, stage) == (4, "pseudo-documents")]
    assert numbers == ([2, 4] if documents == "summed" else [1, 1, 1, 1, 2, 3, 3, 3, 3, 4])

    def stop(done: int, total: int, stage: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reliability(evalset, progress=stop, **options)  # type: ignore[arg-type]


def test_references_may_have_more_combinations_than_can_be_listed() -> None:
    many = kt.make_evalset(
        "many",
        {"A": ["a b", "b c"], "B": ["c d", "a b"]},
        references=[[f"a {i}" for i in range(60)], [f"b {i}" for i in range(60)]],
        dimensions=["q"],
        judgements=[(s, i, "j", "q", v) for s, i, v in zip("AABB", "1212", range(4), strict=True)],
    )
    curves = kt.reliability(many, reference_counts=[30], lengths=[1], repeats=2, combinations=3)
    assert len(curves.values[0]) == 2 * 3
    assert any(
        note.startswith("30 references: 3 of 118,264,581,564,861,424") for note in curves.notes
    )


def test_curves_without_any_value_say_why() -> None:
    evalset = kt.make_evalset(
        "same",
        {"A": ["a b", "b c"], "B": ["c d", "a b"]},
        references=[["a b"], ["b d"]],
        dimensions=["q"],
        judgements=[(s, i, "j", "q", 3) for s in "AB" for i in "12"],
    )
    curves = kt.reliability(evalset, lengths=[1], repeats=2)
    assert any("q, bleu: undefined at every length" in note for note in curves.notes)
