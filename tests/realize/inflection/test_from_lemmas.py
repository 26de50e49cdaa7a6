"""Sentences from lemmas: a small language is learned, and nothing of the file's order is seen."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from oracles.scrambled import scrambled
from oracles.toy_lemmas import toy_lemmas

import karat as kt
from karat.realize import RealizerModel, read_trees, realize_trees
from karat.realize import ordering as ordering_training
from karat.realize.cli import command


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A model of the small language, in a file."""
    place = tmp_path_factory.mktemp("lemmas")
    (place / "train.conllu").write_text(toy_lemmas(160, 1), "utf-8")
    (place / "test.conllu").write_text(toy_lemmas(30, 2), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordering_training, "BITS", 16)
        bank = kt.read_treebank(place / "train.conllu")
        kt.train_realizer(bank, "ordering", inputs="lemmas").save(place / "model.npz")
        yield place


@pytest.fixture(scope="module")
def model(folder: Path) -> RealizerModel:
    return kt.open_realizer(folder / "model.npz")


def texts(model: RealizerModel, path: Path, *, detokenise: bool = True) -> list[str]:
    sentences = realize_trees(model, read_trees(path, "lemmas"), detokenise=detokenise)
    return [row.sentence for row in sentences.rows]


def as_written(text: str) -> list[str]:
    """The text of CoNLL-U."""
    text_lines = []
    for part in text.strip().split("\n\n"):
        rows = [line.split("\t") for line in part.split("\n") if not line.startswith("#")]
        text_lines.append(
            "".join(r[1] + ("" if r[9] == "SpaceAfter=No" else " ") for r in rows).strip()
        )
    return text_lines


def test_the_language_is_learned(model: RealizerModel, folder: Path) -> None:
    text = (folder / "test.conllu").read_text("utf-8")
    assert texts(model, folder / "test.conllu") == as_written(text)


def test_without_detokenise_words_have_spaces_between_them(
    model: RealizerModel, folder: Path
) -> None:
    text_lines = texts(model, folder / "test.conllu", detokenise=False)
    assert text_lines[0].endswith(" .")
    assert any(" n't " in sentence for sentence in text_lines)


def test_neither_the_order_nor_the_capitals_of_the_file_are_seen(
    model: RealizerModel, folder: Path, tmp_path: Path
) -> None:
    text = (folder / "test.conllu").read_text("utf-8")
    expected = texts(model, folder / "test.conllu")
    for seed in range(3):
        rows = [line.split("\t") for line in scrambled(text, seed).split("\n")]
        for row in rows:
            if len(row) > 1:
                row[1], row[2] = "_", row[2].lower()
        path = tmp_path / "scrambled.conllu"
        path.write_text("\n".join("\t".join(row) for row in rows), "utf-8")
        assert [item.lower() for item in texts(model, path)] == [item.lower() for item in expected]


def test_forms_that_were_never_seen(model: RealizerModel, tmp_path: Path) -> None:
    path = tmp_path / "trees.txt"
    path.write_text(
        "(see root VERB VBZ Number=Sing|Person=3|Tense=Pres|VerbForm=Fin\n"
        "  (agouti nsubj NOUN NN Number=Sing (a det DET DT Definite=Ind))\n"
        "  (tax obj NOUN NNS Number=Plur)\n"
        "  (. punct PUNCT .))\n"
        "(odd X:unheard ZZZ Q Nothing=Known)\n"
        "(a det DET DT Definite=Ind (. punct PUNCT .))\n",
        "utf-8",
    )
    text_lines = texts(model, path)
    assert text_lines[0] == "An agouti sees taxes."
    assert text_lines[1].lower() == "odd"
    assert sorted(text_lines[2].lower().replace(".", " .").split()) == [".", "a"]


