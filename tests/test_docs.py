"""README and docs: every command they show runs and prints what they show; so does every program.

Fenced blocks marked `console` or `sh` hold commands (`$ karat …`,
`$ python -m karat…`) and what they print; those marked
`python` run in order in one namespace for each document. A line of `…` or `...` in shown output
stands for any lines. A block after a line `<!-- test: skip -->` is not run. All run in a directory
with the demonstration's systems (atlas.txt, beacon.txt, cinder.txt, drift.txt) and references
(ref1.txt, ref2.txt, ref3.txt), and the tables of examples/tables and tests/tables/exports.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import pytest
from oracles.tiny_cross_encoder import write_cross_encoder

import karat as kt
from karat import registry
from karat.cli.main import main

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SKIP = "<!-- test: skip -->"
SHELLS = {"console", "sh"}
ANYTHING = {"…", "..."}
SHELL_SIGNS = re.compile(r"[|&;<>$`(){}*?~#\\\\]")
FENCE = re.compile(r"(\s*)(`{3,})\s*(\w*)")


class Block(NamedTuple):
    """A fenced block: its language, the number of its first line, its lines."""

    language: str
    line: int
    lines: tuple[str, ...]


class Example(NamedTuple):
    """A command with the lines it is said to print, if any are shown."""

    line: int
    command: str
    output_lines: tuple[str, ...]


# ----------------------------------------------------------------------------------- reading


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a document that are not marked to be skipped."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        opening = FENCE.fullmatch(lines[at].rstrip())
        if opening:
            end = _closing(lines, at, opening[2])
            if not _skipped(lines, at):
                indent = len(opening[1])
                yield Block(opening[3], at + 2, tuple(x[indent:] for x in lines[at + 1 : end]))
            at = end
        at += 1


def _closing(lines: list[str], start: int, fence: str) -> int:
    for at in range(start + 1, len(lines)):
        if lines[at].strip() == fence:
            return at
    raise ValueError(f"line {start + 1}: a block that is never closed")


def _skipped(lines: list[str], at: int) -> bool:
    return at > 0 and lines[at - 1].strip() == SKIP


def examples(block: Block) -> Iterator[Example]:
    """The commands of a block; a line that ends in a backslash goes on in the next."""
    command, output_lines, start = "", [], 0
    for number, line in enumerate(block.lines, block.line):
        if command.endswith("\\"):
            command = command[:-1] + line.strip().removeprefix("> ")
        elif line.startswith("$ "):
            if command:
                yield Example(start, command, tuple(output_lines))
            command, output_lines, start = line[2:].strip(), [], number
        elif line.strip():
            output_lines.append(line.rstrip())
    if command:
        yield Example(start, command, tuple(output_lines))


# ------------------------------------------------------------------------------------ running


def prepare(folder: Path) -> None:
    """Put the demonstration's files where the documents expect them."""
    demo = resources.files("karat") / "data" / "demo"
    with resources.as_file(demo) as source:
        for path in (source / "systems").glob("*.txt"):
            shutil.copy(path, folder / path.name)
        for path in source.glob("reference-*.txt"):
            shutil.copy(path, folder / path.name.replace("reference-", "ref"))
    for tables in (ROOT / "examples" / "tables", ROOT / "tests" / "tables" / "exports"):
        shutil.copytree(tables, folder, dirs_exist_ok=True)
    (folder / "README.md").unlink()


TOY_MODEL = "models/toy-nli"


def write_toy_model(text: str, folder: Path) -> None:
    """Write the cross-encoder that a document uses, which knows the words of the document."""
    words = dict.fromkeys(("not", *re.findall(r"\w+", text.lower())))
    write_cross_encoder(folder / TOY_MODEL, tuple(words), most_tokens=128)


def run_command(command: str, folder: Path) -> str:
    """What a command prints, which must succeed; `karat` is the one under test.

    A command that needs no shell runs in this process, which is ten times as quick.
    """
    if SHELL_SIGNS.search(command) or command.split(maxsplit=1)[0] != "karat":
        return run_in_shell(command, folder)
    words = shlex.split(command)
    printed, errors = io.StringIO(), io.StringIO()
    argv, sys.argv = sys.argv, words
    try:
        with redirect_stdout(printed), redirect_stderr(errors):
            code = main(words[1:])
    finally:
        sys.argv = argv
    assert code == 0, f"$ {command}\nexit code {code}\n{errors.getvalue()}"
    return printed.getvalue() + errors.getvalue()


