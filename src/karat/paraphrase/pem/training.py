"""Training of PEM models on parallel texts and judged paraphrases.

Training has stages, each of which writes a file: links, phrase table and surface phrases of each
pivot language, language models, rewrites, regression.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from hashlib import sha256
from itertools import islice
from typing import Any, NamedTuple

from karat.arrays import Flags, NDArray, np
from karat.errors import InputError
from karat.lm.model import LanguageModel
from karat.lm.tables import KIND as LANGUAGE
from karat.lm.tables import VERSION as LANGUAGE_VERSION
from karat.paraphrase.align.aligner import Aligner
from karat.paraphrase.align.parallel_text import (
    Links,
    Parallel,
    Words,
    iterate_lines,
    join_tokens,
    parallel_tokens,
)
from karat.paraphrase.generate.generator import Generator, learn_casing, surface_recipe
from karat.paraphrase.generate.rewrites import PivotPhrases, RewriteLimits, rewrite_table
from karat.paraphrase.pem.combination import COPIES, SVR
from karat.paraphrase.pem.features import (
    MetricFeature,
    MetricNames,
    as_features,
    check_feature_form,
)
from karat.paraphrase.pem.judged_pairs import JudgedPairs
from karat.paraphrase.pem.model import PEM, default_copies
from karat.paraphrase.table.phrase_table import ENGLISH, PIVOT, PhraseCounts, PhraseTable, all_words
from karat.paraphrase.table.phrase_table import KIND as TABLE
from karat.paraphrase.table.phrase_table import VERSION as TABLE_VERSION
from karat.paraphrase.table.training import (
    MAX_PHRASE_WORDS,
    build_table,
    describe_corpora,
    extract_phrases,
    link_corpora,
    max_pairs_in_memory,
)
from karat.progress import Progress, silent
from karat.storage.arrays import ArrayFile, as_memory, forget_pages
from karat.storage.output import FilePath
from karat.storage.stages import Stages, work_folder
from karat.storage.store import Arrays, ModelStore, read_store, write_store
from karat.text.segments import Segments, as_segments
from karat.text.tokens import Recipe, Vocab, check_choice
from karat.text.word_table import StoredStrings, word_arrays, word_table

ORDER = 4  # order of the language model, as in the paper
REGRESSION, MEAN, CALIBRATED = "regression", "mean", "calibrated-mean"
COMBINATIONS = (REGRESSION, MEAN, CALIBRATED)
"""Combinations of features: learned from judgements, a mean scaled by controls, or such a mean on
the scale of judgements."""

_PURPOSE = "lines of text are compared there"
_ROWS = 1 << 16  # rows read together
_BYTES_OF_LINE = 256  # memory for each line while digests are sorted
_PIECE = 1 << 20  # sentences whose links are hashed together

Content = tuple[Mapping[str, Any], Arrays]
"""The description and the arrays of a stage's file."""


class TrainingForm(NamedTuple):
    """Settings of the language model and the aligner for a form of features."""

    smoothing: str = "kneser-ney"
    running: bool = False  # count every occurrence of a line, not each different line once
    aligner: str = "fertility"
    agreement: str | None = None  # None: default of the aligner


FORM_TRAINING = {"paper": TrainingForm("katz", True, "hmm", "product")}
"""Form -> its training settings, if not the default.

The paper used SRILM (Good-Turing with Katz back-off, on running text) and the Berkeley aligner (a
joint HMM that multiplies the expectations of both directions).
"""


@dataclass(frozen=True, eq=False)
class Pivot:
    """The parallel texts of one pivot language, and its recipe."""

    corpora: Sequence[Parallel]
    recipe: Recipe = PIVOT
    links: Links | None = None
    """Links of another aligner, for all texts in order; None: use Karat's aligner."""