def test_json_is_the_same_tree(model: RealizerModel, tmp_path: Path) -> None:
    path = tmp_path / "trees.json"
    path.write_text(
        '{"lemma": "need", "relation": "root", "upos": "VERB", "xpos": "VBZ",'
        ' "features": "Number=Sing|Person=3|Tense=Pres|VerbForm=Fin", "daughters": ['
        '{"lemma": "owl", "relation": "nsubj", "upos": "NOUN", "xpos": "NN",'
        ' "features": {"Number": "Sing"}, "daughters": [{"lemma": "a", "relation": "det",'
        ' "upos": "DET", "xpos": "DT", "features": "Definite=Ind"}]},'
        '{"lemma": "city", "relation": "obj", "upos": "NOUN", "xpos": "NNS",'
        ' "features": {"Number": "Plur"}}, {"lemma": ".", "relation": "punct", "upos": "PUNCT",'
        ' "xpos": "."}]}\n',
        "utf-8",
    )
    assert texts(model, path) == ["An owl needs cities."]


def test_evaluation_has_a_row_for_each_step(model: RealizerModel, folder: Path) -> None:
    evaluation = kt.evaluate_realizer(model, kt.read_treebank(folder / "test.conllu"), "lemmas")
    assert [row.model for row in evaluation.rows] == [
        "lemmas unchanged",
        "forms by tree",
        "forms in context",
    ]
    assert [row.forms for row in evaluation.rows[1:]] == [pytest.approx(1.0, abs=0.1), 1.0]
    assert evaluation.rows[0].forms < 0.8
    assert evaluation.rows[2].bleu == pytest.approx(100)
    assert evaluation.rows[2].exact == 1
    document = str(evaluation.document("karat realize evaluate"))
    assert "forms" in document


def test_a_saved_model_writes_the_same(model: RealizerModel, folder: Path, tmp_path: Path) -> None:
    model.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (folder / "model.npz").read_bytes()


def run(*arguments: object) -> str:
    done = CliRunner().invoke(command, [*map(str, arguments)], standalone_mode=False)
    if isinstance(done.exception, kt.InputError):
        return str(done.exception)
    assert done.exception is None
    return done.output


