"""Scores of paraphrases by PEM, and their explanations: phrases, networks, shared n-grams."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise, product, repeat
from typing import Any, NamedTuple, TypeAlias

from karat import __version__
from karat.arrays import Flags, Floats, np
from karat.errors import InputError
from karat.facts.comparing import CHECKS, fact_changes
from karat.metrics.pairs import Outputs
from karat.paraphrase.pem.combination import GOOD, IGNORE
from karat.paraphrase.pem.features import (
    FORMS,
    MetricNames,
    PivotSettings,
    f1,
    pivot_statistics,
    pooled_f1,
    share,
    target_statistics,
)
from karat.paraphrase.pem.metrics import PivotF1
from karat.paraphrase.pem.model import BUNDLED, PEM, PEMScores, as_pem
from karat.paraphrase.table.phrase_table import Maps, PhraseTable, Translation
from karat.progress import Progress, silent
from karat.results import Result
from karat.settings import SEED, to_text
from karat.stats.resampling import bootstrap_fields
from karat.storage.output import FilePath
from karat.text.references import check_aligned
from karat.text.segments import Segments, Texts, as_segments
from karat.text.tokens import Tokens, tokenize

Candidates: TypeAlias = "Mapping[str, Texts] | Sequence[tuple[str, Texts]] | Texts"
"""Paraphrases of several systems, as a mapping or as pairs; or of one system."""


class SystemRow(NamedTuple):
    """Means over the paraphrases of a system, and the 95% interval of PEM."""

    system: str
    paraphrases: int
    low: float | None  # None without an interval
    high: float | None
    pem: float
    pivot_f1: float
    fluency: float
    target_f1: float


class ParaphraseRow(NamedTuple):
    """A paraphrase with PEM, from 1 to 5, and its three parts."""

    system: str
    segment: int
    original: str
    paraphrase: str
    pem: float
    pivot_f1: float
    fluency: float
    target_f1: float
    changes: str
    """Changed numbers, negation and names: `numbers: original 17, paraphrase 71`."""


@dataclass(frozen=True, eq=False, repr=False)
class ParaphraseScores(Result):
    """Scores of systems in `rows` and, optionally, of every paraphrase in `segments`."""

    rows: tuple[SystemRow, ...]
    segments: tuple[ParaphraseRow, ...]
    settings: Mapping[str, object]
    notes: tuple[str, ...]
    signature: str


_NO_SCORE = "The model has parts, but no PEM score: train it with --judged or --combine mean."


def score_paraphrases(
    candidates: Candidates,
    originals: Texts,
    model: PEM | str | os.PathLike[str] = BUNDLED,
    *,
    form: str | None = None,
    features: MetricNames = (),
    copies: str | None = None,
    segments: bool = True,
    resamples: int = 1000,
    seed: int = SEED,
    threads: int | None = None,
    progress: Progress = silent,
) -> ParaphraseScores:
    """Score paraphrases by PEM, from 1 to 5.

    Args:
        candidates: paraphrases of one system, or of several by name, in the order of `originals`.
        originals: texts.
        model: a model or its file; by default the bundled one.
        form: form of the features; selects the bundled model, and must be that of another model.
        features: metrics that the model has as features, if their files were moved.
        copies: what a copy of the original is worth: `good`, `bad` or `ignore`; by default as in
            the model. What has learned from judgements takes its own or `ignore`.
        segments: keep the score of every paraphrase.
        resamples: number of bootstrap resamples for the intervals; 0 for no intervals.
        seed: seed of the random numbers.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    pem = as_pem(model, form).with_metrics(features).with_copies(copies)
    if form is not None and pem.form != form:
        raise InputError(
            f"{pem.name} has the form {pem.form}, and its regression needs the features of that "
            f"form: train a model with --form {form}"
        )
    original_texts = as_segments(originals, "originals")
    notes: list[str] = []
    copies_notes: list[str] = []
    rows: list[SystemRow] = []
    paraphrase_scores: list[ParaphraseRow] = []
    for name, texts in _candidate_systems(candidates):
        pairs = pem.features(
            original_texts, texts, Outputs((name,)), threads=threads, progress=progress
        )
        scores = pem.scores(pairs)
        notes += (f"{name}, {note}" for note in pairs.notes)
        copies_notes += _copies_notes(name, pem, pairs.is_copy)
        scored = scores.select(~pairs.is_copy) if pem.copies == IGNORE else scores
        low, high = scored.interval(resamples, seed) or (None, None)
        means = (float(column.mean()) if len(column) else float("nan") for column in scored)
        rows.append(SystemRow(name, len(scores.pem), low, high, *means))
        if segments:
            both = (side.views(0, len(side)).strings() for side in (original_texts, texts))
            paraphrase_scores += paraphrase_rows(name, range(1, len(texts) + 1), scores, *both)
    notes += (*pem.cautions, *copies_notes)
    if pem.combination is None:
        notes.append(_NO_SCORE)
    settings: dict[str, object] = {"model": pem.name, "model_settings": pem.description}
    settings |= {"copies": pem.copies, "resamples": resamples, "seed": seed}
    signature = pem.signature_of_scores(bootstrap_fields(resamples, seed))
    return ParaphraseScores(
        tuple(rows), tuple(paraphrase_scores), settings, tuple(notes), signature
    )


