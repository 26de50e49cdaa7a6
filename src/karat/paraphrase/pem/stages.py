"""Each line of some texts once, whatever their size.

Lines are compared by digests of 128 bits, of which as many are sorted at a time as fit into memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from karat.arrays import Flags, NDArray, np
from karat.errors import InputError
from karat.lm.model import LanguageModel
from karat.lm.tables import KIND as LANGUAGE
from karat.lm.tables import VERSION as LANGUAGE_VERSION
from karat.paraphrase.align.aligner import Aligner
from karat.paraphrase.align.links import AnyLinks, Links, StoredLinks
from karat.paraphrase.align.parallel_text import (
    Parallel,
    Words,
    each_line,
    joined_tokens,
    parallel_tokens,
)
from karat.paraphrase.generate.generator import Generator, learn_casing, surface
from karat.paraphrase.generate.rewrites import PivotPhrases, RewriteLimits, rewrite_table
from karat.paraphrase.pem.combination import SVR
from karat.paraphrase.pem.features import identified
from karat.paraphrase.pem.judged_pairs import JudgedPairs
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.table.phrase_pairs import LONGEST, PhraseCounts, SortedPhrases, sorted_phrases
from karat.paraphrase.table.phrase_table import ENGLISH, PIVOT, PhraseTable, every_word, starts
from karat.paraphrase.table.training import AlignedText, about_corpora, link_corpora, most_pairs
from karat.progress import Progress
from karat.storage.arrays import ArrayFile, as_memory, forget_pages
from karat.storage.stages import Stages
from karat.storage.store import read_store, write_store
from karat.text.segments import Segments
from karat.text.tokens import Recipe, Vocab
from karat.text.word_table import StoredStrings, word_arrays, word_table

_DIGESTS_PURPOSE = "lines of text are compared there"
_ROWS = 1 << 16  # that are read together
_BYTES_OF_LINE = 256  # while digests are sorted


def different_lines(texts: Sequence[Segments], memory: int | None = None) -> StoredStrings:
    """Return each line of all texts once, where it stands first."""
    digests, found = _digests(texts), StoredStrings()
    try:
        first = first_rows(digests, max(as_memory(memory) // _BYTES_OF_LINE, 1))
    finally:
        digests.close()
    for line, keep in zip(_lines(texts), first.tolist(), strict=True):
        if keep:
            found.append(line)
    return found.done()


def spread_lines(texts: Sequence[Segments], most: int = 1000) -> list[str]:
    """Return at most so many different lines with words, spread evenly over some texts."""
    step = max(-(-sum(map(len, texts)) // most), 1)
    return list(
        dict.fromkeys(line for line in islice(_lines(texts), 0, None, step) if line.split())
    )


def _lines(texts: Sequence[Segments]) -> Iterator[str]:
    for text in texts:
        yield from each_line(text)
        text.release(0, len(text))


def _digests(texts: Sequence[Segments]) -> ArrayFile:
    """Write 128 bits for each line, in two numbers."""
    digests, held = ArrayFile("uint64", _DIGESTS_PURPOSE, 2), bytearray()
    for line in _lines(texts):
        held += sha256(line.encode("utf-8", "surrogatepass")).digest()[:16]
        if len(held) >= 16 * _ROWS:
            digests.append(np.frombuffer(bytes(held), "<u8"))
            held.clear()
    digests.append(np.frombuffer(bytes(held), "<u8"))
    return digests


def first_rows(rows: ArrayFile, most: int) -> Flags:
    """Return which rows are the first of their kind; about `most` are held at a time."""
    passes = -(-len(rows) // most)
    first: Flags = np.zeros(len(rows), np.bool_)
    for turn in range(passes):
        mine = [np.empty(0, np.int64)]
        found: list[NDArray[np.uint64]] = [np.empty((0, 2), np.uint64)]
        for start in range(0, len(rows), _ROWS):
            some = rows.read(start, start + _ROWS)
            here = np.flatnonzero(some[:, 0] % np.uint64(passes) == turn)
            mine.append(start + here)
            found.append(some[here])
        where, kept = np.concatenate(mine), np.concatenate(found)
        order = np.lexsort((kept[:, 1], kept[:, 0]))  # stable: of equal ones the first comes first
        new = np.ones(len(order), np.bool_)
        new[1:] = (kept[order[1:]] != kept[order[:-1]]).any(axis=1)
        first[where[order[new]]] = True
    return first


ORDER = 4
"""The order of the language model, as in the paper."""


def train_language(
    texts: Sequence[Segments],
    recipe: Recipe = ENGLISH,
    smoothing: str = "kneser-ney",
    *,
    running: bool = False,
    memory: int | None = None,
    **work: Any,
) -> LanguageModel:
    """Train the language model of some texts, of 4-grams; each line once, or `running` text."""
    lines = _running(texts) if running else [different_lines(texts, memory)]
    if not sum(map(len, lines)):
        raise InputError("there is no text to train a language model on")
    words: dict[str, Any] = {"tok": recipe.tok, "case": recipe.case, "stem": recipe.stem}
    return LanguageModel.train(lines, ORDER, smoothing, memory=memory, **words, **work)


def _running(texts: Sequence[Segments]) -> list[Segments]:
    """Return the texts as they stand, but one that stands beside two pivots only once.

    Counts that are all doubled have no n-grams of count 1, without which Good-Turing says nothing.
    """
    return list({text_digest(text): text for text in reversed(texts)}.values())[::-1]


def text_digest(text: Segments) -> str:
    """Return a digest of the lines of a text."""
    digest = sha256()
    for line in each_line(text):
        digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
    text.release(0, len(text))
    return digest.hexdigest()


_PHRASES, _LINKS = "file of phrase pairs", "file of links"
_VERSION = 1
_PHRASES_PURPOSE = "phrase pairs are written there"


def write_phrases(path: Path, phrases: SortedPhrases, vocab: Vocab, progress: Progress) -> None:
    """Write all phrase pairs, and the words of their first side."""
    longest = phrases.longest
    with ExitStack() as stack:
        kinds = ("int32", "int64", "int32", "int64", "int64")
        columns = [ArrayFile(kind, _PHRASES_PURPOSE) for kind in kinds]
        for column in columns:
            stack.callback(column.close)
        for offsets in (columns[1], columns[3]):
            offsets.append(np.zeros(1, np.int64))
        for piece in phrases.merged(progress):
            for side, at in ((piece.ids[:, :longest], 0), (piece.ids[:, longest:], 2)):
                columns[at + 1].append(len(columns[at]) + starts((side >= 0).sum(axis=1))[1:])
                columns[at].append(side[side >= 0])
            columns[4].append(piece.counts)
        names = [field.name for field in fields(PhraseCounts)]
        arrays = {name: column.mapped() for name, column in zip(names, columns, strict=True)}
        write_store(path, _PHRASES, _VERSION, {}, arrays | word_arrays(vocab, "words"))


def read_phrases(path: Path) -> tuple[PhraseCounts, Vocab]:
    """Map phrase pairs, and read the words of their first side."""
    arrays = read_store(path, _PHRASES, _VERSION).arrays
    words, vocab = word_table(arrays, "words"), Vocab()
    vocab.add(words.words(np.arange(len(words), dtype=np.int32)))
    forget_pages(arrays.values())
    return PhraseCounts(*(arrays[field.name] for field in fields(PhraseCounts))), vocab


def write_links(path: Path, links: AnyLinks, about: Mapping[str, Any]) -> None:
    """Write the links of a text, and what is said of them."""
    arrays = links.mapped() if isinstance(links, StoredLinks) else vars(links)
    write_store(path, _LINKS, _VERSION, about, arrays)


def read_links(path: Path) -> tuple[Links, dict[str, Any]]:
    """Map the links of a text."""
    store = read_store(path, _LINKS, _VERSION)
    forget_pages(store.arrays.values())
    about = {k: v for k, v in store.about.items() if k not in ("kind", "version")}
    return Links(*(store.arrays[field.name] for field in fields(Links))), about


_REGRESSION, _CASING = "regression of paraphrases", "case of words"
_PIECE = 1 << 20  # links whose digest is taken together


@dataclass(frozen=True, eq=False)
class Pivot:
    """The parallel texts of one pivot language, and its recipe."""

    corpora: Sequence[Parallel]
    recipe: Recipe = PIVOT
    links: AnyLinks | None = None
    """From another aligner, over all texts in order; None: Karat's own."""