def test_the_command_writes_text(folder: Path) -> None:
    arguments = ("generate", folder / "test.conllu", "--model", folder / "model.npz")
    written = run(*arguments, "--inputs", "lemmas", "--detokenise")
    assert written.splitlines() == as_written((folder / "test.conllu").read_text("utf-8"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(a b C", 'line 1, column 7: the text ends, expected ")"'),
        ("(a b C\n  (_ x Y))", "line 2, column 4: found '_', expected a lemma"),
        ("(a b C))", "line 1, column 8: found ')', expected \"(\""),
        ('(a b "C)', "line 1, column 6: a quotation mark that is never closed"),
        ("(a b C (d) e)", "line 1, column 12: found 'e' after a daughter"),
        ("(a b C D E=F G)", "line 1, column 14: found 'G', expected at most lemma, relation"),
        ("((a))", 'line 1, column 2: found "(", expected a lemma'),
        ('{"lemma": "a",\n x}', "line 2, column 2: not JSON (expecting property name"),
        ('{"lemma": "_"}', "line 1, tree 1: a node without a lemma"),
        ('{"lemma": "a", "pos": "X"}', "tree 1: found the member 'pos', expected lemma, relation"),
        (
            '{"lemma": "a", "daughters": [{"upos": "X"}]}',
            "tree 1, under 'a': a node without a lemm",
        ),
        ('[{"lemma": 3}]', "tree 1: lemma is 3, expected a string"),
        ("[7]", "tree 1: found 7, expected an object with a lemma"),
        ("(a)", "no tags (UPOS)"),
        ("1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n", "no lemmas (LEMMA)"),
        (
            "1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n2\tb\t_\tX\t_\t_\t1\tdep\t_\t_\n",
            "line 2, word 2: no lemma: give it in the third column",
        ),
    ],
)
def test_bad_input_is_refused_in_a_sentence(
    folder: Path, tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(text, "utf-8")
    arguments = ("generate", path, "--model", folder / "model.npz", "--inputs", "lemmas")
    completed = run(*arguments)
    assert message in completed
    assert completed.startswith(str(path))
    assert "\n" not in completed


def test_text_is_for_lemmas_and_lemmas_need_their_model(folder: Path, tmp_path: Path) -> None:
    bank = kt.read_treebank(folder / "train.conllu")
    kt.train_realizer(bank, "fergus").save(tmp_path / "fergus.npz")
    arguments = ("generate", folder / "test.conllu", "--model", tmp_path / "fergus.npz")
    assert "give --inputs lemmas, or leave --detokenise out" in run(*arguments, "--detokenise")
    assert "train it with --inputs lemmas" in run(*arguments, "--inputs", "lemmas")


def test_parts_of_words_are_left_out(model: RealizerModel, tmp_path: Path) -> None:
    path = tmp_path / "parts.conllu"
    path.write_text(
        "1\ta\talso\tADV\tRB\t_\t0\troot\t_\t_\n2\tlso\t_\tX\tRB\t_\t1\tgoeswith\t_\t_\n\n", "utf-8"
    )
    assert [text.lower() for text in texts(model, path)] == ["also"]


def test_a_root_is_no_part_of_a_word(model: RealizerModel, tmp_path: Path) -> None:
    path = tmp_path / "parts.conllu"
    path.write_text(
        "1\ta\ta\tX\tX\t_\t0\troot\t_\t_\n\n1\tb\t_\tX\tX\t_\t0\tgoeswith\t_\t_\n\n", "utf-8"
    )
    with pytest.raises(kt.InputError, match=r"line 3, word 1: no lemma: give it in the third"):
        texts(model, path)


AGOUTI = """\
(see root VERB VBZ Number=Sing|Person=3|Tense=Pres|VerbForm=Fin
  (agouti nsubj NOUN NN Number=Sing (a det DET DT Definite=Ind))
  (tax obj NOUN NNS Number=Plur)
  (. punct PUNCT .))
"""


def test_an_explanation_tells_where_forms_come_from(model: RealizerModel, tmp_path: Path) -> None:
    path = tmp_path / "tree.txt"
    more = "(do aux AUX VBZ Number=Plur|Person=3|Tense=Pres|VerbForm=Fin) (. punct"
    path.write_text(AGOUTI.replace("(. punct", more), "utf-8")
    explanation = kt.explain_tree(model, read_trees(path, "lemmas"), 0, 2)
    assert [row.sentence for row in explanation.rows] == [
        " ".join(texts(model, path, detokenise=False)),
        " ".join(texts(model, path)),
    ]
    forms = {(item.lemma, item.form): item for item in explanation.inflection}
    article, other = forms["a", "an"], forms["a", "a"]
    assert (article.place, article.chosen, other.chosen) == (1, True, False)
    assert article.probability + other.probability == pytest.approx(1)
    parts = [sum((item.counts, item.tree, item.before, item.after)) for item in (article, other)]
    assert math.exp(parts[0] - parts[1]) == pytest.approx(article.probability / other.probability)
    assert other.times == 107
    assert other.counts == pytest.approx(math.log(107.5))
    assert {item.lemma: item.source for item in explanation.inflection} == {
        "a": "seen with these tags and features",
        "see": "seen with these tags and features",
        ".": "seen with these tags and features",
        "agouti": "rule for all lemmas",
        "tax": "rule for -x",
        "do": "seen with AUX VBZ Number=Sing|Person=3|Tense=Pres|VerbForm=Fin",
    }
    assert len(explanation.ordering.orders) == 2  # type: ignore[union-attr]


def test_the_chosen_form_is_the_most_probable_given_its_neighbours(
    model: RealizerModel, folder: Path
) -> None:
    trees = read_trees(folder / "test.conllu", "lemmas")
    for i in range(5):
        explanation = kt.explain_tree(model, trees, i)
        best = {item.place: item.form for item in reversed(explanation.inflection)}
        assert [item.form for item in explanation.inflection if item.chosen] == [
            best[place] for place in sorted(best)
        ]


def test_the_command_explains_forms(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "tree.txt"
    path.write_text(AGOUTI, "utf-8")
    arguments = ("explain", path, "--model", folder / "model.npz", "--inputs", "lemmas")
    completed = run(*arguments)
    assert "1. a\n  an " in completed
    assert "5 forms made from lemmas, 1 in doubt: An agouti sees taxes ." in completed
    assert "0  ▸ an / 0.51 → 1  |  a / 0.49 → 1" in completed
    assert "All were given." in completed
    assert "leave unpruned out" in run(*arguments, "--unpruned")
    assert "does not insert words from inputs=lemmas" in run(
        *arguments, "--complete", "punctuation"
    )


def test_punctuation_is_put_in_before_text_is_written(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "tree.txt"
    arguments = ("generate", path, "--model", folder / "model.npz", "--inputs", "lemmas")
    path.write_text(AGOUTI, "utf-8")
    completed = run(*arguments, "--detokenise")
    assert run(*arguments, "--detokenise", "--complete", "punctuation") == completed
    path.write_text(AGOUTI.replace("\n  (. punct PUNCT .))", ")"), "utf-8")
    assert run(*arguments, "--detokenise").strip() == completed.strip().removesuffix(".")
    assert run(*arguments, "--detokenise", "--complete", "punctuation") == completed
    assert "expected some of function-words" in run(*arguments, "--complete", "nonsense")


def test_a_model_of_lemmas_alone_is_evaluated_on_them(folder: Path) -> None:
    completed = run("evaluate", folder / "test.conllu", "--model", folder / "model.npz")
    assert "forms in context  1.000" in completed
    assert "are of other data" in completed.replace("\n", " ")


def test_training_counts_words_without_a_lemma(folder: Path, tmp_path: Path) -> None:
    lines = toy_lemmas(20, 1).split("\n")
    places = [i for i, line in enumerate(lines) if line[:1].isdigit()][3:5]
    for i in places:
        cells = lines[i].split("\t")
        lines[i] = "\t".join([*cells[:2], "_", *cells[3:]])
    path, output = tmp_path / "few.conllu", tmp_path / "m.npz"
    path.write_text("\n".join(lines), "utf-8")
    train = kt.realize.model.train_realizer_file
    (note,) = train(path, output, "ordering", inputs="lemmas").notes
    assert note.startswith(f"2 words have no lemma ({path}, line {places[0] + 1}, ")
    assert note.endswith(" is the first): give lemmas in the third column.")
    note = note[0].lower() + note[1:]
    arguments = ("train", path, "-o", output, "--realizer", "ordering", "--inputs", "lemmas")
    assert f"karat: note: {note}\n" in run(*arguments)
    assert train(folder / "train.conllu", output, "ordering", inputs="lemmas").notes == ()


def test_nothing_is_written_if_the_input_is_refused(folder: Path, tmp_path: Path) -> None:
    path, output = tmp_path / "bad.txt", tmp_path / "out.txt"
    path.write_text("(a b C\n  (_ x Y))", "utf-8")
    for name in ("generate", "explain"):
        arguments = (
            name,
            path,
            "--model",
            folder / "model.npz",
            "--inputs",
            "lemmas",
            "-o",
            output,
        )
        assert "line 2, column 4: found '_', expected a lemma" in run(*arguments)
        assert not output.exists()
    wrong = ("train", folder / "train.conllu", "-o", output, "--inputs", "all,lemon")
    assert run(*wrong) == "inputs='lemon': expected one of words, all, lemmas, both"
    assert not output.exists()
