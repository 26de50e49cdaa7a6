"""Exchanges of cells between two matrices, systems x segments: each cell by a fair coin, or all.

Bits are drawn 64 at a time and summed in the kernel by looking up bytes; the same bits as a mask
serve any statistic. Each system starts with a new word, so its own sums are as easy as the total.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from karat import _kernel
from karat.arithmetic import SLACK
from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.progress import Progress, silent
from karat.settings import SEED, check_seed, check_trials

Words = NDArray[np.uint64]
MAX_EXACT_CELLS = 12  # all 4,096 exchanges of so many cells are tried
TRIALS_AT_A_TIME = 512  # part of what a seed means: changing it changes the draws


def drawn_words(
    shape: tuple[int, ...], trials: int, seed: int = SEED, progress: Progress = silent
) -> Iterator[Words]:
    """Random words, (systems * words per system) x trials, a batch of trials at a time."""
    check_trials("trials", trials)
    check_seed(seed)
    rng = np.random.default_rng(seed)
    systems, segments = shape
    count = systems * _words(segments)
    for start in range(0, trials, TRIALS_AT_A_TIME):
        size = min(TRIALS_AT_A_TIME, trials - start)
        yield rng.integers(0, 2**64, size=(count, size), dtype=np.uint64)
        progress(start + size, trials, "permuting")


def every_choice(has_scores: Flags) -> Iterator[Words]:
    """Every choice of known cells once, none of them first, in batches as `drawn_words`."""
    systems, segments = has_scores.shape
    choices = np.arange(1 << int(has_scores.sum()), dtype=np.uint64)
    words = np.zeros((systems * _words(segments), len(choices)), dtype=np.uint64)
    for number, (system, segment) in enumerate(np.argwhere(has_scores).tolist()):
        bits = (choices >> np.uint64(number)) & np.uint64(1)
        words[system * _words(segments) + segment // 64] |= bits << np.uint64(segment % 64)
    for start in range(0, len(choices), TRIALS_AT_A_TIME):
        yield np.ascontiguousarray(words[:, start : start + TRIALS_AT_A_TIME])


def masks(words: Words, shape: tuple[int, ...]) -> Flags:
    """The drawn bits as trials x systems x segments; True where a cell is chosen."""
    systems, segments = shape
    little = np.ascontiguousarray(words.T).astype("<u8").view(np.uint8)
    bits = np.unpackbits(little, axis=1, bitorder="little")
    return bits.reshape(len(bits), systems, -1)[:, :, :segments].astype(bool)


def places_of_bits(systems: Ints, segments: Ints, total: int) -> Ints:
    """Where the bits of cells stand in the words of a trial; there are `total` segments."""
    return systems * (64 * _words(total)) + segments


def no_exchange(shape: tuple[int, ...]) -> Words:
    """The words of one trial in which every cell stays."""
    systems, segments = shape
    return np.zeros((systems * _words(segments), 1), dtype=np.uint64)


def chosen_sums(words: Words, cells: Floats) -> Floats:
    """Sums of the chosen cells: of systems x segments x columns, trials x columns."""
    systems, segments, columns = cells.shape
    padded = np.zeros((systems, _words(segments) * 64, columns))
    padded[:, :segments] = cells
    return _kernel.chosen_sums(words, padded.reshape(-1, columns))


def chosen_system_sums(words: Words, cells: Floats) -> Floats:
    """Sums of the chosen cells of each system: of systems x segments, trials x systems."""
    words_by_system = words.reshape(len(cells), _words(cells.shape[1]), words.shape[1])
    sums = [
        _kernel.chosen_sums(system_words, row.reshape(-1, 1))
        for system_words, row in zip(words_by_system, cells, strict=True)
    ]
    return np.hstack(sums)


def _words(segments: int) -> int:
    return (segments + 63) // 64


# ------------------------------------------------------------------------------- the test


class Permutation(NamedTuple):
    """The real difference, and how many exchanges gave at least as much."""

    delta: float
    p: float  # NaN where the difference is undefined
    beyond: int
    trials: int  # whose difference was defined
    exact: bool  # all exchanges there are were tried
    differences: Floats  # of all exchanges; NaN where undefined

    @property
    def share(self) -> float:
        """beyond / trials."""
        return self.beyond / self.trials if self.trials else float("nan")


class Exchanges(NamedTuple):
    """Cells that can be exchanged, how often that is tried, and with which seed."""

    has_scores: Flags
    trials: int
    seed: int
    progress: Progress

    def test(
        self, delta: float, differences: Callable[[Words], Floats], size: int = TRIALS_AT_A_TIME
    ) -> Permutation:
        """Count the exchanges, `size` at a time, whose difference is at least `delta`."""
        n_cells = int(self.has_scores.sum())
        exact = n_cells <= MAX_EXACT_CELLS
        batches = drawn_words(self.has_scores.shape, self.trials, self.seed)
        if exact:
            batches = every_choice(self.has_scores)
        total = 1 << n_cells if exact else self.trials
        parts, done = [np.empty(0)], 0
        for words in batches:
            for start in range(0, words.shape[1], size):
                parts.append(differences(words[:, start : start + size]))
                done += len(parts[-1])
                self.progress(done, total, "permuting")
        return self.summarize(delta, np.concatenate(parts), exact)

    def summarize(self, delta: float, differences: Floats, exact: bool) -> Permutation:
        """Count the differences that are at least `delta`."""
        defined = differences[~np.isnan(differences)]
        beyond, trials = int(np.count_nonzero(defined >= delta - SLACK)), len(defined)
        p = float("nan")
        if not np.isnan(delta):
            p = beyond / trials if exact else (1 + beyond) / (1 + trials)
        return Permutation(delta, p, beyond, trials, exact, differences)

    def undefined(self) -> Permutation:
        """Return the test of metrics whose difference no exchange has."""
        return self.summarize(float("nan"), np.full(self.trials, np.nan), exact=False)
