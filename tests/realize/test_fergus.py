"""FERGUS whole: the paper's example, order that must not leak, odd trees, models on disk."""

from __future__ import annotations

from importlib import resources
from math import log
from pathlib import Path

import numpy as np
import pytest
from oracles.random_treebanks import random_treebank
from oracles.scrambled import scrambled

import karat as kt
from karat.errors import InputError
from karat.realize.evaluation import realize_each
from karat.realize.explanation import explain_tree
from karat.realize.fergus import Fergus, lm_words
from karat.realize.generation import punctuate, realize_trees
from karat.realize.grammar import ARGUMENTS, extract_grammar, gold_frames
from karat.realize.input_trees import InputTrees, input_trees, read_trees
from karat.realize.lattice import unravel
from karat.realize.model import KIND, VERSION, RealizerModel, open_realizer, train_realizer
from karat.realize.treebank import Treebank, read_treebank
from karat.storage.store import read_store, write_store


@pytest.fixture(scope="module")
def demo() -> Treebank:
    with resources.as_file(resources.files("karat") / "data/treebank/demo.conllu") as path:
        return read_treebank(path)


@pytest.fixture(scope="module")
def model(demo: Treebank) -> RealizerModel:
    return train_realizer(demo, "fergus")


def first(model: RealizerModel, path: Path, inputs: str = "words") -> list[str]:
    return [row.sentence for row in realize_trees(model, read_trees(path, inputs)).rows]


def test_the_papers_example_comes_out_right(demo: Treebank, model: RealizerModel) -> None:
    trees = input_trees(demo, "words").select([0])
    (orders,) = model.require_fergus().realize(trees, 3)
    assert trees.sentence(0, orders[0].nodes) == "there was no cost estimate for the second phase ."
    assert [order.score for order in orders] == sorted((o.score for o in orders), reverse=True)
    assert len({order.nodes for order in orders}) == 3


def test_the_supertags_of_the_example_are_those_of_the_treebank(
    demo: Treebank, model: RealizerModel
) -> None:
    fergus = model.require_fergus()
    trees = input_trees(demo, "words").select([0])
    (best,) = fergus.chooser.choose_best(trees, 0, 1)
    grammar = fergus.chooser.grammar
    mapping = dict(zip(trees.words, map(grammar.label, best.labels.tolist()), strict=True))
    assert mapping["was"] == ("VERB", "root")
    assert mapping["estimate"] == ("NOUN", "nsubj")
    assert mapping["phase"] == ("NOUN", "nmod")
    assert grammar.frames[best.frames[0]] == (("expl", 0), ("nsubj", 1))


@pytest.mark.parametrize("inputs", ["words", "all"])
def test_the_order_of_the_file_does_not_reach_any_realiser(
    model: RealizerModel, tmp_path: Path, inputs: str
) -> None:
    with resources.as_file(resources.files("karat") / "data/treebank/demo.conllu") as path:
        text = path.read_text("utf-8")
        expected = read_trees(path, inputs)
    (tmp_path / "other.conllu").write_text(scrambled(text, 5), "utf-8")
    other = read_trees(tmp_path / "other.conllu", inputs)
    for realizer in model.realizers(inputs):
        a, b = (
            [trees.sentence(i, orders[0].nodes) for i, orders in enumerate(realizer.realize(trees))]
            for trees in (expected, other)
        )
        assert a == b


