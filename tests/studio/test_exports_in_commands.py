"""A set judged in the studio goes straight into other commands; export and import as commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from judged_store import judge_all, make_store, nugget_texts, texts

from karat.errors import InputError, OutputError
from karat.studio.cli.export import command, import_command
from karat.studio.export.formats import export_store


def test_meta_and_estimate_take_an_exported_set(
    tmp_path: Path, called: Callable[..., object]
) -> None:
    store = make_store(tmp_path / "store", texts(14, 3), people=2)
    judge_all(store, most=40)
    export_store(store, tmp_path / "set", "set")
    place = str(tmp_path / "set")
    for asked in (("meta", "bleu", "--set", place), ("estimate", place, "-d", "quality")):
        done = called(*asked, "--format", "json")
        assert done.returncode == 0, done.stderr  # type: ignore[attr-defined]
        assert "sys1" in json.dumps(json.loads(done.stdout)) or "bleu" in done.stdout  # type: ignore[attr-defined]


def test_nuggets_score_takes_exported_labels(tmp_path: Path, called: Callable[..., object]) -> None:
    store = make_store(tmp_path / "store", nugget_texts(), people=2, tasks={"nuggets": {}})
    judge_all(store)
    export_store(store, tmp_path / "all.jsonl", "nuggets")
    place = str(tmp_path / "all.jsonl")
    done = called("nuggets", "score", "kestrel", "--key", place, "--no-guess", "--format", "json")
    assert done.returncode == 0, done.stderr  # type: ignore[attr-defined]
    assert "kestrel" in done.stdout  # type: ignore[attr-defined]


def test_the_commands_export_a_store_and_make_one(tmp_path: Path) -> None:
    with make_store(tmp_path / "store", texts(3, 2), people=1) as store:
        judge_all(store)
    run = CliRunner().invoke
    done = run(command, [str(tmp_path / "store"), str(tmp_path / "out"), "--anonymous"])
    assert done.exit_code == 0, done.output
    assert done.output.endswith("out: log, csv, labels, ties, set\n")
    done = run(import_command, [str(tmp_path / "out"), str(tmp_path / "again")])
    assert done.exit_code == 0, done.output
    assert "assessor-1: token " in done.output
    again = run(command, [str(tmp_path / "again"), str(tmp_path / "out")])
    assert isinstance(again.exception, OutputError)
    none = run(command, [str(tmp_path / "none"), str(tmp_path / "new")])
    assert isinstance(none.exception, InputError)
    with pytest.raises(OutputError, match="exists already"):
        raise again.exception
