"""The metrics entail and support: slow loops, worked values, sets, tables, reports, bad input."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles.slow_support import slow_entail, slow_support
from oracles.tiny_cross_encoder import WORDS, write_cross_encoder

import karat as kt
from karat.errors import InputError, MetricError
from karat.metrics.base import Metric
from karat.metrics.entailment import premises_of

Output = Callable[..., str]
Run = Callable[..., CompletedProcess[str]]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cross_encoder(tmp_path_factory.mktemp("nli") / "tiny")


def named(name: str, model: object, **more: object) -> str:
    return f"{name}:model={model}" + "".join(f",{key}={value}" for key, value in more.items())


STATED, THIRD = 0.952462, 0.006676
"""P(entailment) of the tiny model if the premise has all, or a third, of the words."""


# ----------------------------------------------------------------------------------- entail


def test_worked_values_of_entail(tiny: Path) -> None:
    outputs = ["The cat sat. Paris is in France.", "The dog ran.", "The dog ran not."]
    references = ["Paris is in France. The cat sat on red.", "The dog ran.", "The dog ran."]
    rows = kt.metric(named("entail", tiny)).stats(outputs, references)
    # The second sentence of the first reference: `the cat sat` of 5 words, 4 of them in both.
    p = [
        (
            STATED
            + kt.metric(named("entail", tiny)).segments(outputs[:1], ["The cat sat on red."])[0]
        )
        / 2
    ]
    assert rows[:, 0] == pytest.approx([p[0], STATED, 3.05e-7], rel=1e-3)
    assert rows[1:, 1] == pytest.approx([0.0001175, 0.997527], rel=1e-3)
    contradiction = kt.metric(named("entail", tiny, part="contradiction"))
    assert contradiction.segments(outputs, references)[1:] == pytest.approx(rows[1:, 1])
    assert (contradiction.sign, kt.metric(named("entail", tiny)).sign) == (-1, 1)
    score = contradiction.corpus(outputs, references)
    assert score.value == score.parts["contradiction"] == pytest.approx(rows[:, 1].mean())
    assert score.parts["entailment"] == pytest.approx(rows[:, 0].mean())


LETTERS = [*(word for word in WORDS if word.isalpha()), "new"]
sentence = st.lists(st.sampled_from(LETTERS), min_size=1, max_size=6).map(" ".join)
text = st.lists(sentence, max_size=4).map(
    lambda parts: "".join(f"{p.capitalize()}. " for p in parts)
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(text, st.lists(text, min_size=1, max_size=3)), min_size=1, max_size=6))
def test_entail_is_that_of_the_slow_loops(
    tiny: Path, segments: list[tuple[str, list[str]]]
) -> None:
    outputs, references = [o for o, _ in segments], [r for _, r in segments]
    for most in (0, 1, 3):
        rows = kt.metric(named("entail", tiny, sentences=most)).stats(outputs, references)
        for row, (output, group) in zip(rows, segments, strict=True):
            assert row[:2] == pytest.approx(slow_entail(output, group, most), rel=1e-5, abs=1e-9)


def test_runs_of_sentences() -> None:
    text = "One is. Two is. Three is."
    assert premises_of(text, 1) == ["One is.", "Two is.", "Three is."]
    assert premises_of(text, 2)[3:] == ["One is. Two is.", "Two is. Three is."]
    assert premises_of(text, 9)[-1] == text
    assert premises_of(text, 0) == [text]
    assert premises_of(" ", 0) == premises_of("", 2) == []


def test_a_reference_that_two_sentences_state(tiny: Path) -> None:
    output, reference = ["The cat sat. It sat on the mat."], ["The cat sat on the mat."]
    one, two = (
        kt.metric(named("entail", tiny, sentences=n)).segments(output, reference)[0] for n in (1, 2)
    )
    assert two == pytest.approx(STATED, rel=1e-5)
    assert one < two


def test_texts_without_sentences_score_0(tiny: Path) -> None:
    rows = kt.metric(named("entail", tiny)).stats(["", "The cat.", " . "], ["The cat.", " ", ""])
    assert rows[:, :2].tolist() == [[0, 0]] * 3


def test_neither_threads_nor_batches_change_a_bit(tiny: Path) -> None:
    draw = np.random.default_rng(2)
    texts = [" ".join(draw.choice([*WORDS, "new"], n)) + "." for n in draw.integers(1, 30, 120)]
    metric = kt.metric(named("entail", tiny))
    expected = metric.stats(texts, texts[::-1], threads=1)
    assert np.array_equal(metric.stats(texts, texts[::-1], threads=3), expected)
    assert np.array_equal(metric.stats(texts[50:], texts[::-1][50:]), expected[50:])


def test_a_model_of_two_labels(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path / "m", labels=["entailment", "not_entailment"])
    score = kt.metric(named("entail", folder)).corpus(["The cat."], ["The cat."])
    assert [*score.parts] == ["entailment"]
    message = r"the model has no label of contradiction in config\.json: leave part out"
    with pytest.raises(InputError, match=message):
        kt.score(["a"], ["a"], [named("entail", folder, part="contradiction")])


def test_long_texts_are_noted(tiny: Path) -> None:
    long_text = " ".join(["the dog ran"] * 20)
    scoring = kt.score([long_text, "cat."], ["the dog ran", long_text], [named("entail", tiny)])
    (row,) = scoring.rows
    first, second = row.score.notes
    assert first.startswith("1 of 2 segments has a premise longer than the model takes (24 tokens)")
    assert first.endswith("it is read in overlapping windows")
    assert "1 of 2 segments has a sentence of more than half" in second


def test_int8_takes_the_small_model(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path / "m")
    shutil.move(folder / "model.onnx", folder / "model_int8.onnx")
    value = kt.metric(named("entail", folder, precision="int8")).segments(["the cat"], ["the cat"])
    assert value == pytest.approx([STATED], rel=1e-5)
    with pytest.raises(InputError, match=r"give precision=int8, or add model\.onnx"):
        kt.metric(named("entail", folder)).segments(["the cat"], ["the cat"])


def test_tables_and_shards_have_the_scores_of_texts(tiny: Path, tmp_path: Path) -> None:
    outputs, references = ["The cat sat.", "The dog."], ["The cat.", "The dog ran."]
    file, metric = tmp_path / "t.jsonl", named("entail", tiny)
    rows = zip(outputs, references, strict=True)
    file.write_text("".join(json.dumps({"candidate": c, "reference": r}) + "\n" for c, r in rows))
    expected = kt.score(outputs, references, [metric]).rows[0].score.value
    assert kt.score_table(str(file), [metric]).rows[0].score.value == expected
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    sums = [
        kt.arrow.sums(pyarrow.table({"candidate": [c], "reference": [r]}), [metric])
        for c, r in zip(outputs, references, strict=True)
    ]
    assert kt.arrow.merge(sums).score().rows[0].score.value == expected


# ---------------------------------------------------------------------------------- support

PASSAGES = [["The tower in Paris was built in 1889.", "Paris is in France."], ["The dog ran."]]
ANSWERS = {
    "good": ["Paris is in France. The tower is in Paris.", "The dog ran."],
    "bad": ["Paris is in France. The cat sat.", "The dog ran not."],
}
REFERENCES = ["Paris is in France. The red cat.", "The dog ran."]


def rag(contexts: Any = PASSAGES, **more: Any) -> kt.EvalSet:
    return kt.make_evalset("rag", ANSWERS, references=REFERENCES, contexts=contexts, **more)


def parts_of(evalset: kt.EvalSet, system: str, metric: str) -> tuple[float, dict[str, float]]:
    score = kt.score(evalset, metrics=[metric])[system, metric].score
    return score.value, dict(score.parts)


def test_worked_values_of_support(tiny: Path) -> None:
    precision = named("support", tiny)
    assert parts_of(rag(), "good", precision) == (1.0, {"sentences": 3, "unsupported": 0})
    # Half of the sentences of the first answer, none of the second.
    assert parts_of(rag(), "bad", precision) == (0.25, {"sentences": 3, "unsupported": 2})
    recall = named("support", tiny, part="recall")
    assert parts_of(rag(), "bad", recall) == (0.75, {"sentences": 3, "unsupported": 1})
    value, parts = parts_of(rag(), "bad", named("support", tiny, part="f"))
    # F of the first segment: P 1/2, R 1/2; of the second: P 0.
    assert (value, parts) == (0.25, {"precision": 0.25, "recall": 0.75, "f": 0.25})
    mean = named("support", tiny, threshold=0)
    first = (STATED + THIRD) / 2
    assert parts_of(rag(), "bad", mean)[0] == pytest.approx((first + 3.05e-7) / 2, rel=1e-4)
    assert parts_of(rag(), "good", named("support", tiny, threshold=1))[0] == 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.tuples(text, st.lists(text, min_size=1, max_size=2), st.lists(text, max_size=3)),
        min_size=1,
        max_size=5,
    )
)
def test_support_is_that_of_the_slow_loops(
    tiny: Path, drawn: list[tuple[str, list[str], list[str]]]
) -> None:
    if not any(any(passages) for _, _, passages in drawn):
        return  # a set without contexts is refused
    evalset = kt.make_evalset(
        "drawn",
        {"a": [output for output, _, _ in drawn]},
        references=[references for _, references, _ in drawn],
        contexts=[passages for _, _, passages in drawn],
    )
    for threshold, most in ((0.5, 0), (0, 2)):
        expected = []
        for output, references, passages in drawn:
            p = slow_support(output, passages, threshold, most)
            r = max(slow_support(text, passages, threshold, most) for text in references)
            expected.append((p, r, 2 * p * r / (p + r) if p + r else 0.0))
        more = {"threshold": threshold, "sentences": most}
        for k, part in enumerate(("precision", "recall", "f")):
            name = named("support", tiny, part=part, **more)
            scores = kt.score(evalset, metrics=[name], segments=True).values["a", kt.metric(name)]
            assert scores == pytest.approx([row[k] for row in expected], rel=1e-5, abs=1e-9)


def test_each_system_has_its_own_contexts(tiny: Path) -> None:
    evalset = rag({"good": PASSAGES, "bad": [["The cat sat."], []]})
    metric = named("support", tiny)
    assert parts_of(evalset, "good", metric)[0] == 1
    assert parts_of(evalset, "bad", metric) == (0.25, {"sentences": 3, "unsupported": 2})
    notes = kt.score(evalset, metrics=[metric])["bad", metric].score.notes
    assert notes == ("1 of 2 segments has no passages and score 0",)
    only = evalset.select(systems=["bad"])
    assert parts_of(only, "bad", metric)[0] == 0.25
    assert (only.passages("bad"), evalset.passages("good")[1]) == (
        (("The cat sat.",), ()),
        ("The dog ran.",),
    )
    assert evalset.digest != rag().digest


def test_unsupported_sentences_without_passages_have_no_probability(tiny: Path) -> None:
    evalset = kt.make_evalset("rag", {"A": ["The dog ran."] * 2}, contexts=[[], ["Paris."]])
    explained = kt.explain_segments(evalset, by=named("support", tiny), segments=[1, 2])
    shown = explained.render("text")
    assert "unsupported: The dog ran. (no passages)" in shown
    assert "unsupported: The dog ran. (P 0.00)" in shown


def test_contexts_are_needed(tiny: Path) -> None:
    bare = kt.make_evalset("bare", {"A": ["a"]}, references=["a"])
    advice = "score a table with a column of contexts, or a set that has them"
    with pytest.raises(InputError, match=f"bare has no contexts: {advice}"):
        kt.score(bare, metrics=[named("support", tiny)])
    with pytest.raises(InputError, match=f"texts have no contexts: {advice}"):
        kt.score(["a"], ["a"], [named("support", tiny)])
    with pytest.raises(InputError, match="reads texts of a set: score a set, or a table"):
        kt.metric(named("support", tiny)).segments(["a"], ["a"])
    with pytest.raises(MetricError, match="support needs a cross-encoder: write support:model=F"):
        kt.score(rag(), metrics=["support"])
    with pytest.raises(MetricError, match="threshold=2"):
        kt.metric("support:model=x,threshold=2")


def test_names_and_signatures_are_read_back(tiny: Path) -> None:
    metric = kt.metric(named("support", tiny, part="f", threshold=0.25, sentences=3))
    assert kt.metric(str(metric)) == metric
    signature = metric.signature(1)
    assert f"model={tiny}@" in signature
    assert ",part=f,threshold=0.25,sentences=3|nrefs=1|" in signature
    assert kt.metric(signature) == metric
    assert str(tiny / "model.onnx") in metric.input_files()


def test_precision_needs_no_references(tiny: Path) -> None:
    evalset = kt.make_evalset("rag", ANSWERS, contexts=PASSAGES)
    metric = named("support", tiny)
    assert parts_of(evalset, "bad", metric)[0] == 0.25
    with pytest.raises(InputError, match="no reference"):
        kt.score(evalset, metrics=[named("support", tiny, part="recall")])


# ------------------------------------------------------------------------- tables and reports


def write_rag(folder: Path, name: str, answers: Sequence[str], passages: Any = PASSAGES) -> None:
    rows = [
        {"user_input": f"Question {i}?", "response": a, "reference": r, "retrieved_contexts": c}
        for i, (a, r, c) in enumerate(zip(answers, REFERENCES, passages, strict=True))
    ]
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_a_table_of_ragas(tiny: Path, folder: Path, output: Output) -> None:
    write_rag(folder, "bad.jsonl", ANSWERS["bad"])
    metric = named("support", tiny)
    assert "bad     0.2500  sentences 3 unsupported 2" in output("score", "bad.jsonl", "-m", metric)
    worst = output("score", "bad.jsonl", "-m", metric, "--worst", "2")
    assert "unsupported: The dog ran not. (P 0.00)\n" in worst
    assert "unsupported: The cat sat. (P 0.01)\n" in worst
    assert "unsupported: Paris" not in worst


def test_comparisons_of_systems_with_their_own_contexts(
    tiny: Path, folder: Path, output: Output
) -> None:
    write_rag(folder, "good.jsonl", ANSWERS["good"])
    write_rag(folder, "bad.jsonl", ANSWERS["bad"], [["The cat sat."], ["The dog sat."]])
    shown = output("compare", "good.jsonl", "bad.jsonl", "-m", named("support", tiny))
    assert "contexts differ between systems: each has its own" in " ".join(shown.split())
    assert "unsupported: Paris is in France. (P 0.00)\n" in shown
    assert "unsupported: The cat sat." not in shown


def test_explain_shows_each_sentence_with_its_passage(
    tiny: Path, folder: Path, output: Output
) -> None:
    write_rag(folder, "bad.jsonl", ANSWERS["bad"])
    metric = named("support", tiny, part="f")
    arguments = "explain", "bad.jsonl", "-m", metric, "--worst", "2"
    rows = json.loads(output(*arguments, "-f", "json"))["rows"]
    assert [(row["segment"], row["text"], row["verdict"]) for row in rows] == [
        (2, "output", "unsupported"),
        (2, "reference", "supported"),
        (1, "output", "supported"),
        (1, "output", "unsupported"),
        (1, "reference", "supported"),
        (1, "reference", "unsupported"),
    ]
    assert rows[2]["passage"] == "Paris is in France."
    assert rows[2]["p"] == pytest.approx(STATED, rel=1e-4)
    text = output(*arguments)
    assert "unsupported: The cat sat. (P 0.01)" in text
    assert "unsupported reference: The red cat." in text
    output(*arguments, "-o", "page.html")
    page = (folder / "page.html").read_text("utf-8")
    assert "Marked: unsupported sentences." in page
    assert "<mark>The cat sat.</mark>" in page


def test_a_gate_of_support(tiny: Path, folder: Path, output: Output, run_karat: Run) -> None:
    write_rag(folder, "good.jsonl", ANSWERS["good"])
    write_rag(folder, "bad.jsonl", ANSWERS["bad"])
    metric = named("support", tiny)
    output("gate", "good.jsonl", "-m", metric, "-b", "gate.tsv", "--update")
    done = run_karat("gate", "bad.jsonl", "-b", "gate.tsv", "-f", "json")
    (row,) = json.loads(done.stdout)["rows"]
    assert (row["baseline"], row["score"]) == (1.0, 0.25)


def test_tables_that_would_be_streamed_are_read_whole(
    tiny: Path, folder: Path, run_karat: Run, output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {"candidate": a, "reference": r, "contexts": c}
        for a, r, c in zip(ANSWERS["bad"], REFERENCES, PASSAGES, strict=True)
    ]
    metric = named("support", tiny)
    assert kt.score(rows, metrics=[metric]).rows[0].score.value == 0.25
    assert kt.score(rows, metrics=[metric], candidate="candidate").rows[0].score.value == 0.25
    (folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr("karat.tables.streams.LARGE", 1)
    assert "0.2500" in output("score", "t.jsonl", "-m", metric)
    done = run_karat("score", "t.jsonl", "-m", metric, "--rows", "out")
    assert done.returncode == 2
    assert "reads a column of sources or contexts, which tables that are streamed" in done.stderr
    assert not (folder / "out").exists()


def test_missing_contexts_in_a_table(tiny: Path, folder: Path, run_karat: Run) -> None:
    (folder / "t.jsonl").write_text('{"output": "a", "reference": "b"}\n')
    done = run_karat("score", "t.jsonl", "-m", named("support", tiny))
    assert (done.returncode, done.stdout) == (2, "")
    assert "t has no contexts: score a table with a column of contexts" in done.stderr
    assert done.stderr.count("\n") == 1


# -------------------------------------------------------------------------- facts of contexts


def test_facts_that_no_passage_has() -> None:
    evalset = kt.make_evalset(
        "rag",
        {"A": ["It was built in 1889 in Paris.", "It was not built in 1900.", "It was sold."]},
        references=["x", "x", "x"],
        contexts=[
            ["In 1889 Gustave Eiffel built it in Paris for 8,000,000 francs.", "Not in Lyon."],
            ["It was built in 1889."],
            ["In 1889 Gustave Eiffel did not sell it."],
        ],
    )
    metric = "facts:against=contexts"
    results = kt.score(evalset, metrics=[metric], segments=True)
    assert results.values["A", kt.metric(metric)].tolist() == [1, 0, 1]  # less is no fault
    text = results.worst(1).render("text")
    assert "numbers: contexts none, output 1900" in text
    assert "negation: contexts none, output not" in text
    shown = kt.explain_segments(evalset, by=metric, segments=[2]).render("text")
    assert "contexts: It was built in 1889." in shown
    with pytest.raises(InputError, match="texts have no contexts: score a table with a column"):
        kt.score(["a"], ["a"], [metric])


def test_facts_of_an_output_without_passages_are_all_added() -> None:
    outputs = ["It was not built in 1889.", "It stands.", "The mayor met Anna Schmidt."]
    evalset = kt.make_evalset(
        "rag", {"A": [*outputs, "x"]}, contexts=[[], [], [" "], ["It was built in 1889."]]
    )
    metric = "facts:against=contexts"
    results = kt.score(evalset, metrics=[metric], segments=True)
    assert results.values["A", kt.metric(metric)].tolist() == [0, 1, 0, 1]
    shown = kt.explain_segments(evalset, by=metric, segments=[1]).render("text")
    assert "Contexts" in shown  # the column of what is compared
    assert "negation: contexts none, output not" in shown


def test_explaining_against_the_source() -> None:
    evalset = kt.make_evalset(
        "votes", {"A": ["Es waren 71."]}, references=["Es waren 18."], sources=["There were 17."]
    )
    metric: str | Metric = "facts:lang=de,against=source,source_lang=en"
    shown = kt.explain_segments(evalset, by=metric).render("text")
    assert "numbers: source 17, output 71" in shown


# --------------------------------------------------------------------------- contexts in files


@pytest.mark.parametrize("form", ["jsonl", "dir"])
def test_contexts_by_system_are_written_and_read(tmp_path: Path, form: str) -> None:
    evalset = rag({"good": PASSAGES, "bad": [["The cat."], []]})
    path = tmp_path / ("set.jsonl" if form == "jsonl" else "set")
    kt.save_evalset(evalset, path, form)
    back = kt.load_evalset(path)
    assert back.system_contexts == evalset.system_contexts
    assert back.digest == evalset.digest
    assert back.contexts is None


@pytest.mark.parametrize(
    ("contexts", "message"),
    [
        ({"good": PASSAGES, "new": PASSAGES}, "contexts of system 'new', which is not in the set"),
        ({"good": PASSAGES[:1]}, "contexts of good: found 1 segments, expected 2"),
        ({"good": [["a"], [5]]}, "contexts of good of segment 2: found int, expected str"),
        (PASSAGES[:1], "contexts: found 1 segments, expected 2"),
    ],
)
def test_bad_contexts(contexts: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        rag(contexts)


def test_bad_contexts_in_a_file(tmp_path: Path) -> None:
    kt.save_evalset(rag({"good": PASSAGES, "bad": [["x"], []]}), tmp_path / "set.jsonl", "jsonl")
    text = (tmp_path / "set.jsonl").read_text()
    (tmp_path / "set.jsonl").write_text(text.replace('["x"]', "5"))
    with pytest.raises(
        InputError, match=r"set.jsonl.*found the contexts '5', expected a JSON array"
    ):
        kt.load_evalset(tmp_path / "set.jsonl")
