"""Human scores fitted by metrics: ordinary least squares with cross-validation.

    human score = intercept + b1 term1 + b2 term2 + …

A term is a metric's score, or with `METRIC@PART` a part of it, such as
`simple_tree_accuracy@substitutions`. Bangalore, Rambow and Whittaker (INLG 2000) fitted
understandability and quality in this way by simple tree accuracy and its substitutions; a fit with
the same terms shows their coefficients for comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

from karat.arrays import Floats, Ints, np
from karat.errors import InputError, quoted, short
from karat.evalset.loading import SetSource, as_evalset
from karat.evalset.sets import EvalSet
from karat.meta.agreement import weighted_means
from karat.meta.scores import ScoredSet, score_evalset, weighted_sums
from karat.meta.settings import FitSettings
from karat.metrics.base import Metric
from karat.metrics.tree import QualityAccuracy, SimpleTreeAccuracy, UnderstandabilityAccuracy
from karat.progress import Progress, silent
from karat.results import SignedResult
from karat.scoring import load_metrics
from karat.stats.regression import least_squares, left_out_predictions, unseen_error

VALUE = "value"
INTERCEPT = "intercept"


class Term(NamedTuple):
    """A term of a fit: a metric's value, or another part of its score."""

    metric: Metric
    part: str = VALUE

    def __str__(self) -> str:
        if self.part == VALUE and "@" not in str(self.metric):
            return str(self.metric)
        return f"{self.metric}@{self.part}"


class FitRow(NamedTuple):
    """A coefficient with its standard error, t and two-sided p of 0, and published values."""

    dimension: str
    term: str
    coefficient: float
    error: float
    t: float
    p: float
    understandability: float | None = None  # published, if the fit has the published terms
    quality: float | None = None


class Fit(NamedTuple):
    """The quality of a fit on its own points."""

    dimension: str
    points: int
    r2: float
    adjusted: float
    sigma: float  # the standard error of a residual


class LeftOut(NamedTuple):
    """Cross-validated errors: all points of a `unit` are left out together.

    `r2` is negative if the mean of the other points predicts better.
    """

    dimension: str
    unit: str
    groups: int
    rmse: float
    rmse_of_mean: float
    r2: float
    undefined: int  # points that the others do not determine


class FittedPoint(NamedTuple):
    """A human score, its prediction by the fit of all points, and by the fit of all others."""

    dimension: str
    system: str
    segment: str
    human: float
    predicted: float
    left_out: float


@dataclass(frozen=True, eq=False, repr=False)
class ScoreFit(SignedResult):
    """Regressions of human scores on metrics: coefficients and cross-validated errors."""

    name: str
    rows: tuple[FitRow, ...]
    fits: tuple[Fit, ...]
    left_out: tuple[LeftOut, ...]
    points: tuple[FittedPoint, ...]
    settings: Mapping[str, object]
    notes: tuple[str, ...]
    signatures: Mapping[str, str]