_COPIES_WORTH = {GOOD: "the highest score", IGNORE: "no score"}


def _copies_notes(system: str, pem: PEM, is_copy: Flags) -> Iterator[str]:
    """Yield a note on the paraphrases that are copies, if their score is set for all of them."""
    count = int(is_copy.sum())
    if pem.combination is None or pem.copies not in _COPIES_WORTH or not count:
        return
    verb = "equals its original" if count == 1 else "equal their originals"
    yield (
        f"{system}: {count:,} of {len(is_copy):,} paraphrases {verb} but for case and spaces: "
        f"{_COPIES_WORTH[pem.copies]} (copies={pem.copies})."
    )


def _candidate_systems(candidates: Candidates) -> Iterator[tuple[str, Segments]]:
    """Yield the name and the paraphrases of each system."""
    systems: Any = [("candidate", candidates)]
    if isinstance(candidates, Mapping):
        systems = candidates.items()
    elif isinstance(candidates, list | tuple) and candidates and isinstance(candidates[0], tuple):
        systems = candidates
    for name, texts in systems:
        yield name, as_segments(texts, "candidates")


def paraphrase_rows(
    system: str,
    numbers: Sequence[int],
    scores: PEMScores,
    originals: Sequence[str],
    paraphrases: Sequence[str],
) -> Iterator[ParaphraseRow]:
    """Yield the rows of some paraphrases of a system; `numbers` are those of their segments."""
    columns = [column.tolist() for column in scores]
    for number, original, paraphrase, *values in zip(
        numbers, originals, paraphrases, *columns, strict=True
    ):
        changes = "; ".join(": ".join(change) for change in changed_facts(original, paraphrase))
        yield ParaphraseRow(*(system, number, original, paraphrase, *values, changes))


def changed_facts(original: str, paraphrase: str) -> Iterator[tuple[str, str]]:
    """Yield each kind of changed facts and the words of both texts, by the rules of English."""
    for change in fact_changes(paraphrase, (original,)):
        words = change.reference or "none", change.output or "none"
        yield change.check, f"original {words[0]}, paraphrase {words[1]}"


Words = tuple[str, ...]

UNSEEN = 0.5  # N of a single word that is not in the table


class Phrase(NamedTuple):
    """A phrase of a segmented sentence, and its edges in the network."""

    words: Words
    in_table: bool  # False for an unseen word, which is its own translation
    times: float  # N(p)
    probability: float  # Pr(p) = N(p) / sum N
    edges: tuple[Translation, ...]  # translations in the network, with their weights
    left_out: int  # number of other translations in the table

    def pivot_words(self) -> dict[str, float]:
        """Return the expected number of each pivot word among the translations."""
        expected_counts: dict[str, float] = {}
        for words, probability in self.edges:
            for word in words:
                expected_counts[word] = expected_counts.get(word, 0.0) + probability
        return expected_counts


class Gram(NamedTuple):
    """A pivot n-gram with its weight in the bag of each sentence."""

    words: Words
    original: float
    paraphrase: float

    @property
    def common(self) -> float:
        """min(W_R, W_P)."""
        return min(self.original, self.paraphrase)


