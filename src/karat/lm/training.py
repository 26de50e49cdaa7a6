"""Training: from text to a model, within a limit of memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from karat import __version__, _kernel
from karat.arithmetic import log, quick_log
from karat.arrays import Floats, NDArray, np
from karat.errors import InputError
from karat.lm.smoothing import HistoryContexts, Katz, KneserNey, gt_min
from karat.lm.tables import (
    BOS,
    EOS,
    KIND,
    SPECIAL,
    UNK,
    VERSION,
    ZERO,
    NgramRows,
    explain_limits,
    marked,
    model_layouts,
    model_signature,
    write_rows,
)
from karat.progress import Progress, map_in_order, n_threads, silent
from karat.results import Result
from karat.storage.arrays import FileArray, as_memory
from karat.storage.digests import file_digest
from karat.storage.output import FilePath, check_writable, temporary_file, writing_temporary
from karat.storage.store import store_digest, write_store
from karat.text.segments import Segments, Texts, as_segments, batches
from karat.text.tokens import (
    CASES,
    TOKENIZERS,
    Lexicon,
    Passage,
    Ragged,
    Recipe,
    check_choice,
    stem_words,
    stemmers,
)
from karat.text.word_table import word_arrays, word_table

MIN_MEMORY = 1 << 25
"""Minimal memory for training, in bytes."""

_PIECE = 1 << 18  # bytes written to a temporary file, or read from it, at a time
_MAX_BATCH_BYTES = 1 << 22  # maximal size of a batch of text to tokenise
_CUT = 10  # memory per byte of such text: ids, a vocabulary, copies


class Memory:
    """The memory for training, without the interpreter.

    The default is a quarter of the memory of this machine, plus up to the same amount for the
    tables of the model.
    """

    def __init__(self, nbytes: int | None = None) -> None:
        self.total = as_memory(nbytes, MIN_MEMORY)
        self.sequences = self.total // (4 if nbytes is None else 16)
        """Bytes of sequentially read data that may be in memory."""
        self.tables = self.total // (1 if nbytes is None else 16)
        """Bytes of the model's tables that may be in memory."""
        self.piece = _PIECE

    def threads(self, requested: int) -> int:
        """Return the number of threads for tokenisation, which use up to a quarter of memory."""
        return max(1, min(requested, self.total // 4 // (2 * _CUT * (_MAX_BATCH_BYTES >> 4))))

    def batch(self, threads: int) -> int:
        """Return the size of a batch of text to tokenise, in bytes."""
        return max(1, min(_MAX_BATCH_BYTES, self.total // 8 // (2 * _CUT * threads)))

    def sorting(self, n_words: int, vocabulary_bytes: int) -> int:
        """Return the bytes left for sorting, given the size of the vocabulary."""
        vocabulary = 2 * vocabulary_bytes + 64 * n_words
        nbytes = self.total - self.total // 8 - self.sequences - vocabulary
        if nbytes < min(MIN_MEMORY, self.total) // 4:
            raise InputError(
                f"{n_words:,} words are too many for {self.total / 2**30:.2f} GB: "
                f"allow more memory or limit the vocabulary"
            )
        return nbytes


_PURPOSE = "n-grams are sorted there"


class Scratch(ExitStack):
    """Memory, and files for what does not fit, which are closed at the end."""

    def __init__(self, memory: Memory) -> None:
        super().__init__()
        self.memory = memory

    @staticmethod
    def open() -> int:
        """Return the descriptor of a new file, which the caller closes."""
        with temporary_file(_PURPOSE) as file:
            return os.dup(file.fileno())

    @staticmethod
    def writing() -> AbstractContextManager[None]:
        """Report errors of writing to the files as a sentence."""
        return writing_temporary(_PURPOSE)


SEGMENTS_PER_BATCH = 1 << 14
BYTES_PER_BATCH = 1 << 22

Batch = tuple[Ragged, _kernel.Vocab]
"""The tokens of a batch of segments, and their vocabulary."""


def check_recipe(recipe: Recipe) -> None:
    """Raise if a tokeniser, case or stemmer is unknown."""
    check_choice("tok", recipe.tok, TOKENIZERS)
    check_choice("case", recipe.case, CASES)
    check_choice("stem", recipe.stem, stemmers())


def as_sources(texts: Texts | Sequence[os.PathLike[str]] | Sequence[Segments]) -> list[Segments]:
    """Return a list of texts; a list of paths or of segments is several texts."""
    if isinstance(texts, list | tuple) and texts:
        if all(isinstance(text, os.PathLike | Segments) for text in texts):
            return [as_segments(text, "texts") for text in texts]
        if isinstance(texts[0], os.PathLike | Segments):
            raise InputError("texts mixes files and strings: give either")
    return [as_segments(texts, "texts")]  # type: ignore[arg-type]


def token_batches(
    sources: Sequence[Segments],
    recipe: Recipe,
    *,
    threads: int | None = None,
    progress: Progress = silent,
    step_name: str = "reading",
    nbytes: int = BYTES_PER_BATCH,
) -> Iterator[Batch]:
    """Yield the batches of all sources, of `nbytes` bytes or one long segment each."""
    most = SEGMENTS_PER_BATCH, nbytes
    jobs = [
        (source, *ends) for source in sources if len(source) for ends in batches([source], *most)
    ]
    total, done = sum(map(len, sources)), 0

    def cut(job: tuple[Segments, int, int]) -> Batch:
        lexicon = Lexicon()
        passage = Passage(job[0].views(job[1], job[2]), lexicon)
        tokens = passage.tokens(Recipe(recipe.tok, recipe.case))
        words = lexicon.vocab(recipe.tok, recipe.case)
        if recipe.stem == "none":
            return tokens, words
        target = _kernel.Vocab()
        stems = stem_words(recipe.stem, words, 0, target)
        return Ragged(stems[tokens.ids], tokens.offsets), target

    for job, batch in zip(jobs, map_in_order(cut, jobs, n_threads(threads)), strict=True):
        yield batch
        job[0].release(job[1], job[2])
        done += len(batch[0].offsets) - 1
        progress(done, total, step_name)


def count_text(
    sources: Sequence[Segments],
    order: int,
    recipe: Recipe,
    scratch: Scratch,
    *,
    vocabulary: int | None,
    min_count: int,
    threads: int | None,
    progress: Progress,
) -> tuple[_kernel.Vocab, _kernel.NgramTraining]:
    """Count all n-grams up to a length, within the memory of `scratch`.

    Words are kept if they are among the `vocabulary` most frequent and occur `min_count` times.
    """
    memory = scratch.memory
    cutters = memory.threads(n_threads(threads))
    work: dict[str, Any] = {"threads": cutters, "nbytes": memory.batch(cutters)}
    work["progress"] = progress
    vocab, grows = _kernel.Vocab(), vocabulary is None and min_count == 1
    vocab.add(list(SPECIAL))
    if not grows:  # keep words by falling count; on ties the first in the text
        counts = np.zeros(0, np.int64)
        for tokens, words in token_batches(sources, recipe, step_name="words", **work):
            ids = _word_ids(vocab, words, grow=True)
            memory.sorting(len(vocab), vocab.bytes())
            batch_counts = np.bincount(ids[tokens.ids], minlength=len(vocab))
            batch_counts[: len(counts)] += counts
            counts = batch_counts
        ranked = np.argsort(-counts[EOS + 1 :], kind="stable")[:vocabulary] + EOS + 1
        selected = ranked[counts[ranked] >= min_count]
        vocab = vocab.chosen(np.concatenate([np.arange(EOS + 1), selected]).astype(np.int32))
    room = memory.sorting(len(vocab), vocab.bytes())
    ngrams = _kernel.NgramTraining(scratch.open, order, room, memory.sequences, memory.piece)
    scratch.callback(ngrams.close)
    with scratch.writing(), explain_limits("train on less text"):
        for tokens, words in token_batches(sources, recipe, step_name="counting", **work):
            ids = _word_ids(vocab, words, grow=grows)
            ngrams.limit(memory.sorting(len(vocab), vocab.bytes()))
            ngrams.add(ids[tokens.ids], tokens.offsets)
        ngrams.merge(len(vocab), lambda: progress(ngrams.done, ngrams.total, "merging"))
    progress(ngrams.done, ngrams.total, "merging")
    if not ngrams.words()[EOS]:
        raise InputError("there is no text to train on")
    return vocab, ngrams


def _word_ids(vocab: _kernel.Vocab, words: _kernel.Vocab, *, grow: bool) -> NDArray[np.int32]:
    """Return the ids of a batch's words; `<s>` and `</s>` in a text are unknown words."""
    ids = vocab.merge(words) if grow else vocab.find(words.words(0, len(words)))
    return np.where(ids > EOS, ids, UNK).astype(np.int32)


if TYPE_CHECKING:
    Logarithms = NDArray[np.float32]

_NGRAMS_PER_BATCH = 1 << 16  # n-grams estimated together

SMOOTHING: dict[str, type[KneserNey] | type[Katz]] = {"kneser-ney": KneserNey, "katz": Katz}
"""Name -> class of the smoothing."""


def check_min_counts(order: int, smoothing: str, requested: Sequence[int] | None) -> list[int]:
    """Return the minimal count of n-grams to keep, for each length.

    They must not decrease, so that the n-grams within a kept n-gram are kept too. By default,
    Kneser-Ney keeps all n-grams, and Katz has SRILM's minimal counts.
    """
    check_choice("smoothing", smoothing, SMOOTHING)
    if requested is None:
        return [gt_min(n) if smoothing == "katz" else 1 for n in range(1, order + 1)]
    min_counts = list(requested)
    text = ",".join(map(str, min_counts))
    if len(min_counts) != order or min_counts[:1] != [1]:
        raise InputError(
            f"min_counts={text}: expected {order} numbers, one for each length, the first of them "
            f"1 (for rare words, limit the vocabulary)"
        )
    if any(low > high for low, high in pairwise(min_counts)):
        raise InputError(f"min_counts={text}: expected numbers that do not fall")
    return min_counts


def estimate(
    ngrams: _kernel.NgramTraining,
    smoothing: KneserNey | Katz,
    min_counts: Sequence[int],
    scratch: Scratch,
    progress: Progress,
) -> tuple[Logarithms, Logarithms]:
    """Estimate the probabilities of all n-grams, by increasing length.

    Return log10 of the probabilities and back-off weights of words; those of longer n-grams are
    stored in `ngrams`.
    """
    order, counts = len(min_counts), ngrams.words()
    p = smoothing.words(counts, counts if order == 1 else ngrams.preceding())
    for n in range(2, order + 1):
        histograms = ngrams.adjusted(n).tolist(), ngrams.counts(n).tolist()
        estimator = smoothing.estimator(n, *histograms, len(counts))

        def report(length: int = n) -> None:
            progress(ngrams.done, ngrams.total, f"estimating {length}-grams")

        with scratch.writing():
            ngrams.gather(n, p, report)
            while (batch := HistoryContexts(*ngrams.batch(_NGRAMS_PER_BATCH))).size:
                keep = batch.counts >= min_counts[n - 1]
                probabilities, weights = estimator(batch, keep)
                is_context = np.bincount(batch.contexts, keep, batch.size) > 0
                backoffs = marked(_log10(weights), is_context)
                ngrams.put(probabilities, _log10(probabilities), backoffs, report)
                report()
            ngrams.scatter(report)
            report()
    logs = _log10(p)
    logs[BOS] = ZERO
    return logs, ngrams.word_backoffs() if order > 1 else np.full(len(p), -0.0, np.float32)


def _log10(values: Floats) -> Logarithms:
    return np.maximum(quick_log(values) / log(10), ZERO).astype(np.float32)


TrainingTexts: TypeAlias = "Texts | Sequence[os.PathLike[str]] | Sequence[Segments]"
"""Strings, a file, or several files."""


class TrainedLanguageModel:
    """All n-grams of a text with their estimates, from which a model is written."""

    def __init__(
        self,
        about: dict[str, Any],
        vocab: _kernel.Vocab,
        ngrams: _kernel.NgramTraining,
        word_logs: tuple[Logarithms, Logarithms],
        scratch: Scratch,
        progress: Progress,
    ) -> None:
        self.about = about  # description of the model
        self._vocab, self._ngrams, self._word_logs = vocab, ngrams, word_logs
        self._scratch, self._progress = scratch, progress
        self._min_counts = dict(enumerate(about["min_counts"], 1))
        longer = range(2, about["order"] + 1)
        self.counts = [len(vocab), *(ngrams.kept(n, self._min_counts[n]) for n in longer)]
        """Numbers of n-grams, for each length from 1."""

    def _check(self) -> None:
        self._progress(self._ngrams.done, self._ngrams.total, "writing")

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of the model; large ones are mapped from unnamed files."""
        with explain_limits("write ARPA text, raise min_counts, or train on less text"):
            for many in self.counts[1:]:
                _kernel.lm_table_slots(many)
        arrays: dict[str, NDArray[Any]] = dict(zip(("p", "backoff"), self._word_logs, strict=True))
        room, ngrams = self._scratch.memory.tables, self._ngrams
        for n in range(2, self.about["order"] + 1):
            with self._scratch.writing():
                table = ngrams.table(n, self._min_counts[n], room, self._check)
            self._check()
            if table is not None:
                room -= table.nbytes
            else:
                table = FileArray(*ngrams.table_file(n)).memory_map()
            arrays[f"table_{n}"] = table
        arrays |= word_arrays(self._vocab, "words")
        return {name: arrays[name] for name in model_layouts(self.about["order"])}

    def save(self, path: FilePath) -> None:
        """Write the binary format."""
        write_store(path, KIND, VERSION, self.about, self.arrays())

    def write_arpa(self, path: FilePath) -> None:
        """Write the ARPA format."""
        words = word_table(word_arrays(self._vocab, "words"), "words")
        write_rows(path, words, self.counts, self._rows, self._progress)

    def _rows(self, n: int, max_rows: int) -> Iterator[NgramRows]:
        """Yield the n-grams of one length, at most `max_rows` at a time."""
        if n == 1:
            p, backoff = self._word_logs
            yield NgramRows(np.arange(len(p), dtype=np.int32)[:, None], p, backoff + np.float32(0))
            return
        with self._scratch.writing():
            rows = self._ngrams.rows(n, self._min_counts[n])
            while len((ngrams := NgramRows(*rows.next(max_rows))).p):
                yield ngrams


@contextmanager
def train_ngrams(
    texts: TrainingTexts,
    order: int = 5,
    smoothing: str = "kneser-ney",
    *,
    tok: str = "13a",
    case: str = "mixed",
    stem: str = "none",
    min_counts: Sequence[int] | None = None,
    vocabulary: int | None = None,
    min_count: int = 1,
    memory: int | Memory | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> Iterator[TrainedLanguageModel]:
    """Train on texts; the result is valid until the end of the `with` block."""
    recipe = Recipe(tok, case, stem)
    check_recipe(recipe)
    if not 1 <= order <= _kernel.MAX_ORDER:
        raise InputError(f"order={order}: expected 1 to {_kernel.MAX_ORDER}")
    if vocabulary is not None and vocabulary < 1:
        raise InputError(f"vocabulary={vocabulary}: expected at least 1 word")
    if min_count < 1:
        raise InputError(f"min_count={min_count}: expected at least 1")
    about: dict[str, Any] = {
        "order": order,
        "smoothing": smoothing,
        "recipe": {"tok": tok, "case": case, "stem": stem},
        "vocabulary": vocabulary,
        "min_count": min_count,
        "min_counts": check_min_counts(order, smoothing, min_counts),
    }
    chosen = SMOOTHING[smoothing]()
    with Scratch(memory if isinstance(memory, Memory) else Memory(memory)) as scratch:
        vocab, ngrams = count_text(
            as_sources(texts),
            order,
            recipe,
            scratch,
            vocabulary=vocabulary,
            min_count=min_count,
            threads=threads,
            progress=progress,
        )
        word_logs = estimate(ngrams, chosen, about["min_counts"], scratch, progress)
        about |= {"notes": chosen.notes, "karat": __version__}
        yield TrainedLanguageModel(about, vocab, ngrams, word_logs, scratch, progress)


class NgramCount(NamedTuple):
    """The number of n-grams of one length in a model, and their minimal count."""

    length: int
    ngrams: int
    min_count: int


@dataclass(frozen=True, eq=False, repr=False)
class TrainedModel(Result):
    """A language model that was written to a file: the numbers of its n-grams by length."""

    path: str
    rows: tuple[NgramCount, ...]
    settings: Mapping[str, object]
    notes: tuple[str, ...]
    signature: str


def train_model(
    texts: TrainingTexts,
    path: FilePath,
    order: int = 5,
    *,
    arpa: bool = False,
    progress: Progress = silent,
    **settings: Any,
) -> TrainedModel:
    """Train a model with the settings of `LanguageModel.train`, and write it to a file.

    The ARPA format is used if `arpa` is set or the name ends in `.arpa` or `.arpa.gz`.
    """
    place = os.fspath(path)
    check_writable(place)
    with train_ngrams(texts, order, progress=progress, **settings) as trained_model:
        if arpa or os.path.splitext(place.removesuffix(".gz"))[1] == ".arpa":
            trained_model.write_arpa(place)
            digest = file_digest(place) if os.path.isfile(place) else ""
        else:
            trained_model.save(place)
            digest = store_digest(place, KIND) if os.path.isfile(place) else ""
        about, counts = trained_model.about, trained_model.counts
        rows = map(NgramCount, range(1, order + 1), counts, about["min_counts"])
        signature = model_signature(about, digest)
        return TrainedModel(place, tuple(rows), about, tuple(about["notes"]), signature)
