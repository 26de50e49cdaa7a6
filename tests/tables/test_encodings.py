"""Encodings of tables: marks, UTF-16 without one, code pages by letters and frequent words."""

from __future__ import annotations

from pathlib import Path

import pytest

from karat.errors import InputError
from karat.tables.decoding import decode
from karat.tables.files import read_table
from karat.tables.options import ReadingOptions

GERMAN = "id;antwort\n1;Der Hund läuft über die Straße\n2;Größe für alle\n"
JAPANESE = "id\t回答\n1\tこれはテストです。日本語の文章\n2\tはい\n"


@pytest.mark.parametrize("text", [GERMAN, JAPANESE, "id,text\n1,x\n"])
@pytest.mark.parametrize(
    ("encoding", "remark"),
    [
        ("utf-8", ()),
        ("utf-8-sig", ()),
        ("utf-16", ("the text is UTF-16",)),
        ("utf-16-le", ("the text is UTF-16",)),
        ("utf-16-be", ("the text is UTF-16",)),
        ("utf-32", ("the text is UTF-32",)),
    ],
)
def test_unicode(text: str, encoding: str, remark: tuple[str, ...]):
    assert decode(text.encode(encoding), "t") == (text, remark)


CODE_PAGES = [
    ("cp1252", "Windows-1252", GERMAN),
    ("cp1252", "Windows-1252", "id,text\n1,“Hello” – it’s good\n"),
    ("cp1252", "Windows-1252", "id,text\n1,it costs €5 or £4\n"),
    ("cp1252", "Windows-1252", "id;texte\n1;Le chat est très beau et déjà là\n2;Où êtes-vous ?\n"),
    ("cp1252", "Windows-1252", "id;texto\n1;El niño está aquí, ¿qué más?\n2;mañana también\n"),
    ("cp1252", "Windows-1252", "id;a;b\n1;Der Hund läuft über;Le chien est très grand, où\n"),
    ("cp1250", "Windows-1250", "id;tekst\n1;Zażółć gęślą jaźń\n2;Nie wiem, czy się uda\n"),
    ("cp1250", "Windows-1250", "id;text\n1;Příliš žluťoučký kůň úpěl ďábelské ódy\n2;že při\n"),
    ("cp1250", "Windows-1250", "id;text\n1;Az árvíztűrő tükörfúrógép nem egy és hogy\n"),
    ("iso8859-2", "ISO-8859-2", "id;tekst\n1;Zażółć gęślą jaźń\n2;Nie wiem, czy się uda\n"),
    ("cp1251", "Windows-1251", "id;text\n1;Привет, как дела и что это\n"),
    ("koi8-r", "KOI8-R", "id;text\n1;Привет, как дела и что это\n"),
    ("cp1253", "Windows-1253", "id;text\n1;Καλημέρα και το σπίτι της\n"),
    ("cp1254", "Windows-1254", "id;text\n1;Bu çok güzel bir şey değil ve için\n"),
    ("cp1257", "Windows-1257", "id;text\n1;Ąžuolas yra didelis ir žalias, į iš tai ėjo\n"),
    ("cp1255", "Windows-1255", "id;text\n1;שלום לכולם של את הוא לא זה\n"),
    ("cp1256", "Windows-1256", "id;text\n1;مرحبا بكم في هذا من على إلى\n"),
    ("mac-roman", "Mac-Roman", "id;texte\n1;Le chat est très beau et déjà là\n2;Où êtes-vous ?\n"),
    ("cp932", "Shift-JIS", JAPANESE),
    ("euc-jp", "EUC-JP", JAPANESE),
    ("gb18030", "GB18030", "id,文本\n1,这是一个测试的句子,我们在北京\n"),
    ("cp950", "Big5", "id,文本\n1,這是一個測試的句子我們在台北\n"),
    ("cp949", "EUC-KR", "id,text\n1,안녕하세요 이것은 한국어 문장입니다\n"),
]


@pytest.mark.parametrize(("encoding", "label", "text"), CODE_PAGES)
def test_code_pages(encoding: str, label: str, text: str):
    assert decode(text.encode(encoding), "t") == (text, (f"the text is {label}, not UTF-8",))


@pytest.mark.parametrize(
    "data",
    [
        b"id,text\n1,na\xefve\n",
        b"id,text\n1,\xe8\xe0\n",
        "id,text\n1,ěš\n".encode("cp1250"),
    ],
)
def test_undecided_code_pages_are_refused_with_both_readings(data: bytes):
    with pytest.raises(InputError, match=r"line 2: not UTF-8; it may be .* or .*--encoding"):
        decode(data, "t")


def test_a_file_that_is_almost_utf8_is_refused():
    data = "id,text\n1,größer, höher, weiter\n".encode() + b"2,\xff\n"
    with pytest.raises(InputError, match="line 3: not valid UTF-8, unlike most of the file"):
        decode(data, "t")


def test_no_code_page_fits():
    with pytest.raises(InputError, match="no code page fits; name the encoding"):
        decode(b"id,text\n1,a\x81b\x8d\x9d\x98\xa4c\n", "t")


def test_nul_characters_are_refused():
    with pytest.raises(InputError, match="line 2: found a NUL character"):
        decode(b"id,text\n1,a\0b\n2,c\n", "t")


def test_a_named_encoding(tmp_path: Path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"id,text\n1,na\xefve\n")
    table = read_table(path, ReadingOptions(encoding="windows-1252"))
    assert table.records == [{"id": "1", "text": "naïve"}]
    with pytest.raises(InputError, match="line 2: not valid UTF-8"):
        read_table(path, ReadingOptions(encoding="utf-8"))
    for wrong in ("klingon", "hex", "\0"):
        with pytest.raises(InputError, match="expected a name such as utf-8"):
            read_table(path, ReadingOptions(encoding=wrong))


def test_an_encoding_is_decided_by_part_of_a_file(tmp_path: Path):
    path = tmp_path / "t.csv"
    path.write_bytes(JAPANESE.encode("cp932") + "3\tはい\n".encode("cp932") * 60_000)
    assert read_table(path, limit=1).records[0]["回答"] == "これはテストです。日本語の文章"
