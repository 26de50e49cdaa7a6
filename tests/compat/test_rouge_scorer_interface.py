"""All public names of rouge-score are in the drop-in; its files and its command are the same."""

from __future__ import annotations

import random
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.interfaces import interface_gaps
from oracles.strategies import any_text, summaries
from rouge_score import io as their_io
from rouge_score import rouge_scorer as theirs
from rouge_score import scoring as their_scoring
from rouge_score import tokenize as their_tokenize

import karat
from karat.compat import rouge_scorer as ours
from karat.compat.rouge_scorer import io, scoring, tokenize

KARAT = "karat.compat.rouge_scorer"
OWN_TESTS = "a test of rouge-score itself"
EXCEPTIONS = {
    "create_pyrouge_files": "writes files for tests with another package, pyrouge",
    "io_test": OWN_TESTS,
    "rouge_scorer_test": OWN_TESTS,
    "scoring_test": OWN_TESTS,
    "test_util": OWN_TESTS,
    "tokenize_test": OWN_TESTS,
    "tokenizers_test": OWN_TESTS,
    "rouge.FLAGS": "the flags of absl, which is not needed",
}
"""Names of rouge-score that are not here, with the reason."""


def test_every_public_name_is_here() -> None:
    assert interface_gaps(KARAT, "rouge_score", EXCEPTIONS) == []


def test_the_inventory_sees_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(tokenize, "SPACES_RE")
    monkeypatch.delattr(scoring.BootstrapAggregator, "add_scores")
    monkeypatch.setattr(ours, "lcs_ind", lambda ref: ref)
    gaps = interface_gaps(KARAT, "rouge_score", EXCEPTIONS)
    expected = ["rouge_scorer.lcs_ind", "scoring.BootstrapAggregator.add_scores"]
    assert sorted(gap.partition("(")[0] for gap in gaps) == [*expected, "tokenize.SPACES_RE"]


def test_the_name_of_the_package_is_all_that_changes() -> None:
    code = """
import {0}.rouge_scorer
import {0}.tokenize as tokenize
from {0} import io, rouge, rouge_scorer, scoring, tokenizers
from {0}.rouge_scorer import RougeScorer

print(RougeScorer is rouge_scorer.RougeScorer, tokenize.tokenize("A b-c", None))
print({0}.rouge_scorer.RougeScorer(["rouge1"]).score("a b", "a c"))
"""
    outputs = [
        subprocess.run([sys.executable, "-c", code.format(name)], capture_output=True, check=True)
        for name in (KARAT, "rouge_score")
    ]
    assert outputs[0].stdout == outputs[1].stdout != b""


# --------------------------------------------------------------------------------------- functions

TEXT = st.one_of(any_text, summaries())
WORDS = st.lists(st.sampled_from("abcd"), max_size=12)


class Cutter:
    """A stemmer that keeps the first letters."""

    def stem(self, word: str) -> str:
        return word[: len(word) % 5]


@given(text=TEXT, stemmer=st.sampled_from([None, Cutter()]))
def test_tokenize(text: str, stemmer: Any) -> None:
    assert tokenize.tokenize(text, stemmer) == their_tokenize.tokenize(text, stemmer)


@given(reference=WORDS, candidate=WORDS)
def test_lcs_ind(reference: list[str], candidate: list[str]) -> None:
    assert ours.lcs_ind(reference, candidate) == theirs.lcs_ind(reference, candidate)


@given(pairs=st.lists(st.tuples(TEXT, TEXT), max_size=5), stem=st.booleans())
def test_all_scores_are_those_of_each(pairs: list[tuple[str, str]], stem: bool) -> None:
    scorer = ours.RougeScorer(["rouge2", "rougeLsum", "rougeL"], stem)
    targets, predictions = [a for a, _ in pairs], [b for _, b in pairs]
    assert scorer.score_all(targets, predictions) == [scorer.score(*pair) for pair in pairs]


def test_all_scores_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ours, "_BATCH", 3)
    texts = [f"word {i} and {i % 3}" for i in range(8)]
    scorer = ours.RougeScorer(["rouge1"], tokenizer=ours.tokenizers.DefaultTokenizer())
    scores = scorer.score_all(texts, texts[::-1])
    assert scores == [scorer.score(*pair) for pair in zip(texts, texts[::-1], strict=True)]
    with pytest.raises(karat.InputError, match="8 targets and 7 predictions: they must be equal"):
        scorer.score_all(texts, texts[1:])


# ------------------------------------------------------------------------------------------- files


def write_files(folder: Path, delimiter: str = "\n") -> None:
    """Three pairs of files with records of random words; the last has no delimiter at its end."""
    draws = random.Random(7)
    for k in range(3):
        for kind in ("target", "prediction"):
            records = [
                " ".join(draws.choices(["a", "b", "running", "walks", "é"], k=9)) for _ in "abcd"
            ]
            text = delimiter.join(records) + delimiter * (k < 2)
            (folder / f"{k}.{kind}").write_text(text, "utf-8")


