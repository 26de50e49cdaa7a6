"""Marton and Radul 2006, Tables 2 to 5, section 4.4 and Figure 5: scores against official ones.

The paper has four sets of TREC. Our numbers are compared with its largest, the "other" questions of
2005; the range of all four is in the details.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isnan, nan
from typing import NamedTuple

from karat.arrays import np
from karat.nuggets.formats.loading import DEMO, KNOWN, load_nuggets
from karat.nuggets.results.agreement import ScoreAgreement, average_f
from karat.nuggets.results.evaluation import (
    GuessedRun,
    NuggetEvaluation,
    evaluate_nuggets,
    paper_runs,
    runs_outside,
)
from karat.nuggets.scores.official import OfficialSettings
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.reproduction.papers import ReproductionRequest
from karat.reproduction.results import (
    UNDECIDED,
    Conclusion,
    PaperDifference,
    ReproducedNumber,
    Reproduction,
    difference_verdict,
    to_verdict,
)
from karat.stats.correlation import rmse, tau_b

CITATION = "Marton and Radul 2006, Nuggeteer: Automatic Nugget-Based Evaluation"
OFFICIAL = OfficialSettings(beta=3.0)
TAU = "Kendall's tau"
SETS = ("rag24", "realsumm")
CLASSIFIER = "paper:preset=paper"
HINDSIGHT = "threshold in hindsight"
"""The paper chooses one threshold for each set by its result there (section 2.4)."""
NUGGETEER = "Nuggeteer"  # without stemming, with bigrams and idf


class PublishedNumber(NamedTuple):
    """A number of the paper for the "other" questions of 2005, and its range over four sets."""

    value: float
    low: float
    high: float


TABLE_2: Mapping[tuple[str, str, str], PublishedNumber] = {
    ("Pourpre, count", f"Pourpre count, {HINDSIGHT}", "micro"): PublishedNumber(
        0.598, 0.598, 0.890
    ),
    ("Pourpre, count", f"Pourpre count, {HINDSIGHT}", "macro"): PublishedNumber(
        0.709, 0.697, 0.886
    ),
    ("Pourpre, idf", f"Pourpre idf, {HINDSIGHT}", "micro"): PublishedNumber(0.679, 0.679, 0.859),
    ("Pourpre, idf", f"Pourpre idf, {HINDSIGHT}", "macro"): PublishedNumber(0.698, 0.698, 0.876),
    ("ROUGE", "ROUGE-1", "micro"): PublishedNumber(0.662, 0.662, 0.807),
    ("ROUGE, stop words out", "ROUGE-1, stop words out", "micro"): PublishedNumber(
        0.670, 0.670, 0.843
    ),
    (NUGGETEER, f"paper, default, {HINDSIGHT}", "micro"): PublishedNumber(0.858, 0.849, 1.0),
}
"""Table 2: Kendall's tau by item of the paper, method here, and average over questions."""
TABLE_3 = {
    "R^2": PublishedNumber(0.952, 0.952, 0.993),
    "RMSE": PublishedNumber(0.026, 0.009, 0.077),
    "R^2 of Pourpre": PublishedNumber(0.916, 0.764, 0.965),
}
TABLE_4 = {
    "coin": -2780.0,
    "global": -2239.0,
    "question": -1977.0,
    "nugget": -1546.0,
    "nugget-errors": -1595.0,
}
"""log10 P(data | threshold model), as the paper writes it; the paper does not say on which set."""
SECTION_4_4 = {TAU: 0.837, "RMSE": 0.037}
"""The best settings with a threshold for each nugget and shared error rates, TREC 2003."""
HINDSIGHT_2003 = {TAU: 0.879, "RMSE": 0.067}
"""One threshold on that set, chosen by its result there (Tables 2 and 3)."""
OTHER_FORM = "paper, default, informed by descriptions"
"""Informativeness from descriptions of nuggets, not from responses (equations 1 and 2)."""
TABLE_5 = {
    "paper, best of 24": ("best settings", PublishedNumber(0.87, 0.68, 0.87)),
    "paper, default": ("default settings", PublishedNumber(0.86, 0.66, 0.86)),
    OTHER_FORM: ("default settings, informed by descriptions", PublishedNumber(0.86, 0.66, 0.86)),
}
OUTSIDE = 3.0  # Figure 5: systems with an official score outside the 95% interval, in percent
SMALL = 0.03
"""F that the best of 24 settings adds to the default ones in the paper at most (Table 5)."""
FAR = 0.1  # difference between assessors that the paper quotes; its RMSE is smaller


