"""Tables and record batches of pyarrow."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from karat.arrays import Floats
from karat.arrow.frames.frame import ArrowFrame


class PyArrowFrame(ArrowFrame):
    """A table, a record batch, or a stream of them, which can be read once."""

    @property
    def names(self) -> list[str]:
        return list(self.data.schema.names)

    def joined(self, scores: Mapping[str, Floats]) -> Any:
        pyarrow, found = import_module("pyarrow"), self.data
        if not hasattr(found, "append_column"):
            return super().joined(scores)
        for name, values in scores.items():
            found = found.append_column(name, pyarrow.array(values))
        return found
