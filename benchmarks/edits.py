"""Edit-based work against its peers, one thread, on text found through KARAT_DATA.

TER against sacreBLEU, edit scripts against rapidfuzz (both from raw strings), and the CoNLL-U
reader against the conllu package. Without the text there are no rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from corpus import DATA, Corpus
from plan import Plan
from table import Row, duration
from ted import ted
from timing import take_turns

import karat as kt


def ter(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """TER of 13 systems; that the numbers are equal is checked on the way."""
    from sacrebleu.metrics import TER

    texts = ted()
    if not texts:
        print("ter: no TED texts in KARAT_DATA, left out", file=sys.stderr)
        return
    metric = kt.metric("ter")

    def karat() -> list[float]:
        outputs = texts.outputs.values()
        return [metric.corpus(lines, texts.good, threads=1).value for lines in outputs]

    def peer() -> list[float]:
        peer_metric = TER(references=[texts.good])  # a new one each time, because it caches
        return [peer_metric.corpus_score(lines, None).score for lines in texts.outputs.values()]

    peer_scores: list[float] = []
    karat_time = take_turns({"karat": karat}, plan.rounds)["karat"]
    peer_time = take_turns({"peer": lambda: peer_scores.extend(peer())}, 1)["peer"]
    if max(abs(a - b) for a, b in zip(karat(), peer_scores, strict=True)) > 1e-9:
        raise RuntimeError("sacreBLEU and karat disagree")
    work = f"TER, TED, {len(texts.outputs)} systems x {len(texts.good)}, 1 thread"
    yield _against(work, karat_time, "sacreBLEU", peer_time, 100)


class _Job(NamedTuple):
    """Pairs of texts, and how they are cut by Karat and by the peer."""

    subject: str
    candidates: list[str]
    references: list[str]
    tok: str
    cut: Callable[[str], Sequence[str]]


def scripts(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """Edit scripts of words, of characters and of long texts; the peer has costs of 1 only."""
    texts = ted()
    if not texts:
        print("edits: no TED texts in KARAT_DATA, left out", file=sys.stderr)
        return
    systems = len(texts.outputs)
    candidates = [text for lines in texts.outputs.values() for text in lines]
    references = texts.good * systems
    long = [" ".join(lines) for lines in texts.outputs.values()]
    joined = [" ".join(texts.good)] * systems
    # tok=char passes over white space, so it is taken out for both: the same characters.
    bare = [["".join(text.split()) for text in side] for side in (candidates, references)]
    pairs = f"{systems} x {len(texts.good)}"
    for job in (
        _Job(f"words, TED, {pairs}", candidates, references, "none", str.split),
        _Job(f"characters, TED, {pairs}", *bare, "char", str),
        _Job(f"words, {systems} documents of 10,000", long, joined, "none", str.split),
    ):
        rounds = plan.rounds if len(job.candidates) > 100 else plan.peer_rounds
        for costs in ("unit", "accuracy"):
            yield _script_row(job, costs, rounds)


def _script_row(job: _Job, costs: str, rounds: int) -> Row:
    from rapidfuzz.distance import Levenshtein

    def karat() -> object:
        return kt.alignments(job.candidates, job.references, costs=costs, tok=job.tok)

    def peer() -> object:
        pairs = zip(job.candidates, job.references, strict=True)
        return [Levenshtein.editops(job.cut(r), job.cut(c)) for c, r in pairs]

    best = take_turns({"karat": karat, "peer": peer}, rounds)
    cost_text = {"unit": "costs of 1", "accuracy": "costs of 3, 3, 4"}[costs]
    work = f"edit scripts of {job.subject}, {cost_text}"
    return _against(work, best["karat"], "rapidfuzz", best["peer"], 1)


def conllu(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """Reading EWT's training part, as arrays and with every tree made an object."""
    from conllu import parse_incr

    path = DATA / "treebank-ewt" / "en_ewt-ud-train.conllu"
    if not path.exists():
        print("conllu: no treebank-ewt in KARAT_DATA, left out", file=sys.stderr)
        return

    def peer() -> None:
        with path.open(encoding="utf-8") as file:
            sum(1 for _ in parse_incr(file))

    peer_time = take_turns({"peer": peer}, 1)["peer"]
    readers = {
        "": lambda: kt.read_conllu(path),
        ", every tree as an object": lambda: sum(1 for _ in kt.read_conllu(path)),
    }
    for suffix, karat_time in take_turns(readers, plan.rounds).items():
        yield _against(f"CoNLL-U, EWT train{suffix}", karat_time, "conllu", peer_time, 20)


def _against(work: str, karat_time: float, peer: str, peer_time: float, at_least: float) -> Row:
    ratio = peer_time / karat_time
    peer_text = f"{peer} {duration(peer_time)}"
    return Row(work, duration(karat_time), peer_text, ratio, "x faster", at_least=at_least)
