"""Inflection on real data: elisions and contractions of French, learned and not built in."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import karat as kt
from karat.errors import InputError
from karat.realize.inflection import Inflection, tags_of
from karat.realize.inflector import Nodes
from karat.realize.treebank import Treebank
from karat.storage.store import ModelStore

SENTENCES, HELD_OUT = 500, 60


def sentence_range(bank: Treebank, first: int, end: int) -> Treebank:
    remaining = np.repeat(
        (np.arange(len(bank)) >= first) & (np.arange(len(bank)) < end), np.diff(bank.offsets)
    )
    part = bank.keep(remaining)
    return replace(part, offsets=np.unique(part.offsets))


@pytest.fixture(scope="module")
def bank(karat_data: Path) -> Treebank:
    return kt.read_treebank(karat_data / "treebank-sequoia" / "fr_sequoia-ud-train.conllu")


@pytest.fixture(scope="module")
def french(bank: Treebank) -> Inflection:
    return Inflection.train(sentence_range(bank, 0, SENTENCES))


def test_french_is_inflected_and_written(bank: Treebank, french: Inflection) -> None:
    held_out = sentence_range(bank, SENTENCES, SENTENCES + HELD_OUT)
    nodes, starts = Nodes.of_treebank(held_out), held_out.offsets
    right = [word.lower() for word in held_out.words]
    forms = french.inflector.forms_in_order(nodes, np.arange(len(nodes)), starts)
    wrong = sum(a != b for a, b in zip(forms, right, strict=True))
    lemmas = sum(cell.lemma != b for cell, b in zip(nodes.cells, right, strict=True))
    assert wrong < 0.05 * len(right) < 0.2 * lemmas
    tags = tags_of(held_out.upos, held_out.xpos)
    texts = french.spacing.text(held_out.words, tags, starts)
    written = [
        "".join(
            f"{surface.text} " if surface.space_after else surface.text
            for surface in held_out.surfaces[a:b]
        )
        for a, b in pairwise(starts.tolist())
    ]
    total = sum(a == b.strip() for a, b in zip(texts, written, strict=True))
    assert total > 0.85 * HELD_OUT


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["Il", "parle", "de", "le", "temps", "."], "Il parle du temps."),
        (["De", "les", "amis"], "Des amis"),
        (["l'", "eau", ",", "et", "le", "vin"], "l'eau, et le vin"),
        (["À", "LES", "amis"], "Aux amis"),
    ],
)
def test_words_are_written_as_one(french: Inflection, words: list[str], text: str) -> None:
    starts = np.array([0, len(words)], dtype=np.int64)
    assert french.spacing.text(words, ["X _"] * len(words), starts) == [text]


def test_a_stored_inflection_is_the_same_and_checked(french: Inflection) -> None:
    about, arrays = french.parts()
    again = Inflection.from_store(ModelStore("m.npz", about, arrays)).parts()[1]
    assert arrays.keys() == again.keys()
    assert all(np.array_equal(arrays[name], again[name]) for name in arrays)
    keys = arrays["tree_keys"]
    for name, bad in (
        ("table", np.frombuffer(b"only\tfour\tcells\there", dtype=np.uint8)),
        ("fused", np.frombuffer(b"alone", dtype=np.uint8)),
        ("tree_keys", keys[::-1].copy()),
        ("tree_weights", arrays["tree_weights"][1:]),
        ("capitals_weights", np.full_like(arrays["capitals_weights"], np.nan)),
    ):
        with pytest.raises(InputError, match=r"m\.npz: damaged"):
            Inflection.from_store(ModelStore("m.npz", about, {**arrays, name: bad}))