class PivotStages:
    """The stages of one pivot language; its words are cut when they are first needed."""

    def __init__(
        self, stages: Stages, name: str, pivot: Pivot, recipe: Recipe, aligner: Aligner, work: Any
    ) -> None:
        self.stages, self.name, self.pivot, self.recipe = stages, name, pivot, recipe
        self.aligner, self.work = aligner, work
        digests = [[text_digest(one.source), text_digest(one.pivot)] for one in pivot.corpora]
        recipes = [str(recipe), str(pivot.recipe)]
        how = str(aligner) if pivot.links is None else _links_digest(pivot.links)
        self.inputs: dict[str, Any] = {"texts": digests, "recipes": recipes, "links": how}

    @cached_property
    def words(self) -> tuple[Words, Words]:
        """The words of both sides."""
        recipes = self.recipe, self.pivot.recipe
        return parallel_tokens(self.pivot.corpora, *recipes, **self.work)

    @cached_property
    def linked(self) -> tuple[AnyLinks, Mapping[str, Any]]:
        """The links, and what is said of Karat's own."""
        if self.pivot.links is not None:
            return self.pivot.links, {}

        def align(path: Path) -> None:
            write_links(path, *link_corpora(*self.words, self.aligner, **self.work))

        return self.stages.result(f"alignment of {self.name}", self.inputs, align, read_links)

    def forget_words(self) -> None:
        """Give back the memory of the words."""
        self.__dict__.pop("words", None)

    def aligned(self) -> AlignedText:
        """Return the words and the links between them."""
        links, about = self.linked
        said = about_corpora(self.pivot.corpora, self.recipe, self.pivot.recipe)
        return AlignedText(*self.words, links, {**said, **about})

    @property
    def table_inputs(self) -> dict[str, Any]:
        """All that the table depends on: it names its texts."""
        said = about_corpora(self.pivot.corpora, self.recipe, self.pivot.recipe)
        return {**self.inputs, "about": said, "longest": LONGEST}

    def table(self) -> PhraseTable:
        """Return the phrase table."""

        def make(path: Path) -> None:
            self.aligned().table(**self.work).save(path)

        name = f"phrase table of {self.name}"
        table = self.stages.result(name, self.table_inputs, make, PhraseTable.open)
        forget_pages(table.arrays.values())
        return replace(table, name="the phrase table")

    def phrases(self) -> PivotPhrases:
        """Return the phrase pairs of words as they are written."""
        words = surface(self.recipe)

        def make(path: Path) -> None:
            text, work = self.aligned(), {k: v for k, v in self.work.items() if k != "memory"}
            texts = [corpus.source for corpus in self.pivot.corpora]
            source = joined_tokens(texts, words, **self.work)
            most = most_pairs(self.work["memory"])
            given = (source, text.pivot, text.links, LONGEST)
            with sorted_phrases(*given, most_rows=most, **work) as found:
                write_phrases(path, found, source.vocab, work["progress"])

        inputs = {**self.inputs, "written": str(words), "longest": LONGEST}
        name = f"written phrases of {self.name}"
        return PivotPhrases(*self.stages.result(name, inputs, make, read_phrases))


