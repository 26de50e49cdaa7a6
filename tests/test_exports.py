"""The public surface: everything promised is there, documented, and loaded when asked for."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import karat as kt


@pytest.mark.parametrize("name", kt.__all__)
def test_every_export_is_there_and_documented(name: str) -> None:
    found = getattr(kt, name)
    assert (inspect.getdoc(found) or "").strip()
    assert found.__doc__, f"{name} only inherits its documentation"
    assert found.__name__ == name


def test_exports_are_sorted_out_and_listed() -> None:
    assert len(set(kt.__all__)) == len(kt.__all__)
    assert set(kt.__all__) <= set(dir(kt))


def test_a_star_import_gives_the_exports() -> None:
    names: dict[str, object] = {}
    exec("from karat import *", names)
    assert set(kt.__all__) == set(names) - {"__builtins__"}


def test_what_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'karat' has no attribute 'nonsense'"):
        _ = kt.nonsense


def loaded(program: str) -> set[str]:
    """The modules that a fresh Python has loaded after a program."""
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys\nprint(*sys.modules, file=sys.stderr)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.split())


SLOW = {"numpy", "karat._kernel", "Stemmer", "concurrent.futures", "json"}


def test_the_package_loads_nothing_until_it_is_asked() -> None:
    found = loaded("import karat")
    assert "karat" in found
    assert not found & (SLOW | {"click", "karat.metrics.base"})


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_the_version_and_the_help_load_neither_numpy_nor_the_kernel(argument: str) -> None:
    found = loaded(f"from karat.cli.main import main\nmain([{argument!r}])")
    assert "karat.cli.main" in found
    assert not found & {"numpy", "karat._kernel", "Stemmer"}


def test_a_bad_command_loads_no_numpy() -> None:
    program = "from karat.cli.main import main\nmain(['score', 'x', '--threads', '0'])"
    assert "numpy" not in loaded(program)


def test_an_export_loads_only_what_it_needs() -> None:
    assert "numpy" not in loaded("import karat\nkarat.InputError")
    assert "karat.comparison" not in loaded("import karat\nkarat.metric('bleu')")
