"""The paper's classifier as a guesser: thresholds, folds, training on responses, the contest."""

from __future__ import annotations

import itertools
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nuggets.nugget_world import pooled, world
from oracles.nugget_formulas import score as nugget_score

import karat as kt
from karat import _kernel
from karat.errors import InputError
from karat.nuggets.prediction.paper import (
    INFORMATIVENESS,
    THRESHOLD_MODELS,
    Paper,
    ngram_scores,
    trained_scores,
)
from karat.nuggets.prediction.pool import (
    FoldedCells,
    Pool,
    assessor_agreement,
    folds,
    make_pool,
    run_labels,
)
from karat.nuggets.prediction.predictions import Calibrated, parse_classifier, predict_support
from karat.nuggets.prediction.thresholds import (
    GIVEN,
    NOISY,
    ThresholdModel,
    candidate_thresholds,
    compare_models,
    fit_thresholds,
    fixed_threshold,
    likeliest_model,
)
from karat.nuggets.results.tuning import trial, try_models, tune_nuggets
from karat.nuggets.scores.decisions import decide_run
from karat.nuggets.scores.official import OfficialSettings
from karat.nuggets.scores.words import smoothed_idf
from karat.nuggets.sets.judgements import JudgedResponse, Judgements
from karat.nuggets.sets.keys_and_runs import Nugget, Response, make_run, normal
from karat.nuggets.sets.nugget_set import NuggetSet

KEY, RUNS, JUDGED = world(questions=8, runs=6)
SET = NuggetSet("s", KEY, MappingProxyType({run.tag: run for run in RUNS}), JUDGED)
HOW = OfficialSettings()


def small_set() -> NuggetSet:
    key, runs, judged = world(questions=3, runs=4)
    return NuggetSet("small", key, {run.tag: run for run in runs}, judged)


def without(*tags: str) -> NuggetSet:
    return replace(SET, judgements=JUDGED.without(tags))


# ---------------------------------------------------------------------------------- probabilities


def chance(scores: np.ndarray, yes: np.ndarray, score: float, fp: float, fn: float) -> float:
    """P(yes | score) by the formula, threshold by threshold."""
    above = weight = 0.0
    for t in candidate_thresholds(scores):
        cells = np.where(scores > t, np.where(yes, 1 - fn, fn), np.where(yes, fp, 1 - fp))
        weight += cells.prod()
        above += cells.prod() * (1 - fn if score > t else fp)
    return above / weight


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=6, max_size=6),
    st.integers(-1, 6),
)
def test_probabilities_weigh_all_thresholds(cells: list[tuple[int, bool]], score: int) -> None:
    pool, labels, _ = pooled(questions=1, runs=1)
    scores = np.array([float(s) for s, _ in cells])[: len(labels)]
    yes = np.array([y for _, y in cells])[: len(labels)]
    thresholds = fit_thresholds(pool, scores, yes.astype(float), "global")
    expected = chance(scores, yes, score, thresholds.fp, thresholds.fn)
    got = thresholds.chances(pool, np.full(len(labels), float(score)))
    assert got.tolist() == pytest.approx([expected] * len(labels), abs=1e-9)


@pytest.mark.parametrize("model", NOISY)
def test_the_rates_are_the_likeliest(model: str) -> None:
    pool, labels, _ = pooled()
    scores = ngram_scores(pool, Paper())
    thresholds = fit_thresholds(pool, scores, labels, model)
    mean = thresholds.chances(pool, scores).mean()
    assert mean == pytest.approx(
        (labels > 0).mean(), abs=0.05 if model == "nugget-errors" else 1e-6
    )
    carried = thresholds.carried(pool, scores)
    assert assessor_agreement(pool, carried, labels).f > 0.8


def test_own_rates_decide_where_no_threshold_does() -> None:
    """A nugget that all responses carry, whatever their scores."""
    pool, labels, _ = pooled()
    scores = np.random.default_rng(1).random(len(labels))
    thresholds = fit_thresholds(pool, scores, np.ones(len(labels)), "nugget-errors")
    assert thresholds.carried(pool, scores).all()


def test_the_likeliest_model_is_never_the_coin() -> None:
    models = [
        ThresholdModel("coin", -1.0),
        ThresholdModel("global", -3.0),
        ThresholdModel("nugget", -2.0),
    ]
    assert likeliest_model(models) == "nugget"


def test_a_given_threshold_is_kept() -> None:
    pool, labels, _ = pooled()
    scores = ngram_scores(pool, Paper())
    thresholds = fixed_threshold(scores, labels, 4.5)
    assert thresholds.model == GIVEN
    assert set(thresholds.of(pool).tolist()) == {4.5}
    low, high = thresholds.chances(pool, np.where(np.arange(len(scores)) % 2, 5.0, 4.0))[:2]
    below = scores <= 4.5
    assert low == pytest.approx(((labels > 0) & below).sum() / below.sum(), abs=0.02)
    assert high > low