def write_csv(module: Any, scorer: Any, aggregator: Any, folder: Path, delimiter: str) -> str:
    """The CSV that a module writes."""
    np.random.seed(3)
    patterns = str(folder / "*.target"), str(folder / "*.prediction")
    output = folder / "scores.csv"
    module.compute_scores_and_write_to_csv(*patterns, str(output), scorer, aggregator, delimiter)
    return output.read_text("utf-8")


class Subclass(ours.RougeScorer):
    """A scorer that swaps its arguments."""

    def score(self, target: str, prediction: str) -> Any:
        return super().score(prediction, target)


@pytest.mark.parametrize("delimiter", ["\n", "::"])
@pytest.mark.parametrize("is_aggregated", [True, False])
def test_csv(delimiter: str, is_aggregated: bool, tmp_path: Path) -> None:
    write_files(tmp_path, delimiter)
    types = ["rouge2", "rouge1", "rougeL"]
    texts = []
    for module, scorers, samples in ((io, ours, scoring), (their_io, theirs, their_scoring)):
        aggregator = samples.BootstrapAggregator(n_samples=50) if is_aggregated else None
        scorer = scorers.RougeScorer(types, use_stemmer=True)
        texts.append(write_csv(module, scorer, aggregator, tmp_path, delimiter))
    assert texts[0] == texts[1]
    assert len(texts[0].splitlines()) == (10 if is_aggregated else 13)
    swapped = write_csv(io, Subclass(types, True), None, tmp_path, delimiter)
    assert swapped != write_csv(io, ours.RougeScorer(types, True), None, tmp_path, delimiter)


def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    write_files(tmp_path)
    scorer = ours.RougeScorer(["rouge1"])
    for patterns, sentence in (
        (("*.none", "*.target"), "0 files of targets, 3 of predictions; expected equal numbers"),
        (("0.target", "*.target"), "1 files of targets, 3 of predictions"),
        (("0.target", "short.txt"), "4 and 1 records: they must be equal"),
    ):
        (tmp_path / "short.txt").write_text("a\n")
        files = [str(tmp_path / pattern) for pattern in patterns]
        output = str(tmp_path / "out.csv")
        for module in (io, their_io):
            match = sentence if module is io else "Must have equal"
            with pytest.raises(ValueError, match=match):
                module.compute_scores_and_write_to_csv(*files, output, scorer, None)
    (tmp_path / "empty.txt").write_text("")
    io.compute_scores_and_write_to_csv(*[str(tmp_path / "empty.txt")] * 2, output, scorer, None)
    assert not Path(output).exists()


# ----------------------------------------------------------------------------------------- command

FILES = "--target_filepattern=*.target --prediction_filepattern *.prediction"
COMMANDS = [
    f"{FILES} --output_filename=out.csv --noaggregate",
    f"{FILES} -output_filename out.csv -noaggregate --use_stemmer --rouge_types=rouge3,rougeL",
    f"{FILES} --output_filename=out.csv --aggregate=false --use_stemmer=true",
    f"{FILES} --output_filename=out.csv --aggregate=0 --delimiter=a",
    f"{FILES} --output_filename=out.csv --rouge_types=rouge1",
    f"{FILES} --output_filename=out.csv --no_such_flag",
]
REFUSED = [
    f"{FILES}",
    f"{FILES} --output_filename=out.csv --use_stemmer=maybe",
    f"{FILES} --output_filename=out.csv positional",
    f"{FILES} --output_filename=out.csv --rouge_types=rougeX",
    f"{FILES} --output_filename=no-such-folder/out.csv",
    "--target_filepattern=no* --prediction_filepattern=no* --output_filename=out.csv",
]


def run_rouge(module: str, arguments: str, folder: Path) -> tuple[int, list[str], bytes]:
    """Exit code, lines of the CSV file and standard output; intervals are random, and cut off."""
    command = [sys.executable, "-m", module, *arguments.split()]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    file = folder / "out.csv"
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    file.unlink(missing_ok=True)
    if lines and lines[0].startswith("score_type"):
        lines = [line.partition(",")[0] for line in lines]
    if module.startswith("karat"):
        assert b"Traceback" not in done.stderr
        assert len(done.stderr.splitlines()) == (0 if done.returncode == 0 else 1) or (
            b"usage" in done.stderr or b"delimiter" in done.stderr
        )
    return done.returncode, lines, done.stdout


@pytest.mark.parametrize("arguments", COMMANDS)
def test_command(arguments: str, tmp_path: Path) -> None:
    write_files(tmp_path)
    actual = run_rouge(f"{KARAT}.rouge", arguments, tmp_path)
    assert actual == run_rouge("rouge_score.rouge", arguments, tmp_path)


@pytest.mark.parametrize("arguments", REFUSED)
def test_refused_commands(arguments: str, tmp_path: Path) -> None:
    """The exit code of rouge-score is 1 for all of these."""
    write_files(tmp_path)
    assert run_rouge(f"{KARAT}.rouge", arguments, tmp_path) == (1, [], b"")


def test_commands_can_succeed(tmp_path: Path) -> None:
    write_files(tmp_path)
    code, lines, _ = run_rouge(f"{KARAT}.rouge", COMMANDS[0], tmp_path)
    assert (code, len(lines)) == (0, 13)
    assert import_module(f"{KARAT}.rouge").main
