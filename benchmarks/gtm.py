"""GTM on real text: greedy against plain Python and Java, one long pair, and exact's certainty.

TED zh-en and SummEval are found through KARAT_DATA; without them there are no rows. `python gtm.py
--pair` runs only the long pair, in a separate process, to measure its memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import java_gtm
from corpus import DATA, Corpus
from jobs import peak_mb
from plain_gtm import as_it_reads, tuned
from plan import Plan
from table import Row, duration
from ted import Ted, ted
from timing import seconds, take_turns

import karat as kt

GREEDY = kt.GTM(e=2)
EXACT = kt.GTM(e=2, search="exact")
PAIR_TOKENS = 20_000


def measure(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """All rows."""
    texts = ted()
    if not texts:
        print("gtm: no TED texts in KARAT_DATA, left out", file=sys.stderr)
        return
    yield from _against_python(texts, plan)
    yield from java_gtm.measure(list(_for_java(texts)), plan.peer_rounds)
    yield from _long_pair()
    for label, cases, at_most in _cases(texts):
        yield _certain(label, cases, at_most)


def _against_python(texts: Ted, plan: Plan) -> Iterator[Row]:
    systems = f"{len(texts.outputs)} systems"
    yield from _race(f"TED, {systems} x {len(texts.good)}", texts.outputs, texts.good, plan, 100)
    joined = {name: documents(lines) for name, lines in texts.outputs.items()}
    references = documents(texts.good)
    work = f"TED documents of 25, {systems} x {len(references)}"
    yield from _race(work, joined, references, plan, None)


def _for_java(texts: Ted) -> Iterator[java_gtm.Text]:
    yield java_gtm.Text("TED", texts.outputs, texts.good)
    joined = {name: documents(lines) for name, lines in texts.outputs.items()}
    yield java_gtm.Text("TED documents of 25", joined, documents(texts.good))


def documents(lines: list[str], size: int = 25) -> list[str]:
    """Join every `size` lines to one text; the last text has the remaining lines."""
    return [" ".join(lines[at : at + size]) for at in range(0, len(lines), size)]


def _race(
    work: str,
    outputs: dict[str, list[str]],
    good: list[str],
    plan: Plan,
    at_least: float | None,
) -> Iterator[Row]:
    """Compare scoring from text, one thread, with both Python implementations.

    Measures processor time, all taking turns: wall times of 5 ms and 600 ms are not comparable on a
    shared machine.
    """

    def karat() -> float:
        scoring = kt.score(outputs, good, GREEDY, threads=1)
        return sum(row.score.parts["size"] for row in scoring.rows)

    def plain(size: Callable[..., float]) -> float:
        references = [[line.split()] for line in good]
        return sum(
            size(candidate.split(), reference, 2)
            for lines in outputs.values()
            for candidate, reference in zip(lines, references, strict=True)
        )

    peers = {"as the rule reads": partial(plain, as_it_reads), "tuned": partial(plain, tuned)}
    if any(abs(peer() - karat()) > 1e-6 * karat() for peer in peers.values()):
        raise RuntimeError("plain Python and karat disagree")
    rounds = plan.rounds if at_least else plan.peer_rounds
    took = take_turns({"karat": karat, **peers}, rounds, time.process_time)
    karat_time = took.pop("karat")
    for name, peer_time in took.items():
        yield Row(
            f"GTM greedy e=2, {work}, 1 thread",
            duration(karat_time),
            f"Python, {name}, {duration(peer_time)}",
            peer_time / karat_time,
            "x faster",
            at_least=at_least if name != "tuned" else None,
            note="processor time, all taking turns",
        )


# ----------------------------------------------------------------------------- one long pair


def long_pair(texts: Ted) -> tuple[str, str]:
    """Two systems' outputs joined, against the reference twice, both cut at 20,000 tokens."""
    first, second, *_ = texts.outputs.values()
    tokens = " ".join(first + second).split(), " ".join(texts.good * 2).split()
    return " ".join(tokens[0][:PAIR_TOKENS]), " ".join(tokens[1][:PAIR_TOKENS])


def _long_pair() -> Iterator[Row]:
    argv = [sys.executable, __file__, "--pair"]
    done = subprocess.run(argv, check=True, stdout=subprocess.PIPE)
    outcome = json.loads(done.stdout)
    work = f"GTM greedy e=2, one pair of {outcome['rows']:,} x {outcome['columns']:,} tokens"
    hits = f"{outcome['hits']:,} hits"
    took = duration(outcome["seconds"])
    yield Row(work, took, ratio=outcome["seconds"], unit=" s", at_most=1, note=hits)
    megabytes = outcome["peak_mb"]
    note = f"of it before the work {outcome['before_mb']:.0f} MB"
    yield Row(
        f"{work}: memory", f"{megabytes:.0f} MB", "", megabytes, " MB", at_most=200, note=note
    )


def _pair_alone() -> None:
    texts = ted()
    if not texts:
        raise SystemExit("no TED texts in KARAT_DATA")
    candidate, reference = long_pair(texts)
    metric = kt.GTM(e=2, tok="13a")
    metric.corpus(["a"], ["a"])
    before = peak_mb()
    took = seconds(lambda: metric.corpus([candidate], [reference], threads=1))
    peak = peak_mb()
    grid = metric.explain(candidate, reference)
    sizes = {"rows": len(grid.row_ids), "columns": grid.columns - 1}
    hits = sum(1 for _ in grid.hits())
    record = {"seconds": took, "peak_mb": peak, "before_mb": before, "hits": hits, **sizes}
    print(json.dumps(record))


# ------------------------------------------------------------------------ how fast it is certain

Case = tuple[str, Sequence[str]]


def _cases(texts: Ted) -> Iterator[tuple[str, list[Case], float]]:
    """What is searched, and the most milliseconds that one search may take."""
    for number in (1, 2):
        groups = list(zip(texts.good, texts.other, strict=True))
        cases: list[Case] = [
            (candidate, group[:number])
            for lines in texts.outputs.values()
            for candidate, group in zip(lines, groups, strict=True)
        ]
        yield f"TED, {number} ref", cases, 10
    joined = [
        (candidate, [reference])
        for lines in texts.outputs.values()
        for candidate, reference in zip(documents(lines), documents(texts.good), strict=True)
    ]
    yield "TED documents of 25", joined, 1000
    path = DATA / "summ-summeval" / "summeval.jsonl"
    if not path.exists():
        return
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for number, at_most in ((1, 10), (2, 10), (11, 100)):
        summaries = [
            (system["summary"], r["references"][:number])
            for r in records
            for system in r["systems"].values()
        ]
        yield f"SummEval, {number} ref", summaries, at_most


def _certain(label: str, cases: list[Case], at_most: float) -> Row:
    times, proven = [], 0.0
    for candidate, references in cases:
        start = time.process_time()  # not the clock: of thousands of calls one meets a pause
        (row,) = EXACT.stats([candidate], [references], threads=1)
        times.append((time.process_time() - start) * 1000)
        proven += row[-1]
    times.sort()
    quick = sum(t <= 100 for t in times) / len(times)
    middle = times[len(times) // 2]
    return Row(
        f"GTM exact e=2, {label}: slowest of {len(cases):,}",
        f"{times[-1]:.1f} ms",
        ratio=times[-1] if proven == len(cases) else float("inf"),
        unit=" ms",
        at_most=at_most,
        note=f"{proven / len(cases):.2%} certified, median {middle:.2f} ms, "
        f"{quick:.1%} within 100 ms; CPU time, from text, one call each",
    )


if __name__ == "__main__":
    _pair_alone()