# ------------------------------------------------------------------------------------------ folds


@pytest.mark.parametrize("model", THRESHOLD_MODELS)
@pytest.mark.parametrize("informativeness", INFORMATIVENESS)
@pytest.mark.parametrize("responses", [False, True])
def test_cells_are_decided_without_their_fold(
    model: str, informativeness: str, responses: bool
) -> None:
    pool, labels, _ = pooled(questions=3, runs=4)
    fold = folds(pool, "system")
    classifier = Paper(
        1, threshold_model=model, informativeness=informativeness, responses=responses
    )
    guesses = classifier.guess(pool, labels, fold)
    for k in np.unique(fold):
        is_selected = fold == k
        training_labels = np.where(is_selected, np.nan, labels)
        scores = classifier.scores(FoldedCells(pool, training_labels, fold))
        alone = classifier.fit(pool, scores, training_labels)
        assert (guesses.carried[is_selected] == alone.carried(pool, scores)[is_selected]).all()
        flipped = classifier.guess(pool, np.where(is_selected, 1 - labels, labels), fold)
        assert (flipped.carried[is_selected] == guesses.carried[is_selected]).all()
        assert flipped.probabilities[is_selected] == pytest.approx(
            guesses.probabilities[is_selected]
        )
    scores = classifier.scores(FoldedCells(pool, labels, fold))
    assert guesses.models == tuple(compare_models(pool, scores, labels))


TAUGHT = Paper(1, responses=True, informativeness="descriptions")


@pytest.mark.parametrize(
    "rule", [TAUGHT, replace(TAUGHT, n=2, weight="count", normalised=True, once=True)]
)
def test_training_on_responses_leaves_out_those_of_the_fold(rule: Paper) -> None:
    pool, labels, judged = pooled(questions=3, runs=4)
    fold, idf = folds(pool, "institution"), smoothed_idf(pool.texts, rule.words)
    scores = next(trained_scores(FoldedCells(pool, labels, fold), rule, [-1], idf))
    for k in np.unique(fold):
        is_selected = fold == k
        judgements = judged.without({pool.runs[r] for r in pool.cell_run[is_selected]})
        assert scores[is_selected] == pytest.approx(
            ngram_scores(taught(pool, judgements), rule, idf)[is_selected]
        )
    assert (scores != ngram_scores(pool, rule, idf)).any()


def taught(pool: Pool, judged: Judgements) -> Pool:
    """The pool with what was judged to carry a nugget among its descriptions."""
    more: dict[tuple[str, str], dict[str, str]] = {}
    for row in judged.rows:
        if row.value > 0:
            texts = more.setdefault((row.question, row.nugget), {})
            texts.setdefault(normal(row.response), row.response)

    def described(question: str, nugget: Nugget) -> Nugget:
        texts = more.get((question, nugget.id), {}).values()
        return replace(nugget, descriptions=(*nugget.descriptions, *texts))

    questions = [
        replace(q, nuggets=tuple(described(q.id, n) for n in q.nuggets)) for q in pool.questions
    ]
    return replace(pool, questions=tuple(questions))


word = st.lists(st.sampled_from("abcd"), max_size=5)


