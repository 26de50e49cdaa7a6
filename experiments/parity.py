"""Compare Karat with sacreBLEU and rouge-score on every English and Chinese text in KARAT_DATA.

Each text is scored against itself with its lines moved by one and every third word dropped, so that
there is something to match and something to miss. Prints the largest difference of any corpus or
segment score for each text.

    KARAT_DATA=../shared/data .venv/bin/python experiments/parity.py
"""

from __future__ import annotations

import csv
import gzip
import json
import logging
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF

import karat as kt

ROUGE = ["rouge1", "rouge2", "rougeL"]


def texts(data: Path) -> Iterator[tuple[str, list[str], str]]:
    """Name, lines and tokeniser of every text."""
    for path in sorted(data.glob("parallel-debian/*.tsv.gz")):
        yield path.name, _column(path, 0), "13a"
    yield "tatoeba en", _column(data / "parallel-tatoeba-enzh/en-zh.tsv.gz", 0), "13a"
    yield "tatoeba zh", _column(data / "parallel-tatoeba-enzh/en-zh.tsv.gz", 1), "zh"
    for path in [
        *data.glob("parallel-multi30k/*.en.gz"),
        data / "parallel-tanaka-enja/train.en.gz",
    ]:
        yield path.name, _unpacked(path).splitlines(), "13a"
    ted = list(
        csv.reader(
            (data / "mt-ted-zhen/mqm_ted_zhen.tsv").open("r", encoding="utf-8"),
            delimiter="\t",
            quoting=csv.QUOTE_NONE,
        )
    )[1:]
    clean = [re.sub("</?v>", "", cell) for row in ted for cell in (row[6], row[5])]
    yield "ted en", list(dict.fromkeys(clean[0::2])), "13a"
    yield "ted zh", list(dict.fromkeys(clean[1::2])), "zh"
    summeval = [json.loads(line) for line in (data / "summ-summeval/summeval.jsonl").open()]
    yield "summeval", sorted(set(_strings(summeval))), "13a"
    rag = [json.loads(line) for line in next(data.glob("nuggets-rag24/*.jl")).open()]
    yield "rag24", sorted(set(_strings(rag))), "intl"
    for path in sorted(data.glob("nuggets-realsumm/*.txt")):
        yield f"realsumm {path.name}", path.read_text("utf-8").splitlines(), "13a"
    twitter = (data / "paraphrase-twitter/twitter.tsv").read_text("utf-8").splitlines()
    yield "twitter", [line.replace("\t", " ") for line in twitter], "intl"
    conllu = (data / "treebank-ewt/en_ewt-ud-train.conllu").read_text("utf-8").splitlines()
    yield "ewt", [line[9:] for line in conllu if line.startswith("# text = ")], "13a"
    for path in sorted(data.glob("mt-believability/text/**/*")):
        if path.is_file():
            yield path.name, path.read_text("utf-8", "replace").splitlines(), "13a"
    e2e = list(csv.reader((data / "nlg-e2e/testset_w_refs.csv").open("r", encoding="utf-8")))
    yield "e2e", [cell for row in e2e for cell in row], "13a"


def _unpacked(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode("utf-8")


def _column(path: Path, column: int) -> list[str]:
    lines = _unpacked(path).split("\n")
    return [line.split("\t")[column] for line in lines if line.count("\t") >= 1]


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def differences(candidates: list[str], references: list[str], tok: str) -> dict[str, float]:
    """The largest difference of any score from the peers', by metric."""
    gaps = {}
    peers = {f"bleu:eff=yes,tok={tok}": BLEU(tokenize=tok, effective_order=True, force=True)}
    peers |= {"chrf": CHRF(), "chrf++": CHRF(word_order=2)}
    for name, peer in peers.items():
        metric = kt.metric(name)
        rows = peer._extract_corpus_statistics(candidates, [references])
        peer_scores = [peer._compute_score_from_stats(list(row)).score for row in rows]
        gap = np.abs(metric.segments(candidates, references) - peer_scores).max()
        peer_corpus = peer._aggregate_and_compute(rows).score
        gaps[name] = max(gap, abs(metric.corpus(candidates, references).value - peer_corpus))
    for stem in ("", ":stem=porter-nltk"):
        scorer = RougeScorer(ROUGE, use_stemmer=bool(stem))
        scores = [scorer.score(r, c) for c, r in zip(candidates, references, strict=True)]
        for name in ROUGE:
            peer_scores = np.array([score[name] for score in scores])
            karat_rows = kt.metric(name + stem).stats(candidates, references)[:, [1, 2, 0]]
            gaps[name + stem] = float(np.abs(karat_rows - peer_scores).max())
    return gaps


def main() -> None:
    """Print a line for every text."""
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    data = Path(os.environ.get("KARAT_DATA", "../shared/data"))
    total, worst = 0, 0.0
    for name, lines, tok in texts(data):
        candidates = [" ".join(w for i, w in enumerate(s.split(" ")) if i % 3 != 2) for s in lines]
        references = [a + " " + b for a, b in zip(lines, lines[1:] + lines[:1], strict=True)]
        step = max(1, len(lines) // int(sys.argv[1])) if len(sys.argv) > 1 else 1
        gaps = differences(candidates[::step], references[::step], tok)
        total, worst = total + len(candidates[::step]), max(worst, *gaps.values())
        worst_metric = max(gaps, key=lambda key: gaps[key])
        print(
            f"{name:32} {len(candidates[::step]):8,} {gaps[worst_metric]:.1e} {worst_metric}",
            flush=True,
        )
    print(f"{total:,} segments, largest difference {worst:.1e}")


if __name__ == "__main__":
    main()
