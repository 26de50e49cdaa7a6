"""Who can read the files of a studio, and names of files that some disks take for one."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from studio.judged_store import judge_all, make_store, texts

import karat as kt
from karat.errors import InputError, OutputError
from karat.progress import silent
from karat.studio.export.formats import export_files, export_studio
from karat.studio.export.log import import_studio
from karat.studio.opening import choose_token, open_store
from karat.studio.options import TOKEN_VARIABLE, StudioOptions

posix = pytest.mark.skipif(os.name != "posix", reason="rights of files are those of POSIX")


@pytest.fixture(autouse=True)
def usual_rights() -> Any:
    """New files can be read by everybody, unless a program says otherwise."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@posix
def test_only_the_owner_reads_a_store_its_copies_and_its_log(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with make_store(path, people=1) as store:
        judge_all(store, most=2)
        for ending in ("", "-wal", "-shm"):
            assert rights(tmp_path / f"a.sqlite{ending}") == 0o600, ending
        store.backup(tmp_path / "copy.sqlite")
    assert rights(tmp_path / "copy.sqlite") == 0o600
    export_studio(path, tmp_path / "log.jsonl", "log")
    assert rights(tmp_path / "log.jsonl") == 0o600
    import_studio(tmp_path / "log.jsonl", tmp_path / "again.sqlite")
    assert rights(tmp_path / "again.sqlite") == 0o600
    export_studio(path, tmp_path / "all")
    export_studio(path, tmp_path / "anonymous", anonymous=True)
    assert rights(tmp_path / "all" / "log.jsonl") == 0o600
    assert rights(tmp_path / "all" / "labels.tsv") == 0o644
    assert rights(tmp_path / "anonymous" / "log.jsonl") == 0o644


@posix
@pytest.mark.parametrize(("mode", "warned"), [(0o600, False), (0o640, True), (0o604, True)])
def test_a_store_that_others_can_read_is_told(tmp_path: Path, mode: int, warned: bool) -> None:
    path = tmp_path / "a.sqlite"
    make_store(path).close()
    path.chmod(mode)
    lines: list[str] = []
    open_store(path, path, StudioOptions(), silent, lines.append).close()
    advice = f"Other users of this machine can read {path}: close it with chmod 600."
    assert (advice in lines) is warned


@pytest.mark.parametrize("systems", [("GPT", "gpt"), ("straße", "STRASSE"), ("é", "e\u0301")])
def test_names_that_differ_only_in_case_are_refused(
    tmp_path: Path, systems: tuple[str, str]
) -> None:
    evalset = kt.make_evalset("set", {name: ["a", "b"] for name in systems}, references=["r", "s"])
    with pytest.raises(OutputError, match="would be one file on disks that ignore case"):
        kt.save_evalset(evalset, tmp_path / "set")
    kt.save_evalset(evalset, tmp_path / "set.jsonl", "jsonl")  # one file can hold both
    with make_store(tmp_path / "a.sqlite", evalset, people=1) as store:
        judge_all(store, most=2)
        with pytest.raises(OutputError, match="would be one file on disks that ignore case"):
            export_files(store, "set")
        assert export_files(store, "labels")
    with pytest.raises(OutputError, match="would be one file on disks that ignore case"):
        export_studio(tmp_path / "a.sqlite", tmp_path / "all")
    assert not (tmp_path / "all").exists()


def test_names_that_differ_otherwise_are_written(tmp_path: Path) -> None:
    kt.save_evalset(texts(3, 3), tmp_path / "set")
    assert len(list((tmp_path / "set" / "systems").iterdir())) == 3


def test_a_token_comes_from_a_file_or_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    file = tmp_path / "token"
    file.write_text("sixteen-letters-1\n")
    assert choose_token(None, None) is None
    assert choose_token(None, str(file)) == "sixteen-letters-1"
    assert choose_token("typed-at-the-prompt", None) == "typed-at-the-prompt"
    monkeypatch.setenv(TOKEN_VARIABLE, "from-the-environment")
    assert choose_token(None, None) == "from-the-environment"
    assert choose_token(None, str(file)) == "sixteen-letters-1"
    assert choose_token("typed-at-the-prompt", None) == "typed-at-the-prompt"
    with pytest.raises(InputError, match="expected one of them"):
        choose_token("typed-at-the-prompt", str(file))
    file.write_text(" \n")
    with pytest.raises(InputError, match="is empty: expected the token"):
        choose_token(None, str(file))
    with pytest.raises(InputError, match="cannot read the token file"):
        choose_token(None, str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match=r"cannot read the token file .*: Is a directory$"):
        choose_token(None, str(tmp_path))
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"is not a text file: expected the token$"):
        choose_token(None, str(file))
    assert len(choose_token(None, "/dev/zero") or "") < 100_000  # it never ends
