"""All public names of sacreBLEU are in the drop-in, with their parameters, and give its results."""

from __future__ import annotations

import gzip
import pickle
import re
import subprocess
import sys
from argparse import Namespace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import sacrebleu as theirs
import sacrebleu.metrics as their_metrics
import sacrebleu.significance as their_significance
import sacrebleu.utils as their_utils
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles.interfaces import interface_gaps
from oracles.peers import streams
from oracles.strategies import Corpus, any_text, corpora

import karat
from karat.compat import sacrebleu as ours
from karat.compat.sacrebleu import metrics as our_metrics

KARAT = "karat.compat.sacrebleu"
ARCHIVES = "reads the archives of downloaded test sets"
ANNOTATIONS = "an annotation of downloaded test sets"
EXCEPTIONS = {
    "dataset.fake_sgml": ARCHIVES,
    "dataset.iwslt_xml": ARCHIVES,
    "dataset.plain_text": ARCHIVES,
    "dataset.tsv": ARCHIVES,
    "dataset.wmt_xml": ARCHIVES,
    "dataset.FakeSGMLDataset": ARCHIVES,
    "dataset.IWSLTXMLDataset": ARCHIVES,
    "dataset.PlainTextDataset": ARCHIVES,
    "dataset.TSVDataset": ARCHIVES,
    "dataset.WMTAdditionDataset": ARCHIVES,
    "dataset.WMTXMLDataset": ARCHIVES,
    "dataset.COUNTRIES": ANNOTATIONS,
    "dataset.DOMAINS": ANNOTATIONS,
    "dataset.SUBSETS": ANNOTATIONS,
    "utils.SUBSETS": ANNOTATIONS,
    "dataset.base.Dataset": "langpairs has a default that can be called; sacreBLEU's is a type",
    "sacrebleu.SIGPIPE": "a name of Python's module signal",
    "sacrebleu.SIG_DFL": "a name of Python's module signal",
    "sacrebleu.VERSION": "names Karat's version, too",
    "version.version": "names Karat's version, too",
    "version.TYPE_CHECKING": "a name of Python's module typing",
    "tokenizers.tokenizer_ja_mecab.MeCab": "the package, None if it is not installed",
    "tokenizers.tokenizer_ko_mecab.MeCab": "the package, None if it is not installed",
    "tokenizers.tokenizer_ja_mecab.FAIL_MESSAGE": "Karat's message names its own extra",
    "tokenizers.tokenizer_ko_mecab.FAIL_MESSAGE": "Karat's message names its own extra",
    "metrics.bleu.BLEU.TOKENIZERS": "a tuple; sacreBLEU's is a view of a dictionary",
}
"""Names of sacreBLEU that are not here, or differ, with the reason."""


def test_every_public_name_is_here() -> None:
    assert interface_gaps(KARAT, "sacrebleu", EXCEPTIONS) == []


def test_the_inventory_sees_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    utils = import_module(f"{KARAT}.utils")
    monkeypatch.setattr(utils, "smart_open", lambda file: file, raising=False)
    monkeypatch.delattr(our_metrics.bleu, "MAX_NGRAM_ORDER")
    monkeypatch.delattr(ours.metrics.base.SacreScore, "estimate_ci")
    gaps = interface_gaps(KARAT, "sacrebleu", EXCEPTIONS)
    assert "metrics.bleu.MAX_NGRAM_ORDER" in gaps
    assert "metrics.base.Score.estimate_ci" in gaps
    assert any(gap.startswith("utils.smart_open(file), expected ") for gap in gaps)
    without = interface_gaps(KARAT, "sacrebleu", {})
    assert {*EXCEPTIONS} - {gap.partition("(")[0].partition(" =")[0] for gap in without} <= {
        *("metrics.bleu.BLEU.TOKENIZERS", "sacrebleu.SIGPIPE", "sacrebleu.SIG_DFL"),
    }


