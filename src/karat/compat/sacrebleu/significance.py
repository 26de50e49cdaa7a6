"""sacreBLEU's paired tests and bootstrap intervals, with its numbers to the last bit.

The draws are those of numpy's default generator in sacreBLEU's order. sacreBLEU gathers the
statistics of every resample in single precision; sums of whole numbers below 2^24 are exact there,
so that counts @ statistics gives the same bits without gathering. Other sums, such as TER's mean
lengths of several references, are gathered. Exchanged statistics are added in double precision.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from karat.compat.sacrebleu.metrics.base import (
    Signature,
    Streams,
    WrongChoice,
    column_sums,
    drop_in_name,
)
from karat.errors import InputError, short

if TYPE_CHECKING:
    from karat.arrays import Floats, Ints, NDArray
    from karat.compat.sacrebleu.metrics.base import SacreMetric

IS_WINDOWS = os.name == "nt"
sacrelogger = logging.getLogger("sacrebleu")

_LARGEST_EXACT = 1 << 24  # whole numbers up to here are exact in single precision
_BATCH_CELLS = 1 << 20
_DEFAULT_SAMPLES = {"ar": 10000, "bs": 1000}


class Seed(NamedTuple):
    """A seed and its form in signatures; None draws from the system's entropy."""

    number: int | None
    text: str


def environment_seed() -> Seed:
    """Return the seed in SACREBLEU_SEED, 12345 without it."""
    text = os.environ.get("SACREBLEU_SEED", "12345").lower()
    if text == "none":
        return Seed(None, text)
    if not re.fullmatch("[0-9]{1,18}", text):
        raise InputError(f"SACREBLEU_SEED={short(text)}: expected a whole number or none")
    return Seed(int(text), text)


@drop_in_name("Result")
class SacreResult:
    """The score of a system, and its p-value, bootstrap mean and interval where they are known."""

    def __init__(
        self,
        score: float,
        p_value: float | None = None,
        mean: float | None = None,
        ci: float | None = None,
    ) -> None:
        self.score, self.p_value, self.mean, self.ci = score, p_value, mean, ci

    def __repr__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in vars(self).items())


Result = SacreResult


def estimate_ci(scores: Any) -> tuple[Any, Any]:
    """Return the mean of scores and half the width of their central 95%."""
    from karat.arrays import np

    ordered = np.sort(scores)
    cut = len(ordered) // 40
    return ordered.mean(), 0.5 * (ordered[len(ordered) - cut - 1] - ordered[cut])


# -------------------------------------------------------------------------------- resampling


def bootstrap_values(metric: SacreMetric[Any], rows: NDArray[Any], n_samples: int) -> list[float]:
    """Return the scores of the bootstrap resamples of segments, with the environment's seed."""
    return _resampled_values(metric, rows, n_samples, environment_seed().number)


def _resampled_values(
    metric: SacreMetric[Any], rows: NDArray[Any], n_samples: int, seed: Any
) -> list[float]:
    """Return the scores of the bootstrap resamples that a seed draws."""
    from karat.arrays import np

    rng = np.random.default_rng(seed)
    return [metric._value([*sums]) for sums in _resampled_sums(rows, n_samples, rng)]


def _resampled_sums(rows: NDArray[Any], n_samples: int, rng: Any) -> Iterator[NDArray[Any]]:
    """Yield the summed statistics of each resample in single precision."""
    from karat import _kernel
    from karat.arithmetic import ExactRows, rounded
    from karat.arrays import np

    table, single = ExactRows([rows]), rows.astype(np.float32)
    are_whole = bool((rows == np.rint(rows)).all())
    for indices in _drawn_indices(len(rows), n_samples, rng):
        sums = rounded(table.limbs(_kernel.tally(indices, len(rows)))) if are_whole else None
        if sums is not None and sums.max() <= _LARGEST_EXACT:
            yield from sums.astype(np.float32)
        else:
            yield from (single[segments].sum(0) for segments in indices)


