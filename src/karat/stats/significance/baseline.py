"""Paired tests of a system against a baseline, with sacreBLEU's definitions.

Both give p = (1 + number of trials beyond the real difference) / (1 + number of trials).
"""

from __future__ import annotations

from karat.arithmetic import SLACK
from karat.arrays import Flags, Floats, np


def ahead(first: Floats, second: Floats) -> Flags:
    """Return where `first` is above `second` by more than rounding."""
    return first - second > SLACK * np.maximum(np.abs(first), np.abs(second))


def _p_value(trials: Floats, real: float, scores: Floats) -> float:
    """Trials beyond the real difference; what only rounding tells apart is equal."""
    slack = SLACK * float(np.abs(scores).max(initial=0))
    if real <= slack:  # sacreBLEU's strict comparison would call two equal systems different
        return 1.0
    return float((1 + np.count_nonzero(trials > real + slack)) / (1 + len(trials)))


def paired_bootstrap(system: Floats, baseline: Floats, difference: float) -> float:
    """p of the difference, from scores of both on the same resamples.

    The resampled differences |a - b|, centred on their mean, stand for the null hypothesis
    (Riezler and Maxwell 2005; Koehn 2004).
    """
    trials = np.abs(system - baseline)
    return _p_value(trials - trials.mean(), abs(difference), np.stack([system, baseline]))


def approximate_randomization(first: Floats, second: Floats, difference: float) -> float:
    """p of the difference, from scores of both after random exchanges of their segments."""
    return _p_value(np.abs(first - second), abs(difference), np.stack([first, second]))
