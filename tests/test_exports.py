"""The public surface: everything promised is there, documented, and loaded when asked for."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import karat as kt


@pytest.mark.parametrize("name", kt.__all__)
def test_every_export_is_there_and_documented(name: str) -> None:
    export = getattr(kt, name)
    assert (inspect.getdoc(export) or "").strip()
    assert export.__doc__, f"{name} only inherits its documentation"
    assert export.__name__.rpartition(".")[2] == name  # a package within it is karat.NAME


FUNCTIONS = [name for name in kt.__all__ if inspect.isfunction(getattr(kt, name))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_describes_its_parameters(name: str) -> None:
    function = getattr(kt, name)
    documentation = inspect.getdoc(function) or ""
    lacking = [
        p
        for p in inspect.signature(function).parameters
        if not re.search(rf"\b{p}\b", documentation)
    ]
    assert lacking == []


def test_no_docstring_is_a_riddle() -> None:
    riddle = re.compile(r'"""(What|How|The same)\b')
    files = (Path(kt.__file__).parent).rglob("*.py")
    assert [path.name for path in files if riddle.search(path.read_text("utf-8"))] == []


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
    loaded_modules = loaded("import karat")
    assert "karat" in loaded_modules
    assert not loaded_modules & (SLOW | {"click", "karat.metrics.base"})


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_the_version_and_the_help_load_neither_numpy_nor_the_kernel(argument: str) -> None:
    loaded_modules = loaded(f"from karat.cli.main import main\nmain([{argument!r}])")
    assert "karat.cli.main" in loaded_modules
    assert not loaded_modules & {"numpy", "karat._kernel", "Stemmer"}


def test_a_bad_command_loads_no_numpy() -> None:
    program = "from karat.cli.main import main\nmain(['score', 'x', '--threads', '0'])"
    assert "numpy" not in loaded(program)


def test_an_export_loads_only_what_it_needs() -> None:
    assert "numpy" not in loaded("import karat\nkarat.InputError")
    assert "karat.comparison" not in loaded("import karat\nkarat.metric('bleu')")


# --------------------------------------------------------------------------- what is public

ROOT = Path(__file__).parents[1]
APPS = ("karat.compat", "karat.lm", "karat.nuggets", "karat.paraphrase", "karat.realize")
PUBLIC = {
    "karat",
    "karat.pandas",
    "karat.polars",
    *APPS,
    "karat.compat.bert_score",
    "karat.compat.inspect_ai",
    "karat.compat.rouge_scorer",
    "karat.compat.sacrebleu",
    "karat.compat.sacrebleu.significance",
}
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("package", APPS)
def test_every_app_says_what_is_public(package: str) -> None:
    module = import_module(package)
    assert module.__all__
    for name in module.__all__:
        assert (inspect.getdoc(getattr(module, name)) or "").strip(), name


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_import_public_names_alone(path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", path.read_text("utf-8"), re.M | re.S)
    nodes = [node for block in blocks for node in ast.walk(ast.parse(block))]
    modules = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    modules += [name.name for node in nodes if isinstance(node, ast.Import) for name in node.names]
    assert {name for name in modules if name.split(".")[0] == "karat"} <= PUBLIC
