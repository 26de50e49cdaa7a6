"""The Tree Chooser, the Unraveler and the LP Chooser against loops over everything."""

from __future__ import annotations

from dataclasses import replace
from math import log
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import realizer_formulas as formulas
from oracles.random_treebanks import random_treebank

from karat.realize.fergus import Fergus, LpWeights
from karat.realize.input_trees import InputTrees, input_trees
from karat.realize.lattice import unravel
from karat.realize.treebank import read_treebank

EVERYTHING = LpWeights(width=10_000, margin=1e9, beam=0)
TRAINED: dict[int, tuple[Fergus, formulas.Tables, InputTrees]] = {}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("treebanks")


def trained(folder: Path, seed: int) -> tuple[Fergus, formulas.Tables, InputTrees]:
    """A model of a random treebank, its oracle, and other trees of the same kind."""
    if seed not in TRAINED:
        path = folder / f"{seed}.conllu"
        path.write_text(random_treebank(seed, 120))
        bank = read_treebank(path)
        fergus = Fergus.train(bank, weights=EVERYTHING)
        tables = formulas.Tables(input_trees(bank, "all"), fergus.chooser.grammar)
        path.write_text(random_treebank(seed + 1000, 40, most=4))
        TRAINED[seed] = fergus, tables, input_trees(read_treebank(path), "words")
    return TRAINED[seed]


some_tree = given(st.integers(0, 2), st.integers(0, 39))


@settings(max_examples=20)
@some_tree
def test_the_tree_chooser_finds_the_best_of_all_supertaggings(
    folder: Path, seed: int, tree: int
) -> None:
    fergus, tables, trees = trained(folder, seed)
    expected = sorted((s for s, _ in formulas.supertaggings(tables, trees, tree)), reverse=True)
    for k in (1, 6, 60):
        found = fergus.chooser.choose_best(trees, tree, k)
        assert [float(s.scores[0]) for s in found] == pytest.approx(expected[:k])


def best_frames(fergus: Fergus, one: InputTrees) -> tuple[list[object], list[int], formulas.Nodes]:
    found = fergus.chooser.choose(one)
    grammar = fergus.chooser.grammar
    frames = [grammar.frames[f] if f >= 0 else None for f in found.frames.tolist()]
    labels = [grammar.label(label) for label in found.labels.tolist()]
    return frames, found.slots.tolist(), formulas.Nodes(one, 0, labels)


@some_tree
def test_the_lattice_has_exactly_the_orders_that_the_supertags_allow(
    folder: Path, seed: int, tree: int
) -> None:
    fergus, tables, trees = trained(folder, seed)
    one = trees.choose([tree])
    frames, slots, nodes = best_frames(fergus, one)
    expected = [order for order, _ in formulas.orders(tables, nodes, frames, slots, EVERYTHING)]
    lattice = unravel(fergus.chooser, one, fergus.chooser.choose(one), EVERYTHING)
    assert lattice.sequences == len(expected)
    assert not lattice.pruned
    if lattice.sequences <= 2000:
        assert lattice.orders() == sorted(map(tuple, expected))
    free = unravel(fergus.chooser, one, fergus.chooser.choose(one), LpWeights().unlimited())
    assert (free.sequences, free.pruned) == (lattice.sequences, False)
    drawn = lattice.expanded()
    if drawn is not None and len(one.words) > 1:
        assert sorted(paths(drawn, 0)) == sorted(expected)


def paths(arcs: list[tuple[int, int, int]], start: int) -> list[list[int]]:
    """All paths from a state to the last, which is state 1, as the nodes they place."""
    if start == 1:
        return [[]]
    return [[node, *rest] for a, b, node in arcs if a == start for rest in paths(arcs, b)]


@some_tree
def test_the_lp_chooser_finds_the_best_paths(folder: Path, seed: int, tree: int) -> None:
    fergus, tables, trees = trained(folder, seed)
    one = trees.choose([tree])
    frames, slots, nodes = best_frames(fergus, one)
    scored: dict[str, float] = {}
    for order, score in formulas.orders(tables, nodes, frames, slots, EVERYTHING):
        sentence = one.sentence(0, order)
        total = score + log(10) * float(fergus.lm.score([sentence])[0])
        scored[sentence] = max(total, scored.get(sentence, total))
    expected = sorted(scored.values(), reverse=True)
    for k in (1, 3, 40):
        found = fergus.linearize(one, fergus.chooser.choose(one), k)[0]
        assert [order.score for order in found] == pytest.approx(expected[:k], abs=1e-4)
        assert len({one.sentence(0, order.nodes) for order in found}) == len(found)


@some_tree
def test_the_baseline_is_the_likeliest_order_of_its_sides(
    folder: Path, seed: int, tree: int
) -> None:
    fergus, tables, trees = trained(folder, seed)
    counts = formulas.left_counts(tables.trees)
    one = trees.choose([tree])
    (orders,) = fergus.baselines[-1].realize(one)
    every = formulas.left_right(counts, formulas.Nodes(trees, tree))
    assert orders[0].nodes in every
    sentences = [one.sentence(0, order) for order in every]
    best = log(10) * float(fergus.lm.score(sentences).max())
    assert orders[0].score == pytest.approx(best, abs=1e-4)


@given(st.integers(0, 2), st.integers(0, 39), st.sampled_from([1, 2, 5]))
def test_pruned_lattices_give_orders_all_the_same(
    folder: Path, seed: int, tree: int, width: int
) -> None:
    fergus, _, trees = trained(folder, seed)
    narrow = replace(fergus, weights=LpWeights(width=width, margin=1.0, beam=2))
    one = trees.choose([tree])
    (found,) = narrow.realize(one)
    assert sorted(found[0].nodes) == list(range(len(one.words)))
