"""ARPA: what is written is read again, here and by KenLM; what is wrong is named with its line."""

from __future__ import annotations

import gzip
import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.lm_formulas import Gram, backed_off

import karat as kt
from karat.errors import InputError, OutputError
from karat.text.tokens import Recipe

SMALL = """\
\\data\\
ngram 1=5
ngram 2=3
ngram 3=1

\\1-grams:
-99\t<s>\t-0.5
-1\t</s>
-0.6\ta\t-0.25
-0.7\tb\t-0.125
-2\t<unk>

\\2-grams:
-0.2\t<s> a\t-0.3
-0.4\ta b
-0.1\tb </s>

\\3-grams:
-0.05\t<s> a b

\\end\\
"""

MISSING = """\
\\data\\
ngram 1=4
ngram 2=0
ngram 3=2
\\1-grams:
-99 <s> -0.5
-1 </s>
-0.6 a -0.25
-0.7 b -0.125
\\2-grams:
\\3-grams:
-0.05 <s> a b
-0.01 a b </s>
\\end\\
"""


def opened(folder: Path, text: str | bytes, name: str = "model.arpa") -> kt.LanguageModel:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return kt.LanguageModel.open(path)


def lines_of(path: Path) -> dict[Gram, tuple[float, float]]:
    """The n-grams of an ARPA file, read as simply as can be."""
    ngrams = {}
    for line in path.read_text("utf-8").splitlines():
        fields = line.split("\t")
        if len(fields) > 1:
            ngrams[tuple(fields[1].split(" "))] = float(fields[0]), float([*fields, "0"][2])
    return ngrams


def test_a_small_file_by_hand(tmp_path: Path) -> None:
    model = opened(tmp_path, SMALL)
    rows = model.words("a b c b")
    assert [row.word for row in rows] == ["a", "b", "c", "b", "</s>"]
    assert [row.length for row in rows] == [2, 3, 1, 1, 2]
    assert [row.oov for row in rows] == [False, False, True, False, False]
    expected = [-0.2, -0.05, -0.125 - 2, -0.7, -0.1]
    assert [row.log10_p for row in rows] == pytest.approx(expected)
    assert model.score(["a b c b", ""]).tolist() == pytest.approx([sum(expected), -0.5 - 1])


def test_shorter_ngrams_that_are_missing(tmp_path: Path) -> None:
    """`<s> a` and `a b` are not there: their probabilities are backed off, their n-grams found."""
    rows = opened(tmp_path, MISSING).words("a b")
    assert [row.log10_p for row in rows] == pytest.approx([-0.5 - 0.6, -0.05, -0.01])


def test_a_missing_unk_is_very_unlikely(tmp_path: Path) -> None:
    rows = opened(tmp_path, MISSING).words("x")
    assert rows[0].log10_p == pytest.approx(-100.5)
    assert rows[0].oov


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: "made by hand\n\n" + text,
        lambda text: text.replace("\t", " "),
        lambda text: text.replace("<unk>", "<UNK>"),
        lambda text: text.replace("\\end\\\n", "\\end\\\nanything"),
        lambda text: text.removesuffix("\n"),
        lambda text: text.replace("a b\n", "a b\t0\n"),
        lambda text: text.replace("ngram 1=5", "ngram 1 = 5"),
        lambda text: text.replace("-99\t<s>", "-inf\t<s>"),
    ],
    ids=range(10),
)
def test_other_ways_to_write_the_same(tmp_path: Path, change) -> None:  # type: ignore[no-untyped-def]
    expected = opened(tmp_path, SMALL).score(["a b c b", "", "b b"])
    scores = opened(tmp_path, change(SMALL)).score(["a b c b", "", "b b"])
    np.testing.assert_array_equal(scores, expected)


