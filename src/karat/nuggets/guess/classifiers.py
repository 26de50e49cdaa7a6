"""Classifiers as values: what guesses which response carries which nugget, with all settings.

    calibrated:idf=wordfreq    paper:n=1,stem=porter,threshold_model=nugget    auto:n=1,stem=porter

A classifier of another package is found by the entry point group `karat.classifiers`. It is a
frozen dataclass like these, derived from `karat.Named`, with a method `guess(pool, labels,
fold, progress)` that returns two arrays: probabilities and decisions of all cells, those of a fold
learned from the labels of the others alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, ClassVar

from karat.metrics.cosine import Vectors, load_vectors
from karat.metrics.embedders import embedder_digest, embedder_files
from karat.nuggets.guess.paper.classifier import Paper, WithIdf, idf_setting, language_setting
from karat.registry import Registry, make_check
from karat.settings import NamedSettings, parse_settings, setting


class WithCosine(NamedSettings):
    """A classifier that takes cosines of sentence embeddings for evidence, if a model is named."""

    cosine: str | None

    @cached_property
    def vectors(self) -> Vectors | None:
        """The vectors of the model; None if none is named."""
        return None if self.cosine is None else load_vectors(self.cosine)

    def input_files(self) -> list[str]:
        """Return the files of the model."""
        return [] if self.cosine is None else embedder_files(self.cosine)


cosine_setting = partial(
    setting,
    None,
    "embedding model whose cosines are evidence: a folder, or wordllama",
    kind=str,
    place=True,
)


@dataclass(frozen=True)
class Calibrated(WithIdf, WithCosine):
    """Probabilities from rich evidence."""

    name: ClassVar[str] = "calibrated"
    digests: ClassVar[Any] = MappingProxyType({"cosine": embedder_digest})

    idf: str = idf_setting()
    idf_language: str = language_setting()
    cosine: str | None = cosine_setting()


@dataclass(frozen=True)
class Auto(Paper, WithCosine):
    """The calibrated or the paper's classifier, whichever has the higher cross-validated F."""

    name: ClassVar[str] = "auto"
    digests: ClassVar[Any] = MappingProxyType({**Paper.digests, "cosine": embedder_digest})

    cosine: str | None = cosine_setting()


def _is_one(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, NamedSettings) and hasattr(found, "guess")


classifiers: Registry[type[NamedSettings]] = Registry(
    "classifiers",
    "classifier",
    {"calibrated": Calibrated, "paper": Paper, "auto": Auto},
    check=make_check(_is_one, "classifier", "a class derived from karat.Named with a method guess"),
)


def parse_classifier(given: str | NamedSettings) -> NamedSettings:
    """Return the classifier that `name:setting=value,…` describes; its string parses back."""
    if not isinstance(given, str):
        return given
    return parse_settings(classifiers[given.partition(":")[0].strip()], given)