def fit_scores(
    evalset: SetSource,
    metrics: Sequence[str | Metric] | str | Metric,
    dimensions: Sequence[str] | str = (),
    *,
    level: str = FitSettings.level,
    normalise: str = FitSettings.normalise,
    exclude: Sequence[str] = FitSettings.exclude,
    threads: int | None = None,
    progress: Progress = silent,
) -> ScoreFit:
    """Regress human scores on metrics by least squares, for each dimension.

    Args:
        evalset: a set, its name or path, the path of a table, or a frame.
        metrics: terms such as `ter` or `simple_tree_accuracy@substitutions`, on their own scales;
            outputs are scored by the metric that is meant for segments (`bleu:eff=yes` for `bleu`).
        dimensions: by default all; one may be a difference such as `quality - fluency`.
        level: `segment` (one point per output) or `system`.
        normalise: `z` scales the scores of each judge to mean 0 and standard deviation 1.
        exclude: systems to leave out.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    settings = FitSettings((), (), level, normalise, tuple(exclude))
    loaded = as_evalset(evalset, progress)
    terms = _parse_terms(metrics, level, loaded)
    loaded = loaded.without(*exclude) if exclude else loaded
    chosen = [dimensions] if isinstance(dimensions, str) else dimensions
    names = loaded.chosen_dimensions(chosen, differences=True)
    distinct_metrics = list(dict.fromkeys(term.metric for term in terms))
    scored = score_evalset(
        loaded, distinct_metrics, against=names, threads=threads, progress=progress
    )
    rows: list[FitRow] = []
    fits: list[Fit] = []
    cross_validated: list[LeftOut] = []
    points: list[FittedPoint] = []
    for name in names:
        outputs, x, human = _fitted_points(scored, terms, name, normalise, level)
        try:
            fit = least_squares(x, human, [str(term) for term in terms])
        except InputError as error:
            raise InputError(f"{loaded.name}, {short(name)}: {error}") from None
        for i, coefficient in enumerate(fit.coefficients):
            term = str(terms[i - 1]) if i else INTERCEPT
            published = (values[i] for values in _published_coefficients(terms))
            rows.append(FitRow(name, term, *coefficient, *published))
        fits.append(Fit(name, len(human), fit.r2, fit.adjusted, fit.sigma))
        cross_validated += _cross_validate(
            name, x, human, fit.left_out, _left_out_units(loaded, outputs, level)
        )
        columns = (c.tolist() for c in (human, fit.predicted, fit.left_out))
        for (i, j), *point_scores in zip(outputs.tolist(), *columns, strict=True):
            place = [*loaded.systems][i], loaded.segments[j] if level == "segment" else ""
            points.append(FittedPoint(name, *place, *point_scores))
    term_names = tuple(str(term) for term in terms)
    return ScoreFit(
        loaded.name,
        tuple(rows),
        tuple(fits),
        tuple(cross_validated),
        tuple(points),
        asdict(replace(settings, metrics=term_names, dimensions=names)),
        (*_notes(terms, normalise), *scored.notes(), *loaded.notes),
        {**{str(m): scored.signature(m) for m in scored.metrics}, "set": loaded.signature},
    )


def _parse_terms(
    metrics: Sequence[str | Metric] | str | Metric, level: str, evalset: EvalSet
) -> list[Term]:
    """Return the terms by name, with the form of each metric for the level; raise if repeated."""
    names = [metrics] if isinstance(metrics, str | Metric) else metrics
    terms: list[Term] = []
    for name in names:
        text, at, part = name.rpartition("@") if isinstance(name, str) else (name, "", VALUE)
        if '"' in part:  # the sign is in a quoted value
            text, at, part = name, "", VALUE
        (base,) = load_metrics(text if at else name, evalset)
        part = part if at else VALUE
        for scorer in base.for_evalset(evalset):
            term = Term(scorer.of_segments() if level == "segment" else scorer, part)
            if term in terms:
                raise InputError(f"{term} is named twice: a fit takes each term once")
            terms.append(term)
    if not terms:
        raise InputError("no metric was given: a fit needs at least one")
    return terms


# -------------------------------------------------------------------------- cross-validation


def _left_out_units(evalset: EvalSet, outputs: Ints, level: str) -> dict[str, Ints]:
    """Return the ways to leave out points: the number of each point's unit, by the unit's name."""
    if level == "system":
        return {"system": np.arange(len(outputs))}
    systems, segments = outputs.T
    units = {"output": np.arange(len(outputs)), "segment": segments, "system": systems}
    if evalset.groups is not None:
        numbers = {group: i for i, group in enumerate(dict.fromkeys(evalset.groups))}
        units["document"] = np.array([numbers[g] for g in evalset.groups])[segments]
    return units


def _cross_validate(
    dimension: str, x: Floats, human: Floats, left_out_points: Floats, units: Mapping[str, Ints]
) -> Iterator[LeftOut]:
    """Yield the errors of leaving out each unit; the first unit is a single point."""
    for k, (unit, groups) in enumerate(units.items()):
        n_groups = len(np.unique(groups))
        if k == 0 or n_groups > 1:
            predicted = left_out_predictions(x, human, groups) if k else left_out_points
            yield LeftOut(dimension, unit, n_groups, *unseen_error(human, predicted, groups))


# --------------------------------------------------------------------------- one dimension


def _fitted_points(
    scored: ScoredSet, terms: Sequence[Term], dimension: str, normalise: str, level: str
) -> tuple[Ints, Floats, Floats]:
    """Return the system and segment of each point, its terms and its human score.

    A point is a judged output; at the level of systems, all judged outputs of a system.
    """
    human = scored.judged(scored.evalset.human(dimension, normalise))
    is_judged, everything = ~np.isnan(human), np.ones((1, human.shape[1]))
    columns = []  # terms x systems x segments, or 1
    for term in terms:
        rows = scored.rows[term.metric]
        if level == "segment":
            part = _term_values(term, rows.reshape(human.size, -1)).reshape(human.shape)
            columns.append(np.where(scored.present, part, np.nan))
        else:
            part = _term_values(term, weighted_sums(everything, rows * is_judged[:, :, None])[0])
            columns.append(np.where(is_judged.any(axis=1), part, np.nan)[:, None])
    if level == "system":
        human = weighted_means(human, everything).T
    values = np.stack(columns)
    outputs = np.argwhere(~np.isnan(human) & ~np.isnan(values).any(axis=0))
    systems, segments = outputs.T
    return outputs, values[:, systems, segments].T, human[systems, segments]


def _term_values(term: Term, rows: Floats) -> Floats:
    """Return the term's part of the scores of rows of statistics."""
    parts = term.metric.measure(rows)
    if term.part not in parts:
        part_names = ", ".join(part for part in parts if part != VALUE)
        raise InputError(
            f"{term.metric} has no part {quoted(term.part)} (it has {short(part_names)})"
        )
    return np.asarray(parts[term.part], dtype=np.float64)


# ------------------------------------------------------------------------------- published


def _published_coefficients(terms: Sequence[Term]) -> list[list[float | None]]:
    """Return the published coefficients for understandability and quality, if terms match."""
    parts = [term.part if isinstance(term.metric, SimpleTreeAccuracy) else "" for term in terms]
    if sorted(parts) != ["substitutions", VALUE]:
        return [[None] * (len(terms) + 1)] * 2
    coefficients: list[list[float | None]] = []
    for fitted in (UnderstandabilityAccuracy.fitted, QualityAccuracy.fitted):
        slope, penalty, offset, _ = fitted
        coefficients.append([-offset, *(slope if part == VALUE else -penalty for part in parts)])
    return coefficients


def _notes(terms: Sequence[Term], normalise: str) -> Iterator[str]:
    yield (
        "Human scores are oriented so that higher is better; metrics are on their own scales. "
        "Standard errors and p assume independent points; outputs of one system or segment are "
        "not independent."
    )
    yield (
        "Cross-validation: each fit predicts an output, segment or system that it has not seen. R2 "
        "is negative where the mean of the others predicts better."
    )
    if _published_coefficients(terms)[0][0] is not None:
        scale = "" if normalise == "z" else ", which normalise z gives here"
        yield (
            "Published: Bangalore, Rambow and Whittaker (INLG 2000), 10 readers of 24 sentences "
            f"each, 7-point scales, z-scores of each reader{scale}."
        )
