"""Notes on guesses: the classifier and the basis of its intervals; signatures."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from karat import __version__
from karat.arrays import np
from karat.nuggets.prediction.intervals import few_runs
from karat.nuggets.prediction.model_labels import (
    PRIOR_RIGHT,
    PRIOR_WRONG,
    ModelLabels,
    RateSummary,
)
from karat.nuggets.prediction.paper import AUTO, INFORMED, Paper
from karat.nuggets.prediction.predictions import (
    MIN_MODEL_LABELS,
    MIN_MODEL_LABELS_OF_A_KIND,
    Calibrated,
    ModelJudge,
    Predictions,
)
from karat.nuggets.prediction.thresholds import BEST_F, BUILT_IN, MODELS
from karat.nuggets.scores.official import OfficialSettings
from karat.nuggets.scores.words import POOLED, TOKENIZER, IdfSource
from karat.nuggets.sets.judgements import HALF, NAMELESS
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.registry import origin
from karat.settings import split_unquoted, to_text

CORRECTED_NOTE = (
    "{} are corrected: a response carries a nugget if an identical response of any run was judged "
    "to."
)
STRICT_NOTE = "Partial support counts as no support (strict)."


def about_guesses(predictions: Predictions, about_intervals: str) -> list[str]:
    """Return notes on the basis of guesses; the first ends with the sentences about intervals."""
    classifier: Any = predictions.classifier
    notes = [f"{_about_classifier(predictions, classifier)} {about_intervals}"]
    if not isinstance(classifier, Calibrated | Paper):
        return notes
    n_lowered = sum(bool(np.isnan(predictions.labels[x])) for x in predictions.contradictions)
    if n_lowered:
        guesses = f"{n_lowered:,} guess{'es were' if n_lowered > 1 else ' was'}"
        facts = "another number, another name or a negation"
        notes.append(f"{guesses} lowered, as the response has {facts} where it states the nugget.")
    if predictions.adjustment:
        notes += [_about_model(judge) for judge in predictions.adjustment.models]
    if not isinstance(classifier, Calibrated) or classifier.idf != POOLED:
        notes.append(about_idf(classifier.source))
    return notes


def about_labels(labels: ModelLabels, strict: bool) -> list[str]:
    """Return notes on the basis of scores by a model's labels."""
    rates = zip(("sensitivity", "specificity"), labels.error_rates(strict), strict=True)
    rates_text = " and ".join(f"{name} {_rate_text(rate)}" for name, rate in rates)
    prior = f"the prior Beta({PRIOR_RIGHT:g}, {PRIOR_WRONG:g}) of both"
    basis = f"{prior} alone, as no person checked them; judge some at random to narrow it"
    if labels.checked:
        basis = f"{prior} and the {labels.checked:,} labelled nuggets that people judged"
    return [
        f"Labels of {labels.name} decide what people did not judge. Low and high: 95% intervals of "
        "A and of F macro on questions like these (at least two). They allow for the choice of "
        f"questions and for an unknown error of the labels: {rates_text}, from {basis}."
    ]


def _rate_text(rate: RateSummary) -> str:
    return f"{rate.mean:.2f} [{rate.low:.2f}, {rate.high:.2f}]"


def unjudged_warning(count: int, total: int) -> str:
    """Return the warning on intervals if some questions have no judgements."""
    from karat.estimation.estimates import MIN_LABELS

    return (
        f"Warning: nobody judged any run on {count:,} of {total:,} questions. The classifier "
        "guesses worse there than on judged questions, where its errors were measured, so 95% "
        f"intervals are too narrow. Use karat estimate; it needs {MIN_LABELS} judged questions."
    )


def about_idf(idf: IdfSource) -> str:
    """Return the sentence on where idf comes from."""
    texts = "standard input" if idf.name == "-" else idf.name
    return f"idf: {'the responses themselves' if idf.name == POOLED else f'the texts of {texts}'}."


def _about_model(judge: ModelJudge) -> str:
    """Say how a model agrees with people, and whether guesses use its labels."""
    name, agreement = judge.name or "the model without a name", judge.agreement
    if not judge.is_used:
        return (
            f"Guesses do not use the labels of {name}: people judged {agreement.units:,} of its "
            f"{judge.n_labels:,} pairs, too few to tell how wrong it is (it takes "
            f"{MIN_MODEL_LABELS}, {MIN_MODEL_LABELS_OF_A_KIND} of them carried and "
            f"{MIN_MODEL_LABELS_OF_A_KIND} not)."
        )
    return (
        f"Guesses use the {judge.n_labels:,} labels of {name}, which agrees with people on "
        f"{100 * agreement.equal:.0f}% of {agreement.units:,} pairs (kappa {agreement.value:.2f})."
    )


