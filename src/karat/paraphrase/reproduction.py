"""Liu, Dahlmeier and Ng 2010: the worked example, Tables 1 to 3, and the conclusions.

Without the paper's data, judged translations serve as paraphrases of a reference, with the paper's
four criteria from 1 to 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from math import isnan
from statistics import mean, median
from typing import Any, NamedTuple

from karat.arrays import Floats, np
from karat.evalset.draft import make_evalset
from karat.evalset.judgements import Dimension
from karat.evalset.loading import KNOWN, load_evalset
from karat.evalset.sets import EvalSet
from karat.paraphrase.align.parallel_text import read_parallel
from karat.paraphrase.pem.evaluation import (
    CRITERIA,
    NO_CONTROLS,
    Correlation,
    ParaphraseEvaluation,
    correlate_judges,
    evaluate_paraphrases,
    good_dissimilarity,
    judge_columns,
    resampled_r,
    resampled_system_r,
    without_controls,
)
from karat.paraphrase.pem.features import (
    PivotSettings,
    pivot_statistics,
    pooled_f1,
    target_statistics,
)
from karat.paraphrase.pem.judged_pairs import JudgedPairs, judged_rows
from karat.paraphrase.pem.model import as_pem
from karat.paraphrase.pem.training import Pivot, train_pem
from karat.paraphrase.table.phrase_table import PhraseCounts, PhraseTable, encode_phrases
from karat.reproduction.papers import ReproductionRequest
from karat.reproduction.results import (
    FAILS,
    HOLDS,
    UNDECIDED,
    Conclusion,
    PaperDifference,
    ReproducedNumber,
    Reproduction,
)
from karat.stats.correlation import pearson
from karat.text.tokens import Recipe, Vocab

ORIGINALS = 300  # number of originals, as in the paper
ERRORS = {"adequacy": "accuracy", "fluency": "fluency", "overall": "mqm"}
"""Criterion of the paper -> dimension of MQM errors."""
BEST, WORST = 5.0, 1.0


def judged_translations(translations: EvalSet) -> EvalSet:
    """Return the first outputs of a set with MQM errors as paraphrases of its reference.

    A criterion is 5 minus the penalty by each rater, at least 1. Dissimilarity was not judged; it
    is computed as 1 + 4 (1 - F1 of the texts' own n-grams).
    """
    originals = [texts[0] for texts in translations.references][:ORIGINALS]
    systems = {name: list(texts[:ORIGINALS]) for name, texts in translations.systems.items()}
    judgements: list[tuple[str, str, str, str, float]] = []
    for criterion, errors in ERRORS.items():
        for rater in translations.judgements.judges:
            scores = BEST + translations.rated_by(rater, errors)  # penalties: more is better
            judgements += (
                (name, str(i), rater, criterion, max(WORST, value))
                for s, name in enumerate(systems)
                for i, value in enumerate(scores[s, :ORIGINALS].tolist(), 1)
                if not np.isnan(value)
            )
    for name, texts in systems.items():
        shared = pooled_f1(target_statistics(originals, [text or "" for text in texts]))
        judgements += (
            (name, str(i), "machine", "dissimilarity", BEST - (BEST - WORST) * value)
            for i, value in enumerate(shared.tolist(), 1)
        )
    scales = [Dimension(name, low=WORST, high=BEST) for name in (*ERRORS, "dissimilarity")]
    return make_evalset(
        translations.name,
        systems,
        references=originals,
        sources=originals,
        judgements=judgements,
        dimensions=scales,
    )


CITATION = (
    "Liu, Dahlmeier and Ng 2010, PEM: A Paraphrase Evaluation Metric Exploiting Parallel Texts"
)
PARALLEL = "parallel-tatoeba-enzh/en-zh.tsv.gz"
SET, JUDGES, DEMO = "ted-zhen", "believability", "demo-paraphrases"
TRAINED, DEMO_TRAINED = 200, 27
"""Number of originals to train on: the first two thirds."""
COMMON = 100  # minimal number of common paraphrases of two judges
MEASURES = ("r, sentences", "r, systems")
GOOD = "dissimilarity (adequacy, fluency >= 4)"
TABLE_1 = {"sentence": (0.6406, 0.6717, 0.5993), "system": (0.9962, 0.9995, 0.9943)}
"""Overall scores of three pairs of judges."""
TABLE_2 = {
    "adequacy": (0.7635, 0.7616),
    "fluency": (0.3736, 0.3351),
    "dissimilarity": (-0.3737, -0.3937),
    GOOD: (0.8881, 0.9956),
}
"""Criterion -> correlation with overall quality over sentences, over systems."""
TABLE_3 = (0.8073, 0.9867)
"""PEM with the mean of the judges over sentences, over systems; with controls."""
TABLE_3_JUDGES = {"sentence": (0.5777, 0.5281, 0.5231), "system": (0.9757, 0.9892, 0.9718)}
"""PEM with each of three judges, without controls."""
STRONG = 0.5  # lowest strong correlation
BLEU_ELSEWHERE = 0.4513  # section 6.2: BLEU at the sentence level, on other data (MetricsMATR 2008)
EXAMPLE = "Morning , sir .", "Hello , Querrien ."
EXAMPLE_TABLE = (
    ("Morning , sir .", "Bonjour , monsieur .", 10),
    ("Hello ,", "Bonjour ,", 9),
    ("Hello ,", "Salut ,", 1),
    (".", ".", 50),
)
"""Section 4.3: phrases, translations, and counts that give the paper's probabilities."""
PLAIN = {"tok": "none", "case": "mixed", "stem": "none"}


class PemTables(NamedTuple):
    """The evaluation of PEM on a set."""

    name: str
    evaluation: ParaphraseEvaluation
    text: str  # description of the training data
    judges: tuple[str, list[Correlation]] | None  # set of Table 1, and its pairs of judges


def reproduce_pem(request: ReproductionRequest) -> Reproduction:
    """Train the paper's form of PEM, and compare it with the judges as the paper does."""
    real = request.data.holds_all([KNOWN[SET].place, PARALLEL])
    tables = _evaluate(request, real)
    return Reproduction(
        name="pem",
        paper=CITATION,
        data=(tables.name,),
        rows=(_worked_example(), *_reproduced_numbers(tables)),
        conclusions=tuple(_conclusions(tables, request.seed)),
        differs=tuple(_differences(tables, real)),
        settings={**request.settings, **tables.evaluation.settings},
        signatures={"pem": tables.evaluation.signature},
        invented="" if real else "The paraphrases and judgements are invented.",
        remarks=(
            "Correlations are Pearson's. With controls, whose scores are fixed and easy to tell, "
            "they are higher than among real paraphrases. A conclusion holds or fails where the "
            "95% interval of its margin says so with the control pairs and without them (1,000 "
            "bootstrap resamples of originals); else it is undecided.",
        ),
    )


def _evaluate(request: ReproductionRequest, real: bool) -> PemTables:
    """Evaluate a model trained on the real data, or the bundled one on the bundled set."""
    work: dict[str, Any] = {"threads": request.threads, "progress": request.progress}
    if real:
        parallel = read_parallel(request.data / PARALLEL)
        pivots = {"zh": Pivot([parallel], Recipe("zh", "lower"))}
        model = train_pem(pivots, form="paper", generate=False, **work)
        known_set = KNOWN[SET]
        options = {**known_set.options, "leave_out": ()}  # the other reference is a paraphrase too
        place = request.data / known_set.place
        evalset = judged_translations(
            load_evalset(place, known_set.format, name=SET, progress=request.progress, **options)
        )
        name, train_first, text = SET, TRAINED, f"Tatoeba English-Chinese, {len(parallel):,} pairs"
    else:
        evalset, model = load_evalset(DEMO, progress=request.progress), as_pem("bundled", "paper")
        name, train_first, text = DEMO, DEMO_TRAINED, "the small bundled model"
    evaluation = evaluate_paraphrases(
        evalset,
        model,
        form="paper",
        controls=True,
        train_first=train_first,
        compare_with={"BLEU": ("bleu",)},
        resamples=0,
        seed=request.seed,
        **work,
    )
    judges = None if real else (DEMO, [*evaluation.inter_judge])
    if real and request.data.has(KNOWN[JUDGES].place):
        judged = request.evalset(JUDGES)  # its outputs are in lower case
        originals = tuple(texts[0].lower() for texts in judged.references)
        pairs = correlate_judges(judged_rows(replace(judged, sources=originals), "adequacy"))
        judges = f"{JUDGES}: adequacy", [pair for pair in pairs if pair.rows >= COMMON]
    return PemTables(name, evaluation, text, judges)


def _worked_example() -> ReproducedNumber:
    """Return the pivot F1 of the paper's example."""
    source, pivot = Vocab(), Vocab()
    phrases = encode_phrases([phrase for phrase, _, _ in EXAMPLE_TABLE], source)
    translations = encode_phrases([translation for _, translation, _ in EXAMPLE_TABLE], pivot)
    counts = np.array([count for _, _, count in EXAMPLE_TABLE], dtype=np.int64)
    pairs = PhraseCounts(*phrases, *translations, counts)
    table = PhraseTable.from_counts(pairs, source, pivot, {"source": PLAIN, "pivot": PLAIN})
    stats = pivot_statistics(table, [EXAMPLE[0]], [EXAMPLE[1]], PivotSettings(edge=0))
    value, data = float(pooled_f1(stats)[0]), "the paper's example"
    return ReproducedNumber("section 4.3", "pivot F1", "F1", 0.38, value, data)


def _reproduced_numbers(tables: PemTables) -> Iterator[ReproducedNumber]:
    evaluation, data = tables.evaluation, tables.name
    if tables.judges is not None:
        yield from _between_judges(tables.judges[0], 0, [pair.pearson for pair in tables.judges[1]])
    if data == DEMO:
        systems = [pair.pearson_systems for pair in evaluation.inter_judge]
    else:
        systems = between_system_means(evaluation.judged)
    yield from _between_judges(data, 1, systems)
    for row in evaluation.criteria:
        item = f"{row.first} and overall"
        yield from _correlation_numbers("Table 2", item, TABLE_2[row.first], row, data)
    pem_rows = [row for row in evaluation.rows if row.first == "PEM"]
    for row in pem_rows:
        if not row.second.startswith("judge "):
            paper_values = () if row.second.endswith(NO_CONTROLS) else TABLE_3
            item = f"PEM and {row.second}"
            yield from _correlation_numbers("Table 3", item, paper_values, row, data)
    for row in pem_rows:
        if row.second.startswith("judge ") and row.rows >= (COMMON if data == SET else 3):
            yield from _single_judge(row, data)
    for row in evaluation.alone:
        if row.second.endswith(NO_CONTROLS):
            item, paper, remark = f"BLEU alone, {NO_CONTROLS}", None, ""
        else:
            remark = "the paper's is of other data, MetricsMATR 2008"
            item, paper = "BLEU alone", BLEU_ELSEWHERE
        values = paper, row.pearson, data
        yield ReproducedNumber("section 6.2", item, "r, sentences", *values, detail=remark)


def _single_judge(row: Correlation, data: str) -> Iterator[ReproducedNumber]:
    """Yield the rows of Table 3 for a single judge, compared with the paper's mean."""
    values = row.pearson, row.pearson_systems
    for measure, papers, value in zip(MEASURES, TABLE_3_JUDGES.values(), values, strict=True):
        detail = f"{min(papers)} to {max(papers)} in the paper; {row.rows:,} pairs here"
        numbers = measure, mean(papers), value, data
        if not isnan(value):
            yield ReproducedNumber("Table 3", f"PEM and {row.second}", *numbers, detail=detail)


def _correlation_numbers(
    location: str, item: str, paper_values: Sequence[float], row: Correlation, data: str
) -> Iterator[ReproducedNumber]:
    """Yield a correlation over sentences, and over systems."""
    values = row.pearson, row.pearson_systems
    padded = [*paper_values, None, None]
    for measure, paper, value in zip(MEASURES, padded, values, strict=False):
        yield ReproducedNumber(location, item, measure, paper, value, data)


def _between_judges(data: str, level: int, values: Sequence[float]) -> Iterator[ReproducedNumber]:
    """Yield the median of the correlations of pairs of judges, if there are any."""
    correlations = [value for value in values if not isnan(value)]
    if not correlations:
        return
    papers = list(TABLE_1.values())[level]
    detail = f"{min(papers)} to {max(papers)} in the paper"
    detail += f"; here the median of {len(correlations):,}" if len(correlations) > 1 else ""
    item = "two judges, overall" if data in (DEMO, SET) else "two judges"
    numbers = MEASURES[level], mean(papers), median(correlations), data
    yield ReproducedNumber("Table 1", item, *numbers, detail=detail)


def between_system_means(judged: JudgedPairs) -> list[float]:
    """Return r of the system means of each pair of judges, who may have judged different outputs.

    Judges of fewer than `COMMON` outputs are excluded, as are pairs with at most two common
    systems.
    """
    number = {name: k for k, name in enumerate(judged.evalset.systems)}
    at = np.array([number[name] for name in judged.systems])
    means = []
    for column in judge_columns(judged).values():
        has_score = ~np.isnan(column)
        if has_score.sum() >= COMMON:
            count = np.bincount(at[has_score], minlength=len(number))
            total = np.bincount(at[has_score], column[has_score], minlength=len(number))
            means.append(np.where(count > 0, total / np.maximum(count, 1), np.nan))
    correlations = []
    for first, second in combinations(means, 2):
        both = ~(np.isnan(first) | np.isnan(second))
        if both.sum() > 2:
            correlations.append(pearson(first[both], second[both]))
    return correlations


class Evidence(NamedTuple):
    """Margin of a claim, which is positive if the claim holds, with its 95% interval."""

    values: str  # the correlations it is computed from, as text
    margin: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """Verdict on the claim by the interval."""
        if self.low > 0:
            return HOLDS
        return FAILS if self.high < 0 else UNDECIDED

    def __str__(self) -> str:
        ends = "no interval" if isnan(self.low) else f"[{self.low:.3f}, {self.high:.3f}]"
        return f"{self.values}, margin {self.margin:.3f} {ends}"


def _conclusions(tables: PemTables, seed: int) -> Iterator[Conclusion]:
    """Yield a verdict on every claim of the paper, with and without the control pairs."""
    pairs = zip(
        _claims(tables.evaluation, True, seed), _claims(tables.evaluation, False, seed), strict=True
    )
    for (section, claim, all_evidence), (_, _, real_evidence) in pairs:
        verdict = combined_verdict(all_evidence, real_evidence)
        text = f"with controls: {all_evidence}; without: {real_evidence}"
        yield Conclusion(section, claim, verdict, text, tables.name)


def combined_verdict(with_controls: Evidence, real: Evidence) -> str:
    """Return the common verdict with controls and without; undecided if these differ.

    The scores of controls are fixed and easy to predict, so they must not decide alone.
    """
    return with_controls.verdict if with_controls.verdict == real.verdict else UNDECIDED


def _claims(
    evaluation: ParaphraseEvaluation, controls: bool, seed: int
) -> Iterator[tuple[str, str, Evidence]]:
    """Yield the section, the claim and the evidence, with control pairs or without."""

    def evidence(values: str, margins: Floats) -> Evidence:
        low, high = (float(end) for end in np.quantile(margins[1:], (0.025, 0.975)))
        return Evidence(values, float(margins[0]), low, high)

    def overall_r(column: Floats) -> Floats:
        """Return r of a column and overall quality, and its resamples."""
        selected = column if controls else without_controls(judged, column)
        return resampled_r(judged, selected, judged.human, seed=seed)

    judged = evaluation.judged
    adequacy, fluency, dissimilarity = (overall_r(judged.values(name)) for name in CRITERIA)
    claim = "Overall quality agrees with adequacy more than with fluency."
    values = f"adequacy {adequacy[0]:.3f}, fluency {fluency[0]:.3f}"
    yield "section 5.3", claim, evidence(values, np.minimum(adequacy - fluency, fluency))
    claim = "Dissimilarity alone agrees negatively with overall quality."
    yield "section 5.3", claim, evidence(f"{dissimilarity[0]:.3f}", -dissimilarity)
    claim = "Among adequate and fluent paraphrases, dissimilarity agrees strongly (above 0.5)."
    good = overall_r(good_dissimilarity(judged))
    yield "section 5.3", claim, evidence(f"{good[0]:.3f}", good - STRONG)
    rows = np.ones(len(evaluation.tested), np.bool_) if controls else evaluation.tested.real
    tested = evaluation.tested.select(rows)
    pem_scores, bleu_scores = (evaluation.measures[name][rows] for name in ("PEM", "bleu"))
    pem, bleu = (
        resampled_r(tested, scores, tested.human, seed=seed) for scores in (pem_scores, bleu_scores)
    )
    claim = "PEM agrees with judges better than BLEU does."
    values = f"PEM {pem[0]:.3f}, BLEU {bleu[0]:.3f}"
    yield "section 6.2", claim, evidence(values, pem - bleu)
    systems = resampled_system_r(tested, pem_scores, tested.human, seed=seed)
    claim = "PEM agrees with judges better over systems than over sentences."
    values = f"systems {systems[0]:.3f}, sentences {pem[0]:.3f}"
    yield "section 6.2", claim, evidence(values, systems - pem)


def _differences(tables: PemTables, real: bool) -> Iterator[PaperDifference]:
    pairs = tables.evaluation.rows[0]
    tested = f"{tables.name}: {pairs.rows:,} tested pairs of {pairs.systems} systems with controls"
    yield PaperDifference("paraphrases", "700 tested pairs of 7 systems with controls", tested)
    if real:
        judged = "5 minus MQM penalty, 1 rater for each"
        yield PaperDifference("original", "a human translation", "a reference translation (refB)")
        yield PaperDifference("judgements", "3 judges, 5-point scales", judged)
        overall = "errors alone: other words earn nothing"
        yield PaperDifference("overall quality", "rewards other words", overall)
        yield PaperDifference("dissimilarity", "judged", "1 + 4 (1 - F1 of n-grams), by machine")
        if tables.judges is not None:
            same_pairs = "overall scores of the same pairs"
            yield PaperDifference("Table 1, sentences", same_pairs, tables.judges[0])
        raters = "means of raters of different outputs"
        yield PaperDifference("Table 1, systems", "all judges judged all pairs", raters)
    else:
        yield PaperDifference("judgements", "3 judges, 5-point scales", "2 invented judges")
    yield PaperDifference("parallel text", "FBIS Chinese-English, 250,000 pairs", tables.text)
    pivot_words = "Chinese characters" if real else "French words"
    yield PaperDifference("pivot words", "Chinese words", pivot_words)
