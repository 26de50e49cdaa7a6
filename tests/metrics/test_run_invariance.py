"""No number depends on the number of threads, on the runs, or on where the text comes from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import karat as kt
import karat.metrics.pairs as run_module
from karat.errors import InputError, Interrupted
from karat.metrics.names import metric as parse
from karat.progress import silent
from karat.scoring import Keep, compute_statistics, make_inputs
from karat.text.references import References
from karat.text.segments import Lines
from karat.text.tokens import Lexicon

NAMES = [
    *("bleu", "bleu:tok=intl,case=lower", "aev:preset=paper,n=2,smooth=exp", "chrf++", "rouge2"),
    *("rougeL:stem=porter-nltk", "rougeLsum", "aev:refs=average,n=2", "aev:refs=best,n=2"),
]
COUNTS = {"bleu", "bleu:tok=intl,case=lower", "chrf++"}
SEGMENTS = 2600
WORDS = (
    *("the", "a", "cat", "dog", "sat", "runs", "running", "on", "in", "mat", "house", "The"),
    *(",", ".", "1.5", "x-y", "é", "中文", "don't"),
)


def texts(seed: int, count: int = SEGMENTS) -> list[str]:
    """Lines of few words, some of them empty."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 14, size=count)
    return [" ".join(rng.choice(WORDS, size=n)) for n in lengths]


@pytest.fixture(scope="module")
def corpus() -> tuple[list[str], list[list[str]]]:
    """Candidates and one to three references each."""
    numbers = np.random.default_rng(9).integers(1, 4, size=SEGMENTS).tolist()
    sets = [texts(seed) for seed in (2, 3, 4)]
    references = [[item[i] for item in sets[:n]] for i, n in enumerate(numbers)]
    return texts(1), references


