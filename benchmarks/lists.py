"""Metrics on lists of strings, one thread, against the tools that defined them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from corpus import Corpus, read
from plan import Plan
from table import Row, duration
from timing import best_in_child, in_child, take_turns

import karat as kt

FIVE = ("bleu", "chrf", "rouge1", "rougeL", "aev")
ROUGE = tuple(f"{name}:stem=porter-nltk" for name in ("rouge1", "rouge2", "rougeL"))


def scoring(
    candidates: list[str], references: Sequence[Any], metrics: Sequence[str], **options: Any
) -> Callable[[], object]:
    """A function that scores lists with one thread."""
    return lambda: kt.score(candidates, references, metrics, threads=1, **options)


def against(
    work: str,
    plan: Plan,
    karat: Callable[[], object],
    lines: int,
    peer: tuple[str, Path, Path],
    at_least: float | None = None,
) -> Row:
    """Karat on all lines, the peer on the first of them, its time scaled."""
    part = min(plan.peer_lines, lines)
    rounds = max(1, plan.rounds // plan.peer_rounds)
    karat_time, peer_best = float("inf"), float("inf")
    for _ in range(plan.peer_rounds):  # by turns, so that noise hits both
        karat_time = min(karat_time, take_turns({"karat": karat}, rounds)["karat"])
        peer_best = min(peer_best, best_in_child(1, *peer, part) * lines / part)
    tool = "rouge-score" if peer[0].startswith("rouge") else "sacreBLEU"
    note = f"{tool} timed on {part:,} segments and scaled" if part < lines else ""
    peer_text = f"{tool} {duration(peer_best)}"
    return Row(
        work,
        duration(karat_time),
        peer_text,
        peer_best / karat_time,
        "x faster",
        at_least=at_least,
        note=note,
    )


def bleu(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """BLEU 13a."""
    candidates, references = read(corpus.candidates), read(corpus.references)
    metric = kt.metric("bleu")
    yield against(
        "BLEU 13a, lists, 1 thread",
        plan,
        lambda: metric.corpus(candidates, references, threads=1),
        corpus.lines,
        ("sacrebleu_bleu", corpus.candidates, corpus.references),
        60,
    )


def rouge(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """ROUGE-1, 2 and L, stemmed."""
    yield against(
        "ROUGE-1/2/L stemmed, lists, 1 thread",
        plan,
        scoring(read(corpus.candidates), read(corpus.references), ROUGE),
        corpus.lines,
        ("rouge_stemmed", corpus.candidates, corpus.references),
        150,
    )


def chrf(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """chrF."""
    yield against(
        "chrF, lists, 1 thread",
        plan,
        scoring(read(corpus.candidates), read(corpus.references), ["chrf"]),
        corpus.lines,
        ("sacrebleu_chrf", corpus.candidates, corpus.references),
        60,
    )


def five(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """Five metrics at once against the dearest one alone."""
    candidates, references = read(corpus.candidates), read(corpus.references)
    work = {"all": scoring(candidates, references, FIVE)}
    work |= {name: scoring(candidates, references, [name]) for name in FIVE}
    best = take_turns(work, plan.rounds)
    together = best.pop("all")
    dearest = max(best, key=lambda name: best[name])
    yield Row(
        f"five metrics at once ({', '.join(FIVE)})",
        duration(together),
        f"{dearest} alone {duration(best[dearest])}",
        together / best[dearest],
        "x its time",
        at_most=2.0,
        note="alone: " + ", ".join(f"{name} {duration(time)}" for name, time in best.items()),
    )


def memory(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """Peak memory of BLEU on lists, in new processes."""
    files = corpus.candidates, corpus.references, corpus.lines
    karat, peer = (in_child(job, *files) for job in ("karat_bleu", "sacrebleu_bleu"))
    yield Row(
        f"peak memory, BLEU on lists of {corpus.lines:,}",
        f"{karat['peak_mb']:.0f} MB",
        f"sacreBLEU {peer['peak_mb']:.0f} MB",
        peer["peak_mb"] / karat["peak_mb"],
        "x less",
        note=f"of it before the work: {karat['before_mb']:.0f} and {peer['before_mb']:.0f} MB",
    )


def more(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """Other settings, for information."""
    candidates, references = read(corpus.candidates), read(corpus.references)
    paths = corpus.candidates, corpus.references
    for name, metric, job in (
        ("BLEU lower-cased", "bleu:case=lower", "sacrebleu_lower"),
        ("BLEU tok=intl", "bleu:tok=intl", "sacrebleu_intl"),
    ):
        work = scoring(candidates, references, [metric])
        yield against(name, plan, work, corpus.lines, (job, *paths))
    files = corpus.chinese
    chinese = [read(file) for file in files]
    work = scoring(chinese[0], chinese[1], ["bleu:tok=zh"])
    label = f"BLEU tok=zh, {len(chinese[0]):,} segments"
    yield against(label, plan, work, len(chinese[0]), ("sacrebleu_zh", *files))
    four = [line.split("\t") for line in read(corpus.four_references)]
    work = scoring(candidates[: len(four)], four, ["bleu"])
    label = f"BLEU, 4 references, {len(four):,} segments"
    files = corpus.candidates, corpus.four_references
    yield against(label, plan, work, len(four), ("sacrebleu_refs", *files))


def bootstrap(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """BLEU with an interval: of the jackknife here, of a bootstrap in sacreBLEU."""
    short_plan = plan._replace(rounds=2 * plan.peer_rounds)
    work = scoring(read(corpus.candidates), read(corpus.references), ["bleu"], intervals=True)
    label = "BLEU with a 95% interval (sacreBLEU: 1000 resamples)"
    files = corpus.candidates, corpus.references
    yield against(label, short_plan, work, corpus.lines, ("sacrebleu_bootstrap", *files))
