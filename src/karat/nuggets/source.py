"""Nuggets as a source of scores per item, as `karat gate` knows it; nothing else is loaded here."""

from __future__ import annotations

from karat.gating.items import Source

NUGGETS = Source(
    read="karat.nuggets.results.item_scores:read_questions",
    options="karat.nuggets.cli.options:gate_options",
)
