"""Liu, Dahlmeier and Ng 2010, Tables 1 to 3: PEM against human judgement of paraphrases.

The paper's judgements and corpora are not public. Translations of TED talks stand for its
paraphrases: one reference is the original, the other reference and 13 systems are paraphrases, and
the errors that raters marked give adequacy, fluency and overall quality.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from statistics import mean, median
from typing import Any, NamedTuple

from karat.arrays import np
from karat.evalset.loading import KNOWN, load_evalset
from karat.paraphrase.align.parallel_text import read_parallel
from karat.paraphrase.pem.bags import PivotSettings, pivot_statistics, pooled_f1
from karat.paraphrase.pem.evaluation import (
    Correlation,
    ParaphraseEvaluation,
    evaluate_paraphrases,
    judge_pairs,
)
from karat.paraphrase.pem.judged_pairs import judged_rows
from karat.paraphrase.pem.model import PEM, as_pem
from karat.paraphrase.pem.training import train_pem
from karat.paraphrase.reproduction.translations import judged_translations, reference_as_original
from karat.paraphrase.table.phrase_pairs import PhraseCounts
from karat.paraphrase.table.phrase_table import PhraseTable
from karat.paraphrase.train.staged import Pivot
from karat.reproduction.requests import Request
from karat.reproduction.results import (
    Conclusion,
    Difference,
    ReproducedNumber,
    Reproduction,
    judged,
)
from karat.text.recipe import Ragged, Recipe
from karat.text.tokens import Vocab

CITATION = (
    "Liu, Dahlmeier and Ng 2010, PEM: A Paraphrase Evaluation Metric Exploiting Parallel Texts"
)
PARALLEL = "parallel-tatoeba-enzh/en-zh.tsv.gz"
SET, JUDGES, DEMO = "ted-zhen", "believability", "demo-paraphrases"
TRAINED, DEMO_TRAINED = 200, 27
"""Originals that the regression learns from: two thirds, the first ones."""
COMMON = 100
"""Paraphrases that two judges must share to be correlated."""
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
TABLE_3 = {
    "average": (0.8073, 0.9867),
    "judge": (mean((0.5777, 0.5281, 0.5231)), mean((0.9757, 0.9892, 0.9718))),
}
"""PEM with the mean of the judges and with one judge (mean of three), as in Table 2."""
BLEU_ELSEWHERE = 0.4513
"""Section 6.2: BLEU at the sentence level, on other data (MetricsMATR 2008)."""
EXAMPLE = "Morning , sir .", "Hello , Querrien ."
EXAMPLE_TABLE = (
    ("Morning , sir .", "Bonjour , monsieur .", 10),
    ("Hello ,", "Bonjour ,", 9),
    ("Hello ,", "Salut ,", 1),
    (".", ".", 50),
)
"""Section 4.3: phrases, their translations and counts with the probabilities of the paper."""
PLAIN = {"tok": "none", "case": "mixed", "stem": "none"}


class Evaluated(NamedTuple):
    """A set that PEM was evaluated on."""

    name: str
    found: ParaphraseEvaluation
    text: str
    """The training data of the model, in words."""
    judges: tuple[str, list[Correlation]] | None
    """The set of Table 1, and its pairs of judges."""


def reproduce_pem(request: Request) -> Reproduction:
    """Train the paper's form of PEM, and set it beside the judges as the paper does."""
    real = request.data.holds_all([KNOWN[SET].place, PARALLEL])
    one = _real(request) if real else _bundled(request)
    return Reproduction(
        name="pem",
        paper=CITATION,
        data=(one.name,),
        rows=(_worked(), *_numbers(one)),
        conclusions=tuple(_conclusions(one)),
        differs=tuple(_differs(one, real)),
        settings={**request.settings, **one.found.settings},
        signatures={"pem": one.found.signature},
        invented="" if real else "The paraphrases and judgements are invented.",
        remarks=(
            "Correlations are Pearson's. With controls, whose scores are fixed, they are higher "
            "than among real paraphrases; conclusions are judged by values alone.",
        ),
    )


def _real(request: Request) -> Evaluated:
    text = read_parallel(request.data / PARALLEL)
    pivots = {"zh": Pivot([text], Recipe("zh", "lower"))}
    work: dict[str, Any] = {"threads": request.threads, "progress": request.progress}
    model = train_pem(pivots, form="paper", generate=False, **work)
    known = KNOWN[SET]
    options = {**known.options, "leave_out": ()}  # the other reference is a paraphrase, too
    place = request.data / known.place
    given = load_evalset(place, known.format, name=SET, progress=request.progress, **options)
    found = _evaluated(judged_translations(given), model, TRAINED, request)
    judges = _judges(request) if request.data.has(KNOWN[JUDGES].place) else None
    return Evaluated(SET, found, f"Tatoeba English-Chinese, {len(text):,} pairs", judges)


def _bundled(request: Request) -> Evaluated:
    evalset = load_evalset(DEMO, progress=request.progress)
    found = _evaluated(evalset, as_pem("bundled", "paper"), DEMO_TRAINED, request)
    return Evaluated(DEMO, found, "the small bundled model", (DEMO, [*found.inter_judge]))


