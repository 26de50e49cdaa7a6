"""The steps of TER: edits of two lists of words, and the alignment that a script of edits has."""

from __future__ import annotations

import math
from collections.abc import Sequence

from karat.errors import InputError, quoted

KEEP, SUBSTITUTE, INSERT, DELETE = " ", "s", "i", "d"
_BEAM_WIDTH = 25


def translation_edit_rate(words_hyp: list[str], words_ref: list[str]) -> tuple[int, int]:
    """Return the edits with shifts between a candidate and a reference, and the reference's length.

    Counted by the kernel.
    """
    from karat import _kernel
    from karat.arrays import np

    if not words_ref:
        return len(words_hyp), 0
    numbers: dict[str, int] = {}
    ids = [
        np.array([numbers.setdefault(word, len(numbers)) for word in words], dtype=np.int32)
        for words in (words_hyp, words_ref)
    ]
    ends = [np.array([0, len(part)], dtype=np.int64) for part in ids]
    pairs = np.array([0, 1], dtype=np.int64)
    edits = _kernel.ter_edits(ids[0], ends[0], ids[1], ends[1], pairs, None)
    return int(edits[0, 0]), len(words_ref)


def trace_to_alignment(trace: str) -> tuple[dict[int, int], list[int], list[int]]:
    """Return the alignment of a script of edits: reference position -> candidate position.

    The two lists mark errors, 1 or 0, in the reference and in the candidate.
    """
    alignment: dict[int, int] = {}
    reference_errors: list[int] = []
    candidate_errors: list[int] = []
    for edit in trace:
        if edit not in (KEEP, SUBSTITUTE, INSERT, DELETE):
            expected = "expected a space, s, i or d"
            raise InputError(f"trace has the operation {quoted(edit)}: {expected}")
        is_error = int(edit != KEEP)
        if edit != DELETE:
            candidate_errors.append(is_error)
        if edit != INSERT:
            alignment[len(reference_errors)] = len(candidate_errors) - 1
            reference_errors.append(is_error)
    return alignment, reference_errors, candidate_errors


class BeamEditDistance:
    """The edit distance to one reference, searched near the diagonal as TER does.

    Called with the words of a candidate, it returns the distance and the script of edits.
    """

    def __init__(self, words_ref: list[str]) -> None:
        self._reference = words_ref

    def __call__(self, words_hyp: list[str]) -> tuple[int, str]:
        length, n_reference = len(words_hyp), len(self._reference)
        slope = n_reference / length if length else 1
        width = max(_BEAM_WIDTH, math.ceil(slope / 2 + _BEAM_WIDTH) * (slope / 2 > _BEAM_WIDTH))
        far = 10**16
        row = list(range(n_reference + 1))
        scripts = [[INSERT] * (n_reference + 1)]
        for i in range(1, length + 1):
            above, row = row, [far] * (n_reference + 1)
            script = ["x"] * (n_reference + 1)
            diagonal = math.floor(i * slope)
            stop = n_reference if i == length else min(n_reference, diagonal + width - 1)
            for j in range(max(0, diagonal - width), stop + 1):
                row[j], script[j] = self._cheapest(words_hyp[i - 1], j, above, row)
            scripts.append(script)
        return row[-1], _backtrace(scripts)

    def _cheapest(
        self, word: str, j: int, above: Sequence[int], row: Sequence[int]
    ) -> tuple[int, str]:
        """Return the cost of a cell and its last edit; of equal costs, the first."""
        deletion = above[j] + 1, DELETE
        if j == 0:
            return deletion
        is_equal = word == self._reference[j - 1]
        diagonal = (above[j - 1], KEEP) if is_equal else (above[j - 1] + 1, SUBSTITUTE)
        return min(diagonal, deletion, (row[j - 1] + 1, INSERT), key=lambda step: step[0])


def _backtrace(scripts: list[list[str]]) -> str:
    """Return the edits from the last cell back to the first, in reading order."""
    edits, i, j = [], len(scripts) - 1, len(scripts[0]) - 1
    while i or j:
        edit = scripts[i][j]
        edits.append(edit)
        i -= edit != INSERT
        j -= edit != DELETE
    return "".join(reversed(edits))