def test_a_compressed_file(tmp_path: Path) -> None:
    expected = opened(tmp_path, SMALL).score(["a b"])
    model = opened(tmp_path, gzip.compress(SMALL.encode()), "model.arpa.gz")
    np.testing.assert_array_equal(model.score(["a b"]), expected)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("\\data\\", "data", 21, "expected a line"),
        ("ngram 2=3", "ngram two=3", 3, "ngram LENGTH=COUNT"),
        ("ngram 2=3", "ngram 3=3", 3, "not in order"),
        ("ngram 2=3", "ngram 2=4", 18, "has 3 2-grams and says that there are 4"),
        ("ngram 2=3", "ngram 2=3 4", 3, "ngram LENGTH=COUNT"),
        ("ngram 2=3", "ngram 2=2863311530", 3, "more than 2,863,311,529 n-grams of a length"),
        ("\\2-grams:", "\\3-grams:", 13, "expected .2-grams:, found .3-grams:"),
        ("\\2-grams:\n", "", 13, "expected log10 p, 1 words"),
        ("\\end\\", "", 21, "the end of the file"),
        ("-0.4\ta b", "-0.4\ta", 15, "expected log10 p, 2 words"),
        ("-0.4\ta b", "-0.4\ta b c d", 15, "expected log10 p, 2 words"),
        ("-0.4\ta b", "-0.4\ta b x", 15, "expected a number, found x"),
        ("-0.4\ta b", "half\ta b", 15, "expected a number, found half"),
        ("-0.4\ta b", "nan\ta b", 15, "expected a number, found nan"),
        ("-0.4\ta b", "0.4\ta b", 15, "above 1"),
        ("-0.4\ta b", "-0.4\ta b\tinf", 15, "expected a number, found inf"),
        ("-0.4\ta b", "-0.4\ta c", 15, "the word c is not among"),
        ("-0.4\ta b", "-0.4\t<s> a", 15, "was there before"),
        ("-0.7\tb", "-0.7\ta", 10, "was there before"),
        ("-99\t<s>\t-0.5", "-99\tx\t-0.5", 14, "the word <s> is not among"),
        ("-1\t</s>", "-1\tx", 16, "the word </s> is not among"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, words: str
) -> None:
    assert old in SMALL
    with pytest.raises(InputError, match=rf"model\.arpa, line {line}: .*{words}"):
        opened(tmp_path, SMALL.replace(old, new, 1))


@pytest.mark.parametrize("text", ["", "\n", "\\data\\\n", "\\data\\\n\\end\\\n", "PK", "hello\n"])
def test_what_is_no_model(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"model\.arpa"):
        opened(tmp_path, text)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 9: not valid UTF-8"):
        opened(tmp_path, SMALL.encode().replace(b"\ta\t", b"\t\xff\t", 1))


@given(data=st.binary(max_size=60), at=st.integers(0, len(SMALL)))
def test_no_damage_goes_further_than_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, at: int
) -> None:
    folder = tmp_path_factory.mktemp("arpa")
    damaged = SMALL.encode()[:at] + data + SMALL.encode()[at + len(data) // 2 :]
    (folder / "model.arpa").write_bytes(damaged)
    try:
        model = kt.LanguageModel.open(folder / "model.arpa")
    except InputError:
        return
    assert np.isfinite(model.score(["a b c", ""])).all()


WORDS = st.sampled_from(["a", "a", "b", "b", "c", "é", "語"])
TEXT = st.lists(st.lists(WORDS, max_size=6), min_size=1, max_size=15)


@given(text=TEXT, order=st.integers(1, 5), smoothing=st.sampled_from(["kneser-ney", "katz"]))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, text: list[list[str]], order: int, smoothing: str
) -> None:
    lines = [" ".join(words) for words in text]
    model = kt.LanguageModel.train(lines, order, smoothing, tok="none")
    path = tmp_path_factory.mktemp("arpa") / "model.arpa"
    model.write_arpa(path)
    again = kt.LanguageModel.open(path)
    np.testing.assert_array_equal(again.score([*lines, "x a"]), model.score([*lines, "x a"]))
    once = path.read_bytes()
    again.write_arpa(path)
    assert path.read_bytes() == once
    logs = lines_of(path)
    history: Gram = ("<s>",)
    for row in model.words(f"{lines[0]} x a"):
        word = "<unk>" if row.oov else row.word
        p, length = backed_off(logs, word, history[max(0, len(history) - order + 1) :])
        assert (row.log10_p, row.length) == (pytest.approx(p, abs=1e-5), length)
        history = (*history, word)


def test_a_compressed_file_is_written(tmp_path: Path) -> None:
    model = opened(tmp_path, SMALL)
    model.write_arpa(tmp_path / "again.arpa")
    model.write_arpa(tmp_path / "again.arpa.gz")
    plain = (tmp_path / "again.arpa").read_bytes()
    assert gzip.decompress((tmp_path / "again.arpa.gz").read_bytes()) == plain


def test_a_word_that_no_file_can_hold(tmp_path: Path) -> None:
    model = kt.LanguageModel.train(["a \ud800 b"], 2, tok="none")
    with pytest.raises(OutputError, match="surrogate"):
        model.write_arpa(tmp_path / "model.arpa")
    assert not list(tmp_path.iterdir())
    model.save(tmp_path / "model.lm")
    assert not kt.LanguageModel.open(tmp_path / "model.lm").words("\ud800")[0].oov


