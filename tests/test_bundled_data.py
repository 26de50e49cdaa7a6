"""The bundled parallel text, judged paraphrases and treebank: whole and valid."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import pytest

import karat
from karat.text.trees import read_conllu

DATA = Path(karat.__file__).parent / "data"
PARALLEL = DATA / "paraphrase" / "en-fr.tsv"
JUDGED = DATA / "paraphrase" / "judged.tsv"
TREEBANK = DATA / "treebank" / "demo.conllu"

SCORES = ("adequacy", "fluency", "dissimilarity", "overall")
SYSTEMS = {"close", "free", "clumsy", "wrong"}

UD_TAGS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
UD_RELATIONS = """
    acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse
    dislocated expl fixed flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis
    punct reparandum root vocative xcomp
"""


def _table(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text("utf-8").splitlines()]


# The parallel text.


def test_parallel_lines_are_two_tidy_texts() -> None:
    for row in _table(PARALLEL):
        assert len(row) == 2
        assert all(text and text == " ".join(text.split()) for text in row), row


def test_parallel_pairs_are_many_and_distinct() -> None:
    pairs = [tuple(row) for row in _table(PARALLEL)]
    assert len(pairs) >= 2500
    assert [pair for pair, n in Counter(pairs).items() if n > 1] == []


def test_sentences_end_alike_in_both_languages() -> None:
    def end(text: str) -> str:
        return text[-1] if text[-1] in ".?!" else ""

    assert [row for row in _table(PARALLEL) if end(row[0]) != end(row[1])] == []


def test_the_english_side_is_plain() -> None:
    assert [english for english, _ in _table(PARALLEL) if not english.isascii()] == []


def test_english_wordings_share_french_ones() -> None:
    wordings = defaultdict(set)
    for english, french in _table(PARALLEL):
        wordings[french].add(english)
    assert sum(len(shared) > 1 for shared in wordings.values()) > 0.9 * len(wordings)
    assert {"buy", "purchase"} <= wordings["acheter"]
    assert {"in order to", "to"} <= wordings["pour"]


# The judged paraphrases.


def _judged() -> list[dict[str, str]]:
    header, *rows = _table(JUDGED)
    assert header == ["source", "system", "paraphrase", "judge", *SCORES]
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_every_source_has_every_system_and_judge_once() -> None:
    rows = _judged()
    cells = Counter((row["source"], row["system"], row["judge"]) for row in rows)
    assert {row["system"] for row in rows} == SYSTEMS
    assert len({row["source"] for row in rows}) == 40
    assert len(cells) == len(rows) == 40 * 4 * 2


def test_judges_saw_the_same_paraphrase() -> None:
    paraphrases_shown = defaultdict(set)
    for row in _judged():
        paraphrases_shown[row["source"], row["system"]].add(row["paraphrase"])
    assert {len(paraphrases) for paraphrases in paraphrases_shown.values()} == {1}


def test_scores_are_whole_numbers_from_one_to_five() -> None:
    assert {row[score] for row in _judged() for score in SCORES} <= set("12345")


def test_judges_never_differ_by_more_than_one() -> None:
    ratings = defaultdict(list)
    for row in _judged():
        for score in SCORES:
            ratings[row["source"], row["system"], score].append(int(row[score]))
    assert all(abs(first - second) <= 1 for first, second in ratings.values())


def test_copies_have_the_scores_of_the_paper() -> None:
    copies = [row for row in _judged() if row["paraphrase"] == row["source"]]
    assert {row["system"] for row in copies} == {"close", "free"}
    assert {tuple(row[score] for score in SCORES) for row in copies} == {("5", "5", "1", "2")}


def test_sources_are_not_in_the_parallel_text() -> None:
    parallel_sentences = {english for english, _ in _table(PARALLEL)}
    assert {row["source"] for row in _judged()} & parallel_sentences == set()


# The treebank.


class Sentence(NamedTuple):
    """A sentence's comments and its rows of ten columns."""

    comments: dict[str, str]
    rows: list[list[str]]

    @property
    def heads(self) -> list[int]:
        return [int(row[6]) for row in self.rows]


def _sentences() -> list[Sentence]:
    blocks = TREEBANK.read_text("utf-8").strip().split("\n\n")
    return [_sentence(block.split("\n")) for block in blocks]


def _sentence(lines: list[str]) -> Sentence:
    comments = [line[2:].split(" = ") for line in lines if line.startswith("#")]
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return Sentence(dict(comments), rows)


SENTENCES = _sentences()


def _crossing(heads: list[int]) -> bool:
    """Whether two arcs cross, the root's from 0 among them: i < k < j < l."""
    arcs = sorted(tuple(sorted(arc)) for arc in enumerate(heads, 1))
    return any(i < k < j < last for (i, j), (k, last) in combinations(arcs, 2))


def test_there_are_sentences_and_documents_enough() -> None:
    documents = [s.comments["newdoc id"] for s in SENTENCES if "newdoc id" in s.comments]
    assert len(SENTENCES) >= 120
    assert len(set(documents)) == len(documents) >= 12


def test_sentence_names_and_texts_are_distinct() -> None:
    for key in ("sent_id", "text"):
        assert len({sentence.comments[key] for sentence in SENTENCES}) == len(SENTENCES)


def test_the_first_sentence_is_the_example_of_fergus() -> None:
    words = " ".join(row[1] for row in SENTENCES[0].rows)
    assert words == "There was no cost estimate for the second phase ."
    assert SENTENCES[0].heads == [2, 0, 5, 5, 2, 9, 9, 9, 5, 2]


def test_the_reader_takes_the_treebank() -> None:
    assert len(read_conllu(TREEBANK)) == len(SENTENCES)


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda s: s.comments["sent_id"])
def test_sentences_are_valid(sentence: Sentence) -> None:
    columns = zip(*sentence.rows, strict=True)
    ids, forms, lemmas, tags, penn, _, heads, relations, _, misc = columns
    assert [int(word) for word in ids] == list(range(1, len(ids) + 1))
    assert 4 <= sum(tag != "PUNCT" for tag in tags) <= 18
    assert all((*forms, *lemmas, *penn))
    assert set(tags) <= set(UD_TAGS.split())
    assert {relation.split(":")[0] for relation in relations} <= set(UD_RELATIONS.split())
    assert [relation == "root" for relation in relations] == [head == "0" for head in heads]
    assert relations.count("root") == 1
    assert all(0 <= head <= len(ids) and head != i for i, head in enumerate(sentence.heads, 1))
    spaces = ["" if "SpaceAfter=No" in note else " " for note in misc]
    text = "".join(map(str.__add__, forms, spaces)).strip()
    assert text == sentence.comments["text"]


def test_all_trees_but_two_are_projective() -> None:
    assert sum(_crossing(sentence.heads) for sentence in SENTENCES) == 2


def test_function_words_have_no_dependents_of_their_own() -> None:
    leaves = ("aux", "cop", "mark", "punct", "cc")
    for sentence in SENTENCES:
        relations = [row[7].split(":")[0] for row in sentence.rows]
        assert not any(head and relations[head - 1] in leaves for head in sentence.heads)


def test_words_recur_from_document_to_document() -> None:
    documents = defaultdict(set)
    for sentence in SENTENCES:
        document = sentence.comments["sent_id"].rsplit("-", 1)[0]
        for row in sentence.rows:
            documents[row[2]].add(document)
    words = [row[2] for sentence in SENTENCES for row in sentence.rows]
    assert sum(len(documents[word]) > 1 for word in words) > 0.85 * len(words)
