"""Language models: the probabilities of sentences and words, and perplexity."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from karat import _kernel
from karat.arithmetic import power
from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.errors import InputError
from karat.lm.tables import (
    ABOUT,
    EOS,
    KIND,
    RECIPE,
    SPECIAL,
    UNK,
    VERSION,
    count_ngrams,
    model_layouts,
    model_signature,
    read_arpa,
    write_arpa,
)
from karat.lm.training import TrainingTexts, as_sources, check_recipe, token_batches, train_ngrams
from karat.progress import Progress, silent
from karat.results import LazyRows, Result
from karat.storage.digests import file_digest
from karat.storage.output import FilePath
from karat.storage.schema import check_arrays, check_fields
from karat.storage.store import content_digest, damaged, is_store, read_store, write_store
from karat.text.segments import Segments, Texts
from karat.text.tokens import Ragged, Recipe, check_choice
from karat.text.word_table import word_arrays, word_table


class WordScore(NamedTuple):
    """A word of a sentence, or its end: log10 p, and the length of the matched n-gram."""

    word: str
    log10_p: float
    length: int
    oov: bool


class SentenceScores(NamedTuple):
    """For each sentence, log10 Pr (end included) and the numbers of words and unknown words."""

    log10_p: Floats
    words: Ints
    oov: Ints


class TextWords(NamedTuple):
    """The words of a text and the ends of its sentences; `word` has indices into `vocabulary`.

    Sentence i has the rows `offsets[i]` to `offsets[i + 1]`.
    """

    vocabulary: list[str]
    word: NDArray[np.int32]
    log10_p: NDArray[np.float32]
    length: NDArray[np.int32]
    oov: Flags
    offsets: Ints


class Perplexity(NamedTuple):
    """Sums over a text, for its perplexity 10 ^ (-log10 Pr / (words + sentences)).

    The end of each sentence is predicted like a word. `known` excludes unknown words.
    """

    sentences: int
    words: int
    oov: int
    log10_p: float
    log10_p_known: float

    @property
    def perplexity(self) -> float:
        """Perplexity of all words; infinity if it exceeds the range of floats."""
        return float(power(10.0, -self.log10_p / max(self.words + self.sentences, 1)))

    @property
    def perplexity_known(self) -> float:
        """Perplexity of known words."""
        events = self.words - self.oov + self.sentences
        return float(power(10.0, -self.log10_p_known / max(events, 1)))


class LanguageModel:
    """N-gram language model with back-off, which stores its tokeniser, case and stemmer.

    >>> model = LanguageModel.train(["the cat sat", "the dog sat"], order=3)
    >>> model.score(["the cat sat"])
    """

    def __init__(
        self,
        about: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]],
        name: str = "model",
        stored_digest: str = "",
    ) -> None:
        self.name = name  # name of the model in messages
        self.stored_digest = stored_digest  # digest of the model's file; empty without a file
        try:
            check_fields(about, ABOUT)
            self.about = dict(about)
            """The description of the model: order, smoothing, recipe, counts of n-grams, notes."""
            stored = model_layouts(about["order"])
            check_arrays(arrays, stored)
            self.arrays = {part: arrays[part] for part in stored}
            self.table = word_table(arrays, "words")
            longer = [arrays[f"table_{n}"] for n in range(2, about["order"] + 1)]
            self.kernel = _kernel.LanguageModel(arrays["p"], arrays["backoff"], longer)
            self.recipe = Recipe(*(about["recipe"][part] for part in RECIPE))
            check_recipe(self.recipe)
            if len(self.table) < len(SPECIAL):
                raise ValueError("it has too few words")
            first = tuple(self.table.words(np.arange(len(SPECIAL), dtype=np.int32)))
        except (ValueError, KeyError, TypeError) as error:
            raise damaged(name, str(error)) from error
        if first != SPECIAL:
            raise damaged(name, "its words do not match its probabilities")

    def check_finite(self, name: str = "model") -> LanguageModel:
        """Return the model; raise if a probability is not a number."""
        if not self.kernel.finite:
            raise damaged(name, "its language model has probabilities that are not numbers")
        return self

    @classmethod
    def train(
        cls,
        texts: TrainingTexts,
        order: int = 5,
        smoothing: str = "kneser-ney",
        *,
        progress: Progress = silent,
        **settings: Any,
    ) -> LanguageModel:
        """Train on strings, a file, or several files.

        Settings are `tok`, `case` and `stem`; `vocabulary` (number of the most frequent words to
        keep) and `min_count` (minimal count of words to keep; others become `<unk>`); `min_counts`
        (minimal count of n-grams to keep, for each length); `threads`; and `memory` in bytes,
        without the interpreter (about 40 MB; default: a quarter of the memory of this machine).
        Beyond it, temporary files are used; the model is the same.
        """
        with train_ngrams(texts, order, smoothing, progress=progress, **settings) as trained_model:
            return cls(trained_model.about, trained_model.arrays())

    @classmethod
    def open(
        cls, path: FilePath, recipe: Recipe | None = None, *, progress: Progress = silent
    ) -> LanguageModel:
        """Open a model: map the binary format, or read an ARPA file, which may be compressed.

        ARPA files do not store the tokenisation, so `recipe` gives it (default: white space).
        """
        if recipe is not None:
            check_recipe(recipe)
        if is_store(path):
            store = read_store(path, KIND, VERSION)
            model = cls(store.about, store.arrays, os.fspath(path), store.digest)
            if recipe not in (None, model.recipe):
                model_recipe = "tok={tok}, case={case} and stem={stem}".format(**vars(model.recipe))
                raise InputError(f"{path} was trained with {model_recipe}: leave these out")
            return model
        words, arrays, order = read_arpa(path, progress)
        chosen = {part: getattr(recipe or Recipe("none"), part) for part in RECIPE}
        about = {"order": order, "smoothing": "arpa", "recipe": chosen}
        digest = file_digest(path) if os.path.isfile(path) else ""
        return cls(about, arrays | word_arrays(words, "words"), os.fspath(path), digest)

    def save(self, path: FilePath) -> None:
        """Write the binary format, which `open` maps."""
        write_store(path, KIND, VERSION, self.about, self.arrays)

    def write_arpa(self, path: FilePath, *, progress: Progress = silent) -> None:
        """Write the ARPA format, for other tools; compressed if the name ends in `.gz`."""
        try:
            write_arpa(path, self.arrays, self.order, progress)
        except IndexError as error:
            raise damaged(self.name, str(error)) from error

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return int(self.about["order"])

    def __len__(self) -> int:
        """Return the number of words, with `<unk>`, `<s>` and `</s>`."""
        return len(self.table)

    @property
    def counts(self) -> list[int]:
        """Numbers of n-grams, for each length from 1."""
        return [count_ngrams(self.arrays, n) for n in range(1, self.order + 1)]

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the estimation."""
        return tuple(self.about.get("notes", ()))

    @property
    def signature(self) -> str:
        """Everything that the scores depend on."""
        return model_signature(self.about, self.digest)

    @cached_property
    def digest(self) -> str:
        """Digest of the model's file, or of the file it would be saved to."""
        return self.stored_digest or content_digest(KIND, VERSION, self.about, self.arrays)

    def find(self, vocab: _kernel.Vocab, start: int = 0) -> NDArray[np.int32]:
        """Return the model's ids of the words of a vocabulary, from `start`; unknown ones are 0."""
        ids = self.table.find(vocab, start)
        return np.where(ids > EOS, ids, UNK).astype(np.int32)

    def word_ids(self, words: Sequence[str]) -> NDArray[np.int32]:
        """Return the model's ids of words; unknown words are 0 (`<unk>`)."""
        vocab = _kernel.Vocab()
        ids = vocab.add(list(words))
        return self.find(vocab)[ids]

    def score(
        self, sentences: Texts, *, threads: int | None = None, progress: Progress = silent
    ) -> Floats:
        """Return log10 Pr of every sentence, its end included."""
        return self.sentences(sentences, threads=threads, progress=progress).log10_p

    def sentences(
        self, texts: Texts, *, threads: int | None = None, progress: Progress = silent
    ) -> SentenceScores:
        """Return log10 Pr of every sentence, and the numbers of words and unknown words."""
        parts = [(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))]
        for tokens, *_ in self._batches(texts, threads, progress):
            before = np.concatenate(([0], np.cumsum(tokens.ids == UNK, dtype=np.int64)))
            p = self.kernel.score(tokens.ids, tokens.offsets)
            parts.append((p, tokens.lengths, np.diff(before[tokens.offsets])))
        return SentenceScores(*map(np.concatenate, zip(*parts, strict=True)))

    def words(self, sentence: str) -> list[WordScore]:
        """Return the words of a sentence and its end, each with its log10 p."""
        text_words = self.text_words([sentence], threads=1)
        words = [text_words.vocabulary[i] for i in text_words.word.tolist()]
        columns = text_words.log10_p.tolist(), text_words.length.tolist(), text_words.oov.tolist()
        return list(map(WordScore, words, *columns))

    def text_words(
        self, texts: Texts, *, threads: int | None = None, progress: Progress = silent
    ) -> TextWords:
        """Return all words of a text, each with its log10 p."""
        vocab = _kernel.Vocab()
        end = int(vocab.add([SPECIAL[EOS]])[0])
        parts = [_NO_WORDS]
        for (ids, _), tokens, words in self._batches(texts, threads, progress):
            p, lengths = self.kernel.words(ids, tokens.offsets)
            word_ids = np.insert(vocab.merge(words)[tokens.ids], tokens.offsets[1:], end)
            oov = np.insert(ids == UNK, tokens.offsets[1:], False)
            parts.append((word_ids, p, lengths, oov, tokens.lengths + 1))
        word_ids, p, lengths, oov, sizes = map(np.concatenate, zip(*parts, strict=True))
        offsets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        return TextWords(vocab.words(0, len(vocab)), word_ids, p, lengths, oov, offsets)

    def perplexity(
        self, texts: Texts, *, threads: int | None = None, progress: Progress = silent
    ) -> Perplexity:
        """Return the perplexity of a text; lower is better."""
        total = Perplexity(0, 0, 0, 0.0, 0.0)
        for tokens, *_ in self._batches(texts, threads, progress):
            p = self.kernel.words(tokens.ids, tokens.offsets)[0].astype(np.float64)
            is_known = np.insert(tokens.ids != UNK, tokens.offsets[1:], True)  # with ends
            counts = len(tokens.offsets) - 1, len(tokens.ids), int((~is_known).sum())
            batch_sums = Perplexity(*counts, float(p.sum()), float(p[is_known].sum()))
            total = Perplexity(*map(sum, zip(total, batch_sums, strict=True)))  # type: ignore[arg-type]
        return total

    def _batches(
        self, texts: Texts, threads: int | None, progress: Progress
    ) -> Iterator[tuple[Ragged, Ragged, _kernel.Vocab]]:
        """Yield batches of the texts as ids of this model, and as tokens with their vocabulary."""
        for tokens, vocab in token_batches(
            as_sources(texts), self.recipe, threads=threads, progress=progress, step_name="scoring"
        ):
            yield Ragged(self.find(vocab)[tokens.ids], tokens.offsets), tokens, vocab


