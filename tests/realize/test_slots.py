"""Slots of content words: what is taken out of trees, the features seen, and how it is scored."""

from __future__ import annotations

from itertools import chain, combinations_with_replacement, permutations, product
from pathlib import Path

import numpy as np
import pytest
from oracles.toy_content import toy_content

from karat import _kernel
from karat.realize.completer import Choice, train_class_model
from karat.realize.completion import list_candidates, widest_filling
from karat.realize.content import (
    SLOTS,
    SlotWord,
    content_trees,
    filling_text,
    is_comma,
    learn_final_marks,
)
from karat.realize.evaluation import slot_scores
from karat.realize.slot_features import NodeFeatures, hash_strings, learn_lemmas, lemma, ragged
from karat.realize.treebank import Treebank, read_treebank


def bank(folder: Path, text: str, name: str = "toy.conllu") -> Treebank:
    path = folder / name
    path.write_text(text, "utf-8")
    return read_treebank(path)


def test_function_words_and_marks_are_taken_out(tmp_path: Path) -> None:
    text = """\
1\tBecause\tbecause\tADP\tIN\t_\t3\tcase\t_\t_
2\tof\tof\tADP\tIN\t_\t1\tfixed\t_\t_
3\train\train\tNOUN\tNN\tNumber=Sing\t8\tobl\t_\t_
4\t,\t,\tPUNCT\t,\t_\t3\tpunct\t_\t_
5\tthe\tthe\tDET\tDT\tDefinite=Def|PronType=Art\t6\tdet\t_\t_
6\tfarm\tfarm\tNOUN\tNN\tNumber=Sing\t8\tnsubj\t_\t_
7\tcould\tcan\tAUX\tMD\tVerbForm=Fin\t8\taux\t_\t_
8\tclose\tclose\tVERB\tVB\tVerbForm=Inf\t0\troot\t_\t_
9\t.\t.\tPUNCT\t.\t_\t8\tpunct\t_\t_

"""
    trees = content_trees(bank(tmp_path, text), frozenset("."))
    assert trees.words == ["close", "farm", "rain"]
    assert trees.features == [
        "Tense[aux]=Pot|VerbForm=Inf",
        "Definite=Def|Number=Sing",
        "Number=Sing",
    ]
    filled = {slot: [filling_text(filling) for filling in trees.fillings[slot]] for slot in SLOTS}
    assert filled["aux"] == ["could", "", ""]
    assert filled["case"] == ["", "", "because of"]
    assert filled["article"] == ["", "the", ""]
    assert filled["final"] == [".", "", ""]
    assert filled["comma"] == ["", "", ","]


def test_a_word_with_daughters_is_a_content_word(tmp_path: Path) -> None:
    text = """\
1\tright\tright\tADV\tRB\t_\t2\tadvmod\t_\t_
2\tin\tin\tADP\tIN\t_\t3\tcase\t_\t_
3\ttown\ttown\tNOUN\tNN\t_\t0\troot\t_\t_

"""
    assert content_trees(bank(tmp_path, text), frozenset()).words == ["town", "in", "right"]


def test_marks_that_end_sentences_are_learned(tmp_path: Path) -> None:
    assert learn_final_marks(bank(tmp_path, toy_content(60, 1))) == frozenset(".?")


def test_scores_of_slots_are_those_of_a_worked_example() -> None:
    def items(*words: str):
        return tuple((SlotWord(word, "aux", "AUX"),) for word in words)

    gold = {"aux": [items("will", "be"), items("is"), ()]}
    result = {"aux": [items("will"), items("was"), items("has")]}
    (score,) = slot_scores("all", "both", ["aux"], gold, result)
    assert (score.precision, score.recall, score.f, score.words) == (1 / 3, 1 / 3, 1 / 3, 3)


def test_probabilities_are_those_of_a_slow_softmax() -> None:
    rng = np.random.default_rng(1)
    table = rng.normal(size=(5, 3)).astype(np.float32)
    rows = [[0, 2, 4], [], [1, 1, 3]]
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    arguments = _kernel.given_rows(np.array([*chain(*rows)], dtype=np.int32), offsets)
    result = _kernel.label_chances(table.reshape(-1), 3, arguments)
    for left, chances in zip(rows, result, strict=True):
        sums = table[left].sum(axis=0)
        expected = np.exp(sums) / np.exp(sums).sum()
        assert np.allclose(chances, expected, atol=1e-6)


def test_rows_that_do_not_fit_are_refused() -> None:
    two = np.array([0, 1], dtype=np.int32)
    with pytest.raises(ValueError, match="offsets do not fit"):
        _kernel.given_rows(two, np.array([0, 1], dtype=np.int64))
    rows = _kernel.given_rows(two, np.array([0, 2], dtype=np.int64))
    with pytest.raises(ValueError, match="beyond the table"):
        _kernel.label_chances(np.zeros(3, dtype=np.float32), 3, rows)


