"""Karat's own formats, good and bad: every problem is named with its file and line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import karat as kt
from karat.evalset.loading import read_evalset
from karat.evalset.reading import MAX_PROBLEMS, Reading

FILES = {
    "karat.toml": '[[dimension]]\nname = "good"\nbetter = "lower"\nlow = 0\n',
    "systems/A.txt": "a1\na2\n",
    "systems/B.txt": "b1\nb2\n",
    "references/2.txt": "second 1\nsecond 2\n",
    "references/10.txt": "tenth 1\ntenth 2\n",
    "human.tsv": "system\tsegment\tjudge\tdimension\tvalue\nA\t1\tx\tgood\t3\nB\t2\tx\tgood\t4.5\n",
}
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write the files, some of them changed (None: not at all), to a folder."""

    def run(changed: dict[str, str | bytes | None]) -> Path:
        for name, content in {**FILES, **changed}.items():
            if content is None:
                continue
            path = tmp_path / "set" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path / "set"

    return run


def problems(path: Path, format: str | None = None) -> list[str]:
    """All that is wrong, without the folder."""
    check = kt.check_evalset(path, format)
    assert check.evalset is None
    return [text.replace(f"{path.parent}/", "") for text in check.problems]


def test_a_folder_is_read(write: Write) -> None:
    evalset = kt.load_evalset(write({}))
    assert evalset.name == "set"
    assert evalset.systems == {"A": ("a1", "a2"), "B": ("b1", "b2")}
    assert evalset.references == (("second 1", "tenth 1"), ("second 2", "tenth 2"))
    assert list(evalset.judgements) == [("A", "1", "x", "good", 3), ("B", "2", "x", "good", 4.5)]
    assert evalset.dimensions["good"] == kt.Dimension("good", "lower", 0)


