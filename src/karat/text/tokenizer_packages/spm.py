"""Pieces of words by a SentencePiece model: a file of the user's, or a model of sacreBLEU's.

Karat downloads nothing. `spm:FILE` names a model; `flores101`, `flores200` and `spBLEU-1K` are
looked for where sacreBLEU keeps what it has downloaded: `models` in $SACREBLEU or ~/.sacrebleu.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

from karat.errors import InputError, MissingExtra
from karat.storage.digests import bytes_digest

_NEEDS = "needs the package sentencepiece: pip install 'karat[spm]'"


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
        found = sentencepiece.SentencePieceProcessor(model_proto=data)
    except RuntimeError as error:
        raise InputError(f"tokeniser {name}: {path} is no SentencePiece model") from error
    return found, bytes_digest(data)


class SpmTokenizer:
    """The pieces of a model."""

    def __init__(self, name: str, path: Path, meaning: str = "") -> None:
        self.name, self._path, self.meaning = name, path, meaning

    def version(self) -> str:
        """Return a digest of the model, for signatures."""
        return self._model()[1]

    def __call__(self, text: str) -> list[str]:
        """Return the pieces of a text."""
        try:
            pieces = self._model()[0].encode(text, out_type=str)
        except (UnicodeEncodeError, RuntimeError) as error:
            odd = any("\ud800" <= c <= "\udfff" for c in text)
            lone = "a lone surrogate in the text cannot be encoded; remove it"
            wrong = lone if odd else f"the model fails: {error}; is its file damaged?"
            raise InputError(f"tokeniser {self.name}: {wrong}") from error
        return " ".join(pieces).split()  # sacreBLEU cuts at white space inside pieces, too

    def _model(self) -> tuple[Any, str]:
        return _processor(self._path, self.name)


class DownloadedModel(SpmTokenizer):
    """The pieces of a model that sacreBLEU downloads."""

    def __init__(self, name: str, file: str, meaning: str) -> None:
        super().__init__(name, Path(file), meaning)

    def _model(self) -> tuple[Any, str]:
        home = os.environ.get("SACREBLEU") or Path("~", ".sacrebleu").expanduser()
        path = Path(home, "models", self._path)
        if not path.exists():
            do = "put its model there, where sacreBLEU keeps it, or name a model: tok=spm:FILE"
            raise InputError(f"tokeniser {self.name}: there is no file {path}; {do}")
        return _processor(path, self.name)


@cache
def model_tokenizer(path: str) -> SpmTokenizer:
    """Return the tokeniser of a model's file."""
    return SpmTokenizer(f"spm:{path}", Path(path))


FLORES101 = DownloadedModel(
    "flores101",
    "sacrebleu_tokenizer_spm.model",
    "SentencePiece with sacreBLEU's model flores101, its spm (karat[spm])",
)
FLORES200 = DownloadedModel(
    "flores200",
    "flores200sacrebleuspm",
    "SentencePiece with sacreBLEU's model flores200 (karat[spm])",
)
SPBLEU_1K = DownloadedModel(
    "spBLEU-1K",
    "spbleu-1k_tokenizer_spm.model",
    "SentencePiece with sacreBLEU's model spBLEU-1K (karat[spm])",
)
