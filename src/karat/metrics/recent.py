"""Recently computed values of texts, such as vectors, kept in memory up to a number of bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT", bound=Hashable)
ValueT = TypeVar("ValueT")


class RecentValues(Generic[KeyT, ValueT]):
    """A cache of the values that were used last; its methods may be called from several threads."""

    def __init__(self, most_bytes: int, size: Callable[[KeyT, ValueT], int]) -> None:
        """`size` returns the bytes of a key and its value."""
        self._room, self._size = most_bytes, size
        self._values: OrderedDict[KeyT, ValueT] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._values)

    def keys(self) -> list[KeyT]:
        """Return the keys, the one that was used last at the end."""
        with self._lock:
            return list(self._values)

    def of(self, keys: Iterable[KeyT]) -> dict[KeyT, ValueT]:
        """Return the values of the keys that have one."""
        values: dict[KeyT, ValueT] = {}
        with self._lock:
            for key in keys:
                if key in self._values:
                    self._values.move_to_end(key)
                    values[key] = self._values[key]
        return values

    def keep(self, new: Mapping[KeyT, ValueT]) -> None:
        """Keep new values, and drop those that were used longest ago if there is no room."""
        with self._lock:
            for key, value in new.items():
                if key not in self._values:
                    self._room -= self._size(key, value)
                    self._values[key] = value
            while self._room < 0:
                self._room += self._size(*self._values.popitem(last=False))
