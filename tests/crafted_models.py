"""Model files with right checksums and wrong contents, and what commands make of them.

    python tests/crafted_models.py MODEL FOLDER N COMMAND...

Every array of the model is replaced in turn by wrong types, shapes and values, and every field of
its text by other values. Each command (words with spaces between; MODEL stands for the file) is run
on every N-th such file. A line is printed for every run that ends in another way than with exit
code 0, or with 2 and one sentence.
"""

from __future__ import annotations

import io
import json
import sys
import traceback
import zipfile
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Changed = tuple[str, dict[str, NDArray[Any]], Any]


def read_model(path: Path) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Return the text and the arrays of a model."""
    with zipfile.ZipFile(path) as archive:
        about = json.loads(archive.read("about.json"))
    with np.load(path) as stored_arrays:
        return about, {
            name: stored_arrays[name] for name in stored_arrays.files if name != "about.json"
        }


def write_model(path: Path, about: Any, arrays: dict[str, NDArray[Any]]) -> None:
    """Write an archive with right checksums, whatever is in it."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("about.json", json.dumps(about))
        for name, array in arrays.items():
            held = io.BytesIO()
            np.lib.format.write_array(held, np.asarray(array), version=(1, 0))
            archive.writestr(f"{name}.npy", held.getvalue())


def wrong_arrays(array: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any] | None]]:
    """Yield what an array is replaced by; None: it is left out."""
    yield "missing", None
    yield "empty", array[:0]
    yield "scalar", np.zeros((), array.dtype)
    yield "row", array.reshape(1, -1)
    yield "half", array[: len(array) // 2]
    yield "twice", np.concatenate([array, array])
    yield "text", np.full(len(array), "x")
    yield "records", np.zeros(len(array), dtype=[("a", "i4"), ("b", "f8")])
    yield (
        "float64" if array.dtype != np.float64 else "int64",
        array.astype(np.float64 if array.dtype != np.float64 else np.int64),
    )
    yield "big-endian", array.astype(array.dtype.newbyteorder(">"))
    for name, value in _wrong_values(array):
        changed_array = array.copy().reshape(-1)
        if len(changed_array):
            changed_array[len(changed_array) // 2] = value
            yield f"one {name}", changed_array.reshape(array.shape)
        yield f"all {name}", np.full_like(array, value)
    yield "reversed", array[::-1].copy()


def _wrong_values(array: NDArray[Any]) -> Iterator[tuple[str, Any]]:
    yield "zero", 0
    if array.dtype.kind == "f":
        yield from {"nan": np.nan, "inf": np.inf, "-1": -1.0, "huge": 1e30}.items()
    elif array.dtype.kind in "iu":
        yield "most", np.iinfo(array.dtype).max
        yield "least", np.iinfo(array.dtype).min
        yield "size", min(len(array), np.iinfo(array.dtype).max)


WRONG_FIELDS: tuple[Any, ...] = (
    None, True, -1, 0, 10**30, float("nan"), 1e308, "", "x\x1b[31m", "y" * 3000, [], [1], {},
    {"x": 1},
)  # fmt: skip


def wrong_abouts(about: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield copies of a text in which one field is another; of lists the first and last count."""
    items = about.items() if isinstance(about, dict) else ()
    if isinstance(about, list) and about:
        items = [(0, about[0]), (len(about) - 1, about[-1])]
    for key, value in [*items][:12]:
        place = (*path, key)
        name = ".".join(map(str, place))
        if isinstance(about, dict):
            yield f"{name} missing", {k: v for k, v in about.items() if k != key}
        for wrong in WRONG_FIELDS:
            yield f"{name} = {str(wrong)[:12]!r}", _with(about, key, wrong)
        for change_name, inner in wrong_abouts(value, place):
            yield change_name, _with(about, key, inner)


def _with(about: Any, key: Any, value: Any) -> Any:
    changed = about.copy()
    changed[key] = value
    return changed


def changes(about: Any, arrays: dict[str, NDArray[Any]]) -> Iterator[Changed]:
    """Yield every change with its name."""
    for name, array in arrays.items():
        for change_name, wrong in wrong_arrays(array):
            remaining_arrays = {k: v for k, v in arrays.items() if k != name}
            yield (
                f"{name}: {change_name}",
                remaining_arrays if wrong is None else {**arrays, name: wrong},
                about,
            )
    for change_name, other in wrong_abouts(about):
        yield f"about: {change_name}", arrays, other


def run(args: list[str]) -> tuple[int, str]:
    """Run a command; its exit code (70: a traceback) and its errors."""
    from karat.cli.main import main

    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as errors:
        try:
            code = main(args)
        except BaseException:
            traceback.print_exc()
            code = 70
    return code, errors.getvalue()


def is_well(code: int, errors: str) -> bool:
    """Whether a run worked, or was refused with one sentence."""
    if code == 0:
        return True
    lines = errors.splitlines()
    return code == 2 and len(lines) == 1 and lines[0].startswith("karat: ") and len(errors) < 2500


def main(model: str, folder: str, step: str, *commands: str) -> int:
    """Try every n-th of the changes; 1 if a run went wrong."""
    bad = tried = 0
    for i, (change_name, arrays, about) in enumerate(changes(*read_model(Path(model)))):
        if i % int(step):
            continue
        place = Path(folder) / f"crafted-{i}.npz"  # a new one: the last may still be mapped
        write_model(place, about, arrays)
        for command in commands:
            # the last line names the change, if it crashes
            print(f"{change_name} | {command}", file=sys.stderr, flush=True)
            code, errors = run([word.replace("MODEL", str(place)) for word in command.split()])
            tried += 1
            if not is_well(code, errors):
                bad += 1
                print(f"{change_name} | {command} | {code} | {errors[-400:]}", flush=True)
        place.unlink()
    print(f"{tried} runs, {bad} went wrong")
    return min(bad, 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