@pytest.mark.parametrize("end", ["\r\n", "\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_byte_order_marks_and_blank_lines(write: Write, end: str, mark: str) -> None:
    full_set = kt.load_evalset(write({}))
    changed = {name: mark + text.replace("\n", end) for name, text in FILES.items()}
    changed["human.tsv"] = changed["human.tsv"].rstrip() + end + end  # and a blank line at the end
    changed["systems/A.txt"] = changed["systems/A.txt"].rstrip()  # no end of the last line
    assert kt.load_evalset(write(changed)) == full_set


def test_ids_groups_sources_and_missing_texts(write: Write) -> None:
    path = write(
        {
            "karat.toml": 'name = "n"\noptional-outputs = true\noptional-references = true\n'
            "escapes = true\n",
            "segments.tsv": "id\tgroup\nx\tg\ny\tg\n",
            "source.txt": "one\\\\\ntwo\\nlines\n",
            "systems/B.txt": "\n\\e\n",
            "references/2.txt": "\n\\e\n",
            "human.tsv": None,
        }
    )
    evalset = kt.load_evalset(path)
    assert (evalset.segments, evalset.groups) == (("x", "y"), ("g", "g"))
    assert evalset.sources == ("one\\", "two\nlines")
    assert evalset.systems["B"] == (None, "")
    assert evalset.references == (("tenth 1",), ("", "tenth 2"))
    assert not evalset.judgements


HUMAN = "system\tsegment\tjudge\tdimension\tvalue\n"
BAD: list[tuple[dict[str, str | bytes | None], list[str]]] = [
    ({"karat.toml": "name = "}, ["set/karat.toml: not valid TOML"]),
    ({"karat.toml": "nam = 'x'\nescapes = 1\n"}, ["found the key 'nam'", "found escapes = 1, exp"]),
    ({"karat.toml": "systems = [1]"}, ["found 1 among the systems"]),
    ({"karat.toml": "[[dimension]]\nbetter = 'lower'"}, ["expected [[dimension]] with a name"]),
    ({"karat.toml": "[[dimension]]\nname = 'd'\nlow = '1'"}, ["dimension d: found low = '1'"]),
    ({"karat.toml": "[[dimension]]\nname = 'd'\nbetter = 'up'"}, ["better='up': expected"]),
    ({"karat.toml": "systems = ['A']"}, ["set/systems/B.txt: not among the systems"]),
    ({"karat.toml": "systems = ['A', 'B', 'C']"}, ["set/systems/C.txt: No such file"]),
    ({"systems/A.txt": None, "systems/B.txt": None, "human.tsv": None}, ["set: no systems"]),
    ({"systems/B.txt": "b1\n"}, ["set/systems/B.txt: found 1 lines, expected 2, as set/systems/A"]),
    ({"systems/B.txt": b"b1\nb\xff\n"}, ["set/systems/B.txt, line 2: not valid UTF-8"]),
    ({"systems/C.hyp": "c1\nc2\n"}, ["set/systems/C.hyp: expected only .txt files"]),
    ({"references/2.txt": "1\n2\n3\n"}, ["set/references/2.txt: found 3 lines, expected 2"]),
    ({"source.txt": ""}, ["set/source.txt: found 0 lines, expected 2"]),
    (
        {"segments.tsv": "name\nx\ny\n"},
        ["segments.tsv, line 1: found the columns name, expected id"],
    ),
    ({"segments.tsv": "id\nx\nx\n"}, ["segments.tsv, line 3: the id 'x' again (first in line 2)"]),
    ({"segments.tsv": "id\nx\n"}, ["segments.tsv: found 2 lines, expected 3, as"]),
    ({"human.tsv": ""}, ["human.tsv, line 1: found the columns nothing, expected system, segment"]),
    ({"human.tsv": HUMAN[:-1] + "\tmore\n"}, ["human.tsv, line 1: found the columns system, seg"]),
    (
        {"human.tsv": HUMAN + "A\t1\tx\tgood\n\nC\t1\tx\tgood\t3\nA\t3\tx\tgood\t3\n"},
        [
            "human.tsv, line 2: found 4 fields, expected 5",
            "human.tsv, line 4: a judgement of system 'C', which is not in the set",
            "human.tsv, line 5: a judgement of segment '3', which is not in the set",
        ],
    ),
    (
        {"human.tsv": HUMAN + "A\t1\tx\tbad\t3\nA\t1\tx\tgood\t1_0\nA\t1\tx\tgood\tnan\n"},
        [
            "line 2: a judgement of dimension 'bad'",
            "line 3: found the value '1_0'",
            "line 4: found",
        ],
    ),
    (
        {"human.tsv": HUMAN + "A\t1\tx\tgood\t3\nA\t1\tx\tgood\t3\n"},
        ["human.tsv, line 3: judge 'x' has judged good of system 'A' on segment '1' already ("],
    ),
    (
        {"karat.toml": "optional-outputs = true\n" + FILES["karat.toml"], "systems/B.txt": "b\n\n"},
        ["human.tsv, line 3: a judgement of system 'B' on segment '2', which has no output"],
    ),
    (
        {"karat.toml": "escapes = true\n" + FILES["karat.toml"], "systems/B.txt": "b\\x\nc\\\n"},
        ["B.txt, line 1: found \\x, expected", "B.txt, line 2: found \\, expected"],
    ),
]


@pytest.mark.parametrize(("changed", "sentences"), BAD)
def test_every_problem_is_named(
    write: Write, changed: dict[str, str | bytes | None], sentences: list[str]
) -> None:
    messages = problems(write(changed))
    assert len(messages) == len(sentences), messages
    for sentence, text in zip(sentences, messages, strict=True):
        assert sentence in text


def test_problems_are_bounded(write: Write) -> None:
    reading = Reading()
    text = HUMAN + "C\t1\tx\tgood\t1\n" * (MAX_PROBLEMS + 7)
    with pytest.raises(kt.InputError, match=f"and {MAX_PROBLEMS + 6:,} more"):
        read_evalset(write({"human.tsv": text}), reading)
    assert len(reading.problems) == MAX_PROBLEMS
    assert reading.all()[-1] == "and 7 more like these"


# ------------------------------------------------------------------------------- JSON lines

HEADER = {"evalset": "n", "systems": ["B", "A"], "dimensions": [{"name": "good", "low": 1}, "new"]}
ONE = {"id": 1, "references": ["r"], "outputs": {"A": "a", "B": None}}
ROW = {"system": "A", "segment": "1", "judge": "x", "dimension": "good", "value": 2}


def lines(*objects: object) -> bytes:
    return "".join(f"{json.dumps(item)}\n" for item in objects).encode()


def jsonl(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "set.jsonl"
    path.write_bytes(content)
    return path


def test_judgements_stand_anywhere(tmp_path: Path) -> None:
    inner = {key: value for key, value in ROW.items() if key != "segment"}
    two = {**ONE, "id": "2", "outputs": {"A": "a2"}, "judgements": [{**inner, "value": 7.5}]}
    evalset = kt.load_evalset(jsonl(tmp_path, lines(HEADER, ROW, ONE, two)))
    assert list(evalset.systems.items()) == [("B", (None, None)), ("A", ("a", "a2"))]
    assert [row.value for row in evalset.judgements] == [7.5, 2]
    assert evalset.dimensions == {"good": kt.Dimension("good", low=1), "new": kt.Dimension("new")}


def test_a_file_without_a_header_is_called_after_its_name(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + lines(ONE).replace(b"\n", b"\r\n") + b"\n"
    loaded_evalset = kt.load_evalset(jsonl(tmp_path, content))
    assert (loaded_evalset.name, loaded_evalset.systems) == ("set", {"A": ("a",), "B": (None,)})


BAD_LINES: list[tuple[bytes, str]] = [
    (b"", "no segments"),
    (lines(ONE) + b"{", "line 2: not a JSON object"),
    (lines(ONE) + b"[" * 100_000, "line 2: not a JSON object"),
    (lines(ONE, [1]), "line 2: found '[1]', expected a JSON object"),
    (lines(ONE, ONE), "line 2: the id '1' again (first in line 1)"),
    (lines({**ONE, "reference": "r"}), "line 1: found the name 'reference', expected id, group"),
    (lines({"id": "1"}), "line 1: found nothing for 'outputs', expected an object"),
    (lines({**ONE, "outputs": {"A": 3}}), "system A, segment 1: found int"),
    (lines({**ONE, "references": "r"}), "found 'r' for 'references', expected an array"),
    (lines({**ONE, "group": "g"}, {**ONE, "id": "2"}), "line 2: found nothing for 'group'"),
    (lines({**ONE, "id": ["x"]}), "found an object with id, references, outputs, expected system"),
    (lines(ONE, {"system": "A"}), "line 2: found an object with system, expected system, segment"),
    (lines(HEADER, ONE, {**ROW, "value": "2"}), "line 3: found the value '2', expected a number"),
    (lines(HEADER, ONE, {**ROW, "judge": 1}), "line 3: system, segment, judge and dimension must"),
    (lines(HEADER, ONE) + b'{"system":1,"system":2}', "the name 'system' occurs twice in one obj"),
    (lines(HEADER, ONE, ROW).replace(b": 2}", b": NaN}"), "line 3: found the value nan"),
    (lines(HEADER, ONE, ROW, ROW), "line 4: judge 'x' has judged good of system 'A'"),
    (lines({**HEADER, "systems": ["A"]}, ONE), "system 'B' has outputs and is not listed"),
    (lines({**HEADER, "dimensions": [[]]}, ONE), "line 1: found the dimension [], expected one"),
    (lines({**HEADER, "dimensions": [{"name": "d", "low": "1"}]}, ONE), "its scale ends at '1'"),
    (lines(ONE, HEADER), "line 2: found an object with evalset"),
    (lines(ONE).replace(b'"a"', b'"\xff"'), "set.jsonl, line 1: not valid UTF-8"),
]


@pytest.mark.parametrize(("content", "sentence"), BAD_LINES)
def test_bad_lines_are_named(tmp_path: Path, content: bytes, sentence: str) -> None:
    messages = problems(jsonl(tmp_path, content), "jsonl")
    assert any(sentence in text for text in messages), messages
