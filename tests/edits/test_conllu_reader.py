"""CoNLL-U: what is read, what is passed over, and what is refused with file, line and sentence."""

from __future__ import annotations

import gzip
from contextlib import suppress

import pytest
from oracles import conllu_lines

import karat as kt
from karat.errors import InputError


def word(number, form, head, enhanced="_"):
    """A line of ten columns."""
    return f"{number}\t{form}\t{form}\tX\t_\t_\t{head}\tdep\t{enhanced}\t_"


GOOD = "\n".join(
    [
        "# newdoc id = d",
        "# sent_id = s-1",
        "# text = don't go",
        word("1-2", "don't", "_"),
        word(1, "do", 3, "3:aux|3.1:conj"),
        word(2, "n't", 3),
        word(3, "go", 0),
        word("3.1", "elided", "_", "3:conj"),
        "",
        word(1, "New York", 0),
        "",
        "",
    ]
)


def write(tmp_path, text, name="t.conllu"):
    """A file with this text."""
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "\n", "\n\n\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_words_and_heads(tmp_path, ending, last, mark):
    text = mark + GOOD.rstrip("\n") + last
    trees = kt.read_conllu(write(tmp_path, text.replace("\n", ending)))
    assert [tree for group in trees for tree in group] == [
        kt.Tree(("do", "n't", "go"), (3, 3, 0), "s-1"),
        kt.Tree(("New York",), (0,)),
    ]


def test_compressed(tmp_path):
    path = tmp_path / "t.conllu.gz"
    path.write_bytes(gzip.compress(GOOD.encode()))
    assert len(kt.read_conllu(path)) == 2


def test_scoring_with_a_file_of_trees(tmp_path):
    trees = kt.read_conllu(write(tmp_path, GOOD))
    score = kt.metric("simple_tree_accuracy").corpus(["do n't go", "York"], trees)
    assert (score.parts["insertions"], score.parts["deletions"]) == (1, 1)
    with pytest.raises(InputError, match=r"candidates has 1 segment and .*t\.conllu has 2"):
        kt.metric("simple_tree_accuracy").corpus(["do n't go"], trees)


BAD = {
    "columns": (word(1, "a", 0) + "\textra", 4, "found 11 columns, expected 10"),
    "spaces": ("1 a a X _ _ 0 root _ _", 4, "found 1 columns, expected 10"),
    "gap": (word(1, "a", 0) + "\n" + word(3, "b", 1), 5, 'found word id "3", expected 2'),
    "id": (word("x", "a", 0), 4, 'found word id "x", expected 1'),
    "form": (word(1, "", 0), 4, "word 1 has no form"),
    "head": (word(1, "a", "_"), 4, 'word 1 has head "_", expected a number'),
    "negative": (word(1, "a", "-1"), 4, 'word 1 has head "-1"'),
    "huge": (word(1, "a", "9" * 30), 4, "expected a number"),
    "outside": (word(1, "a", 2), 3, "word 1 has head 2, but there are 1 words"),
    "roots": (word(1, "a", 0) + "\n" + word(2, "b", 0), 3, "words 1 and 2 are both roots"),
    "none": (word(1, "a", 2) + "\n" + word(2, "b", 1), 3, "no root"),
    "cycle": (
        "\n".join([word(1, "a", 0), word(2, "b", 3), word(3, "c", 2)]),
        3,
        "a cycle",
    ),
    "self": (word(1, "a", 0) + "\n" + word(2, "b", 2), 3, "a cycle"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_names_file_line_and_sentence(tmp_path, kind):
    lines, line, problem = BAD[kind]
    text = word(1, "fine", 0) + f"\n\n# sent_id = bad-7\n{lines}\n\n"
    with pytest.raises(InputError) as caught:
        kt.read_conllu(write(tmp_path, text))
    message = str(caught.value)
    assert f"t.conllu, line {line}, sentence bad-7: " in message
    assert problem in message


def test_bytes_that_are_no_text(tmp_path):
    with pytest.raises(InputError, match=r"line 2: not valid UTF-8"):
        kt.read_conllu(write(tmp_path, b"# x\n1\t\xff\n"))


@pytest.mark.parametrize("text", ["\n\n", "# sent_id = 1\n"])
def test_files_without_sentences(tmp_path, text):
    with pytest.raises(InputError, match="no sentences"):
        kt.read_conllu(write(tmp_path, text))


def test_missing_and_empty_files(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        kt.read_conllu(tmp_path / "none.conllu")
    with pytest.raises(InputError, match="is empty"):
        kt.read_conllu(write(tmp_path, ""))


def test_a_cut_file_is_read_or_refused(tmp_path):
    for end in range(1, len(GOOD)):
        with suppress(InputError):
            assert len(kt.read_conllu(write(tmp_path, GOOD[:end]))) in (1, 2)


@pytest.mark.parametrize("part", ["train", "dev"])
def test_ewt_is_read_as_a_slow_reader_reads_it(karat_data, part):
    path = karat_data / "treebank-ewt" / f"en_ewt-ud-{part}.conllu"
    trees = kt.read_conllu(path)
    slow = conllu_lines.read(path)
    assert len(trees) == len(slow) == {"train": 12_544, "dev": 2_001}[part]
    for (tree,), (name, words, heads) in zip(trees, slow, strict=True):
        assert (tree.id, list(tree.words), list(tree.heads)) == (name, words, heads)


def test_ewt_against_itself_scores_one(karat_data):
    trees = kt.read_conllu(karat_data / "treebank-ewt" / "en_ewt-ud-dev.conllu")
    texts = [str(tree) for (tree,) in trees]
    assert kt.metric("simple_tree_accuracy").corpus(texts, trees).value == 1
