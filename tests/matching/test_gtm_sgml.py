"""The original tool's files: its samples with their gold values, and what can be wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import karat as kt
from karat.evalset.aligned_texts import AlignedTexts, load_texts, read_gtm_sgml

ONE = '<doc docid="d" sysid="s">\n<seg id=1> a  b </seg>\n<seg id=2>c</seg>\n</doc>\n'


def samples(karat_data: Path, system: str, *references: str) -> AlignedTexts:
    folder = karat_data / "gtm-samples"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there: no samples of the original tool")
    files = [folder / f"ara-{name}.txt" for name in (system, *references)]
    return load_texts({"system": files[0]}, files[1:])


def test_gold_values_of_segments(karat_data: Path) -> None:
    texts = samples(karat_data, "sys1", "ref2")
    values = kt.GTM().segments(texts.systems["system"], texts.references)
    gold = [0.13333, 0.45217, 0.57143, 0.28571, 0.37778, 0.35052]
    assert values.tolist() == pytest.approx(gold, abs=5e-6)


@pytest.mark.parametrize(
    ("system", "gold"), [("sys1", (0.517413, 0.508393)), ("sys2", (0.558824, 0.575835))]
)
def test_gold_values_of_documents(karat_data: Path, system: str, gold: tuple[float, float]) -> None:
    texts = samples(karat_data, system, "ref1", "ref2")
    for search in ("greedy", "exact"):
        metric = kt.GTM(search=search)
        rows = metric.stats(texts.systems["system"], texts.references)
        documents = np.array(texts.documents)
        totals = [rows[documents == name].sum(axis=0) for name in dict.fromkeys(texts.documents)]
        values = [metric.score(total).value for total in totals]
        assert values == pytest.approx(gold, abs=5e-7)


def read(tmp_path: Path, text: str, name: str = "x.sgm") -> object:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_gtm_sgml(path)


def test_tags_in_any_case_and_attributes_without_quotes(tmp_path: Path) -> None:
    text = (
        "\ufeff<tstset x='1'>\n<DOC DocId=d>\n<p><sEG iD='7'>1 < 2\n  <b> &amp;</seG></p>\n</Doc>\n"
    )
    assert read(tmp_path, text) == {("d", "7"): ("d", "7", "1 < 2 <b> &amp;", 3)}


BAD = [
    ("", r"x\.sgm: no document"),
    ("hello\n", r"x\.sgm, line 1: text outside a segment: 'hello'"),
    ("<doc docid=d>\n\n  stray\n</doc>", r"line 3: text outside a segment: 'stray'"),
    ("<doc>\n</doc>", r"line 1: found <doc>, which has no docid"),
    ("<doc docid=d>\n<seg>a</seg></doc>", r"line 2: found <seg>, which has no id"),
    ("<doc docid=d>\n<seg id=1>a\n<seg id=2>b</seg></doc>", r"line 2: segment 1 has no </seg>"),
    ("<doc docid=d>\n<seg id=1>a", r"line 2: segment 1 has no </seg>"),
    ("<doc docid=d>\n<seg id=1>a</seg>\n", r"line 1: document d has no </doc>"),
    ("<doc docid=d>\n<doc docid=e></doc>", r"line 2: found <doc docid=e>, expected <seg"),
    ("\n<seg id=1>a</seg>", r"line 2: found <seg id=1>, expected <doc"),
    ("<doc docid=d></doc>\n</doc>", r"line 2: found </doc>, expected <doc"),
    (ONE + ONE, r"line 5: document d again \(first in line 1\)"),
    (
        "<doc docid=d>\n<seg id=1>a</seg>\n<seg id=1>b</seg></doc>",
        r"line 3: segment 1 again \(first in line 2\)",
    ),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_bad_files_are_named_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(kt.InputError, match=message):
        read(tmp_path, text)


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(kt.InputError, match="No such file"):
        read_gtm_sgml(tmp_path / "nowhere")
    path = tmp_path / "latin"
    path.write_bytes(b"<doc docid=d>\n<seg id=1>caf\xe9</seg></doc>")
    with pytest.raises(kt.InputError, match=r"latin, line 2: not valid UTF-8"):
        read_gtm_sgml(path)


def test_files_that_do_not_fit_each_other(tmp_path: Path) -> None:
    full, part = tmp_path / "a.sgm", tmp_path / "b.sgm"
    read(tmp_path, ONE, full.name)
    read(tmp_path, "<doc docid=d>\n<seg id=1>a</seg></doc>", part.name)
    for system, reference in ((full, part), (part, full)):
        with pytest.raises(kt.InputError, match=r"a\.sgm, line 3: segment 2 of document d is not"):
            load_texts({"system": system}, [reference])
    with pytest.raises(kt.InputError, match="at least one"):
        load_texts({"system": full}, [])
