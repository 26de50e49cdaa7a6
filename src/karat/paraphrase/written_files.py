"""Functions that write files: trained models, sets with controls, phrase tables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from karat.evalset.conversion import check_free, save_evalset
from karat.evalset.loading import load_evalset
from karat.evalset.sets import EvalSet
from karat.paraphrase.align.aligner import Aligner
from karat.paraphrase.align.parallel_text import read_parallel
from karat.paraphrase.pem.judged_pairs import JudgedPairs, add_controls
from karat.paraphrase.pem.metrics import open_table
from karat.paraphrase.pem.training import Pivot, train_pem
from karat.paraphrase.table.moses import read_moses, write_moses
from karat.paraphrase.table.phrase_table import PIVOT, describe_recipe
from karat.paraphrase.table.training import train_pivot
from karat.progress import Progress, silent
from karat.results import Result
from karat.settings import SEED
from karat.storage.output import FilePath
from karat.storage.store import is_store
from karat.text.tokens import TOKENIZERS, Recipe, check_choice, stemmers


class FileRow(NamedTuple):
    """A written file or folder, and a description of its content."""

    path: str
    content: str


@dataclass(frozen=True, eq=False, repr=False)
class WrittenFile(Result):
    """The file that a function wrote."""

    rows: tuple[FileRow]
    settings: Mapping[str, object]
    notes: tuple[str, ...] = ()
    signature: str = ""


def train_model(
    pivots: Mapping[str, Pivot], path: FilePath, judged: JudgedPairs | None = None, **settings: Any
) -> WrittenFile:
    """Train a PEM model with the settings of `train_pem`, and write it to a file."""
    notes: list[str] = []
    model = train_pem(pivots, judged, notes=notes, **settings)
    model.save(path)
    row = FileRow(os.fspath(path), repr(model))
    return WrittenFile((row,), settings, (*notes, *model.cautions), model.signature)


def write_controls(
    evalset: EvalSet | FilePath,
    path: FilePath,
    dimension: str | None = None,
    seed: int = SEED,
    *,
    progress: Progress = silent,
) -> WrittenFile:
    """Add the paper's three controls to a judged set, and write it to a new folder.

    `evalset` is a set or its name; `dimension` is overall quality.
    """
    check_free(Path(path))
    if not isinstance(evalset, EvalSet):
        evalset = load_evalset(evalset, progress=progress)
    with_controls = add_controls(evalset, dimension, seed)
    save_evalset(with_controls, path)
    row = FileRow(os.fspath(path), repr(with_controls))
    return WrittenFile((row,), {"dimension": dimension, "seed": seed})


def convert_table(
    source: FilePath,
    path: FilePath,
    *,
    stem: str = "none",
    tok: str = "13a",
    progress: Progress = silent,
) -> WrittenFile:
    """Convert a Moses phrase table to a table of Karat; or a table, or a model with one, to Moses.

    `stem` and `tok` are the stemmer and tokeniser of the source side of the Moses table.
    """
    check_choice("stem", stem, stemmers())
    check_choice("tok", tok, TOKENIZERS)
    if is_store(source):
        table = open_table(os.fspath(source))
        write_moses(table, path)
    else:
        recipe = describe_recipe(Recipe(tok, "lower", stem))
        about = {"source": recipe, "pivot": describe_recipe(PIVOT)}
        table = read_moses(source, about, progress=progress)
        table.save(path)
    row = FileRow(os.fspath(path), f"{table.pairs:,} pairs of {len(table):,} phrases")
    return WrittenFile((row,), {"stem": stem, "tok": tok})


def make_table(
    source: FilePath,
    pivot: FilePath,
    path: FilePath,
    *,
    stem: str = "none",
    tok: str = "13a",
    pivot_tok: str = "13a",
    as_text: bool = False,
    aligner: Aligner | None = None,
    memory: int | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> WrittenFile:
    """Build the phrase table of two files that are aligned line by line, and write it.

    Beyond `memory` bytes (default: a quarter of the memory of this machine) temporary files are
    used; the table is the same.
    """
    check_choice("stem", stem, stemmers())
    for tokenizer in (tok, pivot_tok):
        check_choice("tok", tokenizer, TOKENIZERS)
    text = read_parallel(source, pivot, progress, as_text=as_text)
    recipes = Recipe(tok, "lower", stem), Recipe(pivot_tok, "lower")
    work: dict[str, Any] = {"memory": memory, "threads": threads, "progress": progress}
    aligner = aligner or Aligner()
    table = train_pivot([text], *recipes, aligner=aligner, **work)
    table.save(path)
    row = FileRow(os.fspath(path), f"{table.pairs:,} pairs of {len(table):,} phrases")
    settings = {"stem": stem, "tok": tok, "pivot_tok": pivot_tok, "aligner": str(aligner)}
    return WrittenFile((row,), settings)
