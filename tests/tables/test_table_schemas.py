"""Exports of other tools: each known form is read from a small sample in `exports/`."""

from __future__ import annotations

from pathlib import Path

import pytest

import karat as kt
from karat.tables.schemas import known_schemas

EXPORTS = Path(__file__).parent / "exports"


def read(file: str, **options: object) -> kt.EvalSet:
    return kt.read_outputs(EXPORTS / file, **options)  # type: ignore[arg-type]


FORMS = {
    "ragas_0_1.csv": "ragas 0.1",
    "ragas_0_2.jsonl": "ragas 0.2",
    "promptfoo.json": "promptfoo results",
    "promptfoo.csv": "promptfoo table",
    "deepeval_dataset.json": "DeepEval test cases",
    "deepeval_run.json": "DeepEval test run",
    "openai_evals.jsonl": "OpenAI evals log",
    "langfuse_traces.csv": "Langfuse traces",
    "langfuse_observations.json": "Langfuse observations",
    "phoenix_spans.csv": "Phoenix spans",
    "phoenix_qa.csv": "Phoenix questions with retrieved documents",
    "squad.jsonl": "Hugging Face SQuAD",
    "chat.jsonl": "Hugging Face chat",
    "conversations.json": "Hugging Face conversations",
    "preferences.jsonl": "Hugging Face preferences",
    "label_studio.json": "Label Studio tasks",
    "label_studio_min.json": "Label Studio flat",
    "label_studio.csv": "Label Studio flat",
    "argilla.json": "Argilla records",
    "argilla.csv": "Argilla flat",
    "google_forms.csv": "Google Forms responses",
    "mturk.csv": "MTurk batch results",
    "wmt_da.csv": "WMT direct assessments",
}


@pytest.mark.parametrize("file", FORMS)
def test_the_form_is_known_and_named(file: str) -> None:
    assert f" of {FORMS[file]};" in read(file).remarks[0]


def test_every_sample_is_listed() -> None:
    assert {path.name for path in EXPORTS.iterdir()} == {*FORMS}


def test_every_tool_is_documented() -> None:
    from karat.tables.names import read_data

    for tool in {schema.tool for schema in known_schemas()}:
        content = read_data(f"schemas/{tool}.toml")
        assert content["documentation"].startswith("https://")
        assert content["version"]


def test_ragas() -> None:
    new, old = read("ragas_0_2.jsonl"), read("ragas_0_1.csv")
    assert new.systems == {
        "ragas_0_2": ("It opens at nine.", "A ticket is 8 euros.", "Yes, behind the museum.")
    }
    assert new.references[1] == ("8 euros.",)
    assert new.contexts is not None
    assert new.contexts[0] == ("The museum opens at nine.", "Tickets cost 8 euros.")
    assert new.sources is not None
    assert new.sources[2] == "Is there parking?"
    assert [*new.offered] == ["faithfulness", "answer_relevancy"]
    assert old.contexts is not None
    assert old.contexts[0] == new.contexts[0]  # a list as Python prints it
    assert not new.dimensions


def test_promptfoo() -> None:
    results, table = read("promptfoo.json"), read("promptfoo.csv")
    outputs = {"openai:gpt-4o": ("4", "7"), "openai:gpt-3.5": ("It is 4.", "8")}
    assert results.systems == outputs == table.systems
    assert results.references == (("4",), ("7",)) == table.references
    assert {"score", "success", "latencyMs", "cost", "brevity"} == {*results.offered}
    assert results.offered["brevity"]().by_id["openai:gpt-3.5"] == {"0": 0.5, "1": 1.0}


def test_deepeval() -> None:
    run = read("deepeval_run.json")
    assert run.segments == ("test_case_0", "test_case_1")
    assert run.references == (("At nine.",), ("Yes, behind the museum.",))
    assert run.offered["Answer Relevancy"]().by_id["deepeval_run"]["test_case_1"] == 0.4
    dataset = read("deepeval_dataset.json")
    assert dataset.contexts == (
        ("The museum opens at nine.",),
        ("The garage is behind the museum.",),
    )


def test_openai_evals_joins_the_events_of_a_sample() -> None:
    evals = read("openai_evals.jsonl")
    assert evals.systems == {"gpt-3.5-turbo": ("Paris", "Graz")}
    assert evals.references == (("Paris",), ("Vienna", "Wien"))
    assert evals.sources == ("Capital of France?", "Capital of Austria?")
    assert evals.offered["correct"]().by_id["gpt-3.5-turbo"] == {
        "capitals.dev.0": 1.0,
        "capitals.dev.1": 0.0,
    }


