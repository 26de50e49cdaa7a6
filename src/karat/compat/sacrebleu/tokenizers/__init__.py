"""sacreBLEU's tokenizers: objects that turn a segment into tokens with a space between them.

    from karat.compat.sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    Tokenizer13a()("A dog, a cat.")  # 'A dog , a cat .'

Each class is also in the module where sacreBLEU has it (`MODULES`).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from karat.compat.sacrebleu.dataset import SACREBLEU_DIR
from karat.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from karat.text.tokens import Lexicon

__all__ = ["MODULES", "SACREBLEU_DIR", "SPM_MODELS", "TOKENIZERS", "BaseTokenizer", "sacrelogger"]

sacrelogger = logging.getLogger("sacrebleu")
_LOCAL = threading.local()


class MissingTokenizer(MissingExtra, RuntimeError):
    """A tokenizer whose package is not installed, also a RuntimeError as in sacreBLEU."""


class MissingModelPackage(MissingExtra, ImportError):
    """A tokenizer without the package sentencepiece, also an ImportError as in sacreBLEU."""


class BaseTokenizer:
    """The base class of tokenizers."""

    def signature(self) -> str:
        """Return the name of the tokenizer in signatures."""
        raise NotImplementedError

    def __call__(self, line: str) -> str:
        """Return the tokens of a segment with a space between them."""
        raise NotImplementedError


class KernelWords(BaseTokenizer):
    """The base class of tokenizers that Karat has under `karat_name`."""

    karat_name: ClassVar[str]

    def signature(self) -> str:
        return self.karat_name

    def __call__(self, line: str) -> str:
        from karat.text.tokens import Recipe

        recipe, lexicon = Recipe(self.karat_name), _thread_lexicon()
        ids = lexicon.passage([line], "line").tokens(recipe).ids.tolist()
        vocab = lexicon.words(recipe)
        return " ".join([vocab.words(i, i + 1)[0] for i in ids])


def _thread_lexicon() -> Lexicon:
    """Return the vocabularies of this thread."""
    from karat.text.tokens import Lexicon

    if not hasattr(_LOCAL, "lexicon"):
        _LOCAL.lexicon = Lexicon()
    lexicon: Lexicon = _LOCAL.lexicon
    lexicon.tidy()
    return lexicon


# --------------------------------------------------------------------------------- by rules


class NoneTokenizer(BaseTokenizer):
    """The segment as it is."""

    def signature(self) -> str:
        return "none"

    def __call__(self, line: str) -> str:
        return line


class Tokenizer13a(KernelWords):
    """mteval-v13a, the default of WMT."""

    karat_name = "13a"

    def __call__(self, line: str) -> str:
        if "\n" not in line:
            return super().__call__(line)
        # The kernel drops line feeds at the end of a segment, as BLEU does, before they join words.
        joined = line.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
        for entity, char in ("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"):
            joined = joined.replace(entity, char)
        return TokenizerRegexp()(f" {joined} ")


class TokenizerRegexp(BaseTokenizer):
    """The last step of `13a` and `zh`: punctuation apart from words."""

    _WESTERN: ClassVar[tuple[tuple[str, str], ...]] = (
        (r"([!-&(-+/:-@\[-`{-~ ])", r" \1 "),  # all ASCII signs but apostrophe, comma, dash, period
        (r"([^0-9])([.,])", r"\1 \2 "),
        (r"([.,])([^0-9])", r" \1 \2"),
        (r"([0-9])(-)", r"\1 \2 "),
    )

    def signature(self) -> str:
        return "re"

    def __call__(self, line: str) -> str:
        import re

        for pattern, replacement in self._WESTERN:
            line = re.sub(pattern, replacement, line)
        return " ".join(line.split())


class TokenizerV14International(KernelWords):
    """mteval-v14 international: apart at Unicode punctuation and symbols."""

    karat_name = "intl"


class TokenizerZh(KernelWords):
    """Chinese characters one by one, the rest as `13a`."""

    karat_name = "zh"


class TokenizerChar(BaseTokenizer):
    """Every character, white space too."""

    def signature(self) -> str:
        return "char"

    def __call__(self, line: str) -> str:
        return " ".join(line)


class TercomTokenizer(BaseTokenizer):
    """Tercom's tokenizer, used by TER."""

    ASIAN_PUNCT = "([\u3001\u3002\u3008-\u3011\u3014-\u301f\uff61-\uff65\u30fb])"
    FULL_WIDTH_PUNCT = "([\uff0e\uff0c\uff1f\uff1a\uff1b\uff01\uff02\uff08\uff09])"

    def __init__(
        self,
        normalized: bool = False,
        no_punct: bool = False,
        asian_support: bool = False,
        case_sensitive: bool = False,
    ) -> None:
        self._switches = bool(normalized), bool(no_punct), bool(asian_support)
        self._case_sensitive = case_sensitive

    def signature(self) -> str:
        return "tercom"

    def __call__(self, sent: str) -> str:
        lexicon = _thread_lexicon()
        case = "mixed" if self._case_sensitive else "lower"
        passage = lexicon.passage([sent], "sent")
        ids = passage.tercom(*self._switches, case, twice=False).ids.tolist()
        vocab = lexicon.vocab("tercom", case)
        return " ".join([vocab.words(i, i + 1)[0] for i in ids])