def about_intervals(
    predictions: Predictions,
    official_settings: OfficialSettings,
    general: bool,
    has_intervals: bool,
) -> str:
    """Explain the ends of intervals, if there are any."""
    is_calibrated = isinstance(predictions.classifier, Calibrated)
    if not is_calibrated and not has_intervals:
        return "It has no intervals: they need at least two runs judged on at least two questions."
    questions = "questions like these" if general else "these questions"
    ends = f"Low and high: 95% intervals of A and of F macro on {questions}"
    errors = predictions.errors(official_settings).share
    if not is_calibrated or not few_runs(errors):
        return f"{ends}, from its errors on judged runs left out of its training."
    judged = int((predictions.labels >= 0).sum())
    if not judged:
        basis = (
            "They come without judgements, so they allow for an unknown base rate of carried "
            "nuggets: this set may differ from those that the classifier learned from as much as "
            "one question from another. Judgements on a few questions make them narrower."
        )
    elif errors is None:
        basis = (
            "There are too few judgements to measure its errors, so they allow for an uncertain "
            "base rate of carried nuggets, which is learned from the "
            f"{judged:,} judged pair{'s' * (judged != 1)}."
        )
    else:
        basis = (
            f"Its errors were measured on {errors.runs} judged runs alone; where it is narrower, "
            "the interval is one that allows for an unknown base rate of carried nuggets."
        )
    return f"{ends}. {basis}"


def _about_classifier(predictions: Predictions, classifier: Any) -> str:
    """Say which classifier guesses, and what it learned from."""
    if isinstance(classifier, Paper):
        if classifier.threshold is not None:
            threshold = f"threshold {classifier.threshold:g}, as given"
        elif predictions.paper and predictions.paper.thresholds.model == BUILT_IN:
            share = predictions.paper.thresholds.elsewhere.threshold
            threshold = (
                "without judgements, the built-in threshold: a response carries a nugget if it "
                f"scores more than {share:g} of what the nugget's description would"
            )
        else:
            model = predictions.paper.thresholds.model if predictions.paper else BEST_F
            reason = ", the likeliest model" if classifier.threshold_model == AUTO else ""
            name = MODELS.get(model, "the threshold with the best F")
            threshold = f"{name}{reason}, learned from {predictions.learned:,} judged pairs"
        return f"Guesses: the paper's classifier, {classifier.full_summary}; {threshold}."
    if not isinstance(classifier, Calibrated):
        return f"Guesses: the classifier {classifier}."
    if predictions.learned:
        learned = f"{predictions.learned:,} judged pairs"
        return f"Guesses: a calibrated classifier that learned from {learned}."
    judged, yes = int((predictions.labels >= 0).sum()), int((predictions.labels > 0).sum())
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


def signature(
    official_settings: OfficialSettings,
    predictions: Predictions | None,
    nuggets: NuggetSet,
    corrected: bool,
    general: bool,
    labels: ModelLabels | None = None,
) -> str:
    """Return the settings that a run was scored with, and digests of the key and judgements.

    `predictions` is what guessed, if anything did, and has intervals then.
    """
    judgements = nuggets.judgements
    judged = "corrected" if corrected else "as-judged"
    judged += f",ties={judgements.ties}" * (judgements.ties != HALF)
    if models := judgements.labels_by_model:
        judged += ",models=" + "+".join(quote(name or NAMELESS, safe="") for name in models)
    parts = [
        f"{official_settings},judgements={judged}",
        f"key={nuggets.key.digest}",
        f"judged={judgements.digest if judgements.rows else 'none'}",
    ]
    if labels:
        prior = f"prior={PRIOR_RIGHT:g}+{PRIOR_WRONG:g},checked={labels.checked}"
        parts.append(f"labels=model:{quote(labels.judge or NAMELESS, safe='')},{prior}")
    if predictions is None:
        return "|".join([*parts, "guess=none", f"karat={__version__}"])
    classifier = predictions.classifier
    settings = _settings(predictions) | {"learned": str(predictions.learned or "nothing")}
    settings["responses"] = str(len(predictions.pool.texts))
    fields = ",".join(f"{name}={value}" for name, value in settings.items())
    source = None if settings.get("weight") == "count" else getattr(classifier, "source", None)
    package = f"@{origin(type(classifier))}" * bool(origin(type(classifier)))
    parts += [
        f"guess={classifier.name}{package}:{fields}",
        f"idf={source.signature if source else 'none'}",
        f"interval={'general' if general else 'these'}",
    ]
    return "|".join([*parts, f"karat={__version__}"])


def _settings(predictions: Predictions) -> dict[str, str]:
    """Return the settings of the classifier in signatures, without idf."""
    classifier = predictions.classifier
    text = classifier.full_name().partition(":")[2]
    settings = dict(item.split("=", 1) for item in split_unquoted(text, ",") if item)
    if isinstance(classifier, Calibrated):
        defaults = {"idf": settings["idf"], "model": "none", "facts": "yes"}
        return {name: text for name, text in settings.items() if text != defaults.get(name, "none")}
    if not isinstance(classifier, Paper):
        return settings
    fields = {name: settings[name] for name in ("n", "weight", "stem", "stop")} | {"tok": TOKENIZER}
    fields |= {name: settings[name] for name in ("normalised", "once")}
    fields["on_responses"] = settings["responses"]
    if classifier.informativeness == INFORMED:
        fields["informativeness"] = settings["informativeness"]
    if classifier.threshold is not None:
        return {**fields, "threshold": to_text(classifier.threshold)}
    # `auto/nugget` is not `nugget`: runs that are left out may have had another model chosen.
    model = classifier.threshold_model
    chosen = f"/{predictions.paper.thresholds.model}" if predictions.paper and model == AUTO else ""
    return {**fields, "thresholds": model + chosen}
