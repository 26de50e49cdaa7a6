"""Simultaneous intervals: the resampled values of several measures lie in all of them at once."""

from __future__ import annotations

from karat.arrays import Floats, np


def simultaneous_intervals(draws: Floats, level: float = 0.95) -> list[tuple[float, float]]:
    """Return an interval for each row of `draws`, measures x resamples made on the same draws.

    Every interval is cut at the same rank k: [x_(k), x_(N-1-k)] of the sorted values of its row.
    k is the largest for which at least `level` of the resamples lie within all intervals (Besag,
    Green, Higdon and Mengersen 1995, section 6.3). Measures that move together are hardly
    corrected; of one measure this is the percentile interval.
    """
    ordered, total = np.sort(draws, axis=1), draws.shape[1]
    depths = np.full(total, int(total * (1 - level) / 2 + 1e-9))
    for own, values in zip(ordered, draws, strict=True):
        least = np.searchsorted(own, values, side="right") - 1
        most = total - 1 - np.searchsorted(own, values, side="left")
        depths = np.minimum(depths, np.minimum(least, most))
    cut = int(np.sort(depths)[int(total * (1 - level) + 1e-9)])
    return [(float(own[cut]), float(own[total - 1 - cut])) for own in ordered]