@given(
    st.lists(st.tuples(word, st.integers(0, 2), st.sets(st.integers(0, 2))), max_size=5),
    st.lists(st.lists(word, max_size=2), min_size=1, max_size=3),
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
@example([(["a"], 0, {0}), (["a"], 1, set())], [[], [["a"]]], 1, *[False] * 5)
def test_taught_by_responses_of_other_folds(
    responses: list[tuple[list[str], int, set[int]]],
    nuggets: list[list[list[str]]],
    n: int,
    weighed: bool,
    once: bool,
    normalised: bool,
    describe: bool,
    inform: bool,
) -> None:
    idf = {"a": 0.5, "b": 1.0, "c": 2.0, "d": 3.5}

    def ragged(rows: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
        ids = np.array(["abcd".index(w) for row in rows for w in row], dtype=np.int32)
        return ids, np.cumsum([0, *map(len, rows)]).astype(np.int64)

    count = len(nuggets)
    carried = [[g in carried_nuggets for g in range(count)] for _, _, carried_nuggets in responses]
    scores = _kernel.nugget_taught(
        *ragged([words for words, _, _ in responses]),
        np.array([0, len(responses)]),
        *ragged([text for texts in nuggets for text in texts]),
        np.cumsum([0, *map(len, nuggets)]).astype(np.int64),
        np.array([0, count]),
        np.array(carried, dtype=np.uint8).ravel(),
        np.array([fold for _, fold, _ in responses], dtype=np.int64),
        np.arange(-1, 3),
        np.array([*idf.values()] if weighed else []),
        n,
        once,
        normalised,
        describe,
        inform,
        None,
    )
    expected = []
    for out, (words, fold, _) in itertools.product(range(-1, 3), responses):
        other_responses = [
            (text, carried_nuggets)
            for text, other, carried_nuggets in responses
            if other not in (fold, out)
        ]
        carrying_texts = [
            [text for text, carried_nuggets in other_responses if g in carried_nuggets]
            for g in range(count)
        ]
        pairs = list(zip(nuggets, carrying_texts, strict=True))
        taught = [[*texts, *(carriers if describe else ())] for texts, carriers in pairs]
        informed = [carriers or texts for texts, carriers in pairs] if inform else None
        settings = n, idf if weighed else None, once, normalised, informed
        expected += [nugget_score(words, taught, g, *settings) for g in range(count)]
    assert scores.ravel().tolist() == pytest.approx(expected)


def test_the_same_words_teach_once_and_a_run_may_answer_twice() -> None:
    more = [make_run("twice", [("q0", r) for r in (Response("A  b"), Response("a b"))])]
    rows = (JudgedResponse("q0", "n0", "a b", 1.0, "twice"), *JUDGED.rows)
    pool = make_pool(KEY, [*RUNS, *more])
    labels = run_labels(pool, Judgements(rows))
    fold = folds(pool, "system")
    rule = replace(TAUGHT, weight="count")
    scores = next(trained_scores(FoldedCells(pool, labels, fold), rule, [-1]))
    is_selected = pool.cell_run == 0
    judgements = Judgements(rows).without(["run0"])
    expected = ngram_scores(taught(pool, judgements), rule)
    assert scores[is_selected] == pytest.approx(expected[is_selected])


def test_tuning_on_responses_needs_responses_that_are_known() -> None:
    pool, labels, _ = pooled(questions=3, runs=4)
    with pytest.raises(InputError, match="leave out systems or institutions"):
        tune_nuggets(small_set(), "question", classifier=Paper(responses=True))
    cells = FoldedCells(pool, labels, folds(pool, "system"))
    plain, trained = trial(cells, Paper(1)), trial(cells, Paper(1, responses=True))
    assert plain.threshold != trained.threshold


@pytest.mark.parametrize("by", ["system", "question"])
def test_threshold_models_are_cross_validated(by: str) -> None:
    pool, labels, _ = pooled()
    trials = try_models(FoldedCells(pool, labels, folds(pool, by)), by, Paper(1))
    scores = Paper(1).scores(FoldedCells(pool, labels, folds(pool, by)))
    assert [trial.model for trial in trials] == compare_models(pool, scores, labels)
    assert trials[0].agreement is None
    tried = [trial for trial in trials if trial.agreement is not None]
    assert [trial.model.name for trial in tried] == list(NOISY if by == "system" else NOISY[:1])
    assert all(trial.agreement is not None and trial.agreement.f > 0.5 for trial in tried)


def test_all_in_one_call() -> None:
    tuning = tune_nuggets(
        small_set(), "institution", classifier=Paper(once=True, stem="porter")
    ).tuning
    assert len(tuning.trials) == 24
    assert tuning.best.classifier == max(tuning.trials, key=lambda one: one.agreement.f).classifier
    assert {trial.classifier.stem for trial in tuning.trials} == {"none", "porter"}
    assert tuning.left_out == (("run0", "run1"), ("run2", "run3"))


# ------------------------------------------------------------------------------------- guesses


def test_the_paper_s_classifier_guesses_a_new_run() -> None:
    nuggets = without("run0")
    predictions = predict_support(nuggets, classifier=Paper())
    assert (predictions.classifier.name, predictions.learned) == (
        Paper.name,
        len(nuggets.judgements.rows),
    )
    run = SET.runs["run0"]
    decisions = decide_run(run, KEY, nuggets.judgements, predictions.guess("run0"))
    right = [
        bool(decisions[row.question].values[0, int(row.nugget[1:])]) == bool(row.value)
        for row in JUDGED.rows
        if row.run == "run0"
    ]
    assert np.mean(right) > 0.85
    ends = predictions.intervals(run, decisions, HOW)
    assert ends is not None
    assert 0 <= ends.share.low < ends.share.high <= 1


def test_without_judgements_there_is_a_threshold() -> None:
    """More than 2^-n of what the description itself would score."""
    none = replace(SET, judgements=Judgements(()))
    for rule in (Paper(), Paper(1, "count"), Paper(3, normalised=True)):
        predictions = predict_support(none, classifier=rule)
        shares = ngram_scores(predictions.pool, replace(rule, normalised=True))
        assert (predictions.carried == (shares > 0.5**rule.n)).all()
        assert 0 < predictions.carried.mean() < 1
        assert (
            predictions.probabilities[predictions.carried].min()
            > predictions.probabilities[~predictions.carried].max()
        )
    scored = kt.score_nuggets(none, classifier="paper")
    assert "thresholds=auto/built-in,learned=nothing," in scored.signature
    (note,) = [note for note in scored.notes if note.startswith("Guesses")]
    assert "more than 0.25 of what the nugget's description would" in note
    assert "no intervals" in note


def test_thresholds_need_judgements_or_a_number() -> None:
    none = replace(SET, judgements=Judgements(()))
    with pytest.raises(InputError, match="learns thresholds of threshold_model=nugget from judge"):
        predict_support(none, classifier=Paper(threshold_model="nugget"))
    predictions = predict_support(none, classifier=Paper(1, threshold=3.0))
    assert (predictions.carried == (ngram_scores(predictions.pool, Paper(1)) > 3.0)).all()
    run = SET.runs["run5"]
    decisions = decide_run(run, KEY, None, predictions.guess("run5"))
    assert predictions.intervals(run, decisions, HOW) is None  # nothing tells how wrong it is


def test_one_judged_run_tells_thresholds_but_no_intervals() -> None:
    one_judged_run = replace(SET, judgements=JUDGED.without([run.tag for run in RUNS[1:]]))
    predictions = predict_support(one_judged_run, classifier=Paper())
    assert predictions.measured_errors is None
    run = SET.runs["run5"]
    assert (
        predictions.intervals(run, decide_run(run, KEY, None, predictions.guess("run5")), HOW)
        is None
    )


def test_idf_from_elsewhere_changes_both(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("physicist named\nin 1900\nmeanwhile people often\n" * 3)
    for kind in (Paper, Calibrated):
        rules = [kind(idf=name) for name in ("pooled", str(tmp_path / "c.txt"))]
        first, second = (predict_support(without("run0"), classifier=rule) for rule in rules)
        assert (first.probabilities != second.probabilities).any()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Paper(threshold_model="coin"), "threshold_model=coin is not one of auto, global"),
        (lambda: Paper(threshold=float("nan")), "threshold=nan is out of range"),
        (lambda: parse_classifier("best"), "classifier 'best': expected one of calibrated, paper"),
        (lambda: Paper(stem="klingon"), "stem=klingon is not one of none, porter-nltk"),
        (lambda: Paper(stop="nowhere.txt"), "stop list nowhere.txt: No such file"),
    ],
)
def test_what_cannot_be_asked_for(make: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make()  # type: ignore[operator]


def test_on_real_judgements_per_nugget_thresholds_are_likeliest(karat_data: Path) -> None:
    nuggets = kt.load_nuggets(karat_data / "nuggets-rag24" / "nugget_assignment.20241108.jl")
    pool = make_pool(nuggets.key, nuggets.runs.values())
    labels = run_labels(pool, nuggets.judgements)
    log10 = {m.name: m.log10 for m in compare_models(pool, ngram_scores(pool, Paper()), labels)}
    order = sorted(log10, key=lambda name: log10[name])
    assert order == ["coin", "global", "question", "nugget", "nugget-errors"]


def test_a_program_ends_quietly() -> None:
    """What the kernel made is gone by then; else it says so on standard error."""
    program = (
        "import karat as kt\n"
        "from karat.nuggets.prediction.predictions import parse_classifier\n"
        "from karat.nuggets.prediction.predictions import predict_support\n"
        "demo = kt.load_nuggets('demo-nuggets')\n"
        "rule = parse_classifier('paper')\n"
        "found = predict_support(demo, classifier=rule)\n"
        "print(found.classifier)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.stdout, done.stderr) == ("paper\n", "")


def test_models_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(*given: object) -> list[ThresholdModel]:
        calls.append(given)
        return compare_models(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("karat.nuggets.prediction.paper.compare_models", counted)
    pool, labels, _ = pooled(questions=4, runs=4)
    values = np.zeros(len(labels), dtype=np.int64)
    guesses = Paper(1).guess(pool, labels, values)
    assert guesses.thresholds.model == likeliest_model(guesses.models)
    assert len(calls) == 1
    Paper(1).guess(pool, labels, folds(pool, "system"))
    assert len(calls) == 1 + 1 + 4  # all cells, and each fold without itself
