"""Without the peers: they are not imported, and an import costs little."""

from __future__ import annotations

import subprocess
import sys

import pytest

BLOCKED = """
import sys

for name in ("sacrebleu", "rouge_score", "nltk", "evaluate", "datasets", "absl"):
    sys.modules[name] = None  # an import of it fails

{code}
"""

SCRIPT = """
from karat.compat import rouge_scorer, sacrebleu
from karat.compat.rouge_scorer import scoring
from karat.compat.sacrebleu.metrics import BLEU, CHRF, TER
from karat.compat.sacrebleu.metrics.bleu import BLEUScore

print(sacrebleu.corpus_bleu(["the cat sat on the mat"], [["the cat sat on the mat"]]))
print(*(M().corpus_score(["a b"], [["a b"]]).name for M in (BLEU, CHRF, TER)))
print(rouge_scorer.RougeScorer(["rougeL"]).score("a b", "a b")["rougeL"])
"""


def run(code: str) -> str:
    """What a program prints in a Python of its own, in which the peers cannot be imported."""
    command = [sys.executable, "-c", BLOCKED.format(code=code)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_peers_are_not_needed() -> None:
    assert run(SCRIPT).splitlines() == [
        "BLEU = 100.00 100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.000 hyp_len = 6 ref_len = 6)",
        "BLEU chrF2 TER",
        "Score(precision=1.0, recall=1.0, fmeasure=1.0)",
    ]


def test_a_blocked_peer_is_blocked() -> None:
    with pytest.raises(AssertionError, match="import of sacrebleu halted"):
        run("import sacrebleu")


@pytest.mark.parametrize("module", ["karat.compat.sacrebleu", "karat.compat.rouge_scorer"])
def test_an_import_loads_neither_numpy_nor_the_kernel(module: str) -> None:
    code = f"import {module}\nprint([n for n in ('numpy', 'karat._kernel') if n in sys.modules])"
    assert run(code) == "[]\n"