def test_words_that_look_like_parts_of_the_file(tmp_path: Path) -> None:
    text = ["\\data\\ <UNK> \\end\\ <s> -1 <unk>", "\\1-grams: ngram 1=2 </s> \u00a0 <UNK>"]
    model = kt.LanguageModel.train(text, 3, tok="none")
    model.write_arpa(tmp_path / "model.arpa")
    again = kt.LanguageModel.open(tmp_path / "model.arpa")
    np.testing.assert_array_equal(again.score(text), model.score(text))


# ------------------------------------------------------------------------------------- KenLM


RECORDED = Path(__file__).parent / "kenlm_said"
"""ARPA files that Karat wrote, and what KenLM 0.3.0 said of some sentences; KARAT_GOLDEN=write with
the kenlm package installed, records them anew."""


@pytest.mark.parametrize("smoothing", ["kneser-ney", "katz"])
def test_what_kenlm_said(smoothing: str) -> None:
    if os.environ.get("KARAT_GOLDEN") == "write":
        record(smoothing)
    model = kt.LanguageModel.open(RECORDED / f"{smoothing}.arpa.gz")
    rows = json.loads((RECORDED / f"{smoothing}.json").read_text("utf-8"))
    assert len(rows) > 12
    for line, total, words in rows:
        assert model.score([line])[0] == pytest.approx(total, abs=1e-5 * len(words))
        for row, (p, length, oov) in zip(model.words(line), words, strict=True):
            assert (row.length, row.oov) == (length, oov)
            assert row.log10_p == pytest.approx(p, abs=1e-5)


def record(smoothing: str) -> None:
    import kenlm

    train, queries = texts()
    RECORDED.mkdir(exist_ok=True)
    place = RECORDED / f"{smoothing}.arpa.gz"
    kt.LanguageModel.train(train, 5, smoothing, tok="none").write_arpa(place)
    kenlm_model = kenlm.Model(str(place))
    rows = [
        [line, kenlm_model.score(line), list(kenlm_model.full_scores(line))] for line in queries
    ]
    text = json.dumps(rows, ensure_ascii=False, indent=0)
    (RECORDED / f"{smoothing}.json").write_text(text + "\n", "utf-8")


def texts() -> tuple[list[str], list[str]]:
    """What models are trained on, and what they are asked about."""
    folder = Path(kt.__file__).parent / "data" / "demo"
    train = (folder / "reference-1.txt").read_text("utf-8").splitlines()
    new = (folder / "reference-2.txt").read_text("utf-8").splitlines()
    return train, [*new, *train[:20], "", "x"]


@pytest.mark.parametrize("smoothing", ["kneser-ney", "katz"])
@pytest.mark.parametrize("least", [None, [1, 1, 2, 2, 3]], ids=str)
def test_kenlm_says_the_same(tmp_path: Path, smoothing: str, least: list[int] | None) -> None:
    kenlm = pytest.importorskip("kenlm", reason="the kenlm package is not installed")
    train, queries = texts()
    model = kt.LanguageModel.train(train, 5, smoothing, tok="none", min_counts=least)
    model.write_arpa(tmp_path / "model.arpa")
    kenlm_model = kenlm.Model(str(tmp_path / "model.arpa"))
    for line, score in zip(queries, model.score(queries).tolist(), strict=True):
        assert score == pytest.approx(kenlm_model.score(line), abs=1e-5 * (len(line.split()) + 1))
        word_scores = [(p, length, oov) for p, length, oov in kenlm_model.full_scores(line)]
        for row, (p, length, oov) in zip(model.words(line), word_scores, strict=True):
            assert (row.length, row.oov) == (length, oov)
            assert row.log10_p == pytest.approx(p, abs=1e-5)


def test_kenlm_says_the_same_of_files_of_others(tmp_path: Path) -> None:
    kenlm = pytest.importorskip("kenlm", reason="the kenlm package is not installed")
    model = opened(tmp_path, SMALL)
    kenlm_model = kenlm.Model(str(tmp_path / "model.arpa"))
    for line in ("a b c b", "", "b b a", "c", "a a b b a b"):
        assert model.score([line])[0] == pytest.approx(kenlm_model.score(line), abs=1e-5)


def test_a_recipe_for_a_file_that_has_none(tmp_path: Path) -> None:
    opened(tmp_path, SMALL)
    model = kt.LanguageModel.open(tmp_path / "model.arpa", Recipe("13a", "lower"))
    assert [row.oov for row in model.words("A. B")] == [False, True, False, False]
    assert "smoothing=arpa,tok=13a,case=lower" in model.signature
    assert math.isfinite(model.score(["A. B"])[0])
