"""The tokenisers and stemmers of the tools that defined them, as functions from text to words."""

from __future__ import annotations

from collections.abc import Callable

from nltk.stem.porter import PorterStemmer
from rouge_score import tokenize as rouge_tokenize
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_char import TokenizerChar
from sacrebleu.tokenizers.tokenizer_intl import TokenizerV14International
from sacrebleu.tokenizers.tokenizer_none import NoneTokenizer
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

_SACREBLEU = {
    "13a": Tokenizer13a(),
    "intl": TokenizerV14International(),
    "zh": TokenizerZh(),
    "char": TokenizerChar(),
    "none": NoneTokenizer(),
}
_PORTER = PorterStemmer()
_CHRF = CHRF(word_order=2)

TOKENIZERS = (*_SACREBLEU, "rouge")


def cut(tok: str, text: str, lower: bool = False) -> str:
    """The line that BLEU would split at white space, or rouge-score's tokens joined."""
    if tok == "rouge":
        return " ".join(rouge_tokenize.tokenize(text, None))
    return _SACREBLEU[tok]((text.lower() if lower else text).rstrip())


def words(tok: str, text: str, lower: bool = False) -> list[str]:
    """The tokens of a text."""
    return cut(tok, text, lower).split()


def chrf_words(text: str) -> list[str]:
    """The words of chrF++."""
    return _CHRF._remove_punctuation(text)


def porter(word: str) -> str:
    """rouge-score's stem: NLTK's Porter, lower-cased, for words of more than three characters."""
    lowered = word.lower()
    return _PORTER.stem(lowered) if len(lowered) > 3 else lowered


def forget() -> None:
    """Empty the definers' caches, which hold whole texts."""
    caches: list[Callable[..., str]] = [
        kind.__call__
        for kind in (
            Tokenizer13a,
            TokenizerV14International,
            TokenizerZh,
            TokenizerChar,
            TokenizerRegexp,
        )
    ]
    for cached in caches:
        cached.cache_clear()  # type: ignore[attr-defined]
