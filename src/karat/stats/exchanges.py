"""Permutation tests that exchange cells of two matrices, systems x segments, by fair coins.

Bits are drawn 64 at a time, and the kernel sums the chosen cells by table lookup. The same bits
serve any statistic as a mask. Each system starts with a new word, so that sums by system are as
easy as the total. With few cells, all exchanges are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from karat import _kernel
from karat.arithmetic import SLACK
from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.progress import Progress
from karat.settings import SEED, check_seed, check_trials

Words = NDArray[np.uint64]
MAX_EXACT_CELLS = 12  # with up to this many cells, all 4,096 exchanges are tried
TRIALS_AT_A_TIME = 512  # changing it changes the draws of a seed


def drawn_words(shape: tuple[int, ...], trials: int, seed: int = SEED) -> Iterator[Words]:
    """Yield batches of random words: (systems * words per system) x trials."""
    check_trials("trials", trials)
    check_seed(seed)
    rng = np.random.default_rng(seed)
    systems, segments = shape
    count = systems * _n_words(segments)
    for start in range(0, trials, TRIALS_AT_A_TIME):
        size = min(TRIALS_AT_A_TIME, trials - start)
        yield rng.integers(0, 2**64, size=(count, size), dtype=np.uint64)


def every_choice(has_scores: Flags) -> Iterator[Words]:
    """Yield every choice of the scored cells once, in batches as `drawn_words`; no cell first."""
    systems, segments = has_scores.shape
    choices = np.arange(1 << int(has_scores.sum()), dtype=np.uint64)
    words = np.zeros((systems * _n_words(segments), len(choices)), dtype=np.uint64)
    for number, (system, segment) in enumerate(np.argwhere(has_scores).tolist()):
        bits = (choices >> np.uint64(number)) & np.uint64(1)
        words[system * _n_words(segments) + segment // 64] |= bits << np.uint64(segment % 64)
    for start in range(0, len(choices), TRIALS_AT_A_TIME):
        yield np.ascontiguousarray(words[:, start : start + TRIALS_AT_A_TIME])


def masks(words: Words, shape: tuple[int, ...]) -> Flags:
    """Return the bits as trials x systems x segments; True where a cell is chosen."""
    systems, segments = shape
    little = np.ascontiguousarray(words.T).astype("<u8").view(np.uint8)
    bits = np.unpackbits(little, axis=1, bitorder="little")
    return bits.reshape(len(bits), systems, -1)[:, :, :segments].astype(bool)


def bit_positions(systems: Ints, segments: Ints, total: int) -> Ints:
    """Return the positions of the bits of cells in the words of a trial of `total` segments."""
    return systems * (64 * _n_words(total)) + segments


def no_exchange(shape: tuple[int, ...]) -> Words:
    """Return the words of one trial that exchanges nothing."""
    systems, segments = shape
    return np.zeros((systems * _n_words(segments), 1), dtype=np.uint64)


def chosen_sums(words: Words, cells: Floats) -> Floats:
    """Return trials x columns: sums of the chosen cells of systems x segments x columns."""
    systems, segments, columns = cells.shape
    padded = np.zeros((systems, _n_words(segments) * 64, columns))
    padded[:, :segments] = cells
    return _kernel.chosen_sums(words, padded.reshape(-1, columns))


def chosen_system_sums(words: Words, cells: Floats) -> Floats:
    """Return trials x systems: sums of the chosen cells of each system of systems x segments."""
    words_by_system = words.reshape(len(cells), _n_words(cells.shape[1]), words.shape[1])
    sums = [
        _kernel.chosen_sums(system_words, row.reshape(-1, 1))
        for system_words, row in zip(words_by_system, cells, strict=True)
    ]
    return np.hstack(sums)


def _n_words(segments: int) -> int:
    return (segments + 63) // 64


# ------------------------------------------------------------------------------- the test


class Permutation(NamedTuple):
    """The real difference, and the number of exchanges that gave at least as much."""

    delta: float
    p: float  # NaN if the difference is undefined
    beyond: int  # trials whose difference is at least delta
    trials: int  # trials whose difference is defined
    exact: bool  # True if all possible exchanges were tried
    differences: Floats  # difference of each trial; NaN where undefined


class Exchanges(NamedTuple):
    """Cells that can be exchanged, the number of random trials and their seed."""

    has_scores: Flags
    trials: int
    seed: int
    progress: Progress

    def test(
        self, delta: float, differences: Callable[[Words], Floats], size: int = TRIALS_AT_A_TIME
    ) -> Permutation:
        """Test `delta` against the differences after exchanges, for `size` trials at a time."""
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
        """Return p of `delta`: the share of differences that are at least as large."""
        defined = differences[~np.isnan(differences)]
        beyond, trials = int(np.count_nonzero(defined >= delta - SLACK)), len(defined)
        p = float("nan")
        if not np.isnan(delta):
            p = beyond / trials if exact else (1 + beyond) / (1 + trials)
        return Permutation(delta, p, beyond, trials, exact, differences)

    def undefined(self) -> Permutation:
        """Return the test of a difference that is undefined."""
        return self.summarize(float("nan"), np.full(self.trials, np.nan), exact=False)