def _drawn_indices(n: int, n_samples: int, rng: Any) -> Iterator[Ints]:
    """Yield batches of resamples: the segments of each, resamples x segments."""
    size = max(1, _BATCH_CELLS // n)
    for start in range(0, n_samples, size):
        yield rng.integers(0, n, size=(min(size, n_samples - start), n))


def _exchanged_sums(
    baseline: Floats, system: Floats, n_samples: int, rng: Any
) -> tuple[Floats, Floats]:
    """Return the summed statistics of both systems after random exchanges of segments."""
    from karat.arrays import np

    n = len(baseline)
    size = max(32, _BATCH_CELLS // n // 32 * 32)  # numpy draws 32 choices from one number
    first, second = [], []
    for start in range(0, n_samples, size):
        shape = min(size, n_samples - start), n
        chosen = rng.integers(2, size=shape, dtype=bool).astype(np.float64)
        first.append(chosen @ baseline + (1 - chosen) @ system)
        second.append((1 - chosen) @ baseline + chosen @ system)
    return np.concatenate(first), np.concatenate(second)


def _p_value(stats: Floats, difference: float) -> float:
    """Return the share of statistics above the real difference, counted with the real one."""
    return float(((stats > difference).sum().item() + 1) / (len(stats) + 1))


# -------------------------------------------------------------------------------- the tests


class _Baseline(NamedTuple):
    """The statistics of the baseline under a metric, its result and its resampled scores."""

    rows: NDArray[Any]
    result: SacreResult
    resampled: list[float]


class _Comparison(NamedTuple):
    """The inputs of both tests for one system; names of metrics are those of their scores."""

    baselines: Mapping[str, _Baseline]
    name: str
    hypotheses: Sequence[str]
    references: Streams | None
    metrics: Mapping[str, SacreMetric[Any]]
    n_samples: int
    n_ar_confidence: int
    seed: int | None

    def statistics(self, name: str) -> tuple[NDArray[Any], float]:
        """Return the system's statistics and score under a metric."""
        metric = self.metrics[name]
        sacrelogger.info(f"{name}: statistics of {self.name!r}")
        rows = metric._statistics(self.hypotheses, self.references)
        return rows, metric._score(column_sums(rows)).score


def _bootstrap_test(comparison: _Comparison) -> dict[str, SacreResult]:
    """Return the results of paired bootstrap resampling by metric."""
    from karat.arrays import np

    results, n_samples = {}, comparison.n_samples
    seed = np.random.SeedSequence(comparison.seed)
    for name, metric in comparison.metrics.items():
        baseline = comparison.baselines[name]
        rows, score = comparison.statistics(name)
        values = np.array(_resampled_values(metric, rows, n_samples, seed))
        baseline_values = np.array(
            baseline.resampled  # the draws of the same seed
            if comparison.seed
            else _resampled_values(metric, baseline.rows, n_samples, seed)
        )
        differences = np.abs(values - baseline_values)
        p = _p_value(differences - differences.mean(), abs(baseline.result.score - score))
        results[name] = SacreResult(score, p, *estimate_ci(values))
    return results


def _randomization_test(comparison: _Comparison) -> dict[str, SacreResult]:
    """Return the results of paired approximate randomization by metric."""
    from karat.arrays import np

    results = {}
    seed, n_samples = np.random.SeedSequence(comparison.seed), comparison.n_samples
    for name, metric in comparison.metrics.items():
        baseline = comparison.baselines[name]
        rows, score = comparison.statistics(name)
        rng = np.random.default_rng(seed)
        sums = _exchanged_sums(
            baseline.rows.astype(np.float64), rows.astype(np.float64), n_samples, rng
        )
        first, second = (
            np.array([metric._exchanged_value(row) for row in part.tolist()]) for part in sums
        )
        p = _p_value(np.abs(first - second), abs(baseline.result.score - score))
        result = SacreResult(score, p)
        if comparison.n_ar_confidence > 0:
            resamples = _resampled_sums(rows, comparison.n_ar_confidence, rng)
            values = np.array([metric._value([*sums]) for sums in resamples])
            result.mean, result.ci = estimate_ci(values)
        results[name] = result
    return results


class PairedTest:
    """Compare systems with the first of them by paired bootstrap or approximate randomization.

    Args:
        named_systems: pairs of a name and hypotheses; the first is the baseline.
        metrics: metrics by name.
        references: streams of references, or None for those of each metric.
        test_type: `ar` or `bs`.
        n_samples: the number of trials or resamples; 0 for 10000 or 1000.
        n_ar_confidence: resamples for intervals with `ar`; 0 for 1000, -1 for no intervals.
        n_jobs: processes; 0 for half the processors. Results do not depend on it.
    """

    def __init__(
        self,
        named_systems: list[tuple[str, Sequence[str]]],
        metrics: Mapping[str, SacreMetric[Any]],
        references: Streams | None,
        test_type: str = "ar",
        n_samples: int = 0,
        n_ar_confidence: int = -1,
        n_jobs: int = 1,
    ) -> None:
        if test_type not in _DEFAULT_SAMPLES:
            raise WrongChoice(f"test_type={test_type!r}: expected ar or bs")
        if not named_systems:
            raise InputError("named_systems is empty: the first system is the baseline")
        self.test_type, self.references, self.named_systems = test_type, references, named_systems
        self._seed = environment_seed()
        self.n_ar_confidence = n_ar_confidence or _DEFAULT_SAMPLES["bs"]
        self.n_samples = n_samples if n_samples > 0 else _DEFAULT_SAMPLES[test_type]
        self.n_systems = len(named_systems) - 1
        self.n_jobs = n_jobs or max(1, min(multiprocessing.cpu_count() // 2, self.n_systems))
        self.metrics: dict[str, SacreMetric[Any]] = {}
        self._baselines: dict[str, _Baseline] = {}
        self._signatures: dict[str, Signature] = {}
        for metric in metrics.values():
            self._add_metric(metric)

    def _add_metric(self, metric: SacreMetric[Any]) -> None:
        """Score the baseline under a metric."""
        name, hypotheses = self.named_systems[0]
        rows = metric._statistics(hypotheses, self.references)
        score = metric._score(column_sums(rows))
        sacrelogger.info(f"{score.name}: statistics of the baseline {name!r}")
        resamples = self.n_samples if self.test_type == "bs" else self.n_ar_confidence
        result, values = SacreResult(score.score), []
        if resamples > 0:
            values = bootstrap_values(metric, rows, resamples)
            result.mean, result.ci = estimate_ci(values)
        self._baselines[score.name] = _Baseline(rows, result, values)
        self.metrics[score.name] = metric
        signature = metric.get_signature()
        signature.update("seed", self._seed.text)
        signature.update(self.test_type, self.n_samples)
        if self.n_ar_confidence > 0:
            signature.update("bs", self.n_ar_confidence)
        self._signatures[score.name] = signature

    def __call__(self) -> tuple[dict[str, Signature], dict[str, list[Any]]]:
        """Return the signatures by metric, and the names and results of all systems by column."""
        scores: dict[str, list[Any]] = {"System": [name for name, _ in self.named_systems]}
        scores |= {name: [baseline.result] for name, baseline in self._baselines.items()}
        test = _bootstrap_test if self.test_type == "bs" else _randomization_test
        for name, hypotheses in self.named_systems[1:]:
            texts = name, hypotheses, self.references
            trials = self.n_samples, self.n_ar_confidence, self._seed.number or None
            results = test(_Comparison(self._baselines, *texts, self.metrics, *trials))
            for metric_name, result in results.items():
                scores[metric_name].append(result)
        return self._signatures, scores
