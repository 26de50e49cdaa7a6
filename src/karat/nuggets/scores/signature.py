"""The signature of a nugget score: all that changes the number, but the texts themselves.

    nugget-f:beta=3,weights=vital,strict=no,judgements=corrected|guess=calibrated:learned=13158,
    responses=927|idf=pooled|interval=these|karat=0.2.0

`learned` counts the judged pairs that the classifier learned from; `responses` those that it looked
at together, which is what pooled idf and likeness depend on. Intervals are about the score on these
questions, or about questions in general. `ties` stands behind `judgements` where a tie between
people does not count as half, `models` where labels of models are no judgements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from urllib.parse import quote

from karat import __version__
from karat.nuggets.guess.guesses import PAPER, Nuggeteer
from karat.nuggets.guess.paper.paper import AUTO, Paper
from karat.nuggets.scores.official import Official
from karat.nuggets.sets.judge_kinds import NAMELESS
from karat.nuggets.sets.voting import HALF
from karat.settings import to_text
from karat.text.stopwords import stop_digest

CORRECTED, AS_JUDGED = "corrected", "as-judged"
"""Judgements speak for identical responses of all runs; or a run's own stand as they are."""


def signature(
    how: Official,
    found: Nuggeteer | None = None,
    *,
    corrected: bool = True,
    general: bool = False,
    ties: str = HALF,
    models: Sequence[str] = (),
) -> str:
    """Return the settings that a run was scored with.

    `found` is what guessed, if anything did, and has intervals then. `ties` is the value of a tie
    between people, `models` the judges whose labels are no judgements.
    """
    judged = CORRECTED if corrected else AS_JUDGED
    judged += f",ties={ties}" * (ties != HALF)
    if models:
        judged += ",models=" + "+".join(quote(name or NAMELESS, safe="") for name in models)
    parts = [f"{how},judgements={judged}", *_guesses(found, general), f"karat={__version__}"]
    return "|".join(parts)


def _guesses(found: Nuggeteer | None, general: bool) -> list[str]:
    if found is None:
        return ["guess=none"]
    by_paper = found.classifier == PAPER
    settings = {
        **(_paper(found, found.rule.paper) if by_paper else {}),
        "learned": str(found.learned) if found.learned else "nothing",
        "responses": str(len(found.pool.texts)),
    }
    shown = ",".join(f"{name}={value}" for name, value in settings.items())
    unused = by_paper and found.rule.paper.classifier.weight != "idf"
    idf = "none" if unused else found.rule.idf.signature
    questions = "general" if general else "these"
    return [f"guess={found.classifier}:{shown}", f"idf={idf}", f"interval={questions}"]


def _paper(found: Nuggeteer, paper: Paper) -> dict[str, str]:
    rule = paper.classifier
    settings = {f.name: to_text(getattr(rule, f.name)) for f in fields(rule)}
    if rule.stop != "none":
        settings["stop"] += f"@{stop_digest(rule.stop)}"
    return {**settings, "on_responses": to_text(paper.on_responses), **_threshold(found, paper)}


def _threshold(found: Nuggeteer, paper: Paper) -> dict[str, str]:
    """The threshold that was given, or the model of learned ones.

    `auto/nugget` is not `nugget`: runs that are left out may have had another model chosen.
    """
    if paper.threshold is not None:
        return {"threshold": to_text(paper.threshold)}
    chosen = [found.paper.thresholds.model] if found.paper and paper.thresholds == AUTO else []
    return {"thresholds": "/".join([paper.thresholds, *chosen])}
