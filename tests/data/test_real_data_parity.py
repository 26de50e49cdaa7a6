"""On real text, too, every number is the peers'."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from oracles.peers import both_levels, rouge_segments
from real_texts import E2E, Ted, chinese_of_tatoeba, e2e, multi30k, summeval, ted
from sacrebleu.metrics import BLEU, CHRF

import karat as kt
from karat.metrics.base import Metric

Groups = Sequence[Sequence[str]]
ROUGES = ["rouge1", "rouge2", "rouge4", "rougeL", "rougeLsum"]


@pytest.fixture(scope="module")
def talks(karat_data: Path) -> Ted:
    """TED talks, Chinese to English."""
    return ted(karat_data)


@pytest.fixture(scope="module")
def restaurants(karat_data: Path) -> E2E:
    """The E2E challenge."""
    return e2e(karat_data)


def check_same_scores(
    metric: Metric, peer: BLEU | CHRF, candidates: Sequence[str], refs: Groups
) -> None:
    """Corpus and segment scores equal the peer's."""
    corpus, segments = both_levels(peer, candidates, refs)
    assert metric.corpus(candidates, refs).value == pytest.approx(corpus, abs=1e-9)
    assert metric.segments(candidates, refs).tolist() == pytest.approx(segments, abs=1e-9)


def same_rouge(candidates: Sequence[str], references: Groups, stem: bool) -> None:
    """All parts of all members equal rouge-score's, and the corpus score is their mean."""
    peer_parts = rouge_segments(ROUGES, candidates, references, stem)
    for name in ROUGES:
        metric = kt.metric(f"{name}:stem=porter-nltk" if stem else name)
        measured_parts = metric.measure(metric.stats(candidates, references))
        for column, key in enumerate(("precision", "recall", "value")):
            peer_scores = [parts[column] for parts in peer_parts[name]]
            assert measured_parts[key].tolist() == pytest.approx(peer_scores, abs=1e-9), name
        mean = sum(parts[2] for parts in peer_parts[name]) / len(candidates)
        assert metric.corpus(candidates, references).value == pytest.approx(mean, abs=1e-9)


# ----------------------------------------------------------------------------- TED, Chinese-English


def outputs(talks: Ted) -> dict[str, list[str]]:
    """The outputs of the thirteen systems."""
    system_texts = {
        name: texts for name, texts in talks.targets.items() if not name.startswith("ref")
    }
    assert len(system_texts) == 13
    return system_texts


@pytest.mark.parametrize("tok", ["13a", "intl", "char", "none"])
def test_ted_bleu(talks: Ted, tok: str) -> None:
    references = [[text] for text in talks.targets["refB"]]
    for k, texts in enumerate(outputs(talks).values()):
        if tok == "13a" or k % 4 == 0:
            check_same_scores(
                kt.BLEU(tok=tok, eff=False), BLEU(tokenize=tok, force=True), texts, references
            )


def test_ted_bleu_against_both_references(talks: Ted) -> None:
    both = list(zip(talks.targets["ref"], talks.targets["refB"], strict=True))
    for texts in list(outputs(talks).values())[::4]:
        peer = BLEU(lowercase=True, effective_order=True, force=True)
        check_same_scores(kt.BLEU(case="lower", eff=True), peer, texts, both)


@pytest.mark.parametrize("words", [0, 2])
def test_ted_chrf(talks: Ted, words: int) -> None:
    references = [[text] for text in talks.targets["refB"]]
    for texts in list(outputs(talks).values())[words::3]:
        check_same_scores(kt.ChrF(words=words), CHRF(word_order=words), texts, references)


@pytest.mark.parametrize("stem", [False, True])
def test_ted_rouge(talks: Ted, stem: bool) -> None:
    both = list(zip(talks.targets["ref"], talks.targets["refB"], strict=True))
    for texts in list(outputs(talks).values())[:2]:
        same_rouge(texts[::2], both[::2], stem)


# ------------------------------------------------------------------------------------- Chinese


