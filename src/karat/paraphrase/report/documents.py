"""Reports of scores, explanations, evaluations, generated paraphrases, files and alignments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import starmap
from math import isclose, isnan
from typing import TYPE_CHECKING

from karat.arithmetic import SLACK
from karat.paraphrase.pem.evaluation import MEAN, NO_CONTROLS, NO_METRICS
from karat.paraphrase.report.figures import network_figure, pair_figure
from karat.report.charts.models import ChartRow, Point, XYChart, chart_figure, intervals_figure
from karat.report.model import (
    Document,
    Figure,
    Table,
    format_brief,
    format_count,
    format_interval,
    format_signed,
    join_names,
)
from karat.results import Cell, Column, number, people_column

if TYPE_CHECKING:
    from karat.paraphrase.align.alignment import WordAlignment
    from karat.paraphrase.generate.paraphraser import GeneratedParaphrases
    from karat.paraphrase.pem.evaluation import Correlation, Gain, ParaphraseEvaluation
    from karat.paraphrase.pem.scoring import (
        Gram,
        PairExplanation,
        ParaphraseExplanations,
        ParaphraseScores,
        Phrase,
    )
    from karat.paraphrase.written_files import WrittenFile


def scores_answer(result: ParaphraseScores) -> tuple[str, ...]:
    """Return the system with the highest PEM, unless tied, and the overlapping intervals."""
    if any(isnan(row.pem) for row in result.rows):  # the model has no score, as a note says
        return ()
    ranked, means = sorted(result.rows, key=lambda row: -row.pem), []
    for row in ranked:
        has_ends = row.low is not None and row.high is not None
        ends = f" {format_interval(row.low or 0.0, row.high or 0.0, 2)}" if has_ends else ""
        means.append(f"{row.system} {row.pem:.2f}{ends}")
    if len(ranked) == 1:
        return (f"Mean PEM{_copies(result)} on a scale from 1 to 5: {means[0]}.",)
    best = ranked[0]
    if isclose(best.pem, ranked[1].pem, rel_tol=SLACK):
        return (f"Several systems share the highest mean PEM: {join_names(means)}.",)
    overlapping = [
        row.system
        for row in ranked[1:]
        if best.low is not None and row.high is not None and row.high >= best.low
    ]
    overlap = f" Its interval overlaps that of {join_names(overlapping)}." if overlapping else ""
    rest = join_names(means[1:])
    pem = f"mean PEM{_copies(result)}"
    return (f"{best.system} has the highest {pem}: {means[0]}; {rest}.{overlap}",)


def _copies(result: ParaphraseScores) -> str:
    """Return what copies are worth, which is part of the score's name."""
    return f" (copies={result.settings['copies']})"


def explanation_answer(result: ParaphraseExplanations) -> tuple[str, ...]:
    """Return the score and the parts of a single pair; for several pairs the range of scores."""
    is_scored = bool(result.pem) and not isnan(result.pem[0].pem)
    if len(result.rows) == 1:
        row = result.rows[0]
        pem = f"PEM {result.pem[0].pem:.2f} on a scale from 1 to 5. " if is_scored else ""
        shared = f"The translations of the two sentences match with an F1 of {row.pivot_f1:.3f}"
        parts = f"(pivot F1; precision {row.precision:.3f}, recall {row.recall:.3f})"
        return (f"{pem}{shared} {parts}, their own words with {row.target_f1:.3f} (target F1).",)
    name, values = "pivot F1", [(row.pivot_f1, row.pair) for row in result.rows]
    if is_scored:
        name, values = "PEM (1 to 5)", [(row.pem, row.segment) for row in result.pem]
    if not values:
        return ()
    ends = [f"{value:.2f} (pair {pair})" for value, pair in (min(values), max(values))]
    return (f"{len(values):,} pairs: {name} from {ends[0]} to {ends[1]}.",)


