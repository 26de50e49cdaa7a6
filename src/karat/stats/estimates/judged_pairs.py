"""Shares of comparisons won, from judged pairs: one value for each unit.

The score of system a is its share of comparisons won, ties as half, against each of the other K - 1
systems alike, over the segments. Y_sab is the share of a against b on segment s. All pairs of a
unit u (m_u segments, drawn with the probability pi_u) are one observation, since they share texts.
Judges may have judged only some of them, so a is compared with each opponent on the segments that
were judged for the two:

    mean_ab = sum Y_sab / pi_u / W_ab        W_ab = sum 1 / pi_u
    theta_a = 1 / (K - 1) sum_b mean_ab

Each unit with a judged pair of a has the value

    y_au = 1 / (K - 1) sum_b (mean_ab + c_ab A_a / W_ab sum_(s in u) (Y_sab - mean_ab) / m_u)

Their mean by the weights m_u / pi_u, whose sum is A_a, is theta_a, and their deviations are those
of the ratios mean_ab, added up within units (linearisation). Of n_a units with pairs of a, n_ab
have pairs of a and b; c_ab^2 = (1 - 1 / n_a) / (1 - 1 / n_ab) makes up for the means fitted. If all
pairs of every judged unit were judged, y_au is the share won in the unit itself.

If some were not, s^2(y) / n is the variance of theta_a for new units. That for these N units is
lower by Var(y) / N, which the judged pairs of a unit need not tell: leaving it out is safe.
"""

from __future__ import annotations

from math import fsum, sqrt

from karat.arrays import Floats, Ints, np


def unit_values(judged: Floats, sums: Floats, sizes: Floats, probability: Floats) -> Floats:
    """Return the value of each unit, units x columns, from the pairs of one system.

    Every unit has a judged pair, and every opponent was judged on two units or more.

    Args:
        judged: opponents x units, the number of segments with a judged pair.
        sums: opponents x units x columns, sums of the values of these pairs.
        sizes: the number of segments of each unit.
        probability: the probability with which each unit was drawn.
    """
    if (judged == sizes).all():
        whole: Floats = (sums / sizes[:, None]).mean(axis=0)
        return whole
    weights, n = 1 / probability, len(sizes)
    total = fsum((sizes * weights).tolist())
    made = np.zeros(sums.shape[1:])
    for own, values in zip(judged, sums, strict=True):
        reach, count = fsum((own * weights).tolist()), int((own > 0).sum())
        mean = (values * weights[:, None]).sum(axis=0) / reach
        factor = sqrt((1 - 1 / n) / (1 - 1 / count)) * total / reach
        made += mean + factor * (values - own[:, None] * mean) / sizes[:, None]
    return made / len(judged)


def on_units(values: Floats, own: Ints, weights: Floats) -> Floats:
    """Return values of some units as values of more units, with the same mean and the same error.

    `own` has their places among these; `weights` are those of all.
    """
    mine = weights[own]
    mean = fsum((mine * values).tolist()) / fsum(mine.tolist())
    made = np.full(len(weights), mean)
    made[own] = mean + fsum(weights.tolist()) / fsum(mine.tolist()) * (values - mean)
    return made
