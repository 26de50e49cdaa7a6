"""Exchanges of cells between two matrices, systems x segments: each cell by a fair coin, or all.

Bits are drawn 64 at a time and summed in the kernel by looking up bytes; the same bits as a mask
serve any statistic. Each system starts with a new word, so its own sums are as easy as the total.
"""

from __future__ import annotations

from collections.abc import Iterator

from karat import _kernel
from karat.arrays import Flags, Floats, NDArray, np
from karat.progress import Progress, silent
from karat.stats.resampling import SEED
from karat.trials import check_trials

Words = NDArray[np.uint64]
MOST_EXACT = 12  # cells whose exchanges are all gone through
TRIALS_AT_A_TIME = 512  # part of what a seed means: changing it changes the draws


def drawn_words(
    shape: tuple[int, ...], trials: int, seed: int = SEED, progress: Progress = silent
) -> Iterator[Words]:
    """Random words, (systems * words per system) x trials, a batch of trials at a time."""
    check_trials("trials", trials)
    rng = np.random.default_rng(seed)
    systems, segments = shape
    count = systems * _words(segments)
    for start in range(0, trials, TRIALS_AT_A_TIME):
        size = min(TRIALS_AT_A_TIME, trials - start)
        yield rng.integers(0, 2**64, size=(count, size), dtype=np.uint64)
        progress(start + size, trials, "permuting")


def exchanges(known: Flags, trials: int, seed: int = SEED) -> Iterator[Words]:
    """Exchanges of the cells that are known: all there are if that is so few, else random ones."""
    return every_choice(known) if is_exact(known) else drawn_words(known.shape, trials, seed)


def is_exact(known: Flags) -> bool:
    """Return True if all exchanges are gone through: 12 cells have 4,096 of them."""
    return int(known.sum()) <= MOST_EXACT


def every_choice(known: Flags) -> Iterator[Words]:
    """Every choice of known cells once, none of them first, in batches as `drawn_words`."""
    systems, segments = known.shape
    choices = np.arange(1 << int(known.sum()), dtype=np.uint64)
    words = np.zeros((systems * _words(segments), len(choices)), dtype=np.uint64)
    for number, (system, segment) in enumerate(np.argwhere(known).tolist()):
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


def chosen_sums(words: Words, cells: Floats) -> Floats:
    """Sums of the chosen cells: of systems x segments x columns, trials x columns."""
    systems, segments, columns = cells.shape
    padded = np.zeros((systems, _words(segments) * 64, columns))
    padded[:, :segments] = cells
    return _kernel.chosen_sums(words, padded.reshape(-1, columns))


def chosen_system_sums(words: Words, cells: Floats) -> Floats:
    """Sums of the chosen cells of each system: of systems x segments, trials x systems."""
    own = words.reshape(len(cells), _words(cells.shape[1]), words.shape[1])
    parts = [
        _kernel.chosen_sums(mine, row.reshape(-1, 1)) for mine, row in zip(own, cells, strict=True)
    ]
    return np.hstack(parts)


def _words(segments: int) -> int:
    return (segments + 63) // 64
