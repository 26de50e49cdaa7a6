"""The paraphraser: wordings of an original, ranked by confidence or PEM.

Candidates are made by rewriting phrases of the original (`generator`, and the kernel's search).
Candidates with low confidence are dropped, so an original may have no paraphrase.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from math import prod
from typing import Any, NamedTuple

from karat import __version__
from karat.arrays import np
from karat.errors import InputError
from karat.facts.rules import LANGUAGES
from karat.paraphrase.align.parallel_text import iterate_lines, run_in_batches
from karat.paraphrase.generate import CONFIDENCE
from karat.paraphrase.generate.generator import (
    Features,
    Generator,
    Original,
    Replacement,
    Rewrite,
    compute_features,
    count_common_ends,
    find_repeats,
    fits_context,
    read_calibration,
    score_sentences,
)
from karat.paraphrase.generate.rewrites import keeps_facts
from karat.paraphrase.pem.model import BUNDLED, PEM, as_pem
from karat.progress import Progress, Stop, silent
from karat.results import Result
from karat.settings import to_text
from karat.text.segments import STRIDE, Texts, as_segments
from karat.text.tokens import Tokens, check_choice, tokenize

SEARCHED_PER_WORDING = 4
"""Rewritings searched for each requested wording: many do not fit their context."""
MAX_REWRITES = 3  # maximal number of rewrites in one wording
MAX_ORIGINAL_WORDS = 1000  # time and memory grow with the length of an original

_WORDS = 1 << 16  # total words of the rewritings of an original that are tried

Steps = Sequence[Replacement]
Place = tuple[int, Replacement]  # a rewrite and its position in the original


class Wording(NamedTuple):
    """A candidate paraphrase, the generator's confidence in it, and features of its rewrites."""

    text: str
    confidence: float
    features: tuple[Features, ...]


