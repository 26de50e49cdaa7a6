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
        supertags = fergus.chooser.choose_best(trees, tree, k)
        assert [float(s.scores[0]) for s in supertags] == pytest.approx(expected[:k])


def best_frames(fergus: Fergus, item: InputTrees) -> tuple[list[object], list[int], formulas.Nodes]:
    orders = fergus.chooser.choose(item)
    grammar = fergus.chooser.grammar
    frames = [grammar.frames[f] if f >= 0 else None for f in orders.frames.tolist()]
    labels = [grammar.label(label) for label in orders.labels.tolist()]
    return frames, orders.slots.tolist(), formulas.Nodes(item, 0, labels)


@some_tree
def test_the_lattice_has_exactly_the_orders_that_the_supertags_allow(
    folder: Path, seed: int, tree: int
) -> None:
    fergus, tables, trees = trained(folder, seed)
    item = trees.select([tree])
    frames, slots, nodes = best_frames(fergus, item)
    expected = [order for order, _ in formulas.orders(tables, nodes, frames, slots, EVERYTHING)]
    lattice = unravel(fergus.chooser, item, fergus.chooser.choose(item), EVERYTHING)
    assert lattice.sequences == len(expected)
    assert not lattice.pruned
    if lattice.sequences <= 2000:
        assert lattice.orders() == sorted(map(tuple, expected))
    free = unravel(fergus.chooser, item, fergus.chooser.choose(item), LpWeights().unlimited())
    assert (free.sequences, free.pruned) == (lattice.sequences, False)
    drawing = lattice.expanded()
    if drawing is not None and len(item.words) > 1:
        assert sorted(paths(drawing, 0)) == sorted(expected)


def paths(arcs: list[tuple[int, int, int]], start: int) -> list[list[int]]:
    """All paths from a state to the last, which is state 1, as the nodes they place."""
    if start == 1:
        return [[]]
    return [[node, *rest] for a, b, node in arcs if a == start for rest in paths(arcs, b)]


@some_tree
def test_the_lp_chooser_finds_the_best_paths(folder: Path, seed: int, tree: int) -> None:
    fergus, tables, trees = trained(folder, seed)
    item = trees.select([tree])
    frames, slots, nodes = best_frames(fergus, item)
    scored: dict[str, float] = {}
    for order, score in formulas.orders(tables, nodes, frames, slots, EVERYTHING):
        sentence = item.sentence(0, order)
        total = score + log(10) * float(fergus.lm.score([sentence])[0])
        scored[sentence] = max(total, scored.get(sentence, total))
    expected = sorted(scored.values(), reverse=True)
    for k in (1, 3, 40):
        orders = fergus.linearize(item, fergus.chooser.choose(item), k)[0][0]
        assert [order.score for order in orders] == pytest.approx(expected[:k], abs=1e-4)
        assert len({item.sentence(0, order.nodes) for order in orders}) == len(orders)


@some_tree
def test_the_baseline_is_the_likeliest_order_of_its_sides(
    folder: Path, seed: int, tree: int
) -> None:
    fergus, tables, trees = trained(folder, seed)
    counts = formulas.left_counts(tables.trees)
    item = trees.select([tree])
    (orders,) = fergus.baselines[-1].realize(item)
    all_values = formulas.left_right(counts, formulas.Nodes(trees, tree))
    assert orders[0].nodes in all_values
    sentences = [item.sentence(0, order) for order in all_values]
    best = log(10) * float(fergus.lm.score(sentences).max())
    assert orders[0].score == pytest.approx(best, abs=1e-4)


@given(st.integers(0, 2), st.integers(0, 39), st.sampled_from([1, 2, 5]))
def test_pruned_lattices_give_orders_all_the_same(
    folder: Path, seed: int, tree: int, width: int
) -> None:
    fergus, _, trees = trained(folder, seed)
    narrow = replace(fergus, weights=LpWeights(width=width, margin=1.0, beam=2))
    item = trees.select([tree])
    (order,) = narrow.realize(item)
    assert sorted(order[0].nodes) == list(range(len(item.words)))
