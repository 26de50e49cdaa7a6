"""`pem` as a metric: rows that add up, a name with a digest, and the commands of the core."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import karat as kt
from karat.errors import InputError, MetricError
from karat.metrics.names import metric as parse
from karat.paraphrase.pem.metrics import PEMMetric
from karat.paraphrase.pem.model import PEM, bundled_model_path
from karat.paraphrase.table.phrase_table import table_digest

IN = ["I want to buy a new car.", "Could you help me, please?", "She has a big house.", ""]
OUT = ["I would like to purchase a new automobile.", "Please help.", "She has a big house.", "a"]
NAMES = ("pem", "pem:model=bundled-paper")


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_those_of_the_model(name: str) -> None:
    metric = kt.metric(name)
    expected = PEM.open(metric.model).score(IN, OUT)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(metric.segments(OUT, IN), expected.pem)
    rows = metric.stats(OUT, IN)
    np.testing.assert_array_equal(rows, np.column_stack([*expected, np.ones(len(IN))]))
    score = metric.corpus(OUT, IN)
    assert score.value == pytest.approx(expected.pem.mean(), abs=1e-15)
    assert score.parts["pivot_f1"] == pytest.approx(expected.pivot_f1.mean(), abs=1e-15)
    assert score.parts["fluency"] == pytest.approx(expected.fluency.mean(), abs=1e-15)
    assert score.notes[0].startswith("This is the small bundled model")


def test_sums_do_not_depend_on_order_or_threads() -> None:
    metric, candidates, originals = kt.metric("pem"), OUT * 3000, IN * 3000
    single_threaded, two = (
        metric.corpus(candidates, originals, threads=threads) for threads in (1, 2)
    )
    turned = metric.corpus(candidates[::-1], originals[::-1])
    assert single_threaded.value == two.value == turned.value
    assert single_threaded.parts == two.parts == turned.parts
    assert single_threaded.value == pytest.approx(metric.corpus(OUT, IN).value, rel=1e-15)


def test_of_several_originals_the_best_counts() -> None:
    metric = kt.metric("pem")
    references = [[text, other] for text, other in zip(IN, reversed(IN), strict=True)]
    segment_scores = [metric.segments(OUT, originals) for originals in (IN, IN[::-1])]
    np.testing.assert_array_equal(metric.segments(OUT, references), np.maximum(*segment_scores))


def test_its_name_and_signature(tmp_path: Path) -> None:
    place = str(tmp_path / "mine.npz")
    Path(place).write_bytes(Path(bundled_model_path()).read_bytes())
    metric = PEMMetric(place)
    assert str(metric) == f"pem:model={place}"
    assert str(PEMMetric()) == "pem"
    assert parse(str(metric)) == metric
    assert f"pem:model={place}@{table_digest(place)},copies=good|" in metric.signature()
    assert parse(metric.signature()) == metric
    other = metric.signature().replace(place, "bundled-paper")
    with pytest.raises(MetricError, match="is not the one of the signature"):
        parse(other)
    assert not metric.corpus(OUT, IN).notes  # a model of one's own


def test_what_cannot_be_scored(tmp_path: Path) -> None:
    pem = PEM.open()
    PEM.of(pem.pivots, pem.language).save(tmp_path / "untrained.npz")
    (tmp_path / "text.npz").write_text("no model")
    for name, words in (
        ("none.npz", "No such file"),
        ("text.npz", "expected a paraphrase model"),
        ("untrained.npz", "was trained without judgements, so it has no PEM score"),
    ):
        with pytest.raises(InputError, match=words):
            kt.metric(f"pem:model={tmp_path / name}").corpus(OUT, IN)


def test_the_catalogue_says_its_scale() -> None:
    rows = kt.list_metrics("pem").rows
    assert [row.setting for row in rows] == ["model", "copies"]
    assert {(row.title, row.range, row.scale) for row in rows} == {("pem", "1 to 5", 5.0)}


@pytest.fixture
def texts(folder: Path) -> None:
    for name, lines in (("in", IN), ("out", OUT), ("other", OUT[1:] + OUT[:1])):
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")


@pytest.mark.usefixtures("texts")
def test_commands_of_the_core_take_it(output: Callable[..., str]) -> None:
    scored = json.loads(output("score", "out.txt", "-r", "in.txt", "-m", "pem", "-f", "json"))
    report = json.loads(
        output("paraphrase", "score", "out.txt", "--originals", "in.txt", "-f", "json")
    )
    assert scored["rows"][0]["score"] == pytest.approx(report["rows"][0]["pem"], abs=1e-15)
    compared = json.loads(
        output("compare", "other.txt", "out.txt", "-r", "in.txt", "-m", "pem", "-f", "json")
    )
    assert any("p" in row for row in compared["rows"])
    met = json.loads(output("meta", "demo-paraphrases", "-m", "pem", "-d", "overall", "-f", "json"))
    assert any(row.get("metric") == "pem" for row in met["rows"])
