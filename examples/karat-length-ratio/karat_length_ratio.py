"""`length_ratio`: words of the candidate over words of the closest reference."""

from dataclasses import dataclass

import numpy as np

import karat as kt


@dataclass(frozen=True)
class LengthRatio(kt.Metric):
    """Words of the candidate over words of the reference that is closest in length."""

    name = "length_ratio"
    score_range = "from 0; 1 is as long as the reference"
    tok: str = kt.setting("13a", "tokeniser", choices=kt.tokenizers)

    def columns(self):
        return ("candidate", "reference")

    def rows(self, pairs):
        recipe = kt.Recipe(self.tok, "mixed")
        candidate_lengths = pairs.candidates.tokens(recipe).lengths
        reference_lengths = pairs.closest(
            pairs.references.tokens(recipe).lengths, candidate_lengths
        )
        return np.column_stack([candidate_lengths, reference_lengths])

    def measure(self, rows):
        return {"value": rows[:, 0] / np.maximum(rows[:, 1], 1)}