def _evaluated(
    evalset: Any, model: PEM, train_first: int, request: Request
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


def _judges(request: Request) -> tuple[str, list[Correlation]]:
    evalset = reference_as_original(request.evalset(JUDGES))
    pairs = judge_pairs(judged_rows(evalset, "adequacy"))
    return f"{JUDGES}: adequacy", [pair for pair in pairs if pair.rows >= COMMON]


# ------------------------------------------------------------------------------------ numbers


def _worked() -> ReproducedNumber:
    """Return the pivot F1 of the paper's example."""
    found = pivot_statistics(_table(), [EXAMPLE[0]], [EXAMPLE[1]], PivotSettings(edge=0))
    ours, own = float(pooled_f1(found)[0]), "the paper's example"
    return ReproducedNumber("section 4.3", "pivot F1", "F1", 0.38, ours, own)


def _table() -> PhraseTable:
    """Return the phrase table of the paper's example."""
    phrases, phrase_words = _ragged([phrase for phrase, _, _ in EXAMPLE_TABLE])
    others, other_words = _ragged([translation for _, translation, _ in EXAMPLE_TABLE])
    counts = np.array([count for _, _, count in EXAMPLE_TABLE], dtype=np.int64)
    pairs = PhraseCounts(phrases.ids, phrases.offsets, others.ids, others.offsets, counts)
    return PhraseTable.from_counts(
        pairs, phrase_words, other_words, {"source": PLAIN, "pivot": PLAIN}
    )


def _ragged(texts: Sequence[str]) -> tuple[Ragged, Vocab]:
    """Return texts as numbers of their words."""
    vocab, words = Vocab(), [text.split() for text in texts]
    ids = vocab.add([word for each in words for word in each])
    return Ragged(ids, np.array([0, *accumulate(map(len, words))], dtype=np.int64)), vocab


def _numbers(one: Evaluated) -> Iterator[ReproducedNumber]:
    if one.judges is not None and one.judges[1]:
        yield from _between_judges(*one.judges)
    for row in one.found.criteria:
        yield from _both("Table 2", f"{row.first} and overall", TABLE_2[row.first], row, one.name)
    for row in one.found.rows:
        if row.first == "PEM":
            single = row.second.startswith("judge ")
            known = () if "no controls" in row.second else TABLE_3["judge" if single else "average"]
            yield from _both("Table 3", f"PEM and {row.second}", known, row, one.name)
    (bleu,) = one.found.alone
    said = "the paper's is of other data, MetricsMATR 2008"
    number = ReproducedNumber(
        "section 6.2", "BLEU alone", "r, sentences", BLEU_ELSEWHERE, bleu.pearson, one.name
    )
    yield number._replace(detail=said)


def _both(
    where: str, item: str, known: Sequence[float], row: Correlation, data: str
) -> Iterator[ReproducedNumber]:
    """Yield a correlation over sentences, and over systems."""
    ours = row.pearson, row.pearson_systems
    padded = [*known, None, None]
    for measure, paper, value in zip(("r, sentences", "r, systems"), padded, ours, strict=False):
        yield ReproducedNumber(where, item, measure, paper, value, data)


def _between_judges(data: str, pairs: list[Correlation]) -> Iterator[ReproducedNumber]:
    middle = median(pair.pearson for pair in pairs)
    low, *_, high = sorted(TABLE_1["sentence"])
    said = f"{low} to {high} in the paper; here the median of {len(pairs):,}"
    item = "two judges, overall" if data == DEMO else "two judges"
    paper = mean(TABLE_1["sentence"])
    number = ReproducedNumber("Table 1", item, "r, sentences", paper, middle, data)
    yield number._replace(detail=said)


# -------------------------------------------------------------------------------- conclusions


def _conclusions(one: Evaluated) -> Iterator[Conclusion]:
    r = {row.first: row.pearson for row in one.found.criteria}
    pem = one.found.rows[0]
    (bleu,) = one.found.alone
    for where, claim, holds, said in (
        (
            "section 5.3",
            "Overall quality agrees with adequacy more than with fluency.",
            r["adequacy"] > r["fluency"] > 0,
            f"adequacy {r['adequacy']:.3f}, fluency {r['fluency']:.3f}",
        ),
        (
            "section 5.3",
            "Dissimilarity alone agrees negatively with overall quality.",
            r["dissimilarity"] < 0,
            f"{r['dissimilarity']:.3f}",
        ),
        (
            "section 5.3",
            "Among adequate and fluent paraphrases, dissimilarity agrees strongly (above 0.5).",
            r[GOOD] > STRONG,
            f"{r[GOOD]:.3f}",
        ),
        (
            "section 6.2",
            "PEM agrees with judges better than BLEU does.",
            pem.pearson > bleu.pearson,
            f"PEM {pem.pearson:.3f}, BLEU {bleu.pearson:.3f}",
        ),
        (
            "section 6.2",
            "PEM agrees with judges better over systems than over sentences.",
            pem.pearson_systems > pem.pearson,
            f"systems {pem.pearson_systems:.3f}, sentences {pem.pearson:.3f}",
        ),
    ):
        yield Conclusion(where, claim, judged(holds), said, one.name)


STRONG = 0.5
"""The least correlation that counts as strong."""


# -------------------------------------------------------------------------------- differences


def _differs(one: Evaluated, real: bool) -> Iterator[Difference]:
    pairs = one.found.rows[0]
    tested = f"{one.name}: {pairs.rows:,} tested pairs of {pairs.systems} systems with controls"
    yield Difference("paraphrases", "700 tested pairs of 7 systems with controls", tested)
    if real:
        yield Difference("original", "a human translation", "a reference translation (refB)")
        yield Difference("judgements", "3 judges, 5-point scales", "5 minus MQM penalty, 1 rater")
        yield Difference(
            "overall quality", "rewards other words", "errors alone: other words earn nothing"
        )
        yield Difference("dissimilarity", "judged", "1 + 4 (1 - F1 of n-grams), by machine")
    else:
        yield Difference("judgements", "3 judges, 5-point scales", "2 invented judges")
    if one.judges is not None and real:
        yield Difference("Table 1", "overall scores of the same pairs", one.judges[0])
    yield Difference("parallel text", "FBIS Chinese-English, 250,000 pairs", one.text)
    yield Difference(
        "pivot words", "Chinese words", "Chinese characters" if real else "French words"
    )
