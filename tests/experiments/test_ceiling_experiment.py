"""The experiment with judges that are wrong at the ceiling: its judge and its columns."""

from __future__ import annotations

import estimates_ceiling
import numpy as np

from karat.estimation import system_estimates


def test_the_judge_rates_some_of_the_best_outputs_low() -> None:
    sample = estimates_ceiling.simulated(0.9, 0.06, 100)
    low = (sample.y == 5) & (sample.all_values[:, :, 0] <= 2)
    assert low.sum(axis=1).tolist() == [6, 0, 0, 0, 0, 0, 0, 0]


def test_a_row_compares_average_predictions_with_the_form_in_use() -> None:
    sample = estimates_ceiling.simulated(0.9, 0.06, 100)
    is_labelled = np.arange(100) % 5 == 0
    sample = estimates_ceiling.forgotten(sample, np.flatnonzero(is_labelled))
    people, average, used, difference = estimates_ceiling.intervals(sample, 0)
    assert used.mean == average.mean != people.mean
    assert used.low <= average.low
    assert used.high >= average.high
    assert difference.low < difference.mean < difference.high
    assert system_estimates._extremes is estimates_ceiling.extreme_predictions


def test_rows_are_markdown_with_standard_errors() -> None:
    make, labels = estimates_ceiling.ROWS["97-3-20"]
    cells = estimates_ceiling.line("97-3-20", *make(), labels, 4).strip("| ").split(" | ")
    assert cells[0] == "97-3-20"
    assert len(cells) == 7
    assert all(" ± " in cell for cell in cells[1:5])
