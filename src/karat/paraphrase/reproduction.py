"""Judged translations as paraphrases of a reference, with the paper's four criteria from 1 to 5."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import isnan
from statistics import mean, median
from typing import Any, NamedTuple

from karat.arrays import Flags, Floats, np
from karat.evalset.draft import make_evalset
from karat.evalset.judgements import Dimension
from karat.evalset.loading import KNOWN, load_evalset
from karat.evalset.sets import EvalSet
from karat.paraphrase.align.parallel_text import read_parallel
from karat.paraphrase.pem.evaluation import (
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
from karat.paraphrase.pem.model import PEM, as_pem
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

ORIGINALS = 300  # originals that are taken, as in the paper
CRITERIA = {"adequacy": "accuracy", "fluency": "fluency", "overall": "mqm"}
"""Criterion of the paper -> the errors that raters marked."""
BEST, WORST = 5.0, 1.0
Row = tuple[str, str, str, str, float]


def judged_translations(translations: EvalSet) -> EvalSet:
    """Return the first outputs of a set with MQM errors as paraphrases of its reference.

    A criterion is 5 minus the penalty by each rater, at least 1. Nobody judged dissimilarity: it is
    1 + 4 (1 - F1 of the texts' own n-grams).
    """
    originals = [texts[0] for texts in translations.references][:ORIGINALS]
    systems = {name: list(texts[:ORIGINALS]) for name, texts in translations.systems.items()}
    judgements = [*_criteria(translations, systems), *_dissimilarities(originals, systems)]
    scales = [Dimension(name, low=WORST, high=BEST) for name in (*CRITERIA, "dissimilarity")]
    return make_evalset(
        translations.name,
        systems,
        references=originals,
        sources=originals,
        judgements=judgements,
        dimensions=scales,
    )


def _criteria(translations: EvalSet, systems: Mapping[str, Sequence[str | None]]) -> Iterator[Row]:
    for criterion, errors in CRITERIA.items():
        for rater in translations.judgements.judges:
            scores = BEST + translations.rated_by(rater, errors)  # penalties: more is better
            for s, name in enumerate(systems):
                for i, value in enumerate(scores[s, :ORIGINALS].tolist(), 1):
                    if not np.isnan(value):
                        yield name, str(i), rater, criterion, max(WORST, value)


def _dissimilarities(
    originals: Sequence[str], systems: Mapping[str, Sequence[str | None]]
) -> Iterator[Row]:
    for name, texts in systems.items():
        shared = pooled_f1(target_statistics(originals, [text or "" for text in texts]))
        for i, value in enumerate(shared.tolist(), 1):
            yield name, str(i), "machine", "dissimilarity", BEST - (BEST - WORST) * value


CITATION = (
    "Liu, Dahlmeier and Ng 2010, PEM: A Paraphrase Evaluation Metric Exploiting Parallel Texts"
)
PARALLEL = "parallel-tatoeba-enzh/en-zh.tsv.gz"
SET, JUDGES, DEMO = "ted-zhen", "believability", "demo-paraphrases"
TRAINED, DEMO_TRAINED = 200, 27
"""Originals that the regression learns from: two thirds, the first ones."""
COMMON = 100  # paraphrases that two judges must share to be correlated
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
STRONG = 0.5  # the least value of a strong correlation
BLEU_ELSEWHERE = 0.4513  # section 6.2: BLEU at the sentence level, on other data (MetricsMATR 2008)
EXAMPLE = "Morning , sir .", "Hello , Querrien ."
EXAMPLE_TABLE = (
    ("Morning , sir .", "Bonjour , monsieur .", 10),
    ("Hello ,", "Bonjour ,", 9),
    ("Hello ,", "Salut ,", 1),
    (".", ".", 50),
)
"""Section 4.3: phrases, their translations and counts with the probabilities of the paper."""
PLAIN = {"tok": "none", "case": "mixed", "stem": "none"}


class PemTables(NamedTuple):
    """A set that PEM was evaluated on."""

    name: str
    evaluation: ParaphraseEvaluation
    text: str  # the training data of the model, in words
    judges: tuple[str, list[Correlation]] | None  # the set of Table 1, and its pairs of judges


def reproduce_pem(request: ReproductionRequest) -> Reproduction:
    """Train the paper's form of PEM, and set it beside the judges as the paper does."""
    real = request.data.holds_all([KNOWN[SET].place, PARALLEL])
    tables = _evaluate_real_data(request) if real else _evaluate_bundled_data(request)
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


def _evaluate_real_data(request: ReproductionRequest) -> PemTables:
    text = read_parallel(request.data / PARALLEL)
    pivots = {"zh": Pivot([text], Recipe("zh", "lower"))}
    work: dict[str, Any] = {"threads": request.threads, "progress": request.progress}
    model = train_pem(pivots, form="paper", generate=False, **work)
    known_set = KNOWN[SET]
    options = {**known_set.options, "leave_out": ()}  # the other reference is a paraphrase, too
    place = request.data / known_set.place
    translations = load_evalset(
        place, known_set.format, name=SET, progress=request.progress, **options
    )
    evaluation = _evaluate_model(judged_translations(translations), model, TRAINED, request)
    judges = None
    if request.data.has(KNOWN[JUDGES].place):
        judged = request.evalset(JUDGES)  # its outputs are in lower case
        originals = tuple(texts[0].lower() for texts in judged.references)
        pairs = correlate_judges(judged_rows(replace(judged, sources=originals), "adequacy"))
        judges = f"{JUDGES}: adequacy", [pair for pair in pairs if pair.rows >= COMMON]
    return PemTables(SET, evaluation, f"Tatoeba English-Chinese, {len(text):,} pairs", judges)


def _evaluate_bundled_data(request: ReproductionRequest) -> PemTables:
    evalset = load_evalset(DEMO, progress=request.progress)
    evaluation = _evaluate_model(evalset, as_pem("bundled", "paper"), DEMO_TRAINED, request)
    return PemTables(DEMO, evaluation, "the small bundled model", (DEMO, [*evaluation.inter_judge]))


def _evaluate_model(
    evalset: Any, model: PEM, train_first: int, request: ReproductionRequest
) -> ParaphraseEvaluation:
    return evaluate_paraphrases(
        evalset,
        model,
        form="paper",
        controls=True,
        train_first=train_first,
        compare_with={"BLEU": ("bleu",)},
        resamples=0,
        seed=request.seed,
        threads=request.threads,
        progress=request.progress,
    )


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
    """Return r of the system means of each two judges, whatever outputs each of them judged.

    Judges of fewer than `COMMON` outputs are left out, and so are pairs with two common systems.
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
    """A claim as a number that is positive where the claim holds, with its 95% interval."""

    values: str  # the correlations that it is made from, in words
    margin: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """Whether the claim holds, by the interval."""
        if self.low > 0:
            return HOLDS
        return FAILS if self.high < 0 else UNDECIDED

    def __str__(self) -> str:
        ends = "no interval" if isnan(self.low) else f"[{self.low:.3f}, {self.high:.3f}]"
        return f"{self.values}, margin {self.margin:.3f} {ends}"


def _conclusions(tables: PemTables, seed: int) -> Iterator[Conclusion]:
    """Yield the conclusions; one that holds or fails does so with control pairs and without."""
    for section, claim, measure in CLAIMS:
        with_controls, real = (
            measure(tables.evaluation, controls, seed) for controls in (True, False)
        )
        evidence = f"with controls: {with_controls}; without: {real}"
        yield Conclusion(
            section, claim, combined_verdict(with_controls, real), evidence, tables.name
        )


def combined_verdict(with_controls: Evidence, real: Evidence) -> str:
    """Return the verdict that all pairs and those without controls agree on.

    The scores of controls are fixed and easy to tell: what rests on them alone is undecided.
    """
    return with_controls.verdict if with_controls.verdict == real.verdict else UNDECIDED


def _evidence(values: str, margins: Floats) -> Evidence:
    """Return a margin and its interval from the margin of all pairs and those of resamples."""
    low, high = (float(end) for end in np.quantile(margins[1:], (0.025, 0.975)))
    return Evidence(values, float(margins[0]), low, high)


def _with_overall(
    evaluation: ParaphraseEvaluation, column: Floats, controls: bool, seed: int
) -> Floats:
    """Return r of a column and overall quality, and its resamples."""
    judged = evaluation.judged
    selected = column if controls else without_controls(judged, column)
    return resampled_r(judged, selected, judged.human, seed=seed)


def _adequacy_and_fluency(evaluation: ParaphraseEvaluation, controls: bool, seed: int) -> Evidence:
    adequacy, fluency = (
        _with_overall(evaluation, evaluation.judged.values(name), controls, seed)
        for name in ("adequacy", "fluency")
    )
    summary = f"adequacy {adequacy[0]:.3f}, fluency {fluency[0]:.3f}"
    return _evidence(summary, np.minimum(adequacy - fluency, fluency))


def _dissimilarity(evaluation: ParaphraseEvaluation, controls: bool, seed: int) -> Evidence:
    r = _with_overall(evaluation, evaluation.judged.values("dissimilarity"), controls, seed)
    return _evidence(f"{r[0]:.3f}", -r)


def _good_dissimilarity(evaluation: ParaphraseEvaluation, controls: bool, seed: int) -> Evidence:
    r = _with_overall(evaluation, good_dissimilarity(evaluation.judged), controls, seed)
    return _evidence(f"{r[0]:.3f}", r - STRONG)


def _tested_pairs(evaluation: ParaphraseEvaluation, controls: bool) -> tuple[JudgedPairs, Flags]:
    """Return the tested pairs, and which of all tested ones they are."""
    rows = np.ones(len(evaluation.tested), np.bool_) if controls else evaluation.tested.real
    return evaluation.tested.select(rows), rows


def _pem_and_bleu(evaluation: ParaphraseEvaluation, controls: bool, seed: int) -> Evidence:
    tested, rows = _tested_pairs(evaluation, controls)
    pem, bleu = (
        resampled_r(tested, evaluation.measures[name][rows], tested.human, seed=seed)
        for name in ("PEM", "bleu")
    )
    return _evidence(f"PEM {pem[0]:.3f}, BLEU {bleu[0]:.3f}", pem - bleu)


def _systems_and_sentences(evaluation: ParaphraseEvaluation, controls: bool, seed: int) -> Evidence:
    tested, rows = _tested_pairs(evaluation, controls)
    columns = evaluation.measures["PEM"][rows], tested.human
    systems, sentences = (r(tested, *columns, seed=seed) for r in (resampled_system_r, resampled_r))
    return _evidence(f"systems {systems[0]:.3f}, sentences {sentences[0]:.3f}", systems - sentences)


CLAIMS = (
    (
        "section 5.3",
        "Overall quality agrees with adequacy more than with fluency.",
        _adequacy_and_fluency,
    ),
    ("section 5.3", "Dissimilarity alone agrees negatively with overall quality.", _dissimilarity),
    (
        "section 5.3",
        "Among adequate and fluent paraphrases, dissimilarity agrees strongly (above 0.5).",
        _good_dissimilarity,
    ),
    ("section 6.2", "PEM agrees with judges better than BLEU does.", _pem_and_bleu),
    (
        "section 6.2",
        "PEM agrees with judges better over systems than over sentences.",
        _systems_and_sentences,
    ),
)
"""Section of the paper, its claim, and what measures it."""


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
