"""sacreBLEU's metric classes and their scores."""

from typing import Any

from karat.compat.sacrebleu.metrics import lib_ter
from karat.compat.sacrebleu.metrics.bleu import BLEU, BLEUScore
from karat.compat.sacrebleu.metrics.chrf import CHRF, CHRFScore
from karat.compat.sacrebleu.metrics.ter import TER, TERScore

METRICS: dict[str, Any] = {"BLEU": BLEU, "CHRF": CHRF, "TER": TER}
"""The metrics by their names."""

__all__ = ["BLEU", "CHRF", "METRICS", "TER", "BLEUScore", "CHRFScore", "TERScore", "lib_ter"]