@pytest.fixture
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many short runs."""
    monkeypatch.setattr(run_module, "SEGMENTS_PER_BATCH", 256)


def test_systems_scored_together_and_alone(corpus: tuple[list[str], list[list[str]]]) -> None:
    references = corpus[1]
    systems = {"A": corpus[0], "B": texts(5), "same as A": corpus[0], "empty": [""] * SEGMENTS}
    metrics = [parse(name) for name in (*NAMES, "gtm:e=2", "gtm:e=1.5,search=exact", "ter")]
    scoring = kt.score(systems, references, metrics, threads=1)
    assert [(row.system, row.metric) for row in scoring.rows] == [
        (s, m) for s in systems for m in metrics
    ]
    for system, metric, score, *_ in scoring.rows:
        assert score == metric.corpus(systems[system], references, threads=1)


@pytest.mark.parametrize("name", NAMES)
def test_threads_change_nothing(
    name: str, corpus: tuple[list[str], list[list[str]]], small_runs: None
) -> None:
    metric = parse(name)
    actual_stats = metric.stats(*corpus, threads=1)
    score = metric.corpus(*corpus, threads=1)
    for threads in (2, 5):
        assert np.array_equal(metric.stats(*corpus, threads=threads), actual_stats)
        assert metric.corpus(*corpus, threads=threads) == score
        assert np.array_equal(
            metric.segments(*corpus, threads=threads), metric.segments(*corpus, threads=1)
        )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("segments", "nbytes"), [(256, 1 << 30), (768, 1 << 30), (1 << 20, 9000)])
def test_runs_change_nothing(
    name: str,
    corpus: tuple[list[str], list[list[str]]],
    segments: int,
    nbytes: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    metric = parse(name)
    corpus_score, score = metric.stats(*corpus), metric.corpus(*corpus)
    monkeypatch.setattr(run_module, "SEGMENTS_PER_BATCH", segments)
    monkeypatch.setattr(run_module, "BYTES_PER_BATCH", nbytes)
    actual_score, cut = metric.stats(*corpus, threads=2), metric.corpus(*corpus, threads=2)
    assert np.array_equal(actual_score, corpus_score)
    if name in COUNTS:
        assert cut == score
    assert cut.value == pytest.approx(score.value, abs=1e-12)
    assert dict(cut.parts) == pytest.approx(dict(score.parts), rel=1e-12)


def test_small_runs_are_really_more_than_one(
    corpus: tuple[list[str], list[list[str]]], small_runs: None
) -> None:
    visited: list[int] = []
    parse("bleu").stats(*corpus, progress=lambda done, total, what: visited.append(done))
    assert visited == [*range(256, SEGMENTS, 256), SEGMENTS]


@pytest.mark.parametrize("name", NAMES)
def test_a_lexicon_that_forgets_changes_nothing(
    name: str,
    corpus: tuple[list[str], list[list[str]]],
    small_runs: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = parse(name).stats(*corpus)
    monkeypatch.setattr(Lexicon, "_ENOUGH", 5)
    assert np.array_equal(parse(name).stats(*corpus), expected)


@pytest.mark.parametrize("name", NAMES)
def test_files_and_lists_score_alike(name: str, tmp_path: Path, small_runs: None) -> None:
    columns = [texts(seed, 700) for seed in (5, 6, 7)]
    paths = [tmp_path / f"{k}.txt" for k in range(3)]
    for path, column in zip(paths, columns, strict=True):
        path.write_text("\n".join(column) + "\n", "utf-8")
    metric = parse(name)
    references = References([Lines(path) for path in paths[1:]])
    actual_stats = metric.stats(Lines(paths[0]), references, threads=2)
    assert np.array_equal(
        actual_stats, metric.stats(columns[0], list(zip(*columns[1:], strict=True)))
    )
    loaded_stats = metric.stats(paths[0], paths[1])
    assert np.array_equal(loaded_stats, metric.stats(columns[0], columns[1]))


class Refused(Exception):
    """What the progress callback raises."""


@pytest.mark.parametrize("threads", [1, 2])
def test_what_progress_raises_stops_the_work(
    threads: int, corpus: tuple[list[str], list[list[str]]], small_runs: None
) -> None:
    calls: list[int] = []

    def refuse(done: int, total: int, subject: str) -> None:
        calls.append(done)
        raise Refused

    with pytest.raises(Refused):
        parse("bleu").corpus(*corpus, threads=threads, progress=refuse)
    assert calls == [256]


def test_an_error_in_a_worker_comes_out(
    corpus: tuple[list[str], list[list[str]]], small_runs: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("karat.metrics.pairs.MAX_LCS_CELLS", 3)
    with pytest.raises(InputError, match="too many"):
        parse("rougeL").corpus(*corpus, threads=2)


def test_a_stop_request_is_seen() -> None:
    from karat.progress import Stop

    stop = Stop()
    stop.check()
    stop.request()
    with pytest.raises(Interrupted):
        stop.check()


@pytest.mark.parametrize("name", [*NAMES, "gtm:e=2", "ter"])
def test_no_sum_depends_on_runs_or_their_order(
    name: str, corpus: tuple[list[str], list[list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    candidates, references = (part[:500] for part in corpus)
    metric = parse(name)
    full_scoring = kt.score({"A": candidates}, references, [metric], intervals=True)["A", name]
    monkeypatch.setattr(run_module, "SEGMENTS_PER_BATCH", 7)
    cut = kt.score({"A": candidates}, references, [metric], intervals=True)["A", name]
    assert (cut.score.value, cut.low, cut.high) == (
        full_scoring.score.value,
        full_scoring.low,
        full_scoring.high,
    )
    turned = metric.corpus(candidates[::-1], references[::-1])
    assert turned.value == full_scoring.score.value


def test_rows_to_be_resampled_are_kept_small(corpus: tuple[list[str], list[list[str]]]) -> None:
    arguments = make_inputs({"A": corpus[0]}, corpus[1], "bleu")
    (selected,) = compute_statistics(arguments, Keep(rows=True), 1, silent).values()
    assert {block.dtype for block in selected.row_blocks} == {np.dtype(np.uint8)}
    assert selected.row_table.tolist() == parse("bleu").stats(*corpus).tolist()
