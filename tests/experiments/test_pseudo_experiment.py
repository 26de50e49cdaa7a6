"""GTM's pseudo-documents: the experiment's parts, on the bundled set."""

from __future__ import annotations

import gtm_pseudo_documents as experiment
import numpy as np
import pytest

import karat as kt
from karat.meta.agreement import weighted_means
from karat.meta.scores import ScoredSet, score_evalset
from karat.stats.correlation import pearson

STUDY = experiment.Study("demo", ("adequacy", "fluency"), (1, 3), 3)


@pytest.fixture(scope="module")
def scored() -> dict[int, list[ScoredSet]]:
    scored_sets: dict[int, list[ScoredSet]] = experiment.all_scored(STUDY)
    return scored_sets


@pytest.fixture(scope="module")
def curves(scored: dict[int, list[ScoredSet]]) -> list[experiment.Curves]:
    study_curves: list[experiment.Curves] = experiment.curves(STUDY, scored, 3)
    return study_curves


def test_combinations_are_all_or_a_fixed_sample() -> None:
    assert experiment.chosen(3, 2) == [(0, 1), (0, 2), (1, 2)]
    assert experiment.chosen(11, 1) == [(k,) for k in range(11)]
    sample = experiment.chosen(11, 3)
    assert sample == experiment.chosen(11, 3) == sorted(set(sample))
    assert len(sample) == experiment.SAMPLED


def test_shared_rows_are_those_of_each_metric(scored: dict[int, list[ScoredSet]]) -> None:
    scored_set = scored[1][0]
    for label in ("P e=1", "R e=2 exact", "F e=2"):
        metric = experiment.METRICS[label]
        alone = score_evalset(scored_set.evalset, metric)
        np.testing.assert_array_equal(scored_set.segments(metric), alone.segments(metric))


def test_segments_that_somebody_did_not_judge_are_left_out() -> None:
    demo = kt.load_evalset("demo")
    rows = list(demo.judgements)
    system, segment = rows[0].system, rows[0].segment
    remaining_rows = [row for row in rows if (row.system, row.segment) != (system, segment)]
    partly = kt.make_evalset(
        "partly",
        demo.systems,
        segments=demo.segments,
        references=demo.references,
        dimensions=demo.dimensions.values(),
        judgements=remaining_rows,
    )
    judged_set = experiment.judged_only(partly, ["fluency"])
    assert judged_set.segments == tuple(s for s in demo.segments if s != segment)


def test_single_segments_agree_with_the_plain_correlation(
    scored: dict[int, list[ScoredSet]], curves: list[experiment.Curves]
) -> None:
    metric, human = experiment.METRICS["F e=2"], scored[3][0].evalset.human("adequacy")
    expected = pearson(human, scored[3][0].segments(metric))
    curve = next(c for c in curves if (c.references, c.dimension) == (3, "adequacy"))
    assert curve.of("F e=2", "pearson")[0].mean == pytest.approx(expected)
    segment_indices = np.arange(human.shape[1])[:, None]
    again = experiment.agreement(scored[3][0], "F e=2", human[None], segment_indices)
    assert again[0, 0] == pytest.approx(expected)


def test_documents_are_scored_as_a_corpus(scored: dict[int, list[ScoredSet]]) -> None:
    scored_set, places = scored[1][0], np.array([[0, 1, 1], [5, 2, 0]])
    human, metric = scored_set.evalset.human("fluency"), experiment.METRICS["BLEU"]
    counts = np.array([np.bincount(row, minlength=human.shape[1]) for row in places], float)
    scores = scored_set.corpus(metric, counts, ~np.isnan(human))
    expected = pearson(weighted_means(human, counts), scores)
    agreement = experiment.agreement(scored_set, "BLEU", human[None], places)
    assert agreement[0, 0] == pytest.approx(expected)


def test_combinations_are_pooled(curves: list[experiment.Curves]) -> None:
    numbers = {c.references: c.combinations for c in curves}
    assert numbers == {1: 3, 3: 1}
    for curve in curves:
        assert len(curve.points[0].values) == curve.combinations * STUDY.repeats


def test_one_reference_is_compared_with_three(curves: list[experiment.Curves]) -> None:
    rows = list(experiment.wilcoxon_rows(curves, STUDY))
    row = next(r for r in rows if r[1:4] == ["adequacy", "pearson", "F e=1, 1 ref. - BLEU, 3 ref."])
    a, b = (
        next(c for c in curves if (c.references, c.dimension) == (k, "adequacy")).of(label, by)
        for k, label, by in ((1, "F e=1", "pearson"), (3, "BLEU", "pearson"))
    )
    better = sum(x.mean > y.mean for x, y in zip(a, b, strict=True))
    assert row[5] == f"{better} of 3"


def test_resampled_differences_are_the_same_every_time(scored: dict[int, list[ScoredSet]]) -> None:
    first, second = (list(experiment.difference_rows(STUDY, scored, [1, 2], 5)) for _ in range(2))
    assert first == second
    assert all(" to " in cell for row in first for cell in row[4:])


def test_being_short_alone_is_the_correlation_with_the_reference_length(
    scored: dict[int, list[ScoredSet]],
) -> None:
    evalset = scored[1][0].evalset
    short = -np.diff(kt.tokenize([group[0] for group in evalset.references]).offsets)
    expected = pearson(evalset.human("adequacy"), np.tile(short, (len(evalset.systems), 1)))
    row = next(iter(experiment.shortness_rows(STUDY, scored)))
    assert row[:3] == ["demo", "adequacy", f"{expected:.3f}"]


def test_the_report_has_all_tables() -> None:
    small = experiment.Study("demo", ("adequacy",), (1,), 2)
    text = "\n".join(experiment.report(small, 2, 3))
    assert text.count("###") == len(experiment.STATISTICS) + 1
    assert "144 of 144 matchings proven" in text
    assert "Wilcoxon p" in text