def run_in_shell(command: str, folder: Path) -> str:
    """What a shell prints for a command, which must succeed."""
    program = "from karat.cli.main import run; run()"
    python = shlex.quote(sys.executable)
    functions = f"""karat() {{ {python} -c {shlex.quote(program)} "$@"; }}
python() {{ {python} "$@"; }}"""
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail\n{functions}\n{command}"],
        cwd=folder,
        env={key: value for key, value in os.environ.items() if key != "NO_COLOR"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"$ {command}\nexit code {done.returncode}\n{done.stderr}"
    return done.stdout + done.stderr


def plain(lines: list[str] | tuple[str, ...]) -> list[str]:
    """Lines that are not blank, without white space at their ends and without the version."""
    version = re.compile(r"(karat[= ])\d+\.\d+\.\d+\w*")
    return [version.sub(r"\1VERSION", line.rstrip()) for line in lines if line.strip()]


def matches(pattern_lines: list[str], printed: list[str]) -> bool:
    """Whether the lines are the same, where a line of `…` or `...` stands for any number."""
    if not pattern_lines:
        return not printed
    if pattern_lines[0].strip() in ANYTHING:
        return any(matches(pattern_lines[1:], printed[i:]) for i in range(len(printed) + 1))
    return (
        bool(printed) and pattern_lines[0] == printed[0] and matches(pattern_lines[1:], printed[1:])
    )


def check_example(example: Example, folder: Path) -> None:
    """Run a command and compare what it prints with what is shown, if anything is."""
    printed = plain(run_command(example.command, folder).splitlines())
    if example.output_lines:
        expected_lines = plain(example.output_lines)
        assert matches(expected_lines, printed), "\n".join(
            [
                f"line {example.line}: $ {example.command}",
                "shown:",
                *expected_lines,
                "printed:",
                *printed,
            ]
        )


def check_document(text: str, folder: Path) -> int:
    """Run all that a document shows, in order; the number of commands and programs."""
    names: dict[str, object] = {"__name__": "__main__"}
    ran = 0
    for block in blocks(text):
        if block.language in SHELLS:
            for example in examples(block):
                if example.command.split()[0] == "karat" or "python -m karat" in example.command:
                    check_example(example, folder)
                    ran += 1
        elif block.language == "python":
            code = "\n" * (block.line - 1) + "\n".join(block.lines)
            exec(compile(code, "document", "exec"), names)
            ran += 1
    return ran


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory in which documents are run; what they register is forgotten afterwards."""
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    declared_entries = {kind: dict(entries) for kind, entries in registry._DECLARED.items()}
    monkeypatch.setattr(registry, "_DECLARED", declared_entries)
    return tmp_path


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_document_does_what_it_says(path: Path, folder: Path) -> None:
    text = path.read_text("utf-8")
    if TOY_MODEL in text:
        write_toy_model(text, folder)
    check_document(text, folder)


# ------------------------------------------------------------------------- the runner itself

SAMPLE = """\
# A sample

```console
$ karat --version
karat 9.9.9
$ karat score atlas.txt -r ref1.txt -r ref2.txt \\
    -m rouge1 --format tsv | cut -f 1,2
metric  system
…
$ karat score atlas.txt -r ref1.txt -m bleu --output scores.txt
$ cat atlas.txt | python -m karat.compat.sacrebleu ref1.txt --score-only --format text
39.1
$ ls no-such-file
```

   ```python
   import karat as kt
   score = kt.metric("bleu").corpus(open("atlas.txt"), open("ref1.txt"))
   ```

Then:

<!-- test: skip -->
```sh
$ karat score no-such-file.txt
```

```text
$ karat nonsense
```

```python
assert 0 < score.value < 100
```
""".replace("metric  system", "metric\tsystem")


def test_a_good_document_passes(folder: Path) -> None:
    assert check_document(SAMPLE, folder) == 6
    assert (folder / "scores.txt").exists()


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("karat 9.9.9", "Karat 9.9.9"),
        ("metric\tsystem", "metric\tsystems"),
        ("…\n", ""),
        ("$ karat --version", "$ karat --versions"),
        ("< 100", "< 1"),
        ("<!-- test: skip -->\n", ""),
        ("| cut -f 1,2", "| cut -f 1,2 | false"),
        ("39.1", "39.2"),
    ],
)
def test_a_wrong_document_fails(folder: Path, right: str, wrong: str) -> None:
    assert right in SAMPLE
    with pytest.raises(AssertionError):
        check_document(SAMPLE.replace(right, wrong, 1), folder)


def test_an_unclosed_block_is_found() -> None:
    with pytest.raises(ValueError, match="line 2: a block that is never closed"):
        list(blocks("text\n```python\nx = 1\n"))


@pytest.mark.parametrize(
    ("pattern_lines", "expected"),
    [
        (["a", "b", "c"], True),
        (["a", "c"], False),
        (["a", "...", "c"], True),
        (["…"], True),
        (["…", "b", "…"], True),
        (["…", "x", "…"], False),
        (["a", "…", "a"], False),
        (["a", "b"], False),
        (["a", "b", "c", "…"], True),
    ],
)
def test_dots_match_anything(pattern_lines: list[str], expected: bool) -> None:
    assert matches(pattern_lines, ["a", "b", "c"]) is expected


def test_the_demonstration_is_there(folder: Path) -> None:
    names = ["atlas", "beacon", "cinder", "drift", "ref1", "ref2", "ref3"]
    assert sorted(path.name for path in folder.glob("*.txt")) == [f"{name}.txt" for name in names]
    lengths = {len(kt.Lines(folder / f"{name}.txt")) for name in names}
    assert len(lengths) == 1
