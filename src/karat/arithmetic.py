"""Arithmetic that gives the same bits on every processor.

BLAS, LAPACK, numpy's `exp` and the C library choose routines by the processor, and the
routines differ in the last bits. Such a bit can decide a comparison. So no other module of Karat
multiplies matrices, solves equations or computes exponentials itself (see tests/test_layers.py).

- `exp`, `log`, `power` and so on are computed by the kernel from additions, products and quotients.
- `exact_sums` and `ExactRows` add rows of statistics and round only once, at the end, so that
  order, threads and partitions do not matter.
- `product`, `solve_symmetric` and `inverse_symmetric` add in one fixed order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import frexp, ldexp
from typing import Any, overload

from karat import _kernel
from karat.arrays import ArrayLike, Floats, Ints, NDArray, np
from karat.errors import InputError

SLACK = 1e-12
"""Numbers with a smaller relative difference are equal: it may be a rounding error."""


class _Elementary:
    """A function of numbers or of every element of an array."""

    def __init__(self, kernel: Callable[[Any], Any], doc: str) -> None:
        self._kernel = kernel
        self.__doc__ = doc

    @overload
    def __call__(self, x: float) -> float: ...
    @overload
    def __call__(self, x: NDArray[Any]) -> Floats: ...
    def __call__(self, x: float | NDArray[Any]) -> float | Floats:
        if not isinstance(x, np.ndarray):
            return float(self._kernel(float(x)))
        flat = np.ascontiguousarray(x, dtype=np.float64).ravel()
        return np.asarray(self._kernel(flat).reshape(x.shape))


exp = _Elementary(_kernel.exp, "e^x.")
log = _Elementary(_kernel.log, "The natural logarithm; -inf at 0, NaN below.")
log10 = _Elementary(_kernel.log10, "The logarithm to base 10.")
log1p = _Elementary(_kernel.log1p, "log(1 + x), accurate near 0.")
sigmoid = _Elementary(_kernel.sigmoid, "1 / (1 + e^-x), without overflow.")
quick_exp = _Elementary(
    _kernel.quick_exp, "e^x to within one unit in the last place, quick on large arrays."
)
quick_log = _Elementary(
    _kernel.quick_log, "log x to within one unit in the last place, quick on large arrays."
)
log_gamma = _Elementary(_kernel.log_gamma, "log Gamma(x) for x > 0.")
erfc = _Elementary(_kernel.erfc, "1 - erf(x).")


def logit(p: Floats) -> Floats:
    """Return log p / (1 - p), with p moved a little away from 0 and 1."""
    q = np.clip(p, 1e-6, 1 - 1e-6)
    return log(q / (1 - q))


def power(x: ArrayLike, y: ArrayLike) -> Floats:
    """x^y, element by element, for x >= 0."""
    base, exponent = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
    flat = (np.ascontiguousarray(a).ravel() for a in (base, exponent))
    return np.asarray(_kernel.power(*flat).reshape(base.shape))


# ------------------------------------------------------------------------------ exact sums

_OUT_OF_RANGE = (
    "a statistic to be summed is not a number between -2^32 and 2^32: NaN, infinite or larger "
    "values cannot be added exactly; rescale them, or leave out the metric that has them"
)
_MAX_COUNTED = 1 << 21  # limbs have 32 bits, and doubles hold whole numbers of 53 bits
_KEPT_CELLS = 1 << 22  # cells of rows whose limbs are kept
_LIMB = (1 << 32) - 1
_SMALL = 1 / 2048  # smaller doubles have bits below 2^-64


def partial_sums(rows: NDArray[Any]) -> Ints:
    """Return the sum of some rows in a form that adds up without rounding.

    The sum of integers is an array of columns, that of floats 3 x columns: sums of limbs.
    """
    if rows.dtype.kind not in "iub":
        return _refusing(_kernel.limb_sums, np.asarray(rows, dtype=np.float64))
    if rows.dtype.char in "lq" and rows.shape[1] > 1:
        return _kernel.sum_rows(rows)  # numpy takes ten times as long for few columns
    return np.asarray(rows.sum(axis=0, dtype=np.int64))


def joined_sums(parts: Sequence[Ints]) -> NDArray[Any]:
    """Return the sum of all rows from partial sums of them, rounded once."""
    total: Ints = np.sum(parts, axis=0)
    return total if total.ndim == 1 else rounded(total)


def grouped_sums(rows: NDArray[Any], groups: NDArray[np.int32], count: int) -> Ints:
    """Return the sums of the rows of each group in a form that adds up without rounding.

    The sums of integers are groups x columns, those of floats groups x 3 x columns: sums of limbs.
    """
    if rows.dtype.kind in "iub":
        return _kernel.grouped_sums(np.asarray(rows, dtype=np.int64), groups, count)

    def summed(values: Floats) -> Ints:
        return _kernel.grouped_limb_sums(values, groups, count)

    return _refusing(summed, np.asarray(rows, dtype=np.float64))


def carried(limbs: Ints) -> Ints:
    """Return sums of limbs, groups x 3 x columns, normalized: the lower two have 32 bits."""
    high, middle, low = limbs[:, 0], limbs[:, 1], limbs[:, 2]
    middle = middle + (low >> 32)
    return np.stack([high + (middle >> 32), middle & _LIMB, low & _LIMB], axis=1)


def exact_sums(rows: NDArray[Any]) -> NDArray[Any]:
    """Return the sum of all rows: exact, then rounded once; whole numbers stay whole."""
    return joined_sums([partial_sums(rows)])


def exact_sum(values: NDArray[Any], axis: int = -1) -> Floats:
    """Return sums along an axis: exact, then rounded once."""
    moved = np.moveaxis(np.asarray(values, dtype=np.float64), axis, 0)
    enlarged, scale = _enlarged(moved.reshape(len(moved), -1))
    return np.asarray(exact_sums(enlarged) / scale).reshape(moved.shape[1:])


def rounded(limbs: Ints) -> Floats:
    """Return the nearest doubles to sums of limbs, which are along the first axis."""
    return np.asarray(_kernel.from_limbs(*(x.ravel() for x in limbs)).reshape(limbs.shape[1:]))


class ExactRows:
    """Rows of numbers for exact sums with integer weights.

    Each number is split into limbs, integers of at most 32 bits. Products of limbs and counts,
    and their sums, are integers that fit into a double, so that a product of matrices is exact
    whatever the order of additions in BLAS. Blocks have any type, or are limbs, rows x 3 x columns.
    Up to a few million cells are split once; more are split when they are used, so that many small
    integers stay small in memory.
    """

    def __init__(self, blocks: Sequence[NDArray[Any]]) -> None:
        cells = sum(block.size for block in blocks)
        together = len(blocks) > 1 and cells <= _KEPT_CELLS
        self.blocks = [np.concatenate(blocks)] if together else list(blocks)
        self.columns = self.blocks[0].shape[-1]
        self._kept = [_limbs(block) for block in self.blocks] if cells <= _KEPT_CELLS else None

    def __len__(self) -> int:
        return sum(map(len, self.blocks))

    def limbs(self, counts: Floats) -> Ints:
        """Return counts @ rows as limbs, 3 x draws x columns; counts are draws x rows."""
        totals = np.zeros((3, len(counts), self.columns), dtype=np.int64)
        start = 0
        for number, block in enumerate(self.blocks):
            block_counts = counts[:, start : start + len(block)]
            start += len(block)
            for at, limb in self._kept[number] if self._kept else _limbs(block):
                totals[at] += _whole_product(block_counts, limb)
        return totals

    def sums(self, counts: Floats) -> Floats:
        """Return counts @ rows, draws x columns, rounded once; counts are not negative."""
        return rounded(self.limbs(counts))


def exact_product(counts: Floats, rows: NDArray[Any]) -> Floats:
    """Return counts @ rows for nonnegative integer counts."""
    enlarged, scale = _enlarged(rows)
    if float(counts.sum(axis=1).max(initial=0)) > _MAX_COUNTED:
        return ExactRows([enlarged]).sums(counts) / scale
    weights, floats = (np.ascontiguousarray(x, dtype=np.float64) for x in (counts, enlarged))
    return _refusing(lambda own: _kernel.exact_product(weights, own), floats) / scale


def _enlarged(values: NDArray[Any]) -> tuple[NDArray[Any], float]:
    """Return numbers times a power of two, and that power: limbs end at 2^-64.

    It is 1 if the largest number keeps all its bits; the loss of others is below its last bit.
    """
    largest = float(np.abs(values).max(initial=0.0))
    if not 0 < largest < _SMALL:
        return values, 1.0
    scale = ldexp(1.0, min(-frexp(largest)[1], 1023))
    return scale * values, scale


def _limbs(block: NDArray[Any]) -> list[tuple[int, Floats]]:
    """Return the limbs that are not all 0, with their index; small integers have one."""
    if block.dtype.kind in "iub":
        if block.dtype.itemsize == 8 and np.abs(block).max(initial=0) > _LIMB:
            raise InputError(_OUT_OF_RANGE)
        parts = [block] if block.ndim == 2 else [block[:, at] for at in range(3)]
        return [
            (at, part.astype(np.float64)) for at, part in enumerate(parts) if at == 0 or part.any()
        ]
    limbs = _refusing(_kernel.limbs, np.ascontiguousarray(block, dtype=np.float64))
    return [(at, limb) for at, limb in enumerate(limbs) if limb.any()]


def _refusing(routine: Callable[[Floats], NDArray[Any]], rows: Floats) -> NDArray[Any]:
    try:
        return routine(rows)
    except ValueError:
        raise InputError(_OUT_OF_RANGE) from None


def _whole_product(counts: Floats, limb: Floats) -> Ints:
    """Return counts @ limb, split if a sum could exceed the integers that fit into a double."""
    totals: Floats
    if float(counts.sum(axis=1).max(initial=0)) <= _MAX_COUNTED:
        totals = counts @ limb
        return totals.astype(np.int64)
    if len(limb) == 1:
        return counts.astype(np.int64) * limb.astype(np.int64)
    half = len(limb) // 2
    return _whole_product(counts[:, :half], limb[:half]) + _whole_product(
        counts[:, half:], limb[half:]
    )


# --------------------------------------------------------------------------- in fixed order


def product(a: NDArray[Any], b: NDArray[Any]) -> Floats:
    """Return a @ b, every element summed in the order of the inner index.

    As with `@`, arrays of one axis are vectors, and arrays of three are stacks of matrices.
    """
    left, right = np.asarray(a, np.float64), np.asarray(b, np.float64)
    flat = left.ndim == 1, right.ndim == 1
    left = left[None, :] if flat[0] else left
    right = right[:, None] if flat[1] else right
    stacked = left.ndim == 3 or right.ndim == 3
    left, right = (x if x.ndim == 3 else x[None] for x in (left, right))
    count = max(len(left), len(right))
    left, right = (np.broadcast_to(x, (count, *x.shape[1:])) for x in (left, right))
    if right.shape[2] > 1 and right.strides[2] != right.itemsize:
        right = np.ascontiguousarray(right)
    products: Floats = _kernel.products(left, right)
    products = products[:, 0] if flat[0] else products
    products = products[..., 0] if flat[1] else products
    return products if stacked else products[0]


def solve_symmetric(a: NDArray[Any], b: NDArray[Any]) -> Floats:
    """Return x with a x = b for positive definite matrices, by LDL^T without pivots.

    `a` is a matrix or a stack of them; `b` has a vector or a matrix for each, as many axes as `a`
    or, for one matrix, one less.
    """
    left, right = np.asarray(a, np.float64), np.asarray(b, np.float64)
    flat, single = right.ndim == 1, left.ndim == 2
    right = right[:, None] if flat else right
    left, right = (left[None], right[None]) if single else (left, right)
    solutions: Floats = _kernel.symmetric_solutions(left, right)
    solutions = solutions[0] if single else solutions
    return solutions[:, 0] if flat else solutions


def inverse_symmetric(a: NDArray[Any]) -> Floats:
    """Return the inverse of a positive definite matrix, or of each of a stack."""
    unit = np.eye(a.shape[-1])
    return solve_symmetric(a, unit if a.ndim == 2 else np.broadcast_to(unit, a.shape))
