"""The signature of a nugget score: all that changes the number, but the texts themselves.

    nugget-f:beta=3,weights=vital,strict=no,judgements=corrected|key=0f3c2a91|judged=5d1e77b0|
    guess=calibrated:learned=13158,responses=927|idf=pooled|interval=these|karat=0.2.0

`key` and `judged` are digests of the key and of all judgements. `learned` counts the judged pairs
that the classifier learned from; `responses` those that it looked at together, which is what pooled
idf and likeness depend on. Intervals are about the score on these questions, or about questions in
general. `ties` stands behind `judgements` where a tie between people does not count as half,
`models` where labels of models are no judgements.
"""

from __future__ import annotations

from urllib.parse import quote

from karat import __version__
from karat.nuggets.guess.classifiers import Calibrated
from karat.nuggets.guess.guesses import Nuggeteer
from karat.nuggets.guess.paper.classifier import AUTO, INFORMED, Paper
from karat.nuggets.guess.words import TOKENIZER
from karat.nuggets.scores.official import Official
from karat.nuggets.sets.judgements import NAMELESS
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.nuggets.sets.voting import HALF
from karat.registry import origin
from karat.settings import to_text

CORRECTED, AS_JUDGED = "corrected", "as-judged"
"""Judgements speak for identical responses of all runs; or a run's own stand as they are."""


def signature(
    how: Official, found: Nuggeteer | None, nuggets: NuggetSet, corrected: bool, general: bool
) -> str:
    """Return the settings that a run was scored with, and digests of the key and judgements.

    `found` is what guessed, if anything did, and has intervals then.
    """
    judgements = nuggets.judgements
    judged = CORRECTED if corrected else AS_JUDGED
    judged += f",ties={judgements.ties}" * (judgements.ties != HALF)
    if models := judgements.of_models:
        judged += ",models=" + "+".join(quote(name or NAMELESS, safe="") for name in models)
    data = [
        f"key={nuggets.key.digest}",
        f"judged={judgements.digest if judgements.rows else 'none'}",
    ]
    guesses = _guesses(found, general)
    return "|".join([f"{how},judgements={judged}", *data, *guesses, f"karat={__version__}"])


def _guesses(found: Nuggeteer | None, general: bool) -> list[str]:
    if found is None:
        return ["guess=none"]
    settings = _settings(found) | {"learned": str(found.learned or "nothing")}
    settings["responses"] = str(len(found.pool.texts))
    shown = ",".join(f"{name}={value}" for name, value in settings.items())
    source = None if settings.get("weight") == "count" else getattr(found.rule, "source", None)
    idf, questions = source.signature if source else "none", "general" if general else "these"
    package = f"@{origin(type(found.rule))}" * bool(origin(type(found.rule)))
    return [f"guess={found.classifier}{package}:{shown}", f"idf={idf}", f"interval={questions}"]


def _settings(found: Nuggeteer) -> dict[str, str]:
    """Return the settings of the classifier that guessed; idf stands for itself."""
    if found.classifier == Calibrated.name:
        return {}
    text = found.rule.full_name().partition(":")[2]
    told = dict(item.split("=", 1) for item in text.split(",") if item)
    if not isinstance(found.rule, Paper):
        return told
    shown = {name: told[name] for name in ("n", "weight", "stem", "stop")} | {"tok": TOKENIZER}
    shown |= {name: told[name] for name in ("normalised", "once")}
    shown["on_responses"] = told["responses"]
    if found.rule.informativeness == INFORMED:
        shown["informativeness"] = told["informativeness"]
    if found.rule.threshold is not None:
        return {**shown, "threshold": to_text(found.rule.threshold)}
    # `auto/nugget` is not `nugget`: runs that are left out may have had another model chosen.
    model = found.rule.threshold_model
    chosen = f"/{found.paper.thresholds.model}" if found.paper and model == AUTO else ""
    return {**shown, "thresholds": model + chosen}