@dataclass(frozen=True)
class NuggeteerTables:
    """A set and the agreement of all methods on it."""

    name: str
    nuggets: NuggetSet
    evaluation: NuggetEvaluation

    @cached_property
    def official(self) -> list[GuessedRun]:
        """Official micro F of runs."""
        return [row for row in self.evaluation.run_scores if row.average == "micro"]

    @cached_property
    def by_nugget(self) -> dict[str, float]:
        """Agreement of micro F with official F with a threshold for each nugget (section 4.4)."""
        tuning = self.evaluation.tuning
        (carried,) = (trial.carried for trial in tuning.models if trial.model.name == "nugget")
        if carried is None:
            return {}
        stats = tuning.stats(carried.astype(np.float64), OFFICIAL)
        scores = average_f(stats, OFFICIAL.beta).micro
        official = np.array([row.official for row in self.official])
        return {TAU: tau_b(official, scores), "RMSE": rmse(official, scores)}

    @property
    def yes_to_all(self) -> float:
        """F of decisions of a classifier that says yes to every pair."""
        cells = self.evaluation.tuning.cells
        return cells.agreement(np.ones(len(cells.labels), np.bool_)).f

    def score(self, method: str, average: str = "micro") -> ScoreAgreement:
        """Return the agreement of a method with official F."""
        rows = self.evaluation.scores
        return next(row for row in rows if (row.method, row.average) == (method, average))

    @property
    def likelihoods(self) -> dict[str, float]:
        """log10 P(data | model) of each threshold model."""
        return {row.model: row.log10 for row in self.evaluation.models}


def reproduce_nuggeteer(request: ReproductionRequest) -> Reproduction:
    """Compare the paper's cross-validated classifier, and Pourpre, with official scores."""
    available = request.data.any_of([KNOWN[name].place for name in SETS])
    real = [name for name in SETS if KNOWN[name].place in available]
    chosen = (real if request.full else real[:1]) or [DEMO]
    sets = []
    for name in chosen:
        known_set = KNOWN[name]
        source = name if known_set.bundled else request.data / known_set.place
        format = None if known_set.bundled else known_set.format
        nuggets = load_nuggets(source, format=format, progress=request.progress)
        evaluation = evaluate_nuggets(
            nuggets, classifier=CLASSIFIER, corrected=True, progress=request.progress
        )
        sets.append(NuggeteerTables(name, nuggets, evaluation))
    return Reproduction(
        name="nuggeteer",
        paper=CITATION,
        data=tuple(chosen),
        rows=tuple(row for tables in sets for row in _numbers(tables)),
        conclusions=tuple(row for tables in sets for row in _conclusions(tables)),
        differs=(*map(_difference, sets), *(_RESPONSES if real else ()), *_DIFFERS),
        settings={**request.settings, "classifier": CLASSIFIER, "corrected": True, "beta": 3.0},
        signatures={},
        invented="" if real else "The questions, runs and judgements are invented.",
        remarks=(*_REMARKS, *(note for tables in sets for note in _says_yes(tables))),
    )


# ------------------------------------------------------------------------------------ numbers