def staged_language(
    stages: Stages,
    name: str,
    texts: Sequence[Segments],
    digests: Sequence[str],
    recipe: Recipe,
    smoothing: str,
    *,
    running: bool = False,
    **work: Any,
) -> LanguageModel:
    """Return the language model of some texts."""

    def make(path: Path) -> None:
        train_language(texts, recipe, smoothing, running=running, **work).save(path)

    inputs: dict[str, Any] = {"texts": list(digests), "recipe": str(recipe)}
    inputs |= {"smoothing": smoothing, "running": running, "order": ORDER}
    return stages.result(name, inputs, make, _read_language)


def _read_language(path: Path) -> LanguageModel:
    store = read_store(path, LANGUAGE, LANGUAGE_VERSION)
    about = {k: v for k, v in store.about.items() if k not in ("kind", "version")}
    model = LanguageModel(about, store.arrays)
    forget_pages(store.arrays.values())
    return model


def staged_generator(
    stages: Stages,
    pivots: Sequence[PivotStages],
    texts: Sequence[Segments],
    digests: Sequence[str],
    recipe: Recipe,
    **work: Any,
) -> Generator:
    """Return the rewrites of all pivot languages, and a language model of the same words."""

    def rewrite(path: Path) -> None:
        languages = [one.phrases() for one in pivots]
        rewrite_table(languages, recipe, limits, memory=work["memory"]).save(path)

    limits = RewriteLimits()
    inputs: dict[str, Any] = {"recipe": str(recipe), "pivots": [one.inputs for one in pivots]}
    inputs["limits"] = asdict(limits)
    rewrites = stages.result("rewrites", inputs, rewrite, PhraseTable.open)
    rewrites = replace(rewrites, name="the phrase table")
    which = "language model of written words"
    language = staged_language(stages, which, texts, digests, recipe, "kneser-ney", **work)

    def learn(path: Path) -> None:
        casing, words = learn_casing(texts, recipe), set(every_word(rewrites.pivot))
        used = {word: form for word, form in casing.items() if word in words}
        write_store(path, _CASING, 1, {"casing": used}, {})

    def read(path: Path) -> dict[str, str]:
        return dict(read_store(path, _CASING, 1).about["casing"])

    casing = stages.result("case of words", {**inputs, "texts": list(digests)}, learn, read)
    return Generator(rewrites, language, casing)


