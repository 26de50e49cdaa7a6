"""Karat compared with the original GTM tool, if KARAT_GTM_JAR is the path of its jar.

Both read the same SGML-like files and print the F of every segment and document; the benchmark
compares the processor time of the whole process, including start-up. Nothing is reported unless
every F of the tool agrees with Karat's to 1e-5. `python java_gtm.py CANDIDATES REFERENCE ...` runs
Karat's side.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from table import Row, duration

import karat as kt
from karat.evalset.aligned_texts import load_texts

JAR = "KARAT_GTM_JAR"
METRIC = kt.GTM(e=2)
CLOSE = 1e-5

Values = dict[tuple[str, ...], float]
"""F of a segment under (document, segment), of a document under (document,)."""


class Text(NamedTuple):
    """One text of each system for every reference."""

    work: str
    outputs: Mapping[str, Sequence[str]]
    references: Sequence[str]


def measure(texts: Sequence[Text], rounds: int) -> Iterator[Row]:
    """A row for each text."""
    missing = _missing()
    for text in texts:
        work = f"GTM greedy e=2, {text.work}, processor time of the whole process"
        if missing:
            yield Row(work, "", "GTM 1.4 in Java", note=f"not measured: {missing}")
        else:
            yield _race(work, text, rounds)


def _missing() -> str:
    """What the tool lacks to run; nothing if it has it all."""
    jar = os.environ.get(JAR, "")
    if not jar:
        return f"{JAR} is not set to the jar of GTM 1.4"
    if not Path(jar).is_file():
        return f"{JAR}={jar} is not there"
    return "" if shutil.which("java") else "there is no java on the PATH"


def _race(work: str, text: Text, rounds: int) -> Row:
    with tempfile.TemporaryDirectory(prefix="karat-gtm-") as folder:
        files = write(text, Path(folder))
        karat, java = karat_command(files), java_command(files)
        check(parse(_output(karat)), parse(_output(java)))
        best = [min(_spent(command) for _ in range(rounds)) for command in (karat, java)]
    alone = min(_scoring(text) for _ in range(rounds))
    return Row(
        work,
        duration(best[0]),
        f"GTM 1.4 in Java, {duration(best[1])}",
        best[1] / best[0],
        "x faster",
        note=f"every F the same to {CLOSE:g}; both from SGML, start-up included; "
        f"Karat's scoring alone, from lists, takes {duration(alone)}",
    )


def _scoring(text: Text) -> float:
    """Processor seconds of the scoring in this process, on one thread."""
    start = time.process_time()
    kt.score(text.outputs, text.references, METRIC, segments=True, threads=1)
    return time.process_time() - start


# ---------------------------------------------------------------------------- what goes in


def write(text: Text, folder: Path) -> list[Path]:
    """Candidates and references as the tool reads them; every system is a document."""
    sides = {
        "candidates": text.outputs,
        "references": dict.fromkeys(text.outputs, text.references),
    }
    files = []
    for name, documents in sides.items():
        files.append(folder / f"{name}.sgm")
        lines = [
            line for docid, texts in documents.items() for line in _document(docid, name, texts)
        ]
        files[-1].write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return files


def _document(docid: str, sysid: str, texts: Sequence[str]) -> Iterator[str]:
    """The tool wants a segment a line; it parts words at fewer kinds of white space than Karat."""
    yield f'<doc docid="{docid}" sysid="{sysid}">'
    for number, text in enumerate(texts, 1):
        if "<seg" in text.lower() or "</seg" in text.lower():
            raise RuntimeError(f"{docid}, segment {number} holds a tag: {text[:40]!r}")
        yield f"<seg id={number}> {' '.join(text.split())} </seg>"
    yield "</doc>"


def java_command(files: Sequence[Path]) -> list[str]:
    """Scores of segments and documents by the tool."""
    options = ["+s", "+d", "-e", f"{METRIC.e:g}"]
    start = ["java", "-Dfile.encoding=UTF-8", "-jar", os.environ[JAR]]
    return [*start, *options, *map(str, files)]


def karat_command(files: Sequence[Path]) -> list[str]:
    """The same by Karat."""
    return [sys.executable, __file__, *map(str, files)]


# --------------------------------------------------------------------------- what comes out


def parse(printed: str) -> Values:
    """`document segment F` and `document F`, a line each; anything else is an error."""
    values: Values = {}
    for number, line in enumerate(printed.splitlines(), 1):
        fields = line.split()
        key = tuple(fields[:-1])
        if len(key) not in (1, 2) or key in values:
            raise RuntimeError(f"line {number}: {line!r} is no score, or one that was there before")
        try:
            values[key] = float(fields[-1])
        except ValueError as error:
            raise RuntimeError(f"line {number}: {line!r} has no number at its end") from error
    return values


def check(karat: Values, java: Values) -> None:
    """Refuse to go on unless both have the same scores, and at least one."""
    if not karat or karat.keys() != java.keys():
        odd = sorted(karat.keys() ^ java.keys())[:1]
        raise RuntimeError(
            f"karat printed {len(karat):,} scores and the tool {len(java):,}; the first that only "
            f"one of them has is that of {odd}"
        )
    for key, value in karat.items():
        if not abs(value - java[key]) <= CLOSE:
            raise RuntimeError(f"{' '.join(key)}: karat says {value}, the tool {java[key]}")


def _output(command: Sequence[str]) -> str:
    done = subprocess.run(command, check=False, capture_output=True, encoding="utf-8")
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


def _spent(command: Sequence[str]) -> float:
    """Processor seconds of a process and all its threads."""
    before = _children()
    _output(command)
    return _children() - before


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _print_scores(candidates: str, *references: str) -> None:
    """What the tool prints, from the same files."""
    texts = load_texts({"system": candidates}, references)
    rows = METRIC.stats(texts.systems["system"], texts.references, threads=1)
    values = METRIC.measure(rows)["value"].tolist()
    for document in dict.fromkeys(texts.documents):
        segments = [i for i, name in enumerate(texts.documents) if name == document]
        for number, segment in enumerate(segments, 1):
            print(document, number, values[segment])
        print(document, METRIC.score(rows[segments].sum(axis=0)).value)


if __name__ == "__main__":
    _print_scores(*sys.argv[1:])