def evaluation_answer(result: ParaphraseEvaluation) -> tuple[str, ...]:
    """Return how well PEM agrees with people, and whether the pivot languages help."""
    pem_rows = [row for row in result.rows if row.first.lower().startswith("pem")]
    if not pem_rows or isnan(pem_rows[0].pearson):  # undefined for equal scores
        return ()
    sentences = [
        f"{pem_rows[0].first}, learned from other judgements of this set, agrees with people at "
        f"{_agreement(pem_rows)}."
    ]
    rivals = [gain for gain in result.gains if gain.second not in (NO_METRICS, MEAN)]
    if rivals:
        sentences.append(_gain([gain for gain in rivals if gain.second == rivals[0].second]))
    mean = [row for row in result.rows if row.first == MEAN]
    if mean and not isnan(mean[0].pearson):
        sentences.append(
            f"The model's own score, with nothing learned from this set: {_agreement(mean)}."
        )
    return tuple(sentences)


def _agreement(rows: Sequence[Correlation]) -> str:
    """Return the correlation with the mean of the judges, with controls and without."""
    text = f"r = {rows[0].pearson:.3f} (Pearson, {rows[0].rows:,} paraphrases)"
    real = next((row for row in rows if row.second.endswith(NO_CONTROLS)), None)
    if real is None:
        return text
    return f"{text}; without the controls r = {real.pearson:.3f} ({real.rows:,} paraphrases)"


def _gain(gains: Sequence[Gain]) -> str:
    """Return whether pivot languages help, with controls and without."""
    differences = []
    for gain in gains:
        ends = "" if isnan(gain.low) else f" {format_interval(gain.low, gain.high, 3)}"
        pairs = " without controls" if gain.pairs == NO_CONTROLS else ""
        differences.append(f"{format_signed(gain.difference, 3)}{ends}{pairs}")
    against = f"{gains[0].first} against {gains[0].second}: {'; '.join(differences)}"
    if all(gain.low > 0 for gain in gains):
        return f"It agrees better than without pivot languages ({against})."
    if all(gain.high < 0 for gain in gains):
        return f"It agrees less well than without pivot languages ({against})."
    return f"The set does not decide whether pivot languages help ({against})."


_PARTS = (
    number("pivot_f1", "Pivot F1", 3, "Adequacy: 1 is the same meaning."),
    number("fluency", "Fluency", 3, "log10 Pr / words: nearer to 0 is better."),
    number("target_f1", "Target F1", 3, "1 is the same words: lower is freer."),
)
_SYSTEMS = (
    Column("system", "System"),
    number("pem", "PEM", 3, "1 to 5; the mean over paraphrases."),
    number("low", "Low", 3, "95%, bootstrap over paraphrases."),
    number("high", "High", 3, "95%, bootstrap over paraphrases."),
    *_PARTS,
    number("paraphrases", "n"),
)
_SEGMENTS = (
    Column("system", "System"),
    number("segment", "Line"),
    number("pem", "PEM", 2),
    *_PARTS,
    Column("changes", "Changed", wrap=True, help="Numbers, negation and names, as in English."),
    Column("original", "Original", wrap=True),
    Column("paraphrase", "Paraphrase", wrap=True),
)
_GENERATED = (
    number("segment", "Line"),
    people_column(
        "shown",
        "Paraphrase",
        lambda row: f"(none: {row.reason})" if row.reason else row.paraphrase,
        wrap=True,
    ),
    people_column("source", "Original", lambda row: row.original, wrap=True),
    number("rank", "Rank"),
    number("pem", "PEM", 2, "1 to 5."),
    *(replace(part, detail=True) for part in _PARTS),
    number("confidence", "Conf.", 2, "0 to 1: how sure the generator is."),
    Column("original", "Original", readers="programs"),
    Column("paraphrase", "Paraphrase", readers="programs"),
    Column("reason", "Reason", readers="programs", help="Why there is no paraphrase."),
)
_WRITTEN = (
    Column("path", "File"),
    Column("content", "Content", wrap=True),
    number("sentences", "Sentence pairs"),
    number("links", "Links"),
    number("empty", "Empty", help="Sentence pairs with an empty side."),
    number("too_long", "Too long", help="Sentence pairs with too many words."),
)


def scores_document(result: ParaphraseScores) -> Document:
    """Return the table of systems and, if it was requested, that of all paraphrases."""
    has_intervals = any(row.low is not None for row in result.rows)
    columns = [column for column in _SYSTEMS if has_intervals or column.key not in ("low", "high")]
    pem = (ChartRow(row.system, row.pem, row.low, row.high) for row in result.rows)
    blocks: list[Table | Figure] = [
        intervals_figure("PEM by system", "PEM", pem),
        Table("rows", "Paraphrases", columns, result.rows, open=True),
    ]
    if result.segments:
        segments = result.segments
        blocks.append(Table("segments", "Each paraphrase", _SEGMENTS, segments, group="system"))
    signatures, answer = {"pem": result.signature}, scores_answer(result)
    return Document("Paraphrases", blocks, signatures=signatures, answer=answer)