class ParaphrasePairRow(NamedTuple):
    """Pivot F1 of a pair, numbered from 1, and the weights it is computed from."""

    pair: int
    pivot_f1: float
    precision: float
    recall: float
    target_f1: float
    common: float
    paraphrase_weight: float
    original_weight: float


class PhraseLink(NamedTuple):
    """Two phrases with common pivot words: their positions, from 0, and the common share."""

    original: int
    paraphrase: int
    weight: float


@dataclass(frozen=True, eq=False)
class PairExplanation:
    """The steps from two sentences to their pivot F1."""

    original: tuple[Phrase, ...]
    paraphrase: tuple[Phrase, ...]
    grams: tuple[Gram, ...]
    """Sorted by common weight, then by the larger weight, both falling."""
    pivot: Floats  # orders x weights (common, paraphrase, original)
    target: Floats  # orders x (common, paraphrase, original) for the words themselves
    settings: PivotSettings

    @property
    def pivot_f1(self) -> float:
        """Adequacy: F1 of all pivot n-grams in one bag."""
        return float(pooled_f1(self.pivot))

    @property
    def precision(self) -> float:
        """Common share of the paraphrase's weight."""
        common, paraphrase, _ = self.pivot.sum(axis=0)
        return float(share(common, paraphrase))

    @property
    def recall(self) -> float:
        """Common share of the original's weight."""
        common, _, original = self.pivot.sum(axis=0)
        return float(share(common, original))

    @property
    def links(self) -> tuple[PhraseLink, ...]:
        """Pairs of phrases with common pivot words."""
        originals, paraphrases = (
            [phrase.pivot_words() for phrase in side] for side in (self.original, self.paraphrase)
        )
        links = []
        for (i, left), (j, right) in product(enumerate(originals), enumerate(paraphrases)):
            common = sum(min(mass, right.get(word, 0.0)) for word, mass in left.items())
            if common > 0:
                weight = common / max(sum(left.values()), sum(right.values()))
                links.append(PhraseLink(i, j, weight))
        return tuple(links)

    def evidence(self, texts: tuple[str, str]) -> Iterator[tuple[str, str]]:
        """Yield what raises and lowers the score: shared words and pivots, changed facts.

        `texts` are the original and the paraphrase, whose words are stemmed as in the table.
        """
        original, paraphrase = (
            Counter(word for phrase in side for word in phrase.words)
            for side in (self.original, self.paraphrase)
        )
        sides = {
            "shared words": original & paraphrase,
            "words of the original alone": original - paraphrase,
            "words of the paraphrase alone": paraphrase - original,
        }
        yield from ((kind, ", ".join(words.elements())) for kind, words in sides.items())
        shared = (gram for gram in self.grams if gram.common > 0 and len(gram.words) == 1)
        pivots = ", ".join(f"{gram.words[0]} {gram.common:.2g}" for gram in shared)
        yield "shared pivot words", pivots
        changes = list(changed_facts(*texts))
        for check in CHECKS:
            texts_of_check = [text for kind, text in changes if kind == check]
            yield check, "; ".join(texts_of_check) or "no change"

    @property
    def by_order(self) -> tuple[float, ...]:
        """F1 of the pivot n-grams of each order."""
        return tuple(f1(self.pivot).tolist())

    @property
    def target_f1(self) -> float:
        """F1 of the words themselves: lower is more dissimilar."""
        return float(pooled_f1(self.target))

    def row(self, number: int) -> ParaphrasePairRow:
        """Return the scores of the pair and the weights they are computed from."""
        scores = self.pivot_f1, self.precision, self.recall, self.target_f1
        return ParaphrasePairRow(number, *scores, *self.pivot.sum(axis=0).tolist())