def find_wordings(
    generator: Generator,
    lines: Sequence[str],
    max_wordings: int,
    confidence: float,
    lang: str = "en",
    name: str = "originals",
    start: int = 0,
    check: Callable[[], None] | None = None,
) -> list[list[Wording]]:
    """Return up to `max_wordings` wordings of each original, the most confident first.

    `generator` must have trusted rewrites only (`Generator.trusting`). Wordings that change a
    number, a name or a negation, by the rules of the language, are dropped (`keeps_facts`).
    """
    recipe = generator.recipe
    tokens = tokenize(lines, recipe.tok, recipe.case, threads=1)
    lengths = np.diff(tokens.offsets)
    if (long := lengths > MAX_ORIGINAL_WORDS).any():
        at = int(long.argmax())
        raise InputError(
            f"{name}, line {start + at + 1}: {lengths[at]:,} words, expected at most "
            f"{MAX_ORIGINAL_WORDS:,}: put each sentence on a line of its own"
        )
    rewritings = _search(generator, tokens, SEARCHED_PER_WORDING * max_wordings, check)
    cased = tokenize(lines, recipe.tok, "mixed", threads=1)
    all_wordings = []
    for i, (line, line_rewritings) in enumerate(zip(lines, rewritings, strict=True)):
        original = Original.of(line, tokens[i], cased[i])
        max_tried = max(max_wordings, _WORDS // max(len(original.words), 1))
        tried = line_rewritings[:max_tried]
        wordings = _confident_wordings(generator, original, tried, confidence, lang)
        wordings.sort(key=lambda wording: -wording.confidence)
        all_wordings.append(wordings[:max_wordings])
    return all_wordings


def _confident_wordings(
    generator: Generator,
    original: Original,
    rewritings: Sequence[Steps],
    min_confidence: float,
    lang: str,
) -> list[Wording]:
    """Return the distinct wordings of an original that keep its facts and reach a confidence."""
    changes: list[list[Place]] = []
    for steps in rewritings:
        ended_steps = zip(accumulate(step.length for step in steps), steps, strict=True)
        changes.append([(end - s.length, s) for end, s in ended_steps if s.words is not None])
    places = list(dict.fromkeys(place for line_changes in changes for place in line_changes))
    rewrites = [_make_rewrite(generator, original, *place) for place in places]
    words = list(map(generator.fold, original.words))
    place_features = compute_features(generator.contexts, words, rewrites)
    features_by_place = dict(zip(places, place_features, strict=True))
    calibration = read_calibration()
    repeats = find_repeats(words, range(len(words)))
    wordings: dict[str, Wording] = {}
    for steps, line_changes in zip(rewritings, changes, strict=True):
        features = [features_by_place[place] for place in line_changes]
        accepted = tuple(rewrite for rewrite in features if rewrite is not None)
        if len(accepted) < len(features) or len(features) > MAX_REWRITES:
            continue
        confidence = prod(calibration.confidence(rewrite) for rewrite in accepted)
        if confidence < min_confidence:
            continue
        written = original.words_of(steps, generator.article)
        if len(line_changes) > 1:  # several rewrites must fit together
            folded = written._replace(words=list(map(generator.fold, written.words)))
            _, (lengths,) = score_sentences(generator.language, [folded.words])
            if not fits_context(folded, lengths, repeats):
                continue
        text = original.text(written)
        if text not in wordings or confidence > wordings[text].confidence:
            wordings[text] = Wording(text, confidence, accepted)
    letters = "".join(original.line.lower().split())  # case and spaces alone are no difference
    return [
        wording
        for text, wording in wordings.items()
        if "".join(text.lower().split()) != letters and keeps_facts(text, original.line, lang)
    ]


def _make_rewrite(generator: Generator, original: Original, at: int, step: Replacement) -> Rewrite:
    """Return a rewrite in its sentence."""
    keep, size = Replacement(1, None), len(original.words)
    steps = [*[keep] * at, step, *[keep] * (size - at - step.length)]
    written = original.words_of(steps, generator.article)
    written = written._replace(words=list(map(generator.fold, written.words)))
    old = tuple(map(generator.fold, original.words[at : at + step.length]))
    new = tuple(written.words[at : at + len(step.words or ())])
    begin, end = count_common_ends(old, new)
    cores = old[begin : len(old) - end], new[begin : len(new) - end]
    return Rewrite(written, *cores, at + begin, step.probability)


def _search(
    generator: Generator, tokens: Tokens, max_rewritings: int, check: Callable[[], None] | None
) -> list[list[list[Replacement]]]:
    """Return the rewritings of each original, replacements from left to right."""
    maps = generator.rewrites.maps(tokens.vocab)
    model_words = generator.model_words(tokens.vocab)
    sentences, _, _, bounds, lengths, edges = generator.search.search(
        tokens.ids, tokens.offsets, *maps, model_words, max_rewritings, check
    )
    arrays = generator.rewrites.arrays

    @cache
    def make_replacement(length: int, edge: int) -> Replacement:
        """Return the replacement of `length` words by the rewrite `edge`; -1 keeps them."""
        if edge < 0:
            return Replacement(length, None)
        phrase = int(arrays["edge_pivots"][edge])
        first, last = arrays["pivot_phrase_offsets"][phrase : phrase + 2]
        words = tuple(generator.written[w] for w in arrays["pivot_phrase_ids"][first:last].tolist())
        return Replacement(length, words, float(arrays["edge_probabilities"][edge]))

    steps = list(map(make_replacement, lengths.tolist(), edges.tolist()))
    rewritings = [steps[a:b] for a, b in pairwise(bounds.tolist())]
    return [rewritings[a:b] for a, b in pairwise(sentences.tolist())]


CANDIDATES = 128
"""Maximal number of confident wordings of each original that PEM scores.

PEM was not trained on ill-formed sentences: the maximum over all rewritings would be a sentence
that it misjudges.
"""
EMPTY = "the line is empty"  # reason why an empty line has no paraphrase
RANKS = ("confidence", "pem")  # columns by which paraphrases can be ranked

_LINES = 32  # lines of a batch


class Paraphrase(NamedTuple):
    """A paraphrase with PEM, its three parts, and the confidence in it."""

    text: str
    pem: float
    pivot_f1: float
    fluency: float
    target_f1: float
    confidence: float  # 0 to 1 (see `karat.paraphrase.generate.generator`)


class Generated(NamedTuple):
    """The paraphrases of an original, the best first; if there are none, the reason."""

    paraphrases: list[Paraphrase]
    reason: str | None = None


class GeneratedRow(NamedTuple):
    """A paraphrase of a line, or the reason why there is none."""

    segment: int
    original: str
    reason: str | None = None
    rank: int | None = None
    paraphrase: str | None = None
    pem: float | None = None
    pivot_f1: float | None = None
    fluency: float | None = None
    target_f1: float | None = None
    confidence: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class GeneratedParaphrases(Result):
    """The best paraphrases of each original."""

    rows: tuple[GeneratedRow, ...]
    settings: Mapping[str, object]
    notes: tuple[str, ...]
    signatures: Mapping[str, str]  # of the scores and of the search

    @property
    def signature(self) -> str:
        """The signatures, a line each."""
        return "\n".join(self.signatures.values())


def generate_paraphrases(
    originals: Texts,
    model: PEM | str | os.PathLike[str] = BUNDLED,
    n: int = 3,
    *,
    confidence: float = CONFIDENCE,
    rank_by: str = RANKS[0],
    lang: str = "en",
    threads: int | None = None,
    progress: Progress = silent,
) -> GeneratedParaphrases:
    """Generate paraphrases of sentences.

    Args:
        originals: sentences.
        model: a model or its file; by default the bundled one.
        n: number of paraphrases of each sentence, the best first.
        confidence: lowest confidence of a paraphrase, 0 to 1.
        rank_by: "confidence" or "pem".
        lang: language of the sentences, whose numbers, names and negations are kept; "other" keeps
            digits and acronyms only.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    pem, texts = as_pem(model).for_rewriting, as_segments(originals, "originals")
    choices: dict[str, Any] = {"confidence": confidence, "rank_by": rank_by, "lang": lang}
    results = generate_lines(pem, texts, n, **choices, threads=threads, progress=progress)
    rows: list[GeneratedRow] = []
    for i, (line, result) in enumerate(zip(iterate_lines(texts), results, strict=True), 1):
        if result.reason is not None:
            rows.append(GeneratedRow(i, line, reason=result.reason))
        for rank, best in enumerate(result.paraphrases, 1):
            rows.append(GeneratedRow(i, line, None, rank, *best))
    reasons = [row.reason for row in rows if row.reason is not None]
    notes = tuple(generated_notes(reasons, confidence, pem))
    settings = {"n": n, **choices}
    settings_text = ",".join(f"{name}={to_text(value)}" for name, value in settings.items())
    search = f"generate:{settings_text}|model={pem.digest}|karat={__version__}"
    signatures = {"pem": pem.signature, "generate": search}
    return GeneratedParaphrases(tuple(rows), {"model": pem.name, **settings}, notes, signatures)


def generated_notes(without: Sequence[str], confidence: float, pem: PEM) -> Iterator[str]:
    """Yield notes on lines without a paraphrase, given the reasons, and on the model."""
    empty = without.count(EMPTY)
    if unsure := len(without) - empty:
        lines = "1 line has" if unsure == 1 else f"{unsure:,} lines have"
        if confidence > 0:
            yield (
                f"{lines} no paraphrase of confidence {confidence:g} or more: a lower --confidence "
                "gives more paraphrases, and more bad ones."
            )
        else:
            yield f"{lines} no paraphrase: the model knows no other wording."
    if empty:
        lines = "1 line is" if empty == 1 else f"{empty:,} lines are"
        yield f"{lines} empty, without a paraphrase."
    if pem.combination is None:
        yield "The model was trained without judgements: there is no PEM to rank by."
    yield from pem.cautions


def generate_lines(
    pem: PEM,
    originals: Texts,
    n: int = 5,
    *,
    confidence: float = CONFIDENCE,
    rank_by: str = RANKS[0],
    lang: str = "en",
    candidates: int = CANDIDATES,
    threads: int | None = None,
    progress: Progress = silent,
) -> Iterator[Generated]:
    """Yield the `n` best paraphrases of each original that reach a confidence."""
    if n < 1 or candidates < n:
        raise InputError(f"n={n}, candidates={candidates}: expected 1 <= n <= candidates")
    if not 0 <= confidence <= 1:
        raise InputError(f"confidence={confidence:g}: expected 0 to 1")
    if rank_by not in RANKS:
        raise InputError(f"rank_by={rank_by}: expected one of {', '.join(RANKS)}")
    check_choice("lang", lang, LANGUAGES)
    generator, pem = require_generator(pem).trusting(lang), pem.for_rewriting
    texts = as_segments(originals, "originals")
    stop = Stop()

    def work(start: int, end: int) -> list[Generated]:
        first = start - start % STRIDE
        views = texts.views(first, min(first + STRIDE, len(texts)))
        lines = views.strings()[start - first : end - first]
        place = (texts.name, start, stop.check)
        line_wordings = find_wordings(generator, lines, candidates, confidence, lang, *place)
        return list(_rank_wordings(pem, lines, line_wordings, n, confidence, rank_by))

    cuts = [(at, min(at + _LINES, len(texts))) for at in range(0, len(texts), _LINES)]
    for batch in run_in_batches(work, cuts, threads, progress, "paraphrasing", stop):
        yield from batch


def require_generator(pem: PEM) -> Generator:
    """Return the generator of a model; raise if it was trained without one."""
    if pem.generator is None:
        raise InputError(
            "the model was trained with --no-generate, so it cannot generate paraphrases: "
            "train it with karat paraphrase train --generate"
        )
    return pem.generator


def _rank_wordings(
    pem: PEM,
    lines: Sequence[str],
    all_wordings: Sequence[Sequence[Wording]],
    n: int,
    min_confidence: float,
    rank_by: str,
) -> Iterator[Generated]:
    """Yield the best paraphrases of each line; ties are broken by confidence."""
    lines_and_wordings = list(zip(lines, all_wordings, strict=True))
    originals = [line for line, wordings in lines_and_wordings for _ in wordings]
    texts = [wording.text for _, wordings in lines_and_wordings for wording in wordings]
    scores = pem.score(originals, texts, threads=1) if texts else ()
    rows: Iterator[Any] = zip(*(column.tolist() for column in scores), strict=True)
    for line, wordings in lines_and_wordings:
        candidates = [
            Paraphrase(*(wording.text, *next(rows), wording.confidence)) for wording in wordings
        ]
        reason = None
        if not candidates:
            unsure = f"no rewriting reaches confidence {min_confidence:g}"
            reason = unsure if min_confidence > 0 else "no rewriting is known"
            reason = reason if line.strip() else EMPTY
        order = np.argsort(
            [-getattr(candidate, rank_by) for candidate in candidates], kind="stable"
        )
        yield Generated([candidates[i] for i in order[:n].tolist()], reason)
