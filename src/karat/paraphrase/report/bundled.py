"""The caution that reports carry where their numbers come from the bundled paraphrase model."""

from __future__ import annotations

CAUTION = (
    "This is the small bundled model, for trying out only: on 7,159 judged headlines its PEM "
    "hardly agreed with people (Pearson 0.06; its pivot F1 alone: 0.49), so train one on your own "
    "text and judgements with karat paraphrase train before you rely on a score."
)