def test_models_are_the_same_after_they_were_saved(
    demo: Treebank, model: RealizerModel, tmp_path: Path
) -> None:
    model.save(tmp_path / "a.npz")
    again = open_realizer(tmp_path / "a.npz")
    for inputs in ("words", "all"):
        trees = input_trees(demo, inputs).select(range(20))
        for left, right in zip(model.realizers(inputs), again.realizers(inputs), strict=True):
            assert left.name == right.name
            assert left.realize(trees, 2) == right.realize(trees, 2)
    train_realizer(demo, "fergus").save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_models_of_another_version_are_refused(model: RealizerModel, tmp_path: Path) -> None:
    model.save(tmp_path / "a.npz")
    store = read_store(tmp_path / "a.npz", KIND, VERSION)
    write_store(tmp_path / "b.npz", "realiser", 99, store.about, store.arrays)
    with pytest.raises(
        kt.InputError, match=f"of version {VERSION}, and this Karat reads version 99"
    ):
        read_store(tmp_path / "a.npz", "realiser", 99)
    about = {k: v for k, v in store.about.items() if k not in ("kind", "version")}
    write_store(tmp_path / "b.npz", "realiser", 99, about, store.arrays)
    with pytest.raises(
        kt.InputError, match=f"of version 99, and this Karat reads version {VERSION}"
    ):
        open_realizer(tmp_path / "b.npz")


@pytest.mark.parametrize("lost", ["fergus.tree_keys", "fergus.labels", "fergus.lm_p"])
def test_models_that_lack_a_part_are_called_damaged(
    model: RealizerModel, tmp_path: Path, lost: str
) -> None:
    model.save(tmp_path / "a.npz")
    store = read_store(tmp_path / "a.npz", KIND, VERSION)
    arrays = {name: array for name, array in store.arrays.items() if name != lost}
    about = {k: v for k, v in store.about.items() if k not in ("kind", "version")}
    write_store(tmp_path / "b.npz", KIND, VERSION, about, arrays)
    with pytest.raises(kt.InputError, match="damaged"):
        open_realizer(tmp_path / "b.npz")


def test_models_whose_numbers_point_outside_are_called_damaged(
    model: RealizerModel, tmp_path: Path
) -> None:
    model.save(tmp_path / "a.npz")
    store = read_store(tmp_path / "a.npz", KIND, VERSION)
    about = {k: v for k, v in store.about.items() if k not in ("kind", "version")}
    arrays = dict(store.arrays)
    arrays["fergus.labels"] = arrays["fergus.labels"] + np.int32(10**6)
    write_store(tmp_path / "b.npz", KIND, VERSION, about, arrays)
    with pytest.raises(kt.InputError, match=r"damaged .*out of range"):
        open_realizer(tmp_path / "b.npz")
    slots = np.array(store.arrays["fergus.words_slots"])
    slots[0] = np.iinfo(np.int32).max
    write_store(
        tmp_path / "b.npz", KIND, VERSION, about, {**store.arrays, "fergus.words_slots": slots}
    )
    with pytest.raises(kt.InputError, match=r"damaged .*points outside"):
        open_realizer(tmp_path / "b.npz")


def test_baselines_whose_counts_are_cut_short_are_called_damaged(
    model: RealizerModel, tmp_path: Path
) -> None:
    model.save(tmp_path / "a.npz")
    store = read_store(tmp_path / "a.npz", KIND, VERSION)
    about = {k: v for k, v in store.about.items() if k not in ("kind", "version")}
    short = store.arrays["fergus.lr_1_counts"][:-1]
    arrays = {**store.arrays, "fergus.lr_1_counts": short}
    write_store(tmp_path / "b.npz", KIND, VERSION, about, arrays)
    with pytest.raises(kt.InputError, match=r"damaged .*keys and"):
        open_realizer(tmp_path / "b.npz")


def with_a_nan(cells: np.ndarray) -> np.ndarray:
    """The n-grams of a model, the first of which has a probability that is no number."""
    orders = cells.copy()
    first = int(np.flatnonzero(orders[::2] != 2**64 - 1)[0])
    orders[2 * first + 1] |= np.uint64(0x7FC00000)
    return orders