def _numbers(tables: NuggeteerTables) -> Iterator[ReproducedNumber]:
    for (item, method, average), paper in TABLE_2.items():
        our_value, item_name = tables.score(method, average).tau_b, f"{item}, {average}"
        yield _number("Table 2", item_name, "Kendall's tau", paper, our_value, tables.name)
    plain = tables.score(f"paper, default, {HINDSIGHT}")
    rival = tables.score(f"Pourpre count, {HINDSIGHT}", "macro")
    values = {"R^2": plain.r_squared, "RMSE": plain.rmse, "R^2 of Pourpre": rival.r_squared}
    for name, value in values.items():
        if value is not None:
            item = NUGGETEER if name in ("R^2", "RMSE") else "Pourpre, count, macro"
            measure = name.removesuffix(" of Pourpre")
            yield _number("Table 3", item, measure, TABLE_3[name], value, tables.name)
    for name, value in tables.likelihoods.items():
        item = f"model {name}"
        yield ReproducedNumber("Table 4", item, "log10 P", TABLE_4[name], value, tables.name)
    for row in tables.evaluation.judgements:
        if row.method in TABLE_5:
            item, published = TABLE_5[row.method]
            number = _number("Table 5", item, "F of decisions", published, row.f, tables.name)
            yield number._replace(low=row.low, high=row.high)
    for measure, value in tables.by_nugget.items():
        item, section = "Nuggeteer, a threshold for each nugget", "section 4.4"
        number = ReproducedNumber(section, item, measure, SECTION_4_4[measure], value, tables.name)
        yield number._replace(detail=f"TREC 2003; in hindsight {HINDSIGHT_2003[measure]:.3f}")
    model, runs = paper_runs(tables.evaluation.tuning, tables.official, OFFICIAL)
    if outside := runs_outside(runs):
        share = 100 * outside[0] / outside[1]
        item = "official scores outside 95% intervals"
        number = ReproducedNumber("Figure 5", item, "% of runs", OUTSIDE, share, tables.name)
        yield number._replace(detail=f"{outside[0]} of {outside[1]} runs; thresholds by {model}")


def _number(
    section: str, item: str, measure: str, paper: PublishedNumber, value: float, data: str
) -> ReproducedNumber:
    detail = f"{paper.low:.3f} to {paper.high:.3f} in the paper"
    return ReproducedNumber(section, item, measure, paper.value, value, data, detail=detail)


# -------------------------------------------------------------------------------- conclusions


def _conclusions(tables: NuggeteerTables) -> Iterator[Conclusion]:
    plain = tables.score(f"paper, default, {HINDSIGHT}")
    yield _against_pourpre(tables, plain.tau_b)
    if plain.rmse is not None:
        claim = "Nuggeteer's root mean squared error is below 0.1, as far as assessors differ."
        evidence = f"{plain.rmse:.3f}"
        yield Conclusion("section 4.1", claim, to_verdict(plain.rmse < FAR), evidence, tables.name)
    yield from _models(tables.likelihoods, tables.name)
    if tables.by_nugget and plain.rmse is not None:
        yield learned_thresholds(tables.by_nugget, plain.tau_b, plain.rmse, tables.name)
    f = {row.method: row.f for row in tables.evaluation.judgements}
    best, default = f["paper, best of 24"], f["paper, default"]
    yield settings_conclusion(best, default, tables.yes_to_all, tables.name)


def learned_thresholds(
    learned: Mapping[str, float], tau: float, error: float, data: str
) -> Conclusion:
    """Judge scores by learned thresholds against one threshold in hindsight: its tau and RMSE."""
    claim = (
        "Thresholds learned for each nugget give scores with a smaller error than one threshold "
        "chosen in hindsight."
    )
    evidence = (
        f"RMSE {learned['RMSE']:.3f}, in hindsight {error:.3f} (tau {learned[TAU]:.3f}, {tau:.3f})"
    )
    verdict = difference_verdict(error - learned["RMSE"])
    return Conclusion("section 4.4", claim, verdict, evidence, data)


def _against_pourpre(tables: NuggeteerTables, tau: float) -> Conclusion:
    methods = [key[1:] for key in TABLE_2 if key[0].startswith("Pourpre")]
    taus = [tables.score(*method).tau_b for method in methods]
    best = max((value for value in taus if not isnan(value)), default=nan)
    claim = (
        "Nuggeteer ranks systems better than every form of Pourpre (on 3 of the paper's 4 sets)."
    )
    evidence = f"tau {tau:.3f}, best form of Pourpre {best:.3f}"
    return Conclusion("Table 2", claim, difference_verdict(tau - best), evidence, tables.name)


