"""Unordered trees: nothing of the file's order is left in them."""

from __future__ import annotations

import tracemalloc
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.random_treebanks import random_treebank
from oracles.scrambled import scrambled

import karat as kt
from karat.realize.input_trees import input_trees, read_trees
from karat.realize.treebank import read_treebank


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from(["words", "all"]))
def test_scrambled_files_give_the_same_trees(
    tmp_path_factory: pytest.TempPathFactory, seed: int, other: int, inputs: str
) -> None:
    folder = tmp_path_factory.mktemp("trees")
    text = random_treebank(seed, 6, most=9)
    (folder / "a.conllu").write_text(text)
    (folder / "b.conllu").write_text(scrambled(text, other))
    a, b = (read_trees(folder / name, inputs) for name in ("a.conllu", "b.conllu"))
    assert (a.words, a.tags, a.relations) == (b.words, b.tags, b.relations)
    assert a.heads.tolist() == b.heads.tolist()


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_words_that_tell_where_they_were_are_put_back(
    tmp_path_factory: pytest.TempPathFactory, seed: int, other: int
) -> None:
    folder = tmp_path_factory.mktemp("trees")
    text = random_treebank(seed, 6, most=9)
    (folder / "a.conllu").write_text(text)
    (folder / "b.conllu").write_text(scrambled(text, other, with_original_ids=True))
    a, b = (read_treebank(folder / name) for name in ("a.conllu", "b.conllu"))
    assert (a.words, a.lemmas, a.upos, a.relations) == (b.words, b.lemmas, b.upos, b.relations)
    assert a.heads.tolist() == b.heads.tolist()
    assert a.offsets.tolist() == b.offsets.tolist()


@given(st.integers(0, 10**6))
def test_the_nodes_are_the_sentences_words_with_their_heads(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    path = tmp_path_factory.mktemp("trees") / "a.conllu"
    path.write_text(random_treebank(seed, 4, most=9))
    bank = read_treebank(path)
    trees = input_trees(bank, "all")
    result = [tree for (tree,) in trees.references()]
    expected = [tree for (tree,) in kt.read_conllu(path)]
    assert [(t.words, t.heads) for t in result] == [(t.words, t.heads) for t in expected]
    for i in range(len(trees)):
        heads = trees.heads[trees.slice(i)]
        assert heads[0] == -1
        assert all(0 <= head < node for node, head in enumerate(heads.tolist()) if node)


def test_words_are_lower_cased_and_what_is_not_given_is_blank(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(
        "1\tDas\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tGeht\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    )
    trees = read_trees(path)
    assert trees.words == ["geht", "das"]
    assert trees.tags == trees.relations == ["", ""]
    assert read_trees(path, "all").tags == ["VERB", "PRON"]
    assert read_trees(path, lower=False).words == ["Geht", "Das"]
    assert repr(trees).endswith("1 trees, 2 nodes>")


def test_choosing_takes_trees_in_the_order_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(random_treebank(3, 5))
    trees = read_trees(path, "all")
    chosen = trees.select([4, 0])
    assert len(chosen) == 2
    assert chosen.words == trees.words[trees.slice(4)] + trees.words[trees.slice(0)]
    assert np.array_equal(chosen.heads[chosen.slice(1)], trees.heads[trees.slice(0)])
    assert len(trees.select([])) == 0


def test_original_ids_must_be_complete(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(
        "1\ta\t_\tX\t_\toriginal_id=2\t0\troot\t_\t_\n2\tb\t_\tX\t_\t_\t1\tdet\t_\t_\n\n"
    )
    with pytest.raises(kt.InputError, match="original_id is given for some words"):
        read_trees(path)


def test_unknown_inputs_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(random_treebank(3, 1))
    with pytest.raises(kt.InputError, match="inputs='tags': expected one of words, all"):
        read_trees(path, "tags")


def test_a_treebank_is_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "many.conllu"
    bundled = resources.files("karat") / "data" / "treebank" / "demo.conllu"
    path.write_text(bundled.read_text("utf-8") * 8, "utf-8")
    read_treebank(path)  # what is imported once is no matter of the file
    tracemalloc.start()
    try:
        bank = read_treebank(path)
        remaining, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(bank.surfaces) == len(bank.features) == len(bank.words)
    assert most - remaining < path.stat().st_size / 4  # less than a copy of the file
