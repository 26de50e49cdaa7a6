"""sacreBLEU's functions and classes, counted by Karat's kernel.

    from karat.compat import sacrebleu

    sacrebleu.corpus_bleu(hypotheses, [references])

References are streams, as in sacreBLEU: `references[k][i]` is reference k of segment i, or None.
"""

from __future__ import annotations

from collections.abc import Sequence

from karat import __version__ as _karat
from karat.compat.sacrebleu.metrics import BLEU, CHRF, TER, BLEUScore, CHRFScore, TERScore
from karat.compat.sacrebleu.metrics.base import Streams

__version__ = f"2.6.0+karat.{_karat}"
"""The version of sacreBLEU with this interface, and that of Karat."""

__all__ = [
    "BLEU",
    "CHRF",
    "TER",
    "corpus_bleu",
    "corpus_chrf",
    "corpus_ter",
    "raw_corpus_bleu",
    "sentence_bleu",
    "sentence_chrf",
    "sentence_ter",
]

_TEST_SETS = (
    *("DATASETS", "SACREBLEU_DIR", "download_test_set", "get_available_testsets"),
    *("get_langpairs_for_testset", "get_reference_files", "get_source_file"),
)
_LEFT_OUT = {
    **dict.fromkeys(_TEST_SETS, "Karat downloads no test sets; give the references as lists"),
    "extract_char_ngrams": "n-grams are counted in the kernel and are not listed",
    "extract_word_ngrams": "n-grams are counted in the kernel and are not listed",
    "significance": "karat.compare tests systems against a baseline",
    "smart_open": "karat.Lines reads files of segments, also compressed ones",
}
"""Names of sacreBLEU that are missing here -> reason."""


def __getattr__(name: str) -> object:
    reason = _LEFT_OUT.get(name)
    explanation = f": {reason}" if reason else ""
    raise AttributeError(f"karat.compat.sacrebleu has no {name}{explanation}")


def corpus_bleu(
    hypotheses: Sequence[str],
    references: Streams,
    smooth_method: str = "exp",
    smooth_value: float | None = None,
    force: bool = False,
    lowercase: bool = False,
    tokenize: str = "13a",
    use_effective_order: bool = False,
) -> BLEUScore:
    """Return BLEU of a corpus; `references[k]` is a stream with a reference for each hypothesis."""
    smoothing = smooth_method, smooth_value
    metric = BLEU(lowercase, force, tokenize, *smoothing, effective_order=use_effective_order)
    return metric.corpus_score(hypotheses, references)


def raw_corpus_bleu(
    hypotheses: Sequence[str], references: Streams, smooth_value: float | None = 0.1
) -> BLEUScore:
    """Return BLEU of tokens between white space, with smoothing `floor` and effective order."""
    smoothing = "floor", smooth_value
    metric = BLEU(False, True, "none", *smoothing, effective_order=True)
    return metric.corpus_score(hypotheses, references)


def sentence_bleu(
    hypothesis: str,
    references: Sequence[str],
    smooth_method: str = "exp",
    smooth_value: float | None = None,
    lowercase: bool = False,
    tokenize: str = "13a",
    use_effective_order: bool = True,
) -> BLEUScore:
    """Return BLEU of one sentence; `references` are its references."""
    smoothing = smooth_method, smooth_value
    metric = BLEU(lowercase, False, tokenize, *smoothing, effective_order=use_effective_order)
    return metric.sentence_score(hypothesis, references)


def corpus_chrf(
    hypotheses: Sequence[str],
    references: Streams,
    char_order: int = 6,
    word_order: int = 0,
    beta: float = 2,
    remove_whitespace: bool = True,
    eps_smoothing: bool = False,
) -> CHRFScore:
    """Return chrF of a corpus; with `word_order=2` it is chrF++."""
    orders = char_order, word_order, beta
    metric = CHRF(*orders, whitespace=not remove_whitespace, eps_smoothing=eps_smoothing)
    return metric.corpus_score(hypotheses, references)


def sentence_chrf(
    hypothesis: str,
    references: Sequence[str],
    char_order: int = 6,
    word_order: int = 0,
    beta: float = 2,
    remove_whitespace: bool = True,
    eps_smoothing: bool = False,
) -> CHRFScore:
    """Return chrF of one sentence."""
    orders = char_order, word_order, beta
    metric = CHRF(*orders, whitespace=not remove_whitespace, eps_smoothing=eps_smoothing)
    return metric.sentence_score(hypothesis, references)


def corpus_ter(
    hypotheses: Sequence[str],
    references: Streams,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> TERScore:
    """Return TER of a corpus."""
    metric = TER(normalized, no_punct, asian_support, case_sensitive)
    return metric.corpus_score(hypotheses, references)


def sentence_ter(
    hypothesis: str,
    references: Sequence[str],
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> TERScore:
    """Return TER of one sentence."""
    metric = TER(normalized, no_punct, asian_support, case_sensitive)
    return metric.sentence_score(hypothesis, references)
