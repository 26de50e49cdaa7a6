"""Rows that say how classifiers agree with assessors: settings, threshold models, both kinds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from karat.nuggets.guess.folds import AssessorAgreement
from karat.nuggets.guess.paper.thresholds import MODELS, Model, likeliest_model
from karat.nuggets.guess.paper.tuning import Trial


class SettingRow(NamedTuple):
    """A setting of the paper's classifier, cross-validated."""

    stem: str
    n: int
    weight: str
    stop: str
    precision: float
    recall: float
    f: float
    tau_b: float
    r_squared: float
    rmse: float
    threshold: float


class ModelRow(NamedTuple):
    """A threshold model: log10 P(Data|Model), and its agreement if it was tried."""

    model: str
    name: str
    log10: float
    likeliest: bool
    precision: float | None = None
    recall: float | None = None
    f: float | None = None
    tau_b: float | None = None
    r_squared: float | None = None
    rmse: float | None = None


def setting_rows(trials: Sequence[Trial]) -> tuple[SettingRow, ...]:
    """Return the settings of the paper's classifier, the best F first."""
    return tuple(
        SettingRow(rule.stem, rule.n, rule.weight, rule.stop, *trial.agreement, trial.threshold)
        for trial in sorted(trials, key=lambda trial: -trial.agreement.f)
        for rule in [trial.classifier]
    )


def model_rows(
    models: Sequence[Model], agreements: Sequence[AssessorAgreement | None] = ()
) -> tuple[ModelRow, ...]:
    """Return the paper's Table 4, with the agreement of each model that was tried."""
    if not models:
        return ()
    first, agreed = likeliest_model(models), agreements or [None] * len(models)
    return tuple(
        ModelRow(model.name, MODELS[model.name], model.log10, model.name == first, *(one or ()))
        for model, one in zip(models, agreed, strict=True)
    )