def explain_pair(
    table: PhraseTable, original: str, paraphrase: str, settings: PivotSettings | None = None
) -> PairExplanation:
    """Explain the pivot F1 of one pair, step by step.

    Args:
        table: phrase table.
        original, paraphrase: the two sentences.
        settings: settings of the bags of n-grams.
    """
    settings = settings or PivotSettings()
    recipe = table.recipe
    tokens = tokenize([original, paraphrase], recipe.tok, recipe.case, recipe.stem, threads=1)
    maps = table.maps(tokens.vocab)
    numbers, lengths, ends = table.kernel.segment(tokens.ids, tokens.offsets, maps.source)
    words = iter([word for i in range(2) for word in tokens[i]])
    phrases = [
        _explain_phrase(table, number, tuple(islice(words, length)), settings)
        for number, length in zip(numbers.tolist(), lengths.tolist(), strict=True)
    ]
    original_bag, paraphrase_bag = (
        _bag_weights(table, tokens, i, maps, settings) for i in range(2)
    )
    grams = [
        Gram(w, original_bag.get(w, 0.0), paraphrase_bag.get(w, 0.0))
        for w in dict.fromkeys([*original_bag, *paraphrase_bag])
    ]
    grams.sort(key=lambda g: (-g.common, -max(g.original, g.paraphrase), len(g.words)))
    return PairExplanation(
        tuple(phrases[: ends[1]]),
        tuple(phrases[ends[1] :]),
        tuple(grams),
        pivot_statistics(table, [original], [paraphrase], settings, threads=1)[0],
        target_statistics([original], [paraphrase], recipe, settings.order, threads=1)[0],
        settings,
    )


def _explain_phrase(
    table: PhraseTable, number: int, words: Words, settings: PivotSettings
) -> Phrase:
    total = max(table.total, UNSEEN)
    if number < 0:
        return Phrase(words, False, UNSEEN, UNSEEN / total, (Translation(words, 1.0),), 0)
    translations = table.translations(number)
    edges_kept = [t for i, t in enumerate(translations) if i == 0 or t.probability > settings.edge]
    mass = sum(t.probability for t in edges_kept) if settings.renormalise else 1.0
    edges = tuple(Translation(t.words, t.probability / mass) for t in edges_kept)
    count = table.count(number)
    return Phrase(words, True, count, count / total, edges, len(translations) - len(edges_kept))


def _bag_weights(
    table: PhraseTable, tokens: Tokens, i: int, maps: Maps, settings: PivotSettings
) -> dict[Words, float]:
    """Return the pivot n-grams of a sentence and their weights."""
    ids = tokens.ids[tokens.offsets[i] : tokens.offsets[i + 1]]
    offsets = np.array([0, len(ids)], dtype=np.int64)
    kernel_bag = table.kernel.bag(ids, offsets, *maps, settings.rules)
    if kernel_bag is None:
        raise InputError("too many pivot n-grams: give a larger edge or a smaller order")
    grams, starts, weights = kernel_bag
    n_pivot_words = len(table.pivot)  # higher ids are words of the sentence
    pivot_words = iter(table.pivot.words(grams[grams < n_pivot_words]))
    sentence_words = tokens.vocab.words(0, len(tokens.vocab))
    words = [
        next(pivot_words) if word < n_pivot_words else sentence_words[word - n_pivot_words]
        for word in grams.tolist()
    ]
    texts = [tuple(words[a:b]) for a, b in pairwise(starts.tolist())]
    return dict(zip(texts, weights.tolist(), strict=True))


class FeatureRow(NamedTuple):
    """A feature of a pair, an input of the model's regression or mean."""

    pair: int
    feature: str
    value: float


class PairEvidence(NamedTuple):
    """A reason for the score of a pair: shared words and pivots, changed facts."""

    pair: int
    kind: str
    evidence: str


@dataclass(frozen=True, eq=False, repr=False)
class ParaphraseExplanations(Result):
    """The steps from pairs of sentences to their scores.

    `pem` is empty without a model, `features` also if the model has no score.
    """

    name: str
    rows: tuple[ParaphrasePairRow, ...]
    pem: tuple[ParaphraseRow, ...]
    pairs: tuple[PairExplanation, ...]
    settings: Mapping[str, object]
    notes: tuple[str, ...]
    signatures: Mapping[str, str]
    """Signatures of PEM and of the n-grams of one pivot language; or of `pivot_f1`."""
    features: tuple[FeatureRow, ...] = ()
    evidence: tuple[PairEvidence, ...] = ()

    @property
    def signature(self) -> str:
        """The signatures, a line each."""
        return "\n".join(self.signatures.values())