def generated_document(result: GeneratedParaphrases) -> Document:
    """Return a row for each paraphrase, or with the reason why an original has none."""
    reasons = Counter(row.reason for row in result.rows if row.reason)
    n_sentences = len({row.segment for row in result.rows})
    n_paraphrased = n_sentences - reasons.total()
    verb = "has" if 1 in (n_paraphrased, n_sentences) else "have"
    have = f"{n_paraphrased:,} of {format_count(n_sentences, 'sentence')} {verb} a paraphrase"
    none = "".join(
        f"; {count:,} {'has' if count == 1 else 'have'} none ({reason})"
        for reason, count in reasons.most_common()
    )
    table = Table("rows", "Paraphrases", _GENERATED, result.rows, open=True)
    return Document("Generated paraphrases", (table,), answer=(f"{have}{none}.",))


def file_document(result: WrittenFile | WordAlignment) -> Document:
    """Return the table of a written file or of an alignment."""
    columns = [column for column in _WRITTEN if hasattr(result.rows[0], column.key)]
    signatures = {"karat": result.signature} if result.signature else {}
    table = Table("rows", type(result).__name__, columns, result.rows)
    return Document(table.title, (table,), signatures=signatures)


MAX_COLORS = 8  # systems that can be told apart by color
_MAX_POINTS = 1500  # points of a legible scatter plot

_NUMBERS = (
    number("rows", "n", help="Paraphrases that have both."),
    number("pearson", "Pearson", 3, "Over paraphrases."),
    number("spearman", "Spearman", 3, "Over paraphrases."),
    number("systems", "Systems"),
    number("pearson_systems", "r systems", 3, "Pearson's r of systems' means."),
)
_PAIRS = Column("pairs", "Pairs", help="All pairs, or those that are no controls.")
_GAINS = (
    Column("first", "First"),
    Column("second", "Second"),
    number("r_first", "r first", 3),
    number("r_second", "r second", 3),
    number("difference", "Difference", 3, signed=True),
    number("low", "Low", 3, signed=True, help="95%, bootstrap over originals."),
    number("high", "High", 3, signed=True, help="95%, bootstrap over originals."),
    number("p", "p", 3, "Two-sided p of the difference.", positive=True),
)


def evaluation_document(result: ParaphraseEvaluation) -> Document:
    """Return the scatter plots, and the tables for which the set has data."""

    def table(field: str, title: str, first: str, second: str) -> Table:
        columns = (Column("first", first), Column("second", second), *_NUMBERS)
        return Table(field, title, columns, getattr(result, field))

    several = len({gain.pairs for gain in result.gains}) > 1
    pairs = _PAIRS if several else replace(_PAIRS, readers="programs")
    tables = (
        table("rows", "Against human judgement", "Metric", "Human"),
        Table("better", "PEM against its rivals", (*_GAINS, pairs), result.gains),
        table("parts", "Each part of PEM by itself", "Part", "Human"),
        table("alone", "Metrics without the regression", "Metric", "Human"),
        table("inter_judge", "Between judges", "Judge", "Judge 2"),
        table("criteria", "Criteria and overall quality", "Criterion", "With"),
    )
    return Document(
        f"Paraphrase quality: {result.name}",
        (*map(chart_figure, evaluation_charts(result)), *(table for table in tables if table.rows)),
        signatures={"pem": result.signature},
        answer=evaluation_answer(result),
    )