def _models(likelihoods: Mapping[str, float], data: str) -> Iterator[Conclusion]:
    evidence = ", ".join(f"{name} {likelihoods[name]:,.0f}" for name in TABLE_4)
    by_granularity = [likelihoods[name] for name in ("coin", "global", "question", "nugget")]
    order = all(coarse < fine for coarse, fine in pairwise(by_granularity))
    claim = "Thresholds by nugget are likelier than by question, those than one threshold."
    yield Conclusion("Table 4", claim, to_verdict(order), evidence, data)
    claim = "Error rates by nugget are too many parameters: the model with them is less likely."
    fewer = likelihoods["nugget-errors"] < likelihoods["nugget"]
    evidence = (
        f"nugget {likelihoods['nugget']:,.0f}, nugget-errors {likelihoods['nugget-errors']:,.0f}"
    )
    yield Conclusion("Table 4", claim, to_verdict(fewer), evidence, data)


def settings_conclusion(best: float, default: float, yes: float, data: str) -> Conclusion:
    """Judge whether settings matter, by F of the best and the default ones.

    If even the best setting is not `SMALL` above `yes`, the F of a classifier that says yes to
    every pair, no setting had anything to decide, and their difference is undecided.
    """
    claim = f"Stemming, n-gram size, weights and stop words add at most {SMALL} to F."
    evidence = f"best of 24 settings {best:.3f}, default {default:.3f}"
    if best - yes < SMALL:
        evidence += f"; yes to every pair {yes:.3f}, so no setting decides anything"
        return Conclusion("Table 5", claim, UNDECIDED, evidence, data)
    return Conclusion("Table 5", claim, to_verdict(best - default <= SMALL), evidence, data)


# -------------------------------------------------------------------------------- differences


def _difference(tables: NuggeteerTables) -> PaperDifference:
    questions, runs = len(tables.nuggets.key.questions), len(tables.nuggets.runs)
    paper = "TREC 2003 to 2005: 25 to 75 questions, 10 to 72 systems"
    return PaperDifference("data", paper, f"{tables.name}: {questions} questions, {runs} runs")


_RESPONSES = (
    PaperDifference("responses", "10 to 17 strings a question", "one answer or summary a question"),
)
_DIFFERS = (
    PaperDifference("idf", "of a background corpus", "of the responses of the set"),
    PaperDifference(
        "cross-validation", "a system or an institution is left out", "a run is left out"
    ),
    PaperDifference(
        "threshold of Table 5", "chosen for each set by its result", "chosen without the run"
    ),
    PaperDifference("priors of Table 4", "not said", "uniform"),
    PaperDifference(
        "Figure 5",
        "thresholds chosen for each set; no formula of intervals",
        "likeliest thresholds, learned without the run; intervals from errors on the other runs",
    ),
)
_REMARKS = (
    "Beside ours stand the paper's numbers for TREC 2005 other, its largest set; details have the "
    "range over its sets. Ways of Table 2 choose their threshold in hindsight, as in the paper.",
    "Conclusions are judged by values alone. Equal values decide nothing, nor do settings that are "
    f"less than {SMALL} above the F of saying yes to every pair.",
)


def _says_yes(tables: NuggeteerTables) -> Iterator[str]:
    """Add a note if the paper's form with one threshold is hardly better than always yes."""
    plain = next(row for row in tables.evaluation.judgements if row.method == "paper, default")
    if plain.f - tables.yes_to_all < SMALL:
        yield (
            f"{tables.name}: with one threshold for all nuggets, the paper's form is hardly better "
            f"than yes to every pair (F {plain.f:.3f} and {tables.yes_to_all:.3f}; recall "
            f"{plain.recall:.3f}, precision {plain.precision:.3f})."
        )
