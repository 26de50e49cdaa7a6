"""What the fields of words may hold: refused with the line and the word, in every format."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from karat.errors import InputError
from karat.realize import read_input, read_treebank, read_trees
from karat.realize.treebank import features_problem

DEMO = resources.files("karat") / "data" / "treebank" / "demo.conllu"


def rows(
    form: str = "rains",
    lemma: str = "rain",
    upos: str = "VERB",
    features: str = "Number=Sing",
    misc: tuple[str, str] = ("_", "_"),
) -> str:
    """Return a comment and a sentence, whose second word, in line 3, has these fields."""
    return (
        f"# sent_id = s1\n1\tIt\tit\tPRON\tPRP\t_\t2\tnsubj\t_\t{misc[0]}\n"
        f"2\t{form}\t{lemma}\t{upos}\tVBZ\t{features}\t0\troot\t_\t{misc[1]}\n\n"
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "t"


@pytest.mark.parametrize(
    ("features", "expected_message"),
    [
        ("Number", "'Number', expected features such as Number=Sing|Person=3"),
        ("Number=Sing|", "expected features such as"),
        ("=Sing", "expected features such as"),
        ("A=B=C", "expected features such as"),
        ("Number=Sing|Number=Plur", "'Number=Sing|Number=Plur', expected 'Number' once"),
        ("", "'', expected features such as Number=Sing|Person=3, or _"),
    ],
)
def test_malformed_features_are_refused(path: Path, features: str, expected_message: str) -> None:
    path.write_text(rows(features=features), "utf-8")
    for read in (read_input, read_treebank):
        with pytest.raises(InputError) as error:
            read(path)
        message = str(error.value)
        assert "t, line 3, word 2: features (FEATS) is " in message
        assert expected_message in message


@pytest.mark.parametrize(
    "features", ["_", "A=B,C", "Tense[aux]=Past", "lin=+1|lin=-1|A=B", "_|original_id=1", "x=1"]
)
def test_features_of_treebanks_and_of_the_tasks_are_fine(features: str) -> None:
    assert features_problem(features) == ""


@pytest.mark.parametrize("features", ["Complete=Maybe", "complete=no", "Number=Sing|Complete=Yes"])
def test_complete_is_no_or_absent(path: Path, features: str) -> None:
    path.write_text(rows(features=features), "utf-8")
    with pytest.raises(InputError, match=r"t, line 3, sentence s1, word 2: .*expected Complete="):
        read_input(path)
    read_treebank(path)  # a treebank may have a feature of that name
    path.write_text(rows(features="Complete=No|Number=Sing"), "utf-8")
    assert read_input(path).features[1] == "Complete=No|Number=Sing"


@pytest.mark.parametrize("mark", ["\0", "\x1b", "\x0b", "\x85", "\u2028"])
def test_control_characters_are_refused_in_trees(path: Path, mark: str) -> None:
    for field in ("form", "lemma"):
        path.write_text(rows(**{field: f"a{mark}b"}), "utf-8")
        with pytest.raises(
            InputError, match=rf"line 3, .*word 2: {field} [(].*[)] is .*no control char"
        ):
            read_input(path)


def test_blank_lemmas_are_refused_in_trees(path: Path) -> None:
    path.write_text(rows(lemma="\u00a0 "), "utf-8")
    with pytest.raises(
        InputError, match=r"line 3, .*word 2: lemma .LEMMA. is .*, expected more than"
    ):
        read_input(path)


def test_a_missing_form_is_refused_where_forms_are_needed(path: Path) -> None:
    path.write_text(rows(form="_"), "utf-8")
    message = "t, line 3, sentence s1, word 2: no form: give it in the second column"
    with pytest.raises(InputError, match=message):
        read_treebank(path)
    for inputs in ("words", "all"):
        with pytest.raises(InputError, match=message):
            read_trees(path, inputs)
    assert len(read_trees(path, "lemmas")) == 1
    path.write_text(rows(form="_", lemma="_"), "utf-8")  # an underscore
    assert read_treebank(path).words == ["It", "_"]


def test_an_original_id_stands_once_in_a_sentence(path: Path) -> None:
    path.write_text(rows(misc=("original_id=2", "original_id=1")) * 2, "utf-8")
    assert read_input(path).words == ["rains", "It"] * 2
    assert read_input(path).word_lines == [3, 2, 7, 6]
    path.write_text(rows(misc=("original_id=4", "original_id=4")), "utf-8")
    message = "line 3, sentence s1, word 2: another word of the sentence has original_id=4 too"
    for read in (read_input, read_treebank):
        with pytest.raises(InputError, match=message):
            read(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t is empty: expected CoNLL-U, brackets or JSON"),
        ("\n# a\n", "t: no sentences: expected CoNLL-U, brackets or JSON"),
        ("# a\nIt rains.\n", "t, line 2: found 'It rains.', expected CoNLL-U, brackets or JSON"),
        (rows(upos="_").replace("PRON", "_"), r"line \d, .*no tags \(UPOS\): --inputs lemmas need"),
        (rows(lemma="_"), "t, line 3, sentence s1, word 2: no lemma: give it in the third column"),
        ("(rain\n (it))", r"t, line 1: no tags \(UPOS\): --inputs lemmas needs them, give one"),
    ],
)
def test_what_lacks_is_named_with_its_line(path: Path, text: str, message: str) -> None:
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=message):
        read_trees(path, "lemmas")


@pytest.mark.parametrize("text", ["(rain root VERB)", '{"lemma": "rain"}'])
def test_a_treebank_is_conllu(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match="t: found trees in brackets or JSON: a treebank needs Co"):
        read_treebank(path)


def test_the_bundled_treebank_is_read_with_its_lines() -> None:
    with resources.as_file(DEMO) as place:
        bank, lines = read_treebank(place), place.read_text("utf-8").split("\n")
        read_input(place)
    splits = [lines[line - 1].split("\t")[1] for line in bank.word_lines]
    assert splits == bank.words