def evaluation_charts(result: ParaphraseEvaluation) -> list[XYChart]:
    """Return the paper's Figures 4, 5 and 3, as far as there are points; colored by system."""
    predictions = result.predictions
    sampled = predictions[:: max(1, -(-len(predictions) // _MAX_POINTS))]
    caption = ""
    if len(sampled) < len(predictions):
        caption = f"{len(sampled):,} of {len(predictions):,} paraphrases."
    is_colored = 1 < len({point.system for point in sampled}) <= MAX_COLORS
    points = [Point(*point, group=point.system if is_colored else "") for point in sampled]
    title = "PEM and human scores of paraphrases"
    charts = [XYChart(title, "human", "PEM", points, caption=caption)]
    if len(result.system_means) > 1:
        means = list(starmap(Point, result.system_means))
        charts.append(XYChart("PEM and human scores of systems", "human", "PEM", means))
    if result.dissimilarities:
        title = "Dissimilarity and overall quality of adequate, fluent paraphrases"
        points = list(starmap(Point, result.dissimilarities))
        charts.append(XYChart(title, "dissimilarity", "overall", points))
    return charts


MAX_SHOWN = 12
"""N-grams of each kind in reports for people; programs get all."""
Row = dict[str, Cell]
Rows = list[Row]

_WEIGHTS = ("common", "paraphrase_weight", "original_weight")
_PAIR = number("pair", "Pair", help="The number of the pair, from 1.")
_SENTENCE = Column("sentence", "Sentence", help="The original or the paraphrase.")
_HEADING = Column("heading", "Pair", readers="people")
_SCORES = (
    _PAIR,
    number("pivot_f1", "Pivot F1", 4, "F1 of all pivot n-grams."),
    number("precision", "P", 4, "Common weight over the paraphrase's."),
    number("recall", "R", 4, "Common weight over the original's."),
    number("common", "Common", 3, "The sum of min(W_R, W_P)."),
    number("paraphrase_weight", "W_P", 3, "The paraphrase's bag."),
    number("original_weight", "W_R", 3, "The original's bag."),
    number("target_f1", "Target F1", 4, "F1 of the words' own n-grams."),
)
_FEATURES = (
    _PAIR,
    Column("feature", "Feature", help="A part of PEM, or a metric against the original."),
    number("value", "Value", 4, "As the regression or the mean takes it."),
)
_ORDERS = (
    _PAIR,
    number("n", "n", help="Words of an n-gram."),
    number("pivot_f1", "Pivot F1", 4),
    number("common", "Common", 3),
    number("paraphrase_weight", "W_P", 3),
    number("original_weight", "W_R", 3),
)
_PHRASES = (
    _HEADING,
    Column("pair", "Pair", readers="programs"),
    Column("sentence", "Sentence", readers="programs"),
    Column("phrase", "Phrase", help="A phrase of the most probable segmentation."),
    number("count", "N", 1, "How often the table saw it; 0.5 if never."),
    number("rounded", "Pr", readers="people", help="N over the sum of all N."),
    Column("probability", "Pr", readers="programs"),
    Column("seen", "Seen"),
    Column("edges", "In the pivot language", wrap=True, help="Kept translations with Pr(f|e)."),
    number("left_out", "Left out", help="Translations that were too improbable."),
)
_EDGES = (
    _PAIR,
    _SENTENCE,
    number("position", "Position"),
    Column("phrase", "Phrase"),
    Column("translation", "Translation"),
    Column("weight", "Weight"),
)
_GRAMS = (
    _HEADING,
    Column("pair", "Pair", readers="programs"),
    Column("ngram", "Pivot n-gram"),
    number("n", "n"),
    number("common", "Common", 3, "min(W_R, W_P)"),
    number("paraphrase_weight", "W_P", 3, "Its weight in the paraphrase."),
    number("original_weight", "W_R", 3, "Its weight in the original."),
)
_EVIDENCE = (
    _PAIR,
    Column("kind", "Kind", help="Words are stemmed; facts are found by rules for English."),
    Column("evidence", "Evidence", wrap=True),
)
_PEM = (
    replace(_PAIR, value=lambda row: row.segment),
    number("pem", "PEM", 2, "1 to 5."),
    number("pivot_f1", "Pivot F1", 4, "Adequacy; the mean over pivots."),
    number("fluency", "Fluency", 3, "log10 Pr / words."),
    number("target_f1", "Target F1", 4, "1 is the same words."),
    Column("original", "Original", wrap=True),
    Column("paraphrase", "Paraphrase", wrap=True),
)


def explanations_document(result: ParaphraseExplanations) -> Document:
    """Return the tables of scores, phrases and n-grams, and figures of the networks."""
    shown_grams: Rows = []
    all_grams: Rows = []
    orders: Rows = []
    phrases: Rows = []
    edges: Rows = []
    pictures: list[Figure] = []
    for row, explanation in zip(result.rows, result.pairs, strict=True):
        pair, grams = row.pair, explanation.grams
        pictures += pair_figure(pair, explanation), network_figure(pair, explanation)
        shown_grams += _heaviest_grams(pair, grams)
        all_grams += (_gram_row(f"Pair {pair}", pair, gram) for gram in grams)
        orders += _order_rows(pair, explanation)
        for sentence in ("original", "paraphrase"):
            for position, phrase in enumerate(getattr(explanation, sentence), 1):
                place: Row = {"pair": pair, "sentence": sentence, "position": position}
                place["phrase"] = " ".join(phrase.words)
                phrases.append({**place, **_phrase_cells(f"Pair {pair}, {sentence}", phrase)})
                edges += (
                    {**place, "translation": " ".join(words), "weight": probability}
                    for words, probability in phrase.edges
                )
    tables = [
        Table("evidence", "What the score saw", _EVIDENCE, result.evidence),
        Table("rows", "Pivot F1", _SCORES, result.rows),
        Table("phrases", "Phrases", _PHRASES, phrases, group="heading"),
        Table("shown", "Pivot n-grams", _GRAMS, shown_grams, group="heading", readers="people"),
        Table("ngrams", "Pivot n-grams", _GRAMS, all_grams, group="heading", readers="programs"),
        Table("orders", "By order", _ORDERS, orders),
        Table("edges", "Edges", _EDGES, edges, readers="programs"),
    ]
    if result.features:
        features = Table("features", "Features that PEM combines", _FEATURES, result.features)
        tables.insert(0, features)
    if result.pem:
        tables.insert(0, Table("pem", "PEM and its parts", _PEM, result.pem))
    notes = result.notes
    if len(shown_grams) < len(all_grams):
        note = f"The {MAX_SHOWN} heaviest n-grams of each kind are shown; JSON and TSV have all."
        notes = (note, *notes)
    title, answer = f"Pivot n-grams of {result.name}", explanation_answer(result)
    return Document(title, (*pictures, *tables), notes=notes, answer=answer)


def _heaviest_grams(pair: int, grams: Sequence[Gram]) -> Iterator[Row]:
    """Yield the heaviest n-grams of each kind, under a heading with their number."""
    kinds = {
        "in both": [gram for gram in grams if gram.common > 0],
        "only in the original": [gram for gram in grams if gram.paraphrase == 0],
        "only in the paraphrase": [gram for gram in grams if gram.original == 0],
    }
    for kind, kind_grams in kinds.items():
        heading = f"Pair {pair}, {kind}: {format_count(len(kind_grams), 'n-gram')}"
        yield from (_gram_row(heading, pair, gram) for gram in kind_grams[:MAX_SHOWN])


def _order_rows(pair: int, explanation: PairExplanation) -> Iterator[Row]:
    """Yield the row of each n-gram order: pivot F1, and the total weights of its n-grams."""
    by_order = zip(explanation.by_order, explanation.pivot.tolist(), strict=True)
    for n, (value, weights) in enumerate(by_order, 1):
        named_weights = zip(_WEIGHTS, weights, strict=True)
        yield {"pair": pair, "n": n, "pivot_f1": value, **dict(named_weights)}


def _phrase_cells(heading: str, phrase: Phrase) -> Row:
    """Return the cells of a phrase below a heading: its counts, probability and translations."""
    translations = (f"{' '.join(words)} {format_brief(p)}" for words, p in phrase.edges)
    return {
        "heading": heading,
        "count": phrase.times,
        "rounded": f"{phrase.probability:.3g}",
        "probability": phrase.probability,
        "seen": phrase.in_table,
        "edges": " / ".join(translations),
        "left_out": phrase.left_out,
    }


def _gram_row(heading: str, pair: int, gram: Gram) -> Row:
    """Return the row of an n-gram below a heading."""
    return {
        "heading": heading,
        "pair": pair,
        "ngram": " ".join(gram.words),
        "n": len(gram.words),
        "common": gram.common,
        "paraphrase_weight": gram.paraphrase,
        "original_weight": gram.original,
    }
