"""The scorer for inspect_ai, run by it with a model that only quotes."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import karat as kt

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Sequence

pytest.importorskip("inspect_ai", reason="inspect_ai is not installed")

import inspect_ai
from inspect_ai import Epochs, Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import grouped, mean

from karat.compat.inspect_ai import corpus, karat_scorer

OUTPUTS = ["the cat sat on the mat", "A dog, barking!", "nothing at all"]
TARGETS = [["the cat sat on a mat", "a cat sat"], ["a dog barked"], ["nothing"]]
PROJECT = Path(__file__).parents[2] / "pyproject.toml"
Run = "Callable[..., Any]"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Evaluate outputs against targets with inspect_ai; no network is used."""

    def evaluate(outputs: Sequence[str], targets: Sequence[Any], scorer: Any, **more: Any) -> Any:
        message = [ModelOutput.from_content("mockllm/model", output) for output in outputs]
        for output in message:
            output.usage = ModelUsage(input_tokens=1)  # else it counts tokens: a download
        samples = [
            Sample(input="say", target=target, metadata={"half": i % 2})
            for i, target in enumerate(targets)
        ]
        return inspect_ai.eval(
            Task(samples, scorer=scorer, **more),
            model=get_model("mockllm/model", custom_outputs=message),
            log_dir=str(tmp_path),
            display="none",
            max_samples=1,  # outputs are quoted in the order of the samples
        )[0]

    return evaluate


@pytest.mark.parametrize("name", ["chrf", "bleu", "bleu:tok=char", "ter", "rougeL", "gtm:e=2"])
def test_corpus_and_samples_are_karats(run: Any, name: str) -> None:
    log = run(OUTPUTS, TARGETS, karat_scorer(name))
    assert log.status == "success", log.error
    (actual,) = log.results.scores
    metric = kt.metric(name)
    assert actual.metrics["corpus"].value == metric.corpus(OUTPUTS, TARGETS).value
    assert (actual.name, actual.params, actual.scored_samples) == (
        "karat_scorer",
        {"metric": name},
        3,
    )
    scores = [sample.scores["karat_scorer"] for sample in log.samples]
    assert [s.value for s in scores] == metric.segments(OUTPUTS, TARGETS).tolist()
    assert scores[0].explanation == metric.signature(2)
    assert scores[1].answer == OUTPUTS[1]


def test_a_corpus_score_has_all_epochs(run: Any) -> None:
    outputs = [*OUTPUTS, "a cat", "a dog", "nothing"]
    log = run(outputs, TARGETS, karat_scorer("bleu"), epochs=2)
    expected = kt.metric("bleu").corpus(outputs, [*TARGETS, *TARGETS]).value
    assert log.results.scores[0].metrics["corpus"].value == pytest.approx(expected)


def test_other_metrics_of_inspect_go_with_it(run: Any) -> None:
    log = run(OUTPUTS, TARGETS, karat_scorer("chrf"), metrics=[mean(), grouped(corpus(), "half")])
    values = {key: m.value for score in log.results.scores for key, m in score.metrics.items()}
    chrf = kt.metric("chrf")
    assert values["mean"] == pytest.approx(chrf.segments(OUTPUTS, TARGETS).mean())
    assert values["1"] == chrf.corpus(OUTPUTS[1:2], TARGETS[1:2]).value
    assert values["all"] == chrf.corpus(OUTPUTS, TARGETS).value


def test_means_of_epochs_are_refused_by_groups(run: Any) -> None:
    outputs = [*OUTPUTS, "a cat", "a dog", "nothing"]
    actual_message = {"metrics": [grouped(corpus(), "half")]}
    log = run(outputs, TARGETS, karat_scorer("chrf"), epochs=2, **actual_message)
    assert "it was edited, or is a mean of epochs" in log.error.message
    log = run(outputs, TARGETS, karat_scorer("chrf"), epochs=Epochs(2, []), **actual_message)
    values = {key: m.value for key, m in log.results.scores[0].metrics.items()}
    expected = kt.metric("chrf").corpus(outputs, [*TARGETS, *TARGETS]).value
    assert values["all"] == pytest.approx(expected)


def test_samples_without_a_target_are_counted_as_unscored(run: Any) -> None:
    log = run([*OUTPUTS, "more"], [*TARGETS, ""], karat_scorer("chrf"))
    (actual,) = log.results.scores
    assert (actual.scored_samples, actual.unscored_samples) == (3, 1)
    assert actual.metrics["corpus"].value == kt.metric("chrf").corpus(OUTPUTS, TARGETS).value
    assert log.samples[3].scores["karat_scorer"].explanation == "The sample has no target."


def test_corpus_goes_with_no_other_scorer(run: Any) -> None:
    from inspect_ai.scorer import f1

    log = run(OUTPUTS, TARGETS, f1(), metrics=[corpus()])
    assert "expected scores of one karat_scorer" in log.error.message


@pytest.mark.parametrize(("name", "message"), [("chrff", "chrf"), ("given:column=x", "read texts")])
def test_metrics_that_cannot_score_outputs_are_refused(name: str, message: str) -> None:
    with pytest.raises(kt.KaratError, match=message):
        karat_scorer(name)


def test_the_entry_point_registers_the_scorer() -> None:
    message = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["entry-points"]["inspect_ai"]
    point = importlib.metadata.EntryPoint("karat", message["karat"], "inspect_ai")
    assert point.load().karat_scorer is karat_scorer
    from inspect_ai._util.registry import registry_lookup

    assert registry_lookup("scorer", "karat/karat_scorer") is not None
