"""Trees in brackets and JSON: recognised, read with their lines, and deep ones."""

from __future__ import annotations

import pytest

from karat.errors import InputError
from karat.realize.tree_notation import read_notation
from karat.realize.treebank import is_notation

TREE = '(see root VERB VBD Tense=Past|Mood=Ind\n  (cat nsubj NOUN)\n  ("(" punct PUNCT (a det)))\n'


@pytest.mark.parametrize(
    ("text", "result"),
    [
        (TREE, True),
        (f"\ufeff# a comment\n\n  {TREE}", True),
        ('{"lemma": "a"}', True),
        ('[{"lemma": "a"}]', True),
        ("# sent_id = (1)\n1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n", False),
        ("# a comment alone", False),
        ("", False),
    ],
)
def test_notation_is_recognised(text: str, result: bool) -> None:
    assert is_notation(text.encode()) is result


def test_brackets_are_read_in_their_order() -> None:
    treebank = read_notation(f"# first\n{TREE}\n{TREE}".encode(), "t")
    assert treebank.words[:4] == ["see", "cat", "(", "a"]
    assert treebank.heads[:4].tolist() == [0, 1, 1, 3]
    assert treebank.relations[:4] == ["root", "nsubj", "punct", "det"]
    assert treebank.xpos[:2] == ["VBD", "_"]
    assert treebank.features[:2] == ["Mood=Ind|Tense=Past", ""]
    assert treebank.offsets.tolist() == [0, 4, 8]
    assert treebank.lines.tolist() == [2, 6]


def test_lines_of_json() -> None:
    treebank = read_notation(b'\n{"lemma": "a"}\n\n[{"lemma": "b"}, {"lemma": "c"}]\n', "t")
    assert treebank.words == ["a", "b", "c"]
    assert treebank.lines.tolist() == [2, 4, 4]
    with pytest.raises(InputError, match="t, line 2, tree 3: found 7, expected an object"):
        read_notation(b'[{"lemma": "a"}, {"lemma": "b"}]\n7', "t")


def test_a_deep_tree_is_read_in_brackets_and_refused_in_json() -> None:
    depth = 3000
    assert len(read_notation(b"(a" * depth + b")" * depth, "t").words) == depth
    deep = b'{"lemma": "a", "daughters": [' * depth + b"]}" * depth
    with pytest.raises(InputError, match="t, line 2: a tree is nested too deeply for JSON: write"):
        read_notation(b"\n" + deep, "t")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"lemma": "a", "lemma": "b"}', "an object has the member 'lemma' twice: give it once"),
        (f'{{"lemma": {"1" * 5000}}}', "lemma is inf, expected a string"),
        ('{"lemma": "a", "features": {"Number": ["Sing"]}}', "'Number' is .*, expected a string"),
        ('{"lemma": "a", "features": "Sing"}', "expected features such as Number=Sing"),
        ('{"lemma": "a\\nb"}', "expected no control characters, line ends or halves"),
        ('{"lemma": "\\ud800"}', "expected no control characters, line ends or halves"),
        ('{"lemma": " "}', "expected more than spaces"),
        ("(a root X Y Sing)", "line 1, column 13: features is 'Sing', expected features such as"),
        ("(a root X Y T=P|T=Q)", "features is 'T=P.T=Q', expected 'T' once"),
        ("(a root X Y T=P=Q)", "features is 'T=P=Q', expected features such as"),
        ("(a root X Y complete=no)", "features is 'complete=no', expected Complete=No, or no"),
        ('{"lemma": "a", "features": "Complete=Maybe"}', "'Complete=Maybe', expected Complete=No"),
        (
            '{"lemma": "a", "features": {"Number": "Sing|Person=3"}}',
            "the feature 'Number' is 'Sing.Person=3', expected a name and a value without = and",
        ),
        ('{"lemma": "a", "features": {"A=B": "C"}}', "the feature 'A=B' is 'C', expected a name"),
        ('{"lemma": null}', "tree 1: lemma is null, expected a string"),
        ('{"lemma": "a", "daughters": true}', "daughters is true, expected a list"),
        ('{"lemma": "a", "features": [null]}', r"features is \[null\], expected a string"),
        (
            '(a root\n  ("it"x nsubj))',
            "line 2, column 8: expected a space or bracket after the quo",
        ),
        (
            '(a root\n  (it"x" nsubj))',
            "line 2, column 6: expected a space or bracket before the qu",
        ),
        ('(a root ("b""c"))', "line 1, column 13: expected a space or bracket after the quotation"),
        ("(a\0 root)", "line 1, column 2: lemma is 'a.x00', expected no control characters"),
    ],
)
def test_what_would_be_lost_or_break_a_line_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_notation(text.encode(), "t")


def test_apostrophes_and_escaped_marks_are_parts_of_words() -> None:
    treebank = read_notation(b'(rock\'n\'roll root X ("6\\"" obj) (a dep X Y Complete=No))', "t")
    assert treebank.words == ["rock'n'roll", '6"', "a"]