def test_models_whose_language_model_has_no_numbers_are_called_damaged(
    model: RealizerModel, tmp_path: Path
) -> None:
    model.save(tmp_path / "a.npz")
    store = read_store(tmp_path / "a.npz", KIND, VERSION)
    about = {k: v for k, v in store.about.items() if k not in ("kind", "version")}
    arrays = {**store.arrays, "fergus.lm_table_2": with_a_nan(store.arrays["fergus.lm_table_2"])}
    write_store(tmp_path / "b.npz", KIND, VERSION, about, arrays)
    with pytest.raises(kt.InputError, match=r"damaged \(its language model has probabilities that"):
        open_realizer(tmp_path / "b.npz")


def test_a_changed_byte_is_found(model: RealizerModel, tmp_path: Path) -> None:
    model.save(tmp_path / "a.npz")
    full_result = (tmp_path / "a.npz").read_bytes()
    keys = model.require_fergus().chooser.keys.tobytes()
    at = full_result.index(keys) + len(keys) // 2
    (tmp_path / "b.npz").write_bytes(
        full_result[:at] + bytes([full_result[at] ^ 1]) + full_result[at + 1 :]
    )
    with pytest.raises(kt.InputError, match=r"tree_keys.npy: its checksum differs"):
        open_realizer(tmp_path / "b.npz")


@pytest.mark.parametrize("odd", [{"lm": float("nan")}, {"width": 0}, {"beam": 10**12}, {"lm": "x"}])
def test_models_whose_weights_are_none_are_called_damaged(
    model: RealizerModel, tmp_path: Path, odd: dict[str, object]
) -> None:
    model.save(tmp_path / "a.npz")
    store = read_store(tmp_path / "a.npz", KIND, VERSION)
    about = {k: v for k, v in store.about.items() if k not in ("kind", "version")}
    about["parts"]["fergus"]["weights"] |= odd
    write_store(tmp_path / "b.npz", KIND, VERSION, about, store.arrays)
    with pytest.raises(kt.InputError, match="damaged"):
        open_realizer(tmp_path / "b.npz")


def star(n: int) -> str:
    lines = ["1\tis\t_\tVERB\t_\t_\t0\troot\t_\t_"]
    lines += [f"{i}\tw{i}\t_\tNOUN\t_\t_\t1\tobl\t_\t_" for i in range(2, n + 2)]
    return "\n".join(lines) + "\n\n"


@pytest.mark.parametrize("inputs", ["words", "all"])
@pytest.mark.parametrize("n", [0, 1, 7, 60, 150])
def test_a_head_may_have_any_number_of_daughters(
    model: RealizerModel, tmp_path: Path, n: int, inputs: str
) -> None:
    (tmp_path / "a.conllu").write_text(star(n))
    trees = read_trees(tmp_path / "a.conllu", inputs)
    for realizer in model.realizers(inputs):
        (orders,) = realizer.realize(trees, 2)
        assert all(sorted(order.nodes) == list(range(n + 1)) for order in orders)
    fergus = model.require_fergus()
    lattice = unravel(fergus.chooser, trees, fergus.chooser.choose(trees), fergus.weights)
    assert lattice.states <= fergus.weights.width * (n + 2)


@pytest.mark.parametrize("k", [30, 300])
def test_many_orders_of_a_crowded_head_are_found(
    model: RealizerModel, tmp_path: Path, k: int
) -> None:
    (tmp_path / "a.conllu").write_text(star(60))
    trees = read_trees(tmp_path / "a.conllu")
    fergus = model.require_fergus()
    (path,), _ = fergus.linearize(trees, fergus.chooser.choose(trees), k)
    assert len({order.nodes for order in path}) == k
    assert [order.score for order in path] == sorted((o.score for o in path), reverse=True)


def test_an_explanation_tells_how_far_it_is_and_can_be_stopped(
    model: RealizerModel, demo: Treebank
) -> None:
    message: list[tuple[int, int, str]] = []
    trees = input_trees(demo, "words")
    explain_tree(model, trees, 0, 8, progress=lambda *told: message.append(told))
    assert [subject for _, _, subject in message][:2] == ["choosing supertags", "choosing paths"]
    assert message[2:] == [(done, 10, "realising supertags") for done in range(2, 10)]

    def stop(done: int, total: int, subject: str) -> None:
        if subject == "realising supertags":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explain_tree(model, trees, 0, 8, progress=stop)


