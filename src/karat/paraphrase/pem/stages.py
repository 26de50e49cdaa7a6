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
    iterate_lines,
    join_tokens,
    parallel_tokens,
)
from karat.paraphrase.generate.generator import Generator, learn_casing, surface_recipe
from karat.paraphrase.generate.rewrites import PivotPhrases, RewriteLimits, rewrite_table
from karat.paraphrase.pem.combination import SVR
from karat.paraphrase.pem.features import identify_features
from karat.paraphrase.pem.judged_pairs import JudgedPairs
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.table.phrase_pairs import (
    MAX_PHRASE_WORDS,
    PhraseCounts,
    SortedPhrases,
    sorted_phrases,
)
from karat.paraphrase.table.phrase_table import ENGLISH, PIVOT, PhraseTable, all_words, to_offsets
from karat.paraphrase.table.training import (
    AlignedText,
    describe_corpora,
    link_corpora,
    max_pairs_in_memory,
)
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


def distinct_lines(texts: Sequence[Segments], memory: int | None = None) -> StoredStrings:
    """Return each line of all texts once, where it stands first."""
    digests, lines = _write_digests(texts), StoredStrings()
    try:
        first = first_rows(digests, max(as_memory(memory) // _BYTES_OF_LINE, 1))
    finally:
        digests.close()
    for line, keep in zip(_lines(texts), first.tolist(), strict=True):
        if keep:
            lines.append(line)
    return lines.done()


def sample_lines(texts: Sequence[Segments], most: int = 1000) -> list[str]:
    """Return at most so many different lines with words, spread evenly over some texts."""
    step = max(-(-sum(map(len, texts)) // most), 1)
    return list(
        dict.fromkeys(line for line in islice(_lines(texts), 0, None, step) if line.split())
    )


def _lines(texts: Sequence[Segments]) -> Iterator[str]:
    for text in texts:
        yield from iterate_lines(text)
        text.release(0, len(text))


def _write_digests(texts: Sequence[Segments]) -> ArrayFile:
    """Write 128 bits for each line, in two numbers."""
    digests, held = ArrayFile("uint64", _DIGESTS_PURPOSE, 2), bytearray()
    for line in _lines(texts):
        held += sha256(line.encode("utf-8", "surrogatepass")).digest()[:16]
        if len(held) >= 16 * _ROWS:
            digests.append(np.frombuffer(bytes(held), "<u8"))
            held.clear()
    digests.append(np.frombuffer(bytes(held), "<u8"))
    return digests


def first_rows(rows: ArrayFile, max_rows: int) -> Flags:
    """Return which rows are the first of their kind; about `max_rows` are held at a time."""
    passes = -(-len(rows) // max_rows)
    first: Flags = np.zeros(len(rows), np.bool_)
    for pass_index in range(passes):
        positions_of_pass = [np.empty(0, np.int64)]
        digests_of_pass: list[NDArray[np.uint64]] = [np.empty((0, 2), np.uint64)]
        for start in range(0, len(rows), _ROWS):
            batch = rows.read(start, start + _ROWS)
            selected = np.flatnonzero(batch[:, 0] % np.uint64(passes) == pass_index)
            positions_of_pass.append(start + selected)
            digests_of_pass.append(batch[selected])
        positions, digests = np.concatenate(positions_of_pass), np.concatenate(digests_of_pass)
        order = np.lexsort(
            (digests[:, 1], digests[:, 0])
        )  # stable: of equal ones the first comes first
        new = np.ones(len(order), np.bool_)
        new[1:] = (digests[order[1:]] != digests[order[:-1]]).any(axis=1)
        first[positions[order[new]]] = True
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
    lines = _running_texts(texts) if running else [distinct_lines(texts, memory)]
    if not sum(map(len, lines)):
        raise InputError("there is no text to train a language model on")
    words: dict[str, Any] = {"tok": recipe.tok, "case": recipe.case, "stem": recipe.stem}
    return LanguageModel.train(lines, ORDER, smoothing, memory=memory, **words, **work)


def _running_texts(texts: Sequence[Segments]) -> list[Segments]:
    """Return the texts as they stand, but one that stands beside two pivots only once.

    Counts that are all doubled have no n-grams of count 1, without which Good-Turing says nothing.
    """
    return list({text_digest(text): text for text in reversed(texts)}.values())[::-1]


def text_digest(text: Segments) -> str:
    """Return a digest of the lines of a text."""
    digest = sha256()
    for line in iterate_lines(text):
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
                columns[at + 1].append(len(columns[at]) + to_offsets((side >= 0).sum(axis=1))[1:])
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
        digests = [
            [text_digest(corpus.source), text_digest(corpus.pivot)] for corpus in pivot.corpora
        ]
        recipes = [str(recipe), str(pivot.recipe)]
        alignment = str(aligner) if pivot.links is None else _links_digest(pivot.links)
        self.inputs: dict[str, Any] = {"texts": digests, "recipes": recipes, "links": alignment}

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
        description = describe_corpora(self.pivot.corpora, self.recipe, self.pivot.recipe)
        return AlignedText(*self.words, links, {**description, **about})

    @property
    def table_inputs(self) -> dict[str, Any]:
        """All that the table depends on: it names its texts."""
        description = describe_corpora(self.pivot.corpora, self.recipe, self.pivot.recipe)
        return {**self.inputs, "about": description, "longest": MAX_PHRASE_WORDS}

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
        words = surface_recipe(self.recipe)

        def make(path: Path) -> None:
            text, work = self.aligned(), {k: v for k, v in self.work.items() if k != "memory"}
            texts = [corpus.source for corpus in self.pivot.corpora]
            source = join_tokens(texts, words, **self.work)
            max_pairs = max_pairs_in_memory(self.work["memory"])
            aligned = (source, text.pivot, text.links, MAX_PHRASE_WORDS)
            with sorted_phrases(*aligned, most_rows=max_pairs, **work) as phrases:
                write_phrases(path, phrases, source.vocab, work["progress"])

        inputs = {**self.inputs, "written": str(words), "longest": MAX_PHRASE_WORDS}
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
        languages = [pivot.phrases() for pivot in pivots]
        rewrite_table(languages, recipe, limits, memory=work["memory"]).save(path)

    limits = RewriteLimits()
    inputs: dict[str, Any] = {"recipe": str(recipe), "pivots": [pivot.inputs for pivot in pivots]}
    inputs["limits"] = asdict(limits)
    rewrites = stages.result("rewrites", inputs, rewrite, PhraseTable.open)
    rewrites = replace(rewrites, name="the phrase table")
    stage_name = "language model of written words"
    language = staged_language(stages, stage_name, texts, digests, recipe, "kneser-ney", **work)

    def learn(path: Path) -> None:
        casing, words = learn_casing(texts, recipe), set(all_words(rewrites.pivot))
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
        trained = model.train(judged, **work)
        about = {part: trained.about[part] for part in ("judged", "features")}
        arrays = {} if trained.combination is None else trained.combination.arrays()
        write_store(path, _REGRESSION, 1, about, arrays)

    def read(path: Path) -> tuple[SVR, dict[str, Any]]:
        store = read_store(path, _REGRESSION, 1)
        return SVR.from_arrays(store.arrays), {k: store.about[k] for k in ("judged", "features")}

    rows = sha256()
    for text in (*judged.originals, *judged.paraphrases):
        rows.update(text.encode("utf-8", "surrogatepass") + b"\n")
    for column in (judged.human, judged.real):
        rows.update(column.tobytes())
    regression_inputs = {
        "judged": [judged.evalset.name, judged.overall, rows.hexdigest()],
        "form": model.form,
    }
    if model.metrics:
        regression_inputs |= {"metrics": [feature.metric.full_name() for feature in model.metrics]}
    regression, about = stages.result("regression", {**inputs, **regression_inputs}, make, read)
    metrics = identify_features(model.metrics)
    return replace(model, combination=regression, about={**model.about, **about}, metrics=metrics)


def _links_digest(links: AnyLinks) -> str:
    """Return a digest of links."""
    digest = sha256()
    for start in range(0, len(links), _PIECE):
        part = links.part(start, min(start + _PIECE, len(links)))
        for column in (part.source, part.pivot, part.offsets):
            digest.update(column.tobytes())
    return digest.hexdigest()
