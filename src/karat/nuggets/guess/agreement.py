"""Agreement of decisions with assessors: of single judgements, and of the scores of runs."""

from __future__ import annotations

from typing import NamedTuple

from karat.arrays import Flags, Floats, np
from karat.nuggets.guess.pool import Pool
from karat.stats.correlation import r_squared, rmse, tau_b


class Agreement(NamedTuple):
    """Precision, recall and F of the positive class, all cells pooled; and over runs."""

    precision: float
    recall: float
    f: float
    tau_b: float
    r_squared: float
    rmse: float


def agreement(
    pool: Pool, carried: Flags, labels: Floats, estimates: Floats | None = None
) -> Agreement:
    """Return the agreement of decisions with labels, and of runs' scores with the official ones.

    The scores of runs are made from the decisions, or from `estimates` of each cell if they are
    given (probabilities, say). Cells without a label (NaN) count nowhere.
    """
    judged = ~np.isnan(labels)
    yes = judged & (labels > 0)
    hits = float((carried & yes).sum())
    made, wanted = float((carried & judged).sum()), float(yes.sum())
    guess = carried.astype(np.float64) if estimates is None else estimates
    scores = pool.run_scores(np.where(judged, guess, 0.0))
    official = pool.run_scores(np.where(judged, yes, 0.0).astype(np.float64))
    precision, recall = hits / made if made else 0.0, hits / wanted if wanted else 0.0
    f = 2 * hits / (made + wanted) if made + wanted else 0.0
    of_runs = tau_b(official, scores), r_squared(official, scores), rmse(official, scores)
    return Agreement(precision, recall, f, *of_runs)