def test_a_sentence_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(star(3) + star(1000))
    with pytest.raises(InputError, match=r"a.conllu, line 6: 1,001 words: expected at most 1,000"):
        read_trees(tmp_path / "a.conllu")


def test_a_deep_tree_is_realised(model: RealizerModel, tmp_path: Path) -> None:
    n = 1000
    rows = [
        f"{i}\tw\t_\tNOUN\t_\t_\t{i - 1}\t{'root' if i == 1 else 'nmod'}\t_\t_"
        for i in range(1, n + 1)
    ]
    (tmp_path / "a.conllu").write_text("\n".join(rows) + "\n\n")
    (order,) = model.require_fergus().realize(read_trees(tmp_path / "a.conllu"))
    assert sorted(order[0].nodes) == list(range(n))


def test_a_deep_tree_is_explained(model: RealizerModel, tmp_path: Path) -> None:
    rows = [
        f"{i}\tthe\t_\tNOUN\t_\t_\t{i - 1}\t{'root' if i == 1 else 'nmod'}\t_\t_"
        for i in range(1, 1001)
    ]
    (tmp_path / "a.conllu").write_text("\n".join(rows) + "\n\n")
    supertags = explain_tree(model, read_trees(tmp_path / "a.conllu"), 0, 1).supertags
    assert supertags is not None
    assert supertags.lattice.expanded() is None
    assert len(supertags.best.nodes) == 1000
    with pytest.raises(InputError, match="has 1,000 words: a lattice that is not pruned"):
        explain_tree(model, read_trees(tmp_path / "a.conllu"), 0, 1, unpruned=True)


def test_a_word_with_many_daughters_has_no_unpruned_lattice(
    model: RealizerModel, tmp_path: Path
) -> None:
    rows = [f"{i}\tw{i}\t_\tNOUN\t_\t_\t{i > 1:d}\tdep\t_\t_" for i in range(1, 11)]
    (tmp_path / "a.conllu").write_text("\n".join(rows) + "\n\n")
    with pytest.raises(InputError, match="'w1' has 9 daughters"):
        explain_tree(model, read_trees(tmp_path / "a.conllu"), 0, 1, unpruned=True)


def test_words_tags_and_relations_never_seen_are_realised(
    model: RealizerModel, tmp_path: Path
) -> None:
    (tmp_path / "a.conllu").write_text(
        "1\tqwxz\t_\tQQ\t_\t_\t2\tzz\t_\t_\n2\t日本\t_\t_\t_\t_\t0\troot\t_\t_\n"
        "3\tblorfs\t_\tVERB\t_\t_\t2\tobj\t_\t_\n\n"
    )
    for inputs in ("words", "all"):
        (orders,) = first(model, tmp_path / "a.conllu", inputs)
        assert sorted(orders.split()) == ["blorfs", "qwxz", "日本"]


def test_a_treebank_without_projective_trees_teaches(tmp_path: Path) -> None:
    item = (
        "1\ta\t_\tX\t_\t_\t3\tdet\t_\t_\n2\tb\t_\tX\t_\t_\t4\tdet\t_\t_\n"
        "3\tc\t_\tX\t_\t_\t0\troot\t_\t_\n4\td\t_\tX\t_\t_\t3\tobj\t_\t_\n\n"
    )
    path = tmp_path / "a.conllu"
    path.write_text(item * 3)
    model = train_realizer(read_treebank(path), "fergus")
    assert first(model, path) == ["a c b d"] * 3  # the best that keeps subtrees together


def test_a_treebank_without_tags_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    with pytest.raises(kt.InputError, match="no tags: expected a treebank with UPOS"):
        train_realizer(read_treebank(path), "fergus")


