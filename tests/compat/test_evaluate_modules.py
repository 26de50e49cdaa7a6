"""The modules for HF `evaluate`, loaded by it from their folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sacrebleu

import karat as kt
from karat.compat import evaluate_path

NAMES = ["aev", "bleu", "chrf", "gtm", "rouge", "ter"]
PREDICTIONS = ["the cat sat on the mat", "A dog, barking!"]
ONE = ["the cat sat on a mat", "a dog barked"]
SEVERAL = [["the cat sat on a mat", "a cat sat"], ["a dog barked"]]
STREAMS = [["the cat sat on a mat", "a dog barked"], ["a cat sat", None]]


@pytest.mark.parametrize("name", NAMES)
def test_folders_hold_a_module_of_their_name(name: str) -> None:
    assert (Path(evaluate_path(name)) / f"{name}.py").is_file()


def test_unknown_modules_are_refused() -> None:
    with pytest.raises(kt.InputError, match=f"'blue': expected one of {', '.join(NAMES)}"):
        evaluate_path("blue")


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """`evaluate.load` of a folder, with no network and a cache of its own."""
    with pytest.MonkeyPatch.context() as patch:
        cache = tmp_path_factory.mktemp("hf")
        for name in ("HF_HUB_OFFLINE", "HF_EVALUATE_OFFLINE"):
            patch.setenv(name, "1")
        patch.setenv("HF_HOME", str(cache))
        evaluate = pytest.importorskip("evaluate", reason="evaluate is not installed")
        yield lambda name: evaluate.load(evaluate_path(name), cache_dir=str(cache))


@pytest.mark.parametrize("references", [ONE, SEVERAL], ids=["one", "several"])
def test_bleu_chrf_and_ter_are_sacrebleus(load: Any, references: Any) -> None:
    streams = [ONE] if references is ONE else STREAMS
    for name, peer, arguments, actual_peer in (
        ("bleu", sacrebleu.BLEU, {"lowercase": True}, {"lowercase": True}),
        ("bleu", sacrebleu.BLEU, {"use_effective_order": True}, {"effective_order": True}),
        ("chrf", sacrebleu.CHRF, {"word_order": 2}, {"word_order": 2}),
        ("ter", sacrebleu.TER, {"ignore_punct": True}, {"no_punct": True}),
    ):
        expected = peer(**actual_peer).corpus_score(PREDICTIONS, streams)
        evalset = load(name).compute(predictions=PREDICTIONS, references=references, **arguments)
        signature = evalset.pop("signature")
        assert kt.metric(signature).name == name
        for field, value in evalset.items():
            assert value == pytest.approx(getattr(expected, field)), field
        assert evalset["score"] > 0


def test_rouge_is_the_mean_or_every_f(load: Any) -> None:
    module = load("rouge")
    message = {"predictions": PREDICTIONS, "references": SEVERAL, "use_stemmer": True}
    results = module.compute(**message, use_aggregator=False)
    for name, values in results.items():
        metric = kt.metric(f"{name}:stem=porter-nltk")
        assert values == pytest.approx(metric.segments(PREDICTIONS, SEVERAL).tolist())
    mean = module.compute(**message)
    assert mean == pytest.approx({name: sum(values) / 2 for name, values in results.items()})
    cut = module.compute(**message, rouge_types=["rouge1"], tokenizer=lambda text: text.split("a"))
    assert cut.keys() == {"rouge1"}


@pytest.mark.parametrize(("name", "settings"), [("gtm", {"e": 2.0}), ("aev", {"alpha": 0.3})])
def test_the_other_families_take_their_settings(
    load: Any, name: str, settings: dict[str, float]
) -> None:
    evalset = load(name).compute(predictions=PREDICTIONS, references=SEVERAL, **settings)
    written = ",".join(f"{key}={value}" for key, value in settings.items())
    expected = kt.metric(f"{name}:{written}").corpus(PREDICTIONS, SEVERAL)
    assert (evalset["score"], evalset["signature"]) == (expected.value, expected.signature)
    assert expected.parts.items() <= evalset.items()
