"""`reproduce`: reproduce the main table or figure of a paper."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from karat.errors import InputError, quoted
from karat.evalset.catalogue import VARIABLE, GivenPath
from karat.evalset.loading import KNOWN, load_evalset
from karat.evalset.sets import EvalSet
from karat.progress import Progress, silent
from karat.registry import Registry, call, expect_type, make_check
from karat.reproduction.results import Reproduction
from karat.settings import SEED
from karat.storage.digests import files_digest

BUNDLED = "bundled"  # the name of the data that come with Karat


@dataclass(frozen=True)
class DataFolder:
    """A folder of data sets; without a path, only the bundled data."""

    path: Path | None = None
    opened: list[str] = field(default_factory=list, compare=False)  # files read

    def has(self, place: str) -> bool:
        """Return whether the folder contains a file or folder."""
        return self.path is not None and (self.path / place).exists()

    def __truediv__(self, place: str) -> Path:
        self.opened.append(place)
        return (self.path or Path()) / place

    @property
    def signatures(self) -> dict[str, str]:
        """Signature of the files and folders that were read; empty for bundled data."""
        if self.path is None:
            return {}
        signatures = []
        for place in sorted(set(self.opened)):
            path = self.path / place
            files = sorted(path.rglob("*")) if path.is_dir() else [path]
            digest = files_digest([file for file in files if file.is_file()])
            signatures.append(f"{place}@{digest}")
        return {"data": f"data:{','.join(signatures)}"} if signatures else {}

    def any_of(self, places: Sequence[str]) -> list[str]:
        """Return the places that are in the folder; an empty list means the bundled data.

        Raise if the folder has none of them.
        """
        present = [place for place in places if self.has(place)]
        if self.path is not None and not present:
            expected = places[0] if len(places) == 1 else f"any of {', '.join(places)}"
            raise InputError(f"{self.path}: expected {expected} in this folder: {_ADVICE}")
        return present

    def holds_all(self, places: Sequence[str]) -> bool:
        """Return True if all places are in the folder, False for the bundled data.

        Raise if the folder lacks any of them.
        """
        missing = [place for place in places if not self.has(place)]
        if self.path is not None and missing:
            expected = " and ".join(missing)
            raise InputError(f"{self.path}: expected {expected} in this folder: {_ADVICE}")
        return self.path is not None


_ADVICE = f"name the data folder with --data, or use the bundled data with --data {BUNDLED}"


def data_folder(path: GivenPath | None) -> DataFolder:
    """Return the folder of a path, by default of the variable KARAT_DATA."""
    if path == BUNDLED:
        return DataFolder()
    if path == "":
        raise InputError(f'data="": expected a folder, or {quoted(BUNDLED)} for the bundled data')
    folder = (os.environ.get(VARIABLE) or None) if path is None else path
    if folder is None:
        return DataFolder()
    if not isinstance(folder, str | os.PathLike):
        raise InputError(f"data={quoted(folder)}: expected a folder, or {quoted(BUNDLED)}")
    if not Path(folder).is_dir():
        problem = f"{os.fspath(folder)}: no such folder"
        raise InputError(f"{problem}; expected a data folder, or {BUNDLED} for the bundled data")
    return DataFolder(Path(folder))


class ReproductionRequest(NamedTuple):
    """The request for a reproduction."""

    data: DataFolder
    full: bool = False  # use the settings that take long
    seed: int = SEED
    threads: int | None = None
    progress: Progress = silent

    @property
    def settings(self) -> dict[str, object]:
        """All settings that affect the numbers."""
        folder = BUNDLED if self.data.path is None else str(self.data.path)
        return {"data": folder, "full": self.full, "seed": self.seed}

    def evalset(self, name: str) -> EvalSet:
        """Return a known set from the data folder, or a bundled one."""
        known_set = KNOWN[name]
        if known_set.bundled:
            return load_evalset(name, progress=self.progress)
        naming = {} if known_set.format == "dir" else {"name": name}
        place = self.data / known_set.place
        return load_evalset(
            place, known_set.format, progress=self.progress, **{**naming, **known_set.options}
        )


def describe_set(evalset: EvalSet) -> str:
    """Return the kind and size of a known set in words."""
    about = KNOWN[evalset.name].about
    return about if "segments" in about else f"{about}; {len(evalset):,} segments"


REPRODUCTIONS: Registry[Callable[[ReproductionRequest], Reproduction]] = Registry(
    "reproductions",
    "paper",
    {
        "aev": "karat.reproduction.aev:reproduce_aev",
        "gtm": "karat.reproduction.gtm:reproduce_gtm",
    },
    check=make_check(callable, "paper", "a function that returns a karat.Reproduction"),
)
"""Name -> the function that reproduces the main table or figure of a paper."""


def reproduce(
    name: str,
    data: GivenPath | None = None,
    *,
    full: bool = False,
    seed: int = SEED,
    threads: int | None = None,
    progress: Progress = silent,
) -> Reproduction:
    """Reproduce the main table or figure of a paper, and compare it with the published numbers.

    Args:
        name: `aev`, `gtm`, `fergus`, `pem` or `nuggeteer`.
        data: the folder of data sets; by default that of KARAT_DATA. Without either, or with
            `"bundled"`, the small bundled data are used.
        full: use the full settings, which take long.
        seed: seed of resamples.
        threads: number of threads; by default one per processor.
        progress: receives the state of the work.
    """
    function = REPRODUCTIONS[name]
    request = ReproductionRequest(data_folder(data), full, seed, threads, progress)
    check_result = expect_type(Reproduction, "a karat.Reproduction")
    reproduction: Reproduction = call(
        f"the reproduction of {name}", function, lambda: function(request), check_result
    )
    return replace(reproduction, signatures={**reproduction.signatures, **request.data.signatures})