def halves(texts: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """One half of the texts as candidates, the other half, shuffled, as references."""
    middle = len(texts) // 2
    second_half = list(texts[middle : 2 * middle])
    random.Random(1).shuffle(second_half)
    return list(texts[:middle]), [[text] for text in second_half]


@pytest.mark.parametrize("tok", ["zh", "char"])
def test_chinese_talks(talks: Ted, tok: str) -> None:
    check_same_scores(
        kt.BLEU(tok=tok, eff=False), BLEU(tokenize=tok, force=True), *halves(talks.sources)
    )
    check_same_scores(kt.ChrF(words=2), CHRF(word_order=2), *halves(talks.sources))


@pytest.mark.parametrize("tok", ["zh", "char"])
def test_chinese_sentences(karat_data: Path, tok: str) -> None:
    texts = chinese_of_tatoeba(karat_data)
    check_same_scores(kt.BLEU(tok=tok, eff=False), BLEU(tokenize=tok, force=True), *halves(texts))
    floor = BLEU(tokenize=tok, smooth_method="floor", effective_order=True, force=True)
    check_same_scores(kt.BLEU(tok=tok, smooth="floor", eff=True), floor, *halves(texts[::5]))


def test_chinese_sentences_by_characters(karat_data: Path) -> None:
    check_same_scores(kt.ChrF(), CHRF(), *halves(chinese_of_tatoeba(karat_data)[::3]))


# ------------------------------------------------------------------------------------- SummEval


def summaries(folder: Path, system: str, line_feeds: bool) -> tuple[list[str], list[list[str]]]:
    """One system's summaries and the eleven references of each, sentences on lines if wanted."""
    candidates, references = [], []
    for document in summeval(folder):
        candidates.append(document["systems"][system]["summary"])
        references.append(list(document["references"]))
    if line_feeds:
        candidates = [text.replace(" . ", " .\n") for text in candidates]
        references = [[text.replace(" . ", " .\n") for text in group] for group in references]
    assert len(candidates) == 100
    assert {len(group) for group in references} == {11}
    return candidates, references


def systems_of(folder: Path) -> list[str]:
    """The names of the systems."""
    return sorted(next(iter(summeval(folder)))["systems"])


def test_summeval_bleu(karat_data: Path) -> None:
    for system in systems_of(karat_data)[::3]:
        check_same_scores(
            kt.BLEU(eff=False), BLEU(force=True), *summaries(karat_data, system, line_feeds=False)
        )


def test_summeval_chrf(karat_data: Path) -> None:
    candidates, references = summaries(karat_data, systems_of(karat_data)[2], line_feeds=False)
    check_same_scores(kt.ChrF(words=2), CHRF(word_order=2), candidates[::3], references[::3])


@pytest.mark.parametrize("stem", [False, True])
def test_summeval_rouge(karat_data: Path, stem: bool) -> None:
    for system in systems_of(karat_data)[stem::8]:
        candidates, references = summaries(karat_data, system, line_feeds=True)
        same_rouge(candidates[::4], references[::4], stem)


# ------------------------------------------------------------------------ E2E and image captions


def test_e2e_bleu_with_one_to_forty_five_references(restaurants: E2E) -> None:
    assert {len(group) for group in restaurants.references} >= {1, 45}
    for texts in list(restaurants.outputs.values())[::5]:
        check_same_scores(kt.BLEU(eff=False), BLEU(force=True), texts, restaurants.references)


def test_e2e_signature_says_that_the_number_of_references_varies(restaurants: E2E) -> None:
    texts = restaurants.outputs["tgen"]
    assert "refs=var" in kt.BLEU().corpus(texts, restaurants.references).signature


def test_e2e_chrf(restaurants: E2E) -> None:
    texts = restaurants.outputs["tgen"]
    check_same_scores(kt.ChrF(), CHRF(), texts, restaurants.references)


def test_e2e_rouge(restaurants: E2E) -> None:
    same_rouge(restaurants.outputs["slug"][::6], restaurants.references[::6], stem=True)


def test_captions(karat_data: Path) -> None:
    texts = multi30k(karat_data, "train.en")
    check_same_scores(kt.BLEU(eff=False), BLEU(force=True), *halves(texts[::2]))
    check_same_scores(kt.ChrF(), CHRF(), *halves(texts[::20]))
    same_rouge(*halves(texts[::40]), stem=True)


def test_captions_from_compressed_files(karat_data: Path) -> None:
    names = ["val.en", "val.de"]
    files = [kt.Lines(karat_data / "parallel-multi30k" / f"{name}.gz") for name in names]
    lists = [multi30k(karat_data, name) for name in names]
    for name in ("bleu", "chrf", "rougeL"):
        metric = kt.metric(name)
        assert metric.corpus(*files) == metric.corpus(*lists)
        assert metric.segments(*files).tolist() == metric.segments(*lists).tolist()