def test_langfuse() -> None:
    traces = read("langfuse_traces.csv")
    assert traces.systems == {"langfuse_traces": ("Nine to five.", "Behind the museum.")}
    assert traces.sources == ("Opening hours?", "Any parking?")
    assert traces.references == (("9 to 17",), ("Behind the museum",))
    observations = read("langfuse_observations.json")
    assert observations.systems == {"gpt-4o": ("Nine to five.", "Yes.")}
    assert "1 of 3 records are left out" in observations.remarks


def test_phoenix() -> None:
    spans = read("phoenix_spans.csv")
    assert spans.systems == {"phoenix_spans": ("Nine to five.", "Behind the museum.")}
    frames = read("phoenix_qa.csv")
    assert frames.references == ((), ())  # retrieved documents are contexts
    assert frames.contexts is not None
    assert frames.contexts[1] == ("The garage is behind the museum.",)


def test_hugging_face() -> None:
    squad = read("squad.jsonl")
    assert squad.references == (("nine", "at nine"), ("behind the museum",))
    assert squad.systems == {"squad": ("at nine", "in front of it")}
    assert read("chat.jsonl").systems["chat"] == ("Nine to five.", "Behind the museum.")
    assert read("conversations.json").sources == ("Opening hours?", "Any parking?")
    pairs = read("preferences.jsonl")
    assert pairs.systems == {
        "chosen": ("Nine to five.", "Behind the museum."),
        "rejected": ("No idea.", "Maybe."),
    }


def test_label_studio() -> None:
    tasks = read("label_studio.json")
    rows = {(r.segment, r.judge, r.value) for r in tasks.judgements}
    assert rows == {
        ("11", "alice@example.org", 4.0),
        ("11", "bob@example.org", 5.0),
        ("12", "alice@example.org", 2.0),
    }
    assert [*tasks.dimensions] == ["fluency"]
    for file in ("label_studio_min.json", "label_studio.csv"):
        flat = read(file)
        rows = {(r.segment, r.judge, r.value) for r in flat.judgements}
        assert rows == {("11", "1", 4.0), ("11", "2", 5.0), ("12", "1", 2.0)}
        assert [*flat.dimensions] == ["quality"]


@pytest.mark.parametrize("file", ["argilla.json", "argilla.csv"])
def test_argilla(file: str) -> None:
    evalset = read(file)
    rows = {(r.segment, r.judge, r.dimension, r.value) for r in evalset.judgements}
    assert rows == {
        ("r1", "u1", "quality", 4.0),
        ("r1", "u2", "quality", 5.0),
        ("r2", "u1", "quality", 2.0),
        ("r2", "u2", "quality", 3.0),
    }
    assert evalset.systems["argilla"] == ("Nine to five.", "Behind it.")


def test_google_forms() -> None:
    forms = read("google_forms.csv")
    assert forms.segments == ("Translation 1", "Translation 2")
    rows = {(r.segment, r.judge, r.dimension): r.value for r in forms.judgements}
    assert rows["Translation 2", "b@example.org", "How fluent is it"] == 3.0
    assert rows["Translation 2", "c@example.org", "Is it correct"] == 0.0
    assert len(rows) == 12
    assert not forms.has_texts


def test_mturk() -> None:
    batch = read("mturk.csv")
    assert batch.systems == {
        "bart": ("The museum opens at nine.", "There is parking behind it."),
        "t5": ("Museum open nine.", None),
    }
    rows = {(r.system, r.segment, r.judge, r.dimension): r.value for r in batch.judgements}
    assert rows["bart", "1", "W2", "adequacy"] == 4.0
    assert ("t5", "1", "W2", "fluency") not in rows  # rejected
    assert len(rows) == 8


def test_wmt_direct_assessments() -> None:
    scores = read("wmt_da.csv")
    assert [r.value for r in scores.judgements] == [95.0, 60.0]
    assert scores.references == (("The museum opens at 9.",), ("There is parking.",))


def test_a_schema_by_name() -> None:
    assert "ragas" in read("ragas_0_1.csv", schema="ragas").remarks[0]
    assert " of ragas" not in read("ragas_0_1.csv", schema="none").remarks[0]
    with pytest.raises(kt.InputError, match=r"no such schema; did you mean ragas\?"):
        read("ragas_0_1.csv", schema="raga")
    with pytest.raises(kt.InputError, match=r"not an export of promptfoo: results 4 has"):
        read("ragas_0_1.csv", schema="promptfoo")