def test_modules_can_be_imported_in_every_way() -> None:
    code = """
import karat.compat.sacrebleu.utils as utils
import karat.compat.sacrebleu.tokenizers.tokenizer_13a
from karat.compat import sacrebleu
from karat.compat.sacrebleu.metrics.helpers import extract_char_ngrams
from karat.compat.sacrebleu.tokenizers.tokenizer_zh import TokenizerZh
from karat.compat.sacrebleu.utils import *

print(utils.smart_open is sacrebleu.utils.smart_open is smart_open)
print(sacrebleu.tokenizers.tokenizer_13a.Tokenizer13a()("a,b"))
print(sacrebleu.significance.Result(1.0), sacrebleu.version.version_tuple)
print("smart_open" in dir(sacrebleu.utils), hasattr(sacrebleu.utils, "smart_close"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        *("True", "a , b", "score=1.0,p_value=None,mean=None,ci=None (2, 6, 0)", "True False")
    ]


# ---------------------------------------------------------------------------------- paired tests

SEEDS = st.sampled_from(["12345", "7", "1000000007"])
TRIALS = st.integers(1, 40)
CLASSES = ("BLEU", "CHRF", "TER")


def results(module: Any, metrics: Any, **more: Any) -> tuple[Any, Any]:
    """Signatures and results of a paired test as plain values."""
    test = module.PairedTest(metrics=metrics, **more)
    signatures, scores = test()
    names = [key for key in scores if key != "System"]
    tested = {name: [vars(result) for result in scores[name]] for name in names}
    return {name: str(s) for name, s in signatures.items()}, (scores["System"], tested)


@given(corpus=corpora(references=2), changes=st.lists(any_text, max_size=3), data=st.data())
@settings(max_examples=60)
def test_paired_tests(corpus: Corpus, changes: list[str], data: st.DataObject) -> None:
    n, kind = len(corpus.candidates), data.draw(st.sampled_from(["bs", "ar"]))
    changed = [*changes, *corpus.candidates[len(changes) :]][:n]
    more = {
        "named_systems": [("a", corpus.candidates), ("b", changed), ("c", corpus.candidates)],
        "references": streams(corpus.references),
        "test_type": kind,
        "n_samples": data.draw(TRIALS),
        "n_ar_confidence": data.draw(st.sampled_from([-1, 13])),
    }
    classes = data.draw(st.lists(st.sampled_from(CLASSES), min_size=1, max_size=3, unique=True))
    smoothing = data.draw(st.sampled_from([{}, {"smooth_method": "add-k", "smooth_value": 1.5}]))
    settings = {"BLEU": smoothing, "CHRF": {"word_order": 1}, "TER": {}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SACREBLEU_SEED", data.draw(SEEDS))
        actual, peer = (
            results(module, {n: getattr(metrics, n)(**settings[n]) for n in classes}, **more)
            for module, metrics in (
                (ours.significance, our_metrics),
                (their_significance, their_metrics),
            )
        )
    assert actual == peer


@pytest.mark.parametrize("kind", ["bs", "ar"])
def test_paired_tests_of_real_texts(kind: str, karat_data: Path) -> None:
    from data.real_texts import ted

    talks = ted(karat_data)
    references = [talks.targets["ref"][:150], talks.targets["refB"][:150]]
    systems = [(n, t[:150]) for n, t in talks.targets.items() if not n.startswith("ref")][:3]
    actual, peer = (
        results(
            module,
            {name: getattr(metrics, name)(references=references) for name in CLASSES},
            named_systems=systems,
            references=None,
            test_type=kind,
            n_samples=500,
            n_ar_confidence=99,
        )
        for module, metrics in (
            (ours.significance, our_metrics),
            (their_significance, their_metrics),
        )
    )
    assert actual == peer


def test_choices_of_long_texts_are_those_of_one_draw() -> None:
    """Batches must end between the numbers that the generator cuts choices from."""
    lines = [f"word{i % 7} word{i % 5} {i}" for i in range(4099)]
    system = [line if i % 3 else f"{line} x" for i, line in enumerate(lines)]
    texts = [("a", lines), ("b", system)]
    more = {"named_systems": texts, "references": [[f"{x} y" for x in lines]], "n_samples": 700}
    actual, peer = (
        results(module, {"BLEU": metrics.BLEU()}, **more)
        for module, metrics in (
            (ours.significance, our_metrics),
            (their_significance, their_metrics),
        )
    )
    assert actual == peer


@pytest.mark.parametrize("largest", [100, 10**6])
def test_sums_beyond_single_precision_are_gathered(largest: int) -> None:
    """Sums above 2^24 are rounded in every addition, as where sacreBLEU gathers them."""
    from karat.arrays import np

    rows = np.random.default_rng(1).integers(0, largest, size=(97, 5))
    drawn = np.random.default_rng(2).choice(len(rows), size=(50, len(rows)), replace=True)
    expected = np.array([resample.sum(0) for resample in rows.astype("float32")[drawn]])
    sums = np.array([*ours.significance._resampled_sums(rows, 50, np.random.default_rng(2))])
    assert sums.dtype == expected.dtype
    assert (sums == expected).all()
    is_rounded = bool((expected != rows[drawn].sum(axis=1)).any())
    assert is_rounded == (largest > 100)


def test_a_random_seed_draws_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", "None")
    lines = [f"a word and {i % 7} words or {i}" for i in range(60)]
    systems = [("a", lines), ("b", [line.replace("3", "x") for line in lines])]
    test = ours.significance.PairedTest(systems, {"BLEU": ours.BLEU()}, [lines], "bs", 50)
    means = {test()[1]["BLEU"][1].mean for _ in range(4)}
    assert len(means) > 1
    assert "|seed:none|" in str(test()[0]["BLEU"])


def test_arguments_of_tests_are_checked() -> None:
    systems = [("a", ["x"]), ("b", ["y"])]
    with pytest.raises(AssertionError, match="test_type='xy': expected ar or bs"):
        ours.significance.PairedTest(systems, {}, [["x"]], "xy")
    with pytest.raises(karat.InputError, match="named_systems is empty"):
        ours.significance.PairedTest([], {}, [["x"]])
    for module in (ours.significance, their_significance):
        test = module.PairedTest(systems, {}, None, n_samples=0, n_ar_confidence=0, n_jobs=0)
        assert (test.n_samples, test.n_ar_confidence, test.n_systems, test.n_jobs) == (
            *(10000, 1000, 1, 1),
        )


@given(values=st.lists(st.floats(0, 100), min_size=1, max_size=60))
def test_estimate_ci(values: list[float]) -> None:
    actual, peer = (m.estimate_ci(values) for m in (ours.significance, their_significance))
    assert actual == peer


# ---------------------------------------------------------------------------- errors of scripts


def test_errors_have_the_types_of_sacrebleu() -> None:
    for metrics in (our_metrics, their_metrics):
        metric = metrics.BLEU()
        for call, error in (
            (lambda m=metric: m.corpus_score(3, [["a"]]), TypeError),
            (lambda m=metric: m.corpus_score([None], [["a"]]), TypeError),
            (lambda m=metric: m.corpus_score(["a"], [3]), TypeError),
            (lambda m=metric: m.corpus_score(["a"], None), RuntimeError),
            (lambda m=metric: m.sentence_score(["a"], ["a"]), TypeError),
            (lambda m=metric: m.sentence_score("a", "a"), TypeError),
            (lambda m=metric: m.sentence_score("a", [["a"]]), TypeError),
            (lambda b=metrics.BLEU: b().get_signature(), ValueError),
            (lambda b=metrics.BLEU: b(smooth_method="flor"), AssertionError),
            *(
                ()
                if find_spec("MeCab")
                else ((lambda b=metrics.BLEU: b(tokenize="ja-mecab"), RuntimeError),)
            ),
            (lambda b=metrics.BLEU: b.compute_bleu([1], [1], 1, 1, "x"), AssertionError),
        ):
            with pytest.raises(error):
                call()


# ------------------------------------------------------------------------- tokenizers and n-grams

TOKENIZERS = [
    *("tokenizer_none.NoneTokenizer", "tokenizer_13a.Tokenizer13a", "tokenizer_zh.TokenizerZh"),
    *("tokenizer_re.TokenizerRegexp", "tokenizer_char.TokenizerChar"),
    "tokenizer_intl.TokenizerV14International",
]
LINES = st.one_of(
    any_text, st.text("aB1.,-<>&;'\"()«» \u4e2d\u3042\u30a2\u3002\uff0c\n\t", max_size=20)
)


def both(name: str) -> tuple[Any, Any]:
    """An attribute of a module of Karat and of sacreBLEU."""
    module, _, attribute = name.rpartition(".")
    actual, peer = (import_module(f"{package}.{module}") for package in (KARAT, "sacrebleu"))
    return getattr(actual, attribute), getattr(peer, attribute)


@pytest.mark.parametrize("name", TOKENIZERS)
@given(line=LINES)
@example(line="a-\n")
@settings(max_examples=60)
def test_tokenizers(name: str, line: str) -> None:
    actual, peer = (make() for make in both(f"tokenizers.{name}"))
    assert actual.signature() == peer.signature()
    assert actual(line) == peer(line)


@given(line=LINES, switches=st.tuples(*[st.booleans()] * 4))
def test_the_tokenizer_of_ter(line: str, switches: tuple[bool, ...]) -> None:
    actual, peer = (make(*switches) for make in both("tokenizers.tokenizer_ter.TercomTokenizer"))
    assert actual(line) == peer(line)
    assert actual.signature() == peer.signature()


def test_metrics_have_their_tokenizers() -> None:
    for metrics in (our_metrics, their_metrics):
        assert metrics.BLEU(tokenize="zh").tokenizer("你好a") == "你 好 a"
        assert metrics.TER(normalized=True).tokenizer("A's b.") == "a 's b ."
    with pytest.raises(NotImplementedError):
        ours.tokenizers.BaseTokenizer()("a")
    again = pickle.loads(pickle.dumps(ours.tokenizers.Tokenizer13a()))
    assert again("a.b") == "a . b"


@given(line=any_text, order=st.integers(1, 4), lowest=st.integers(1, 3), keep=st.booleans())
def test_ngrams(line: str, order: int, lowest: int, keep: bool) -> None:
    for name, arguments in (
        ("extract_all_word_ngrams", (line, lowest, order)),
        ("extract_word_ngrams", (line.split(), order)),
        ("extract_char_ngrams", (line, order, keep)),
        ("extract_all_char_ngrams", (line, order, keep)),
    ):
        actual, peer = both(f"metrics.helpers.{name}")
        assert actual(*arguments) == peer(*arguments)


WORDS = st.lists(st.sampled_from("abcde"), max_size=14)


@given(candidate=WORDS, reference=WORDS, copies=st.integers(1, 9))
def test_edits(candidate: list[str], reference: list[str], copies: int) -> None:
    reference = reference * copies
    rate, their_rate = both("metrics.lib_ter.translation_edit_rate")
    assert rate(candidate, reference) == their_rate(candidate, reference)
    distance, their_distance = both("metrics.lib_ter.BeamEditDistance")
    edits, trace = distance(reference)(candidate)
    assert (edits, trace) == their_distance(reference)(candidate)
    alignment, their_alignment = both("metrics.lib_ter.trace_to_alignment")
    assert alignment(trace) == their_alignment(trace)


def test_an_unknown_edit_is_refused() -> None:
    with pytest.raises(karat.InputError, match="trace has the operation 'q'"):
        both("metrics.lib_ter.trace_to_alignment")[0](" q")


# ----------------------------------------------------------------------------- test sets and files


def test_test_sets_have_names_and_pairs() -> None:
    for package in (ours, theirs):
        assert package.get_available_testsets()[:2] == ["wmt24", "wmt23"]
    assert [*ours.DATASETS] == [*theirs.DATASETS]
    utils = import_module(f"{KARAT}.utils")
    for name, dataset in theirs.DATASETS.items():
        assert ours.get_langpairs_for_testset(name) == theirs.get_langpairs_for_testset(name)
        assert ours.DATASETS[name].langpairs.keys() == dataset.langpairs.keys()
    for pair in ("en-de", "iu-en", "en-it", "xx-yy"):
        find = "get_available_testsets_for_langpair"
        assert getattr(utils, find)(pair) == getattr(their_utils, find)(pair)
    assert ours.get_langpairs_for_testset("wmt99") == []


def test_texts_of_test_sets_are_refused() -> None:
    utils = import_module(f"{KARAT}.utils")
    dataset = ours.DATASETS["wmt17"]
    calls: list[Any] = [
        lambda: ours.download_test_set("wmt17"),
        lambda: ours.get_source_file("wmt17", "en-de"),
        lambda: ours.get_reference_files("wmt17", "en-de"),
        lambda: utils.get_files("wmt17", "en-de"),
        lambda: utils.print_test_set("wmt17", "en-de", ["src"]),
        lambda: utils.get_available_origlangs("wmt17", "en-de"),
        lambda: utils.get_available_subsets("wmt17", "en-de"),
        lambda: utils.filter_subset([["a"]], "wmt17", "en-de", "en"),
        lambda: utils.download_file("wmt17", "file"),
        dataset.maybe_download,
        *(
            lambda name=name: getattr(dataset, name)("en-de")
            for name in (
                *("process_to_text", "fieldnames", "source", "references", "get_files"),
                *("get_source_file", "get_reference_files"),
            )
        ),
    ]
    for call in calls:
        with pytest.raises(karat.InputError, match=r"wmt17.*: Karat downloads no test sets; give"):
            call()
    with pytest.raises(karat.InputError, match="no test set 'wmt99'"):
        ours.get_source_file("wmt99", "en-de")
    with pytest.raises(ValueError, match="need a test set"):
        utils.filter_subset([["a"]], None, None, "en")
    assert utils.filter_subset([["a"]], None, None, None) == [["a"]]
    assert utils.get_available_origlangs(None, "") == utils.get_available_subsets(None, "") == []


def test_files(tmp_path: Path) -> None:
    utils = import_module(f"{KARAT}.utils")
    (tmp_path / "a.txt").write_bytes("é\r\nb\n".encode())
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress("é\r\nb\n".encode()))
    for name in ("a.txt", "a.txt.gz"):
        lines = []
        for module in (ours, theirs):
            with module.smart_open(str(tmp_path / name)) as file:
                lines.append(file.readlines())
        assert lines[0] == lines[1] == ["é\r\n", "b\n"]
        assert utils.get_md5sum(tmp_path / name) == their_utils.get_md5sum(tmp_path / name)
    code = "import tarfile, zipfile\nwith tarfile.open('a.tar.gz', 'w:gz') as t: t.add('a.txt')\n"
    code += "with zipfile.ZipFile('b.zip', 'w') as z: z.write('a.txt')"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    for archive in ("a.tar.gz", "b.zip"):
        utils.extract_tarball(str(tmp_path / archive), str(tmp_path / archive[0]))
        assert (tmp_path / archive[0] / "a.txt").read_bytes() == "é\r\nb\n".encode()


# ------------------------------------------------------------------------------- what is printed

CELL = st.floats(-5, 120).map(lambda x: round(x, 3))
NAMES = st.lists(
    st.text("ab_&%$#{}~^<>\\ .é", min_size=1, max_size=9).filter(lambda x: x.strip() == x != ""),
    min_size=1,
    max_size=4,
    unique=True,
)


def without_explanation(text: str) -> str:
    pattern = r"(-+\nPaired .* trials\n-+\n)(?:.*\n)*?(-+\nMetric signatures\n)"
    return re.sub(pattern, r"\1\2", text)


@given(
    names=NAMES,
    scores=st.lists(st.tuples(CELL, st.floats(0, 1), CELL, CELL), min_size=8, max_size=8),
    style=st.sampled_from(["text", "latex", "json"]),
    kind=st.sampled_from(["bs", "ar", "plain"]),
    width=st.integers(0, 4),
    colors=st.booleans(),
)
def test_tables(
    names: list[str], scores: Any, style: str, kind: str, width: int, colors: bool
) -> None:
    texts = []
    for package in (KARAT, "sacrebleu"):
        utils, tests = (import_module(f"{package}.{m}") for m in ("utils", "significance"))
        results: dict[str, Any] = {"System": [f"Baseline: {names[0]}", *names[1:]]}
        for k, metric in enumerate(("BLEU", "chrF2")):
            rows = scores[k * len(names) : (k + 1) * len(names)]
            results[metric] = [
                f"{score:.{width}f}"
                if kind == "plain"
                else tests.Result(score, p if i else None, *((mean, ci) if kind == "bs" else ()))
                for i, (score, p, mean, ci) in enumerate(rows)
            ]
        args = Namespace(format=style, width=width, paired_bs=kind == "bs", paired_ar=kind == "ar")
        args.paired_bs_n, args.paired_ar_n = 10, 20
        texts.append(printed(utils, colors, "print_results_table", results, {"BLEU": "x|y"}, args))
    assert without_explanation(texts[0]) == without_explanation(texts[1])


def printed(utils: Any, colors: bool, function: str, *arguments: Any) -> str:
    """What a function prints, with or without colors."""
    from contextlib import redirect_stdout
    from io import StringIO

    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as text:
        patch.setattr(utils.Color, "ENABLE_COLORS", colors)
        getattr(utils, function)(*arguments)
    return text.getvalue()


LINE = st.builds(
    "{} = {} ({}) end".format,
    st.text("abc|:", max_size=8),
    CELL,
    st.sampled_from(["μ = 1.0 ± 2.5", "BP = 1.0"]),
)


@given(lines=st.lists(LINE | CELL.map(str), min_size=1, max_size=4), colors=st.booleans())
def test_lines_of_scores(lines: list[str], colors: bool) -> None:
    texts = [
        printed(utils, colors, "print_single_results", [*lines], Namespace(format=style))
        for style in ("text", "json")
        for utils in (import_module(f"{KARAT}.utils"), their_utils)
    ]
    assert texts[0] == texts[1]
    assert texts[2] == texts[3]


@given(lists=st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=2), min_size=1, max_size=5))
def test_sums_and_arguments(lists: list[list[int]]) -> None:
    args = Namespace(bleu_a=1, bleu_bleu_b=2, chrf_a=3)
    for name, arguments in (
        ("sum_of_lists", (lists,)),
        ("my_log", (lists[0][0],)),
        ("args_to_dict", (args, "bleu")),
        ("args_to_dict", (args, "bleu", True)),
    ):
        actual, peer = both(f"utils.{name}")
        assert actual(*arguments) == peer(*arguments)


def test_colors() -> None:
    actual, peer = both("utils.Color")
    for color in ("red", "Green", "magenta", "no-color"):
        assert actual.format("a", color) == peer.format("a", color), color


def test_lengths_are_compared() -> None:
    for check in both("utils.sanity_check_lengths"):
        check(["a"], [["b"]])
        with pytest.raises(SystemExit) as end:
            check(["a"], [["b", "c"]])
        assert end.value.code == 1