def test_features_of_pairs_are_those_of_a_slow_walk(tmp_path: Path) -> None:
    trees = content_trees(bank(tmp_path, toy_content(12, 4)), frozenset(".?"))
    produced = NodeFeatures(trees, "all", {})
    nodes = produced.sisters.nodes.tolist(), produced.sisters.partners.tolist()
    heads = trees.heads.tolist()
    slow = {
        (i, j)
        for i in range(trees.nodes)
        for j in range(trees.nodes)
        if i != j and heads[i] == heads[j] >= 0
    }
    assert set(zip(*nodes, strict=True)) == slow
    blocks = produced.blocks(produced.columns, {"node": "iw", "daughter": "dr", "sister": "dr"}, 1)
    numbers, offsets = ragged(blocks, trees.nodes, 30)
    counts = [1 + heads.count(i) + sum(a == i for a, _ in slow) for i in range(trees.nodes)]
    assert np.diff(offsets).tolist() == counts
    first = {word: numbers[offsets[i]] for i, word in enumerate(trees.words)}
    assert [first[word] for word in trees.words] == numbers[offsets[:-1]].tolist()
    assert len(set(first.values())) == len(first)


def test_commas_are_told_from_quotation_marks_and_letters_that_are_named_after_them() -> None:
    rest = "\N{HEAVY SINGLE COMMA QUOTATION MARK ORNAMENT}\N{MODIFIER LETTER TURNED COMMA}ș;"
    assert "".join(filter(is_comma, ",，、،՝፣᠂﹐" + rest)) == ",，、،՝፣᠂﹐"


def test_empty_strings_have_a_symbol_of_their_own() -> None:
    assert hash_strings(["a", "", "a"]).tolist()[1] == 0


def item(word: str, relation: str) -> tuple[SlotWord, ...]:
    return (SlotWord(word, relation, "X"),)


def test_fillings_are_shown_in_the_places_of_the_widest() -> None:
    comma, cop, aux = item(",", "punct"), item("be", "cop"), item("will", "aux")
    choice = Choice(0, "comma", (((), 0.5), ((comma, comma), 0.3), ((comma,), 0.2)))
    assert widest_filling(choice) == (comma, comma)
    possible_paths = [
        (candidate.chance, candidate.placement)
        for candidate in list_candidates(choice, widest_filling(choice))
    ]
    two = [(0.2, (comma, None)), (0.2, (None, comma))]
    assert possible_paths == [(0.5, (None, None)), (0.3, (comma, comma)), *two]
    # The best filling has no place in the longer one, and stays.
    other = Choice(0, "aux", (((aux,), 0.5), ((cop, cop), 0.4), ((item("can", "aux"),), 0.1)))
    assert widest_filling(other) == (aux,)
    assert [candidate.chance for candidate in list_candidates(other, (aux,))] == [0.5, 0.1]


def test_ways_are_the_first_of_all_permutations() -> None:
    marks = [item(word, "punct") for word in ('"', ")", ",")] + [item("be", "cop")]
    sample = [part for n in range(5) for part in combinations_with_replacement(sorted(marks), n)]
    for filling, wide in product(sample, sample):
        fits = [
            tuple(dict(zip(at, filling, strict=True)).get(k) for k in range(len(wide)))
            for at in permutations(range(len(wide)), len(filling))
            if all(a[0].relation == wide[k][0].relation for a, k in zip(filling, at, strict=True))
        ]
        choice = Choice(0, "other", ((filling, 1.0),))
        placements = [candidate.placement for candidate in list_candidates(choice, wide)]
        assert placements == list(dict.fromkeys(fits))[:4]


def test_rare_fillings_are_not_tried() -> None:
    choice = Choice(0, "case", (((item("in", "case"),), 0.97), ((item("on", "case"),), 0.01)))
    assert [candidate.chance for candidate in list_candidates(choice, widest_filling(choice))] == [
        0.97
    ]


def test_lemmas_of_forms_are_learned(tmp_path: Path) -> None:
    lines = ["1\tGoes\tgo\tV\tV\t_\t0\troot\t_\t_\n\n"] * 2
    lines.append("1\tgoes\tgoes\tV\tV\t_\t0\troot\t_\t_\n\n1\tx\t_\tV\tV\t_\t0\troot\t_\t_\n\n")
    expected = learn_lemmas(bank(tmp_path, "".join(lines)))
    assert expected == {"goes": "go"}
    assert [lemma(word, expected) for word in ("goes", "x", "1999")] == ["go", "x", "0000"]


def test_frequent_words_stand_for_themselves(tmp_path: Path) -> None:
    lines = "1\tThe\tthe\tDET\tX\t_\t2\tdet\t_\t_\n2\tw{n}\tw\tNOUN\tX\t_\t0\troot\t_\t_\n\n"
    result = train_class_model(bank(tmp_path, "".join(lines.format(n=n) for n in range(50))))
    assert result.frequent == {"the"}
    assert [result.token("the", "DET"), result.token("w1", "NOUN")] == ["the", "NOUN"]
    likely, odd = result.model.score(["the NOUN", "NOUN the"])
    assert likely > odd


def test_every_word_of_a_real_treebank_is_kept_or_in_a_slot(karat_data: Path) -> None:
    treebank = read_treebank(karat_data / "treebank-sequoia" / "fr_sequoia-ud-dev.conllu")
    trees = content_trees(treebank, frozenset(".?!:…"))
    chosen = {slot: sum(map(len, trees.fillings[slot])) for slot in SLOTS[:5]}
    assert chosen == {"aux": 336, "mark": 223, "case": 1480, "cc": 220, "article": 1351}
    words = [item for slot in SLOTS for filling in trees.fillings[slot] for item in filling]
    assert trees.nodes + sum(map(len, words)) == len(treebank.words)
