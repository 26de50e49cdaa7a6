"""Pages for users are short, and so are their sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.docs.markdown import pages
from tools.docs.sentences import MEDIAN, NINETIETH, quantiles, sentences, user_documents, words
from tools.docs.stage import ROOT

START = pages(ROOT / "docs" / "start")


@pytest.mark.parametrize("page", START, ids=lambda path: path.name)
def test_a_start_page_has_less_than_150_lines(page: Path) -> None:
    assert len(page.read_text("utf-8").splitlines()) < 150


def test_there_is_a_start_page_for_every_reader() -> None:
    readers = "translation summaries answers generation paraphrases meta-evaluation ci python"
    assert {page.stem for page in START} == set(readers.split())


def test_the_readme_is_short_and_opens_with_the_two_set_up_commands() -> None:
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    assert len(lines) < 120
    commands = [line.split("#")[0].strip() for line in lines if line.startswith("$ ")]
    assert commands[:2] == ["$ make demo", "$ make test"]


def test_sentences_are_short() -> None:
    page_sentences = [
        sentence for page in user_documents() for sentence in sentences(page.read_text("utf-8"))
    ]
    median, ninetieth = quantiles(map(words, page_sentences))
    assert median <= MEDIAN
    assert ninetieth <= NINETIETH


# -------------------------------------------------------------------------- the tool itself

TEXT = """\
# A heading of five words

One two three. Four `five six` seven, e.g. eight! Is [nine ten](page.md) it?
It goes on
in two lines:

| a | table |
|---|---|

- First item, no stop
- Second item. Of two
  lines (Smith et al. 2004).

```text
Code is no sentence.
```

    nor is this one
<!-- nor this. -->
"""


def test_sentences_are_found() -> None:
    assert [words(sentence) for sentence in sentences(TEXT)] == [3, 5, 4, 6, 4, 2, 7]


def test_quantiles_are_members() -> None:
    assert quantiles([5, 1, 9]) == (5, 5)
    assert quantiles(range(1, 12)) == (6, 10)
