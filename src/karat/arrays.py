"""numpy, imported on first use, and the types of arrays.

Commands that need no numbers start without it.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from karat.errors import InputError, quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]
    Flags: TypeAlias = NDArray[np.bool_]
else:

    class _Numpy(ModuleType):
        """Proxy of numpy: each attribute is fetched on first use."""

        def __getattr__(self, name: str) -> Any:
            import numpy

            attribute = getattr(numpy, name)
            setattr(self, name, attribute)
            return attribute

    class NDArray:
        """Placeholder of the type of arrays, which only type checkers use."""

        def __class_getitem__(cls, item: Any) -> Any:
            return Any

    np = _Numpy("numpy")
    ArrayLike = Floats = Ints = Flags = Any

__all__ = ["ArrayLike", "Flags", "Floats", "Ints", "NDArray", "as_floats", "np"]


def as_floats(numbers: ArrayLike) -> Floats:
    """Return numbers as an array."""
    try:
        return np.asarray(numbers, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"found {quoted(numbers)}, expected numbers") from error