def explain_paraphrases(
    candidates: Texts,
    originals: Texts,
    model: PEM | FilePath | None = None,
    *,
    pivot: str | None = None,
    table: str | None = None,
    segments: Sequence[int] = (),
    worst: int | None = None,
    copies: str | None = None,
    name: str = "candidate",
    **settings: Any,
) -> ParaphraseExplanations:
    """Explain the scores of paraphrases.

    Args:
        candidates, originals: texts, in the same order.
        model: a model or its file; by default the bundled one.
        pivot: pivot language of the model; by default the first.
        table: file of a phrase table, instead of a model.
        segments: numbers of the pairs, from 1; by default the first.
        worst: number of pairs with the lowest scores, instead of `segments`.
        copies: what a copy of the original is worth, as for `score_paraphrases`.
        name: name of the system, for reports.
        settings: settings of `PivotSettings`.
    """
    changed = {name: value for name, value in settings.items() if value is not None}
    candidate_texts = as_segments(candidates, "candidates")
    original_texts = as_segments(originals, "originals")
    check_aligned([candidate_texts, original_texts])
    pem = None
    if table is not None:
        if (model, pivot, copies) != (None, None, None):
            raise InputError("--table replaces the model: leave out --model, --pivot and --copies")
        phrases, pivot_settings = PhraseTable.open(table), PivotSettings(**changed)
        metric = PivotF1(table, **vars(pivot_settings))
        signatures = {str(metric): metric.signature()}
    else:
        pem = as_pem(model or BUNDLED).with_copies(copies)
        language = pivot or next(iter(pem.pivots))
        if language not in pem.pivots:
            raise InputError(f"--pivot {language}: the model has {', '.join(pem.pivots)}")
        phrases, pivot_settings = pem.pivots[language], replace(FORMS[pem.form], **changed)
        rules = ",".join(f"{rule}={to_text(v)}" for rule, v in vars(pivot_settings).items())
        pivot_signature = f"pivot:language={language},{rules}|model={pem.digest}"
        signatures = {"pem": pem.signature, "pivot": f"{pivot_signature}|karat={__version__}"}
    if worst:
        if pem is not None and pem.combination is not None:
            scores = pem.score(original_texts, candidate_texts, Outputs((name,))).pem
        else:
            stats = pivot_statistics(phrases, original_texts, candidate_texts, pivot_settings)
            scores = pooled_f1(stats)
        segments = (scores.argsort(kind="stable")[:worst] + 1).tolist()
    numbers = list(dict.fromkeys(segments or (1,)))
    if beyond := [number for number in numbers if number > len(candidate_texts)]:
        last = f"{candidate_texts.name} is {len(candidate_texts):,}"
        raise InputError(f"--segment {beyond[0]}: the last pair of {last}")
    places = [number - 1 for number in numbers]
    texts = [side.strings(places) for side in (original_texts, candidate_texts)]
    pairs = [explain_pair(phrases, a, b, pivot_settings) for a, b in zip(*texts, strict=True)]
    pem_fields = (
        {"pem": (), "notes": ()} if pem is None else _explain_pem(pem, name, numbers, texts)
    )
    return ParaphraseExplanations(
        name=name,
        rows=tuple(pair.row(number) for number, pair in zip(numbers, pairs, strict=True)),
        pairs=tuple(pairs),
        evidence=tuple(
            PairEvidence(number, *kind_and_words)
            for number, pair, both in zip(numbers, pairs, zip(*texts, strict=True), strict=True)
            for kind_and_words in pair.evidence(both)
        ),
        settings={"model": pem.name if pem else table, **vars(pivot_settings)},
        signatures=signatures,
        **pem_fields,
    )


def _explain_pem(
    pem: PEM, name: str, numbers: Sequence[int], texts: Sequence[Sequence[str]]
) -> dict[str, tuple[Any, ...]]:
    """Return the PEM of each pair, the features it is computed from, and notes."""
    outputs = Outputs((name,), np.zeros(len(numbers), np.int32), lambda: list(map(str, numbers)))
    features = pem.features(texts[0], texts[1], outputs)
    rows = paraphrase_rows(name, numbers, pem.scores(features), *texts)
    feature_rows: list[FeatureRow] = []
    if (combination := pem.combination) is not None:
        feature_names, inputs = combination.inputs(features)
        for number, values in zip(numbers, inputs.tolist(), strict=True):
            feature_rows += map(FeatureRow, repeat(number), feature_names, values)
    notes = (*features.notes, *pem.cautions)
    return {"pem": tuple(rows), "features": tuple(feature_rows), "notes": notes}
