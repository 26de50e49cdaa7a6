"""The stages of training: links, phrase tables, language models, rewrites, the regression.

Each depends on the texts it was made from and on the settings that it uses, no others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from karat.lm.model import LanguageModel
from karat.lm.tables import KIND as LANGUAGE
from karat.lm.tables import VERSION as LANGUAGE_VERSION
from karat.paraphrase.align.aligner import Aligner
from karat.paraphrase.align.links import AnyLinks
from karat.paraphrase.align.parallel_text import Parallel, joined_tokens, parallel_tokens
from karat.paraphrase.align.stored_tokens import Words
from karat.paraphrase.combine.svr import SVR
from karat.paraphrase.generate.generator import Generator, learn_casing, surface
from karat.paraphrase.generate.paths import PivotPhrases, RewriteLimits
from karat.paraphrase.generate.rewrites import rewrite_table
from karat.paraphrase.pem.judged_pairs import JudgedPairs
from karat.paraphrase.pem.metric_features import identified
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.table.phrase_pairs import LONGEST, sorted_phrases
from karat.paraphrase.table.phrase_table import PIVOT, PhraseTable, every_word
from karat.paraphrase.table.stored_phrases import (
    read_links,
    read_phrases,
    write_links,
    write_phrases,
)
from karat.paraphrase.table.training import AlignedText, about_corpora, link_corpora, most_pairs
from karat.paraphrase.train.language import ORDER, text_digest, train_language
from karat.storage.arrays import forget_pages
from karat.storage.stages import Stages
from karat.storage.store import read_store, write_store
from karat.text.segments import Segments
from karat.text.tokens import Recipe

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
