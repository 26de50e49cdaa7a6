"""Bootstrap of agreement: systems, segments or both are drawn anew, the same for all metrics.

Since all metrics see the same draws, differences between them are paired. Pearson's r over cells
and over systems comes from weighted sums, everything else from the drawn matrices themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat import _kernel
from karat.errors import InputError
from karat.meta.levels import level, shared
from karat.progress import Progress, silent
from karat.stats.correlation import Statistic, statistic
from karat.stats.resampling import SEED, interval

Floats = NDArray[np.float64]
Draws = NDArray[np.int64]
OVER = {
    "segments": "the same systems on other segments",
    "systems": "other systems on the same segments",
    "both": "other systems on other segments",
}
_CELLS = 1 << 20  # drawn at a time


def bootstrap(
    human: Floats,
    metrics: Sequence[Floats],
    by: Statistic | str = "pearson",
    at: str = "segment",
    over: str = "both",
    resamples: int = 1000,
    seed: int = SEED,
    progress: Progress = silent,
) -> Floats:
    """Metrics x resamples: agreement with humans on each draw; NaN where it is undefined."""
    if over not in OVER:
        raise InputError(f"bootstrap over {over!r}: expected one of {', '.join(OVER)}")
    if resamples < 1:
        raise InputError(f"resamples={resamples}: expected at least 1")
    pairs = [shared(human, m) for m in metrics]
    found = np.empty((len(metrics), resamples))
    done = 0
    for systems, segments in drawn(human.shape, over, resamples, seed):
        batch = slice(done, done + len(systems))
        for k, (h, m) in enumerate(pairs):
            found[k, batch] = _values(h, m, statistic(by), at, systems, segments)
        done += len(systems)
        progress(done, resamples, "resampling")
    return found


def drawn(
    shape: tuple[int, ...], over: str, resamples: int, seed: int
) -> Iterator[tuple[Draws, Draws]]:
    """Drawn systems and segments, resamples x number, a batch at a time; what is not drawn anew is
    there once and in order. The batches do not change the draws.
    """
    generators = [np.random.default_rng([seed, k]) for k in range(2)]
    fixed = over == "segments", over == "systems"
    size = max(1, _CELLS // max(1, *shape))
    for start in range(0, resamples, size):
        rows = min(size, resamples - start)
        systems, segments = (
            np.tile(np.arange(n), (rows, 1)) if stays else rng.integers(0, n, size=(rows, n))
            for n, stays, rng in zip(shape, fixed, generators, strict=True)
        )
        yield systems, segments


class Interval(NamedTuple):
    """The central part of the resampled values, and how many of them are undefined."""

    low: float
    high: float
    undefined: int


def percentiles(values: Floats, share: float = 0.95) -> Interval:
    """The percentile interval of one metric's resampled values, or of a difference of two."""
    known = values[~np.isnan(values)]
    if not len(known):
        return Interval(float("nan"), float("nan"), len(values))
    return Interval(*interval(known, share), len(values) - len(known))


# ------------------------------------------------------------------------------- one batch


def _values(
    h: Floats, m: Floats, by: Statistic, at: str, systems: Draws, segments: Draws
) -> Floats:
    if by.name in {"pearson", "r2"} and at in {"system", "segment"}:
        weights = _kernel.tally(systems, len(h)), _kernel.tally(segments, h.shape[1])
        r = (_segment_pearson if at == "segment" else _system_pearson)(h, m, *weights)
        return r if by.name == "pearson" else r * r
    measure = level(at)
    return np.array(
        [
            measure(h[np.ix_(s, t)], m[np.ix_(s, t)], by).value
            for s, t in zip(systems, segments, strict=True)
        ]
    )


def _segment_pearson(h: Floats, m: Floats, systems: Floats, segments: Floats) -> Floats:
    """r from weighted sums of 1, h, m, hh, mm, hm over cells, h and m standardised for accuracy."""
    h, m = _centred(h), _centred(m)
    moments = [np.where(np.isnan(h), 0.0, 1.0), h, m, h * h, m * m, h * m]
    by_segment = systems @ np.nan_to_num(np.hstack(moments))
    sums = np.einsum("rcn,rn->cr", by_segment.reshape(len(systems), 6, -1), segments)
    return _r(*sums)


def _system_pearson(h: Floats, m: Floats, systems: Floats, segments: Floats) -> Floats:
    """r of systems' means over drawn segments, each system weighted by how often it was drawn."""
    counts = segments @ (~np.isnan(h)).T.astype(float)
    weights = np.where(counts > 0, systems, 0.0)
    bottom = np.maximum(counts, 1)
    x, y = (segments @ np.nan_to_num(_centred(s)).T / bottom for s in (h, m))
    n = weights.sum(axis=1)
    first = np.maximum(n, 1)
    x = x - ((weights * x).sum(axis=1) / first)[:, None]
    y = y - ((weights * y).sum(axis=1) / first)[:, None]
    sums = ((weights * z).sum(axis=1) for z in (x, y, x * x, y * y, x * y))
    return _r(n, *sums)


def _centred(scores: Floats) -> Floats:
    known = scores[~np.isnan(scores)]
    if not len(known):
        return scores
    moved: Floats = scores - known.mean()
    return moved / (float(known.std()) or 1.0)


def _r(n: Floats, sh: Floats, sm: Floats, shh: Floats, smm: Floats, shm: Floats) -> Floats:
    spread_h, spread_m = n * shh - sh * sh, n * smm - sm * sm
    # A draw that is constant but for rounding has no correlation.
    fit = (n >= 2) & (spread_h > 1e-12 * n * shh) & (spread_m > 1e-12 * n * smm)
    r = np.full(len(n), np.nan)
    np.divide(n * shm - sh * sm, np.sqrt(np.where(fit, spread_h * spread_m, 1)), out=r, where=fit)
    found: Floats = np.clip(r, -1, 1)
    return found