def test_a_treebank_of_one_word_is_enough(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text("1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n")
    assert first(train_realizer(read_treebank(path), "fergus"), path) == ["a"]


def test_the_grammar_counts_every_word_once(demo: Treebank) -> None:
    trees = input_trees(demo, "all")
    orders = extract_grammar(trees, gold_frames(trees)).supertags()
    assert sum(supertag.times for supertag in orders) == len(trees.words)
    assert [s.times for s in orders] == sorted((s.times for s in orders), reverse=True)
    det = [s for s in orders if s.relation == "det"]
    assert sum((s.left or 0) * s.times for s in det) > 0.9 * sum(s.times for s in det)
    assert all(s.kind == "argument" for s in orders if s.relation in ARGUMENTS)


@pytest.mark.parametrize("k", [1, 2])
def test_left_and_right_go_to_the_likelier_side(tmp_path: Path, k: int) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(random_treebank(7, 60))
    bank = read_treebank(path)
    fergus = Fergus.train(bank)
    trees = input_trees(bank, "words")
    orders = fergus.baselines[1].realize(trees, k)
    lefts = sides(trees)
    for i, tree_orders in enumerate(orders):
        start = int(trees.offsets[i])
        place = {node: at for at, node in enumerate(tree_orders[0].nodes)}
        for node, head in enumerate(trees.heads[trees.slice(i)].tolist()):
            if head < 0:
                continue
            p = left_share(lefts, trees.words[start + node], trees.words[start + head])
            if p != 0.5:
                assert (place[node] < place[head]) == (p > 0.5)


def crowded(lefts: int, rights: int) -> str:
    """A head with so many daughters on each side, all of other words."""
    head = lefts + 1
    words = [f"l{i}" for i in range(lefts)] + ["is"] + [f"r{i}" for i in range(rights)]
    rows = [
        f"{i}\t{word}\t_\tNOUN\t_\t_\t{0 if i == head else head}\t"
        f"{'root' if i == head else 'obl'}\t_\t_"
        for i, word in enumerate(words, 1)
    ]
    return "\n".join(rows) + "\n\n"


@pytest.mark.parametrize("k", [1, 2])
def test_sides_are_kept_however_many_daughters_there_are(tmp_path: Path, k: int) -> None:
    path = tmp_path / "a.conllu"
    path.write_text("".join(crowded(n, 20 - n) for n in (4, 10, 16)))
    trees = read_trees(path)
    orders = Fergus.train(read_treebank(path)).baselines[1].realize(trees, k)
    for i, tree_orders in enumerate(orders):
        words = trees.sentence(i, tree_orders[0].nodes).split()
        kinds = [word[0] for word in words]
        assert kinds == sorted(kinds, key="lir".index)


@pytest.mark.parametrize("baseline", [0, 1])
def test_the_language_model_chooses_among_the_orders_of_a_side(
    demo: Treebank, model: RealizerModel, baseline: int
) -> None:
    fergus = model.require_fergus()
    trees = input_trees(demo, "words").select([0])
    (orders,) = fergus.baselines[baseline].realize(trees, 20)
    sentences = [trees.sentence(0, order.nodes) for order in orders]
    assert len(set(sentences)) > 1
    scores = log(10) * fergus.lm.score(sentences)
    assert [order.score for order in orders] == pytest.approx(scores.tolist(), abs=1e-4)
    assert scores.tolist() == sorted(scores.tolist(), reverse=True)


def test_baselines_count_sides_in_random_and_in_real_trees(model: RealizerModel) -> None:
    random_trees, real_trees = model.require_fergus().baselines
    assert [random_trees.name, real_trees.name] == ["LR, random trees", "LR, real trees"]
    assert len(random_trees.keys) != len(real_trees.keys)


def sides(trees: InputTrees) -> dict[tuple[str, ...], list[bool]]:
    """For every lexeme, with and without her mother's, whether she was left."""
    orders: dict[tuple[str, ...], list[bool]] = {}
    for node, mother in enumerate(trees.mothers().tolist()):
        if mother >= 0:
            left = bool(trees.places[node] < trees.places[mother])
            word = trees.words[node]
            for key in ((), (word,), (word, trees.words[mother])):
                orders.setdefault(key, []).append(left)
    return orders


def left_share(orders: dict[tuple[str, ...], list[bool]], word: str, mother: str) -> float:
    p = 0.5
    for key in ((), (word,), (word, mother)):
        occurrences = orders.get(key, [])
        p = (sum(occurrences) + p) / (len(occurrences) + 1) if occurrences else p
    return p


def test_words_with_spaces_are_words_of_the_language_model(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(crowded(1, 1).replace("l0", "20 000").replace("r0", "a\u00a0b"))
    trees = read_trees(path)
    fergus = Fergus.train(read_treebank(path))
    assert sorted(lm_words(fergus.lm, trees).tolist()) == [3, 4, 5]
    assert "20␣000" in fergus.lm.table.words(np.arange(6, dtype=np.int32))


def test_words_with_spaces_are_one_word_in_an_evaluation(
    model: RealizerModel, tmp_path: Path
) -> None:
    (tmp_path / "a.conllu").write_text(
        "1\tShe\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tasked\t_\tVERB\t_\t_\t0\troot\t_\t_\n"
        "3\t20 000\t_\tNUM\t_\t_\t2\tobj\t_\t_\n\n"
    )
    trees = read_trees(tmp_path / "a.conllu", "all")
    assert first(model, tmp_path / "a.conllu", "all") == ["she asked 20 000"]
    (output,) = realize_each([model.require_fergus()], trees)
    row = output.scores()
    assert (row.exact, row.simple_tree, row.simple) == (1, 1, 1)


def test_punctuation_is_put_in_where_there_is_none(model: RealizerModel) -> None:
    lm = model.require_fergus().lm
    assert punctuate(lm, ["there was no cost estimate for the second phase"]) == [
        "there was no cost estimate for the second phase ."
    ]
    assert punctuate(lm, ["well , yes"]) == ["well , yes"]


@pytest.mark.parametrize("symbol", ["$", "%", "&", "#", "@", "+", "=", "€", "％", "$$"])
def test_symbols_that_are_read_out_are_no_punctuation(model: RealizerModel, symbol: str) -> None:
    lm = model.require_fergus().lm
    (punctuated,) = punctuate(lm, [f"there was no {symbol} estimate for the second phase"])
    assert punctuated == f"there was no {symbol} estimate for the second phase ."


@pytest.mark.parametrize("text", ["well – yes", "( he said )", "“ no ”", "what ?!", ""])
def test_sentences_with_punctuation_are_left_alone(model: RealizerModel, text: str) -> None:
    assert punctuate(model.require_fergus().lm, [text]) == [text]


def test_on_a_real_treebank_each_model_is_better_than_the_one_before(karat_data: Path) -> None:
    bank = read_treebank(karat_data / "treebank-ewt" / "en_ewt-ud-dev.conllu")
    model = train_realizer(_part(bank, 0, 1600), "fergus")
    trees = input_trees(_part(bank, 1600, 1800), "words")
    rows = [output.scores() for output in realize_each(model.realizers("words"), trees)]
    scores = [row.generation_tree for row in rows]
    assert [row.model for row in rows] == [
        "LR, random trees",
        "LR, real trees",
        "supertags",
    ]
    assert scores == sorted(scores)
    assert scores[-1] > 0.8


def _part(bank: Treebank, begin: int, end: int) -> Treebank:
    a, b = int(bank.offsets[begin]), int(bank.offsets[end])
    columns = [c[a:b] for c in (bank.words, bank.lemmas, bank.upos, bank.xpos, bank.relations)]
    offsets = bank.offsets[begin : end + 1] - a
    per = (bank.ids[begin:end], bank.documents[begin:end], bank.lines[begin:end])
    return Treebank(bank.name, *columns, bank.heads[a:b], offsets, *per)