# ------------------------------------------------------------------------------- by packages


class TokenizerJaMecab(KernelWords):
    """Japanese words by MeCab with IPADIC."""

    karat_name = "ja-mecab"

    def __init__(self) -> None:
        self._signature = _signed(self.karat_name)

    def signature(self) -> str:
        return self._signature


class TokenizerKoMecab(TokenizerJaMecab):
    """Korean words by mecab-ko."""

    karat_name = "ko-mecab"


def _signed(name: str) -> str:
    """Return a tokenizer's name with the version of its package."""
    from karat.metrics.signatures import written_tokenizer

    try:
        return str(written_tokenizer(name))
    except MissingExtra as error:
        raise MissingTokenizer(str(error)) from error


SPM_MODELS = {
    "spm": {"signature": "flores101"},
    "flores101": {"signature": "flores101"},
    "flores200": {"signature": "flores200"},
    "spBLEU-1K": {"signature": "spBLEU-1K"},
}
"""The SentencePiece models; Karat reads those that sacreBLEU has downloaded."""


class TokenizerSPM(KernelWords):
    """Pieces of a SentencePiece model that sacreBLEU has downloaded."""

    def __init__(self, key: str = "spm") -> None:
        from karat.text.tokens import tokenizer_origin

        if key not in SPM_MODELS:
            raise InputError(f"key={key}: expected {', '.join(SPM_MODELS)}")
        self.name = self.karat_name = SPM_MODELS[key]["signature"]  # type: ignore[misc]
        try:
            tokenizer_origin(self.name)
        except MissingExtra as error:
            raise MissingModelPackage(str(error)) from error


class Flores101Tokenizer(TokenizerSPM):
    """The model of FLORES-101."""

    def __init__(self) -> None:
        super().__init__("flores101")


class Flores200Tokenizer(TokenizerSPM):
    """The model of FLORES-200."""

    def __init__(self) -> None:
        super().__init__("flores200")


class spBLEU1KTokenizer(TokenizerSPM):  # noqa: N801
    """The model of spBLEU-1K."""

    def __init__(self) -> None:
        super().__init__("spBLEU-1K")


TOKENIZERS: dict[str, Callable[[], BaseTokenizer]] = {
    "none": NoneTokenizer,
    "zh": TokenizerZh,
    "13a": Tokenizer13a,
    "intl": TokenizerV14International,
    "char": TokenizerChar,
    "ja-mecab": TokenizerJaMecab,
    "ko-mecab": TokenizerKoMecab,
    "spm": partial(TokenizerSPM, "spm"),
    "flores101": Flores101Tokenizer,
    "flores200": Flores200Tokenizer,
    "spBLEU-1K": spBLEU1KTokenizer,
}
"""The tokenizers of BLEU by their names."""
PACKAGED = frozenset({"ja-mecab", "ko-mecab", *SPM_MODELS})
"""The tokenizers that need a package or a model."""

MODULES = {
    "tokenizer_base": ("BaseTokenizer",),
    "tokenizer_none": ("NoneTokenizer", "BaseTokenizer"),
    "tokenizer_13a": ("Tokenizer13a", "TokenizerRegexp", "BaseTokenizer"),
    "tokenizer_re": ("TokenizerRegexp", "BaseTokenizer"),
    "tokenizer_intl": ("TokenizerV14International", "BaseTokenizer"),
    "tokenizer_zh": ("TokenizerZh", "TokenizerRegexp", "BaseTokenizer"),
    "tokenizer_char": ("TokenizerChar", "BaseTokenizer"),
    "tokenizer_ter": ("TercomTokenizer", "BaseTokenizer"),
    "tokenizer_ja_mecab": ("TokenizerJaMecab", "BaseTokenizer"),
    "tokenizer_ko_mecab": ("TokenizerKoMecab", "BaseTokenizer"),
    "tokenizer_spm": (
        *("TokenizerSPM", "Flores101Tokenizer", "Flores200Tokenizer", "spBLEU1KTokenizer"),
        *("SACREBLEU_DIR", "SPM_MODELS", "BaseTokenizer", "sacrelogger"),
    ),
}
"""sacreBLEU's modules of tokenizers and their names."""