def staged_regression(
    stages: Stages, model: PEM, judged: JudgedPairs, inputs: Mapping[str, Any], **work: Any
) -> PEM:
    """Return a model with its regression."""

    def make(path: Path) -> None:
        found = model.train(judged, **work)
        about = {part: found.about[part] for part in ("judged", "features")}
        arrays = {} if found.combination is None else found.combination.arrays()
        write_store(path, _REGRESSION, 1, about, arrays)

    def read(path: Path) -> tuple[SVR, dict[str, Any]]:
        store = read_store(path, _REGRESSION, 1)
        return SVR.from_arrays(store.arrays), {k: store.about[k] for k in ("judged", "features")}

    rows = sha256()
    for text in (*judged.originals, *judged.paraphrases):
        rows.update(text.encode("utf-8", "surrogatepass") + b"\n")
    for column in (judged.human, judged.real):
        rows.update(column.tobytes())
    said = {"judged": [judged.evalset.name, judged.overall, rows.hexdigest()], "form": model.form}
    if model.metrics:
        said |= {"metrics": [one.metric.full_name() for one in model.metrics]}
    regression, about = stages.result("regression", {**inputs, **said}, make, read)
    metrics = identified(model.metrics)
    return replace(model, combination=regression, about={**model.about, **about}, metrics=metrics)


def _links_digest(links: AnyLinks) -> str:
    """Return a digest of links."""
    digest = sha256()
    for start in range(0, len(links), _PIECE):
        part = links.part(start, min(start + _PIECE, len(links)))
        for column in (part.source, part.pivot, part.offsets):
            digest.update(column.tobytes())
    return digest.hexdigest()
