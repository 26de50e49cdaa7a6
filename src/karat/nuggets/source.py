"""Nuggets as a source of scores per item, as `karat gate` knows it; nothing else is loaded here."""

from __future__ import annotations

from karat.evalset.catalogue import SetKind
from karat.gating.items import ScoreSource

NUGGETS = ScoreSource(
    read="karat.nuggets.results.item_scores:read_questions",
    options="karat.nuggets.cli.options:gate_options",
)


NUGGET_KIND = SetKind(
    agreement="karat.nuggets.results.contents:nugget_judge_agreement",
    options="karat.nuggets.cli.options:judge_options",
    read="karat.nuggets.cli.options:read_judged",
    estimate="karat.nuggets.estimation:estimate_nuggets",
    draws="karat.nuggets.estimation:read_question_draws",
    advice="karat.nuggets.formats.loading:nugget_set_advice",
)
"""Nugget sets, as `karat data judges` knows them."""