_NO_WORDS = tuple(np.empty(0, kind) for kind in ("int32", "float32", "int32", "bool", "int64"))


class TextRow(NamedTuple):
    """A text with its perplexity."""

    text: str
    sentences: int
    words: int
    oov: int
    log10_p: float
    perplexity: float
    perplexity_known: float


class SentenceRow(NamedTuple):
    """A sentence with log10 Pr, its end included."""

    text: str
    segment: int
    words: int
    oov: int
    log10_p: float
    per_word: float | None


class WordRow(NamedTuple):
    """A word, or the end of a sentence, with log10 p and the length of the matched n-gram."""

    text: str
    segment: int
    word: str
    log10_p: float
    length: int
    oov: bool


Row = TextRow | SentenceRow | WordRow
RowPart = tuple[int, Callable[[int], Row]]


@dataclass(frozen=True, eq=False, repr=False)
class LanguageScores(Result):
    """Scores of texts; the rows are `TextRow`, `SentenceRow` or `WordRow`, created on access."""

    rows: Sequence[Row]
    settings: Mapping[str, object]
    notes: tuple[str, ...]
    signature: str


def score_texts(
    texts: Texts | Sequence[os.PathLike[str]] | Sequence[Segments],
    model: LanguageModel | str | os.PathLike[str],
    *,
    by: str = "text",
    threads: int | None = None,
    progress: Progress = silent,
) -> LanguageScores:
    """Score texts by a language model.

    Args:
        texts: strings, a file or several files, one sentence per line.
        model: a model or its file.
        by: unit of a row: `text`, `segment` or `word`.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    check_choice("by", by, _ROWS)
    opened = model if isinstance(model, LanguageModel) else LanguageModel.open(model)
    work = {"threads": threads, "progress": progress}
    parts = [_ROWS[by](opened, text, **work) for text in as_sources(texts)]
    settings = {"model": opened.name, "by": by}
    return LanguageScores(LazyRows(parts), settings, opened.notes, opened.signature)


def _texts(model: LanguageModel, text: Segments, **work: Any) -> RowPart:
    sums = model.perplexity(text, **work)
    row = TextRow(text.name, *sums[:4], sums.perplexity, sums.perplexity_known)
    return 1, lambda i: row


def _sentences(model: LanguageModel, text: Segments, **work: Any) -> RowPart:
    scores = model.sentences(text, **work)

    def row(i: int) -> SentenceRow:
        p, words = float(scores.log10_p[i]), int(scores.words[i])
        per_word = p / words if words else None
        return SentenceRow(text.name, i + 1, words, int(scores.oov[i]), p, per_word)

    return len(scores.words), row


def _words(model: LanguageModel, text: Segments, **work: Any) -> RowPart:
    scores = model.text_words(text, **work)

    def row(i: int) -> WordRow:
        segment = int(scores.offsets.searchsorted(i, "right"))
        word, p = scores.vocabulary[scores.word[i]], float(scores.log10_p[i])
        return WordRow(text.name, segment, word, p, int(scores.length[i]), bool(scores.oov[i]))

    return len(scores.word), row


_ROWS = {"text": _texts, "segment": _sentences, "word": _words}
