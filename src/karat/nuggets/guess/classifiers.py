"""Classifiers as values: what guesses which response carries which nugget, with all settings.

    calibrated:idf=corpus.txt    paper:n=1,stem=porter,threshold_model=nugget

A classifier of another package is found by the entry point group `karat.classifiers`. It is a
frozen dataclass like these, derived from `karat.Named`, with a method `guess(pool, labels,
fold, progress)` that returns two arrays: probabilities and decisions of all cells, those of a fold
learned from the labels of the others alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from karat.nuggets.guess.paper.classifier import Paper, WithIdf, idf_setting
from karat.registry import Registry, check_that
from karat.settings import Named, parse_settings


@dataclass(frozen=True)
class Calibrated(WithIdf):
    """Probabilities from rich evidence."""

    name: ClassVar[str] = "calibrated"

    idf: str = idf_setting()


def _is_one(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, Named) and hasattr(found, "guess")


classifiers: Registry[type[Named]] = Registry(
    "classifiers",
    "classifier",
    {"calibrated": Calibrated, "paper": Paper},
    check=check_that(_is_one, "classifier", "a class derived from karat.Named with a method guess"),
)


def parse_classifier(given: str | Named) -> Named:
    """Return the classifier that `name:setting=value,…` describes; its string parses back."""
    if not isinstance(given, str):
        return given
    return parse_settings(classifiers[given.partition(":")[0].strip()], given)
