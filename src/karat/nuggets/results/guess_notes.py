"""Notes on guesses: which classifier made them, and what its intervals rest on."""

from __future__ import annotations

from typing import Any

from karat.estimation.estimates import FEWEST as ENOUGH
from karat.nuggets.guess.classifiers import Calibrated
from karat.nuggets.guess.guesses import Nuggeteer
from karat.nuggets.guess.model_labels import FEWEST, FEWEST_OF_A_KIND, ModelJudge
from karat.nuggets.guess.paper.classifier import AUTO, Paper
from karat.nuggets.guess.paper.thresholds import BEST_F, BUILT_IN, MODELS
from karat.nuggets.intervals.intervals import Errors, few_runs
from karat.nuggets.scores.idf_sources import POOLED, IdfSource
from karat.nuggets.scores.official import Official


def about_guesses(found: Nuggeteer, about_intervals: str) -> list[str]:
    """Return what guesses rest on; the first note ends with the sentences about intervals."""
    rule: Any = found.rule
    told = [f"{_guesses(found, rule)} {about_intervals}"]
    if found.classifier not in (Calibrated.name, Paper.name):
        return told
    told += [_model(one) for one in found.heard.models] if found.heard else []
    if not isinstance(rule, Calibrated) or rule.idf != "pooled":
        told.append(about_idf(rule.source))
    return told


def unjudged(count: int, whole: int) -> str:
    """Return the warning on intervals where nobody judged some of the questions."""
    return (
        f"Warning: nobody judged any run on {count:,} of {whole:,} questions. The classifier "
        "guesses worse there than on judged questions, where its errors were measured, so 95% "
        f"intervals are too narrow. Use karat estimate; it needs {ENOUGH} judged questions."
    )


def about_idf(idf: IdfSource) -> str:
    """Return the sentence on where idf comes from."""
    texts = "standard input" if idf.name == "-" else idf.name
    return f"idf: {'the responses themselves' if idf.name == POOLED else f'the texts of {texts}'}."


def _model(judge: ModelJudge) -> str:
    """Say how a model agrees with people, and whether guesses use its labels."""
    name, beside = judge.name or "the model without a name", judge.agreement
    if not judge.used:
        return (
            f"Guesses do not use the labels of {name}: people judged {beside.units:,} of its "
            f"{judge.labels:,} pairs, too few to tell how wrong it is (it takes {FEWEST}, "
            f"{FEWEST_OF_A_KIND} of them carried and {FEWEST_OF_A_KIND} not)."
        )
    return (
        f"Guesses use the {judge.labels:,} labels of {name}, which agrees with people on "
        f"{100 * beside.equal:.0f}% of {beside.units:,} pairs (kappa {beside.value:.2f})."
    )


def about_intervals(found: Nuggeteer, how: Official, general: bool, some: bool) -> str:
    """Explain the ends of intervals, if there are any."""
    if found.classifier != Calibrated.name and not some:
        return "It has no intervals: they need at least two runs judged on at least two questions."
    which = "questions like these" if general else "these questions"
    ends = f"Low and high: 95% intervals of A and of F macro on {which}"
    errors = found.errors(how).share
    if found.classifier == Calibrated.name and few_runs(errors):
        return f"{ends}. {_base_rate(found, errors)}"
    return f"{ends}, from its errors on judged runs left out of its training."


def _base_rate(found: Nuggeteer, errors: Errors | None) -> str:
    """Explain intervals that do not come from measured errors alone."""
    judged = int((found.labels >= 0).sum())
    if not judged:
        return (
            "They come without judgements, so they allow for an unknown base rate of carried "
            "nuggets: this set may differ from those that the classifier learned from as much as "
            "one question from another. Judgements on a few questions make them narrower."
        )
    if errors is None:
        return (
            "There are too few judgements to measure its errors, so they allow for an uncertain "
            "base rate of carried nuggets, which is learned from the "
            f"{judged:,} judged pair{'s' * (judged != 1)}."
        )
    return (
        f"Its errors were measured on {errors.runs} judged runs alone; where it is narrower, the "
        "interval is one that allows for an unknown base rate of carried nuggets."
    )


def _guesses(found: Nuggeteer, rule: Any) -> str:
    """Say which classifier guesses, and what it learned from."""
    if found.classifier == Paper.name:
        if rule.threshold is not None:
            how = f"threshold {rule.threshold:g}, as given"
        elif found.paper and found.paper.thresholds.model == BUILT_IN:
            share = found.paper.thresholds.elsewhere.threshold
            how = (
                "without judgements, the built-in threshold: a response carries a nugget if it "
                f"scores more than {share:g} of what the nugget's description would"
            )
        else:
            model = found.paper.thresholds.model if found.paper else BEST_F
            why = ", the likeliest model" if rule.threshold_model == AUTO else ""
            name = MODELS.get(model, "the threshold with the best F")
            how = f"{name}{why}, learned from {found.learned:,} judged pairs"
        return f"Guesses: the paper's classifier, {rule.shown_whole}; {how}."
    if found.classifier != Calibrated.name:
        return f"Guesses: the classifier {rule}."
    if found.learned:
        return f"Guesses: a calibrated classifier that learned from {found.learned:,} judged pairs."
    judged, yes = int((found.labels >= 0).sum()), int((found.labels > 0).sum())
    return (
        "Guesses: the built-in classifier, because there are too few judgements to learn from "
        f"(needed: 100 judged pairs, 20 carried and 20 not; found: {judged}, {yes} and "
        f"{judged - yes})."
    )


def percentage(share: float, digits: int = 0) -> str:
    """Return a share in percent; only all is 100%, and only nothing 0%."""
    least = 10 ** -(digits + 2)
    if 0 < share < least / 2:
        return f"under {least:.{digits}%}"
    if 1 - least / 2 <= share < 1:
        return f"over {1 - least:.{digits}%}"
    return f"{share:.{digits}%}"