def train_pem(
    pivots: Mapping[str, Pivot],
    judged: JudgedPairs | None = None,
    *,
    form: str = "unigram",
    features: MetricNames = (),
    combine: str = REGRESSION,
    copies: str | None = None,
    smoothing: str | None = None,
    aligner: str | None = None,
    agreement: str | None = None,
    recipe: Recipe = ENGLISH,
    generate: bool = True,
    memory: int | None = None,
    work: FilePath | None = None,
    notes: list[str] | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> PEM:
    """Train a model on the parallel texts of its pivot languages.

    The language model is trained on the source side of all parallel texts, each different line
    once; for the form `paper` on running text. `smoothing` of the language model is `kneser-ney`
    or `katz`, `aligner` is `fertility` or `hmm`, and its `agreement` is `min`, `root` or `product`;
    the defaults depend on the form (see `FORM_TRAINING`). `features` are metrics whose scores of
    each paraphrase against its original are features too. `combine` is `regression`, learned from
    `judged`, `mean`, which needs no judgements (see `ControlMean`), or `calibrated-mean`, the same
    on the scale of `judged`. A model trained without any computes the parts of the score only.
    `copies` is what a copy of the original is worth: `good`, `bad` or `ignore` (see `COPIES`). By
    default it is good, because a user who asks whether the meaning was kept expects an unchanged
    sentence at the top; in the paper's form it is bad. With `generate`, the model also writes
    paraphrases.

    Beyond `memory` bytes (default: a quarter of the memory of this machine) temporary files are
    used; the model is the same. `work` is a folder that keeps the result of each stage, to resume
    training that was stopped. Finished stages with unchanged texts and settings are not repeated;
    each of them adds a line to `notes`.
    """
    check_feature_form(form)
    check_choice("combine", combine, COMBINATIONS)
    if copies is not None and combine == REGRESSION and judged is None:
        problem = f"copies={copies} changes nothing: without judgements, a regression has no PEM"
        raise InputError(f"{problem}: give them with --judged, or use --combine mean")
    copies = copies or default_copies(form)
    check_choice("copies", copies, COPIES)
    metrics = as_features(features, in_parts=combine == REGRESSION)
    _check_combination(combine, metrics, judged)
    choices: dict[str, Any] = {"smoothing": smoothing, "aligner": aligner, "agreement": agreement}
    training_form = FORM_TRAINING.get(form, TrainingForm())._replace(
        **{name: value for name, value in choices.items() if value is not None}
    )
    links: dict[str, Any] = {"model": training_form.aligner, "agreement": training_form.agreement}
    threading: dict[str, Any] = {"threads": threads, "progress": progress}
    with work_folder(work) as folder:
        stages = TrainingStages(
            Stages(folder), pivots, recipe, Aligner(**links), memory=as_memory(memory), **threading
        )
        tables = stages.tables(written=generate)
        language_settings = training_form.smoothing, training_form.running
        language = stages.language("language model", recipe, *language_settings)
        generator = stages.generator() if generate else None
        about = {"running": True} if training_form.running else {}
        model = PEM.of(tables, language, form, about, generator, metrics)
        if combine != REGRESSION:
            lines = sample_lines(stages.texts)
            model = model.train_on_controls(lines, copies=copies, **threading)
            if judged is not None:
                model = model.calibrate(judged, **threading)
        elif judged is not None:
            model = stages.regression(model, judged, language_settings, copies, **threading)
    if notes is not None:
        notes += [f"{name}: done already" for name in stages.stages.done_already]
    return model


def _check_combination(
    combine: str, metrics: Sequence[MetricFeature], judged: JudgedPairs | None
) -> None:
    """Raise if a mean has features that cannot score controls, or judgements do not fit it."""
    if combine == REGRESSION:
        return
    if unread := [feature.name for feature in metrics if not feature.metric.reads_texts]:
        raise InputError(
            f"feature {unread[0]} cannot score controls, which combine={combine} needs: give "
            "metrics that score any text"
        )
    if combine == MEAN and judged is not None:
        raise InputError(
            "combine=mean takes no judgements: leave out --judged, or use --combine "
            f"{CALIBRATED} for a mean on the scale of the judgements, or leave out --combine mean "
            "to learn a regression from them"
        )
    if combine == CALIBRATED and judged is None:
        raise InputError(
            f"combine={CALIBRATED} needs judgements: give them with --judged, or use --combine mean"
        )


def _stored_stage(
    stages: Stages,
    name: str,
    inputs: Mapping[str, Any],
    make: Callable[[], Content],
    kind: str = "stage of training",
    version: int = 1,
) -> ModelStore:
    """Return the content of a stage, mapped from the file that it was written to."""
    store = stages.result(
        name,
        inputs,
        lambda path: write_store(path, kind, version, *make()),
        lambda path: read_store(path, kind, version),
    )
    forget_pages(store.arrays.values())
    return store


def _table_stage(
    stages: Stages, name: str, inputs: Any, make: Callable[[], Content]
) -> PhraseTable:
    store = _stored_stage(stages, name, inputs, make, TABLE, TABLE_VERSION)
    return PhraseTable.of_arrays("the phrase table", store.description, store.arrays)


class PivotStages:
    """The stages of one pivot language; its texts are tokenised when first needed."""

    def __init__(
        self, stages: Stages, name: str, pivot: Pivot, recipe: Recipe, aligner: Aligner, work: Any
    ) -> None:
        self.stages, self.name, self.pivot, self.recipe = stages, name, pivot, recipe
        self.aligner, self.work = aligner, work
        self.inputs: dict[str, Any] = {
            "texts": [
                [lines_digest(side) for side in (corpus.source, corpus.pivot)]
                for corpus in pivot.corpora
            ],
            "recipes": [str(recipe), str(pivot.recipe)],
            "links": str(aligner) if pivot.links is None else _links_digest(pivot.links),
        }
        """Everything that the links depend on."""
        self.about = describe_corpora(pivot.corpora, recipe, pivot.recipe)
        self.table_inputs = {**self.inputs, "about": self.about, "longest": MAX_PHRASE_WORDS}
        """Everything that the table depends on; its description names the texts."""

    @cached_property
    def words(self) -> tuple[Words, Words]:
        """Tokens of both sides."""
        return parallel_tokens(self.pivot.corpora, self.recipe, self.pivot.recipe, **self.work)

    @cached_property
    def links(self) -> tuple[Links, Mapping[str, Any]]:
        """Links, and the description of Karat's alignment for the table."""
        if self.pivot.links is not None:
            return self.pivot.links, {}

        def align() -> Content:
            links, about = link_corpora(*self.words, self.aligner, **self.work)
            return about, vars(links)

        store = _stored_stage(self.stages, f"alignment of {self.name}", self.inputs, align)
        return Links(**store.arrays), store.description

    def table(self) -> PhraseTable:
        """Return the phrase table."""

        def build() -> Content:
            links, about_links = self.links
            table = build_table(*self.words, links, {**self.about, **about_links}, **self.work)
            return table.about, table.arrays

        name = f"phrase table of {self.name}"
        return _table_stage(self.stages, name, self.table_inputs, build)

    def written_phrases(self) -> PivotPhrases:
        """Return the phrase pairs of surface words."""
        recipe = surface_recipe(self.recipe)

        def extract() -> Content:
            texts = [corpus.source for corpus in self.pivot.corpora]
            source = join_tokens(texts, recipe, **self.work)
            options = {k: v for k, v in self.work.items() if k != "memory"}
            most_rows = max_pairs_in_memory(self.work["memory"])
            aligned = source, self.words[1], self.links[0]
            counts = extract_phrases(*aligned, most_rows=most_rows, **options)
            return {}, vars(counts) | word_arrays(source.vocab, "words")

        inputs = {**self.inputs, "written": str(recipe), "longest": MAX_PHRASE_WORDS}
        store = _stored_stage(self.stages, f"written phrases of {self.name}", inputs, extract)
        vocab = Vocab()
        vocab.add(all_words(word_table(store.arrays, "words")))
        columns = (store.arrays[field.name] for field in fields(PhraseCounts))
        return PivotPhrases(PhraseCounts(*columns), vocab)


class TrainingStages:
    """The stages of a model; `work` is `memory`, `threads` and `progress`."""

    def __init__(
        self,
        stages: Stages,
        pivots: Mapping[str, Pivot],
        recipe: Recipe,
        aligner: Aligner,
        **work: Any,
    ) -> None:
        self.stages, self.recipe, self.work = stages, recipe, work
        self.pivots = [
            PivotStages(stages, name, pivot, recipe, aligner, work)
            for name, pivot in pivots.items()
        ]
        self.texts = [corpus.source for pivot in pivots.values() for corpus in pivot.corpora]
        self.digests = [source for pivot in self.pivots for source, _ in pivot.inputs["texts"]]

    def tables(self, written: bool) -> dict[str, PhraseTable]:
        """Return the phrase tables; with `written`, also extract the phrases of surface words."""
        tables = {}
        for pivot in self.pivots:
            tables[pivot.name] = pivot.table()
            if written:
                pivot.written_phrases()  # now, while its tokens are in memory
            pivot.__dict__.pop("words", None)  # free the tokens
        return tables

    def language(
        self, name: str, recipe: Recipe, smoothing: str, running: bool = False
    ) -> LanguageModel:
        """Return the language model of the source sides of all texts."""

        def train() -> Content:
            model = train_language(self.texts, recipe, smoothing, running=running, **self.work)
            return model.about, model.arrays

        inputs: dict[str, Any] = {"texts": self.digests, "recipe": str(recipe)}
        inputs |= {"smoothing": smoothing, "running": running, "order": ORDER}
        store = _stored_stage(self.stages, name, inputs, train, LANGUAGE, LANGUAGE_VERSION)
        model = LanguageModel(store.description, store.arrays)
        forget_pages(store.arrays.values())  # they were checked
        return model

    def generator(self) -> Generator:
        """Return the generator: rewrites, a language model of surface words, and casing."""
        recipe, limits = surface_recipe(self.recipe), RewriteLimits()
        inputs: dict[str, Any] = {
            "recipe": str(recipe),
            "pivots": [pivot.inputs for pivot in self.pivots],
            "limits": asdict(limits),
        }

        def rewrite() -> Content:
            languages = [pivot.written_phrases() for pivot in self.pivots]
            table = rewrite_table(languages, recipe, limits, memory=self.work["memory"])
            return table.about, table.arrays

        def learn() -> Content:
            casing, words = learn_casing(self.texts, recipe), set(all_words(rewrites.pivot))
            return {"casing": {w: form for w, form in casing.items() if w in words}}, {}

        rewrites = _table_stage(self.stages, "rewrites", inputs, rewrite)
        language = self.language("language model of written words", recipe, "kneser-ney")
        inputs |= {"texts": self.digests}
        casing = _stored_stage(self.stages, "case of words", inputs, learn)
        return Generator(rewrites, language, casing.about["casing"])

    def regression(
        self,
        model: PEM,
        judged: JudgedPairs,
        language_settings: tuple[str, bool],
        copies: str,
        **work: Any,
    ) -> PEM:
        """Return the model with a regression trained on judged paraphrases."""

        def train() -> Content:
            trained = model.train(judged, copies=copies, **work)
            parts = ("judged", "features", "copies")
            about = {part: trained.about[part] for part in parts if part in trained.about}
            return about, {} if trained.combination is None else trained.combination.arrays()

        texts = as_segments([*judged.originals, *judged.paraphrases], "judged")
        scores = judged.human.tobytes() + judged.real.tobytes()
        digests = lines_digest(texts), sha256(scores).hexdigest()
        inputs: dict[str, Any] = {
            "tables": {pivot.name: pivot.table_inputs for pivot in self.pivots},
            "language": [self.digests, str(self.recipe), *language_settings],
            "judged": [judged.evalset.name, judged.overall, *digests],
            "form": model.form,
            "copies": copies,
        }
        if model.metrics:
            inputs["metrics"] = [feature.metric.full_name() for feature in model.metrics]
        store = _stored_stage(self.stages, "regression", inputs, train)
        return model.with_combination(SVR.from_arrays(store.arrays), store.description)


def train_language(
    texts: Sequence[Segments],
    recipe: Recipe = ENGLISH,
    smoothing: str = "kneser-ney",
    *,
    running: bool = False,
    memory: int | None = None,
    **work: Any,
) -> LanguageModel:
    """Train a 4-gram language model on each different line once, or on `running` text.

    A running text that is parallel to two pivot languages is used once: if all counts were doubled,
    no n-gram would have count 1, which Good-Turing needs.
    """
    lines: list[Segments]
    if running:
        lines = list({lines_digest(text): text for text in reversed(texts)}.values())[::-1]
    else:
        lines = [distinct_lines(texts, memory)]
    if not sum(map(len, lines)):
        raise InputError("there is no text to train a language model on")
    words: dict[str, Any] = {"tok": recipe.tok, "case": recipe.case, "stem": recipe.stem}
    return LanguageModel.train(lines, ORDER, smoothing, memory=memory, **words, **work)


def distinct_lines(texts: Sequence[Segments], memory: int | None = None) -> StoredStrings:
    """Return each different line of all texts, in order of first occurrence.

    Lines are compared by 128-bit digests, which are sorted in as many passes as memory requires.
    """
    digests, buffer = ArrayFile("uint64", _PURPOSE, 2), bytearray()
    for line in _lines(texts):
        buffer += sha256(line.encode("utf-8", "surrogatepass")).digest()[:16]
        if len(buffer) >= 16 * _ROWS:
            digests.append(np.frombuffer(bytes(buffer), "<u8"))
            buffer.clear()
    digests.append(np.frombuffer(bytes(buffer), "<u8"))
    is_first = _first_rows(digests, max(as_memory(memory) // _BYTES_OF_LINE, 1))
    return StoredStrings(
        line for line, keep in zip(_lines(texts), is_first.tolist(), strict=True) if keep
    ).done()


def _first_rows(rows: ArrayFile, max_rows: int) -> Flags:
    """Return which rows are the first of equal ones; about `max_rows` are in memory at a time."""
    passes = -(-len(rows) // max_rows)
    is_first: Flags = np.zeros(len(rows), np.bool_)
    for pass_index in range(passes):
        positions_of_pass = [np.empty(0, np.int64)]
        digests_of_pass: list[NDArray[np.uint64]] = [np.empty((0, 2), np.uint64)]
        for start in range(0, len(rows), _ROWS):
            batch = rows.read(start, start + _ROWS)
            selected = np.flatnonzero(batch[:, 0] % np.uint64(passes) == pass_index)
            positions_of_pass.append(start + selected)
            digests_of_pass.append(batch[selected])
        positions, digests = np.concatenate(positions_of_pass), np.concatenate(digests_of_pass)
        order = np.lexsort((digests[:, 1], digests[:, 0]))  # stable
        new = np.ones(len(order), np.bool_)
        new[1:] = (digests[order[1:]] != digests[order[:-1]]).any(axis=1)
        is_first[positions[order[new]]] = True
    return is_first


def sample_lines(texts: Sequence[Segments], max_lines: int = 1000) -> list[str]:
    """Return at most `max_lines` different non-blank lines, spread evenly over the texts."""
    step = max(-(-sum(map(len, texts)) // max_lines), 1)
    lines = islice(_lines(texts), 0, None, step)
    return list(dict.fromkeys(line for line in lines if line.split()))


def _lines(texts: Sequence[Segments]) -> Iterator[str]:
    for text in texts:
        yield from iterate_lines(text)
        text.release(0, len(text))


def lines_digest(text: Segments) -> str:
    """Return a digest of the lines of a text."""
    digest = sha256()
    for line in _lines([text]):
        digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def _links_digest(links: Links) -> str:
    digest = sha256()
    for start in range(0, len(links), _PIECE):
        part = links.part(start, min(start + _PIECE, len(links)))
        for column in (part.source, part.pivot, part.offsets):
            digest.update(column.tobytes())
    return digest.hexdigest()
