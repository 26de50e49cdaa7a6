"""The two nugget data sets as pools and labels, for experiments and benchmarks."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from karat.nuggets.prediction.pool import Floats, Pool, make_pool, run_labels
from karat.nuggets.sets.judgements import JudgedResponse, Judgements
from karat.nuggets.sets.keys_and_runs import (
    Nugget,
    NuggetKey,
    Question,
    Response,
    Run,
    make_key,
    make_run,
)

VALUES = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}


def data() -> Path:
    """Where the data sets are."""
    return Path(os.environ["KARAT_DATA"])


def rag24() -> tuple[NuggetKey, list[Run], Judgements]:
    """TREC RAG 2024: a response is a whole answer."""
    file = data() / "nuggets-rag24" / "nugget_assignment.20241108.jl"
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    questions = {}
    for row in rows:
        nuggets = tuple(
            Nugget(str(g), (nugget["text"],), nugget["importance"] == "vital")
            for g, nugget in enumerate(row["nuggets"])
        )
        questions.setdefault(row["qid"], Question(row["qid"], nuggets, row["query"]))
    answers: dict[str, list[tuple[str, Response]]] = {}
    judged = []
    for row in rows:
        run, text = row["run_id"], row["answer_text"]
        answers.setdefault(run, []).append((row["qid"], Response(text)))
        for g, nugget in enumerate(row["nuggets"]):
            value = VALUES[nugget["assignment"]]
            judged.append(JudgedResponse(row["qid"], str(g), text, value, run))
    runs = [make_run(tag, responses) for tag, responses in answers.items()]
    return make_key(questions.values()), runs, Judgements(tuple(judged))


def realsumm() -> tuple[NuggetKey, list[Run], Judgements]:
    """REALSumm: a question is a document, a response a summary, nuggets are content units."""
    folder = data() / "nuggets-realsumm"
    units = [line.split("\t") for line in _lines(folder / "SCUs.txt")]
    questions = [
        Question(str(q), tuple(Nugget(str(g), (unit,)) for g, unit in enumerate(unit_texts)))
        for q, unit_texts in enumerate(units)
    ]
    runs, judged = [], []
    for file in sorted((folder / "summaries").glob("*.summary")):
        texts = _lines(file)
        runs.append(make_run(file.stem, [(str(q), Response(t)) for q, t in enumerate(texts)]))
        for q, line in enumerate(_lines(folder / "labels" / f"{file.stem}.label")):
            for g, label in enumerate(line.split("\t")):
                judged.append(JudgedResponse(str(q), str(g), texts[q], float(label), file.stem))
    return make_key(questions), runs, Judgements(tuple(judged))


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").rstrip("\n").split("\n")


def pooled(key: NuggetKey, runs: Iterable[Run], judgements: Judgements) -> tuple[Pool, Floats]:
    """The pool, and the label of every cell in its own run."""
    pool = make_pool(key, runs)
    return pool, run_labels(pool, judgements)


def strict(labels: Floats) -> Floats:
    """Partial support counts as none."""
    return np.where(labels == 0.5, 0.0, labels)


SETS = {"realsumm": realsumm, "rag24": rag24}
