"""Embedders: one interface to the models that turn texts into vectors, and their errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

from karat.arrays import Flags, NDArray
from karat.errors import InputError, KaratError, MissingExtra, short


class Embedded(NamedTuple):
    """Vectors of texts, a row each, and which texts were cut because they are too long."""

    vectors: NDArray[Any]
    cut: Flags


class Embedder(ABC):
    """A model that was loaded; `embed` may be called from several threads."""

    longest: int | None = None
    """Tokens that it takes; None: any number."""

    @abstractmethod
    def embed(self, texts: list[str], batch: int) -> Embedded:
        """Return vectors of texts; a neural model takes `batch` texts at once."""


def package(name: str, what: str) -> Any:
    """Import a package that a loader needs; `what` is the model in messages."""
    try:
        return import_module(name)
    except ImportError as error:
        wheel = name.replace("_", "-")
        extra = "karat[embed]" if wheel != "sentence-transformers" else wheel
        needs = f"{what} needs the package {wheel}, which is not installed"
        raise MissingExtra(f"{needs}: pip install '{extra}'") from error


@contextmanager
def said_of(what: str, problem: str) -> Iterator[None]:
    """Turn what a library raises into one sentence: libraries raise anything."""
    try:
        yield
    except KaratError:
        raise
    except Exception as error:
        told = short(" ".join(str(error).split()) or type(error).__name__)
        raise InputError(f"{what}: {problem}: {told}") from error
