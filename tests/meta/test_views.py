"""What is compared at each level, against scores of concatenated selections of text."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from oracles.pair_loops import pearson
from oracles.small_sets import small_set

import karat as kt
from karat.errors import InputError
from karat.meta.scores import score_evalset
from karat.meta.views import LEVELS, view
from karat.progress import silent
from karat.stats.correlation import STATISTICS
from karat.stats.resampling import bootstrap_indices

METRICS = ("bleu", "ter", "chrf", "rouge1", "aev:alpha=0.3,n=2")


def chosen_score(
    evalset: kt.EvalSet, human: np.ndarray, k: int, metric: kt.Metric, places: Sequence[int]
) -> tuple[float, float]:
    """The mean human score and the corpus score of the judged outputs among some places."""
    texts = list(evalset.systems.values())[k]
    good = [j for j in places if texts[j] is not None and not np.isnan(human[k, j])]
    if not good:
        return float("nan"), float("nan")
    references = [list(evalset.references[j]) for j in good]
    score = metric.corpus([texts[j] or "" for j in good], references).value
    return float(np.mean([human[k, j] for j in good])), metric.sign * score


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("seed", [1, 2])
def test_systems_and_documents_are_scored_together(name: str, seed: int) -> None:
    evalset = small_set(seed)
    scored = score_evalset(evalset, name)
    metric, human = kt.metric(name), evalset.human("quality")
    systems, documents = (view(level, scored, human) for level in ("system", "document"))
    assert systems.human.shape == (5, 1)
    assert documents.human.shape == (5, 3)
    for k in range(5):
        expected = chosen_score(evalset, human, k, metric, range(9))
        assert (systems.human[k, 0], systems.metrics[metric][k, 0]) == pytest.approx(expected)
        for d in range(3):
            expected = chosen_score(evalset, human, k, metric, range(d, 9, 3))
            result = documents.human[k, d], documents.metrics[metric][k, d]
            assert result == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("name", METRICS)
def test_segments_are_scored_one_by_one(name: str) -> None:
    evalset = small_set(3)
    level_view = view("segment", score_evalset(evalset, name), evalset.human("quality"))
    metric = kt.metric(name).of_segments()
    for k, texts in enumerate(evalset.systems.values()):
        for j, text in enumerate(texts):
            value = level_view.metrics[metric][k, j]
            if text is None:
                assert np.isnan(value)
            else:
                expected = metric.corpus([text], [list(evalset.references[j])]).value
                assert value == pytest.approx(metric.sign * expected)


@pytest.mark.parametrize("over", ["both", "segments", "systems"])
def test_resampled_systems_are_scored_from_the_drawn_text(over: str) -> None:
    evalset = small_set(4)
    human, metric = evalset.human("quality"), kt.metric("bleu")
    level_view = view("system", score_evalset(evalset, "bleu"), human)
    resamples = level_view.resample(STATISTICS["pearson"], over, 12, 7, silent)[0]
    ((systems, segments),) = bootstrap_indices(human.shape, over, 12, 7)
    for value, s, t in zip(resamples, systems.tolist(), segments.tolist(), strict=True):
        points = [chosen_score(evalset, human, k, metric, t) for k in s]
        has_score = [p for p in points if not np.isnan(p[0])]
        expected = pearson([h for h, _ in has_score], [m for _, m in has_score])
        assert value == pytest.approx(expected, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("level", list(LEVELS))
def test_a_missing_output_is_left_out_on_both_sides(level: str) -> None:
    evalset = small_set(5, missing=0, unjudged=0)
    outputs = {name: list(texts) for name, texts in evalset.systems.items()}
    outputs["s1"][2] = None
    # Readers refuse such a judgement; a set that was made by hand may have it.
    gone = replace(evalset, systems={name: tuple(texts) for name, texts in outputs.items()})
    never = replace(gone, judgements=evalset.judgements.select_rows(unless(evalset, "s1", 2)))
    result, expected = (
        view(level, score_evalset(data, "bleu"), data.human("quality")) for data in (gone, never)
    )
    assert np.array_equal(result.human, expected.human, equal_nan=True)
    for metric, scores in result.metrics.items():
        assert np.array_equal(scores, expected.metrics[metric], equal_nan=True)


def unless(evalset: kt.EvalSet, system: str, place: int) -> np.ndarray:
    rows = evalset.judgements
    return ~((rows.system == list(evalset.systems).index(system)) & (rows.segment == place))


def test_scores_do_not_depend_on_threads() -> None:
    evalset = small_set(6)
    first, four = (score_evalset(evalset, METRICS, threads=threads) for threads in (1, 4))
    for metric in first.metrics:
        assert np.array_equal(first.rows[metric], four.rows[metric])


def test_levels_that_are_not_there_are_refused() -> None:
    evalset = replace(small_set(7), groups=None)
    scored = score_evalset(evalset, "bleu")
    with pytest.raises(InputError, match="small has no documents: its segments have no groups"):
        view("document", scored, evalset.human("quality"))
    with pytest.raises(InputError, match="level 'word': expected one of system, system-mean"):
        view("word", scored, evalset.human("quality"))


def test_soft_pairwise_accuracy_is_of_the_segments_behind_systems() -> None:
    from karat.evalset.loading import load_evalset
    from karat.meta.scores import score_evalset
    from karat.meta.views import view
    from karat.stats.correlation import statistic
    from karat.stats.soft_pairwise import soft_pairwise_accuracy

    scored = score_evalset(load_evalset("demo"), ["bleu", "chrf"])
    human = scored.evalset.human("adequacy")
    means, corpora = (view(name, scored, human) for name in ("system-mean", "system"))
    for metric in scored.metrics:
        expected = soft_pairwise_accuracy(human, scored.segments(metric))
        assert means.agreement(metric.of_segments(), statistic("spa")).value == expected
        rows = soft_pairwise_accuracy(
            human, scored.rows[metric], score=lambda sums, m=metric: m.measure(sums)["value"]
        )
        level_agreement = corpora.agreement(metric, statistic("spa")).value
        assert level_agreement == rows != expected
        resamples = corpora.resample(statistic("spa"), "both", 2, 1, silent)
        assert ((resamples > 0) & (resamples <= 1)).all()
    with pytest.raises(kt.InputError, match="choose the level system"):
        view("segment", scored, human).agreement(scored.metrics[0], statistic("spa"))


@pytest.mark.parametrize("name", METRICS)
def test_systems_can_be_scored_on_all_outputs(name: str) -> None:
    evalset = small_set(5, unjudged=0.6)
    human = evalset.human("quality")
    scored = replace(score_evalset(evalset, name), system_scores="all")
    assert (scored.present & np.isnan(human)).any(axis=1).sum() == 4  # have outputs nobody judged
    metric = kt.metric(name)
    corpus, means = (view(level, scored, human) for level in ("system", "system-mean"))
    for k, texts in enumerate(evalset.systems.values()):
        is_present = [j for j, text in enumerate(texts) if text is not None]
        references = [list(evalset.references[j]) for j in is_present]
        outputs = [texts[j] or "" for j in is_present]
        expected = metric.corpus(outputs, references).value
        assert corpus.metrics[metric][k, 0] == pytest.approx(metric.sign * expected)
        single = metric.of_segments()
        scores = [single.corpus([o], [r]).value for o, r in zip(outputs, references, strict=True)]
        assert means.metrics[single][k, 0] == pytest.approx(single.sign * float(np.mean(scores)))
        for reports in (corpus, means):
            assert reports.human[k, 0] == pytest.approx(np.nanmean(human[k]))


@pytest.mark.parametrize("over", ["both", "segments", "systems"])
def test_resampled_systems_keep_the_outputs_that_nobody_judged(over: str) -> None:
    evalset = small_set(6)
    human, metric = evalset.human("quality"), kt.metric("bleu").of_segments()
    scored = replace(score_evalset(evalset, "bleu"), system_scores="all")
    level_view = view("system-mean", scored, human)
    resamples = level_view.resample(STATISTICS["pearson"], over, 12, 7, silent)[0]
    scores = scored.segments(kt.metric("bleu"))
    assert list(level_view.metrics) == [metric]
    ((systems, segments),) = bootstrap_indices(human.shape, over, 12, 7)
    for value, s, t in zip(resamples, systems, segments, strict=True):
        with np.errstate(invalid="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            points = [np.nanmean(x[s][:, t], axis=1) for x in (human, scores)]
        both = ~np.isnan(points).any(axis=0)
        expected = pearson(*(p[both].tolist() for p in points))
        assert value == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_where_everything_is_judged_all_outputs_are_the_judged_ones() -> None:
    evalset = small_set(7, missing=0.0, unjudged=0.0)
    human = evalset.human("quality")
    judged = score_evalset(evalset, ("bleu", "chrf"))
    for level in ("system", "system-mean"):
        first, other = (
            view(level, replace(judged, system_scores=variant), human)
            for variant in ("judged", "all")
        )
        for metric in first.metrics:
            by = STATISTICS["pearson"]
            level_agreement = other.agreement(metric, by).value
            assert level_agreement == pytest.approx(first.agreement(metric, by).value)
        draws = (
            reports.resample(STATISTICS["tau-b"], "both", 20, 1, silent)
            for reports in (first, other)
        )
        np.testing.assert_allclose(*draws)
