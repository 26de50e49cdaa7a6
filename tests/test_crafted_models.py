"""Model files with right checksums and wrong contents: commands work, or say one sentence."""

from __future__ import annotations

import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest
from crafted_models import WRONG_FIELDS, is_well, read_model, run, write_model
from oracles.toy_content import toy_content

import karat as kt
from karat.paraphrase.table.moses import read_moses
from karat.realize import completer, labelling
from karat.realize import ordering as ordering_training
from karat.realize.model import train_realizer
from karat.realize.treebank import read_treebank

CRAFTED = Path(__file__).parent / "crafted_models.py"
MOSES = """hello , ||| bonjour , ||| 0.6 0.4 0.9 0.5 ||| 0-0 1-1 ||| 15 10 9
hello , ||| salut ||| 0.6 0.4 0.1 0.5 ||| 0-0 ||| 15 10 1
the house ||| la maison ||| 0.6 0.4 1 0.5 ||| 0-0 1-1 ||| 15 10 10
house ||| maison ||| 0.6 0.4 1 0.5 ||| 0-0 ||| 15 10 10
home ||| maison ||| 0.6 0.4 1 0.5 ||| 0-0 ||| 15 10 10
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "original").write_text("hello , the house\n")
    (tmp_path / "paraphrase").write_text("hello , the home\n")
    return tmp_path


def check(folder: Path, model: Path, step: int, *commands: str) -> None:
    """Run commands on every n-th crafted file of a model."""
    args = [command.replace("FOLDER", str(folder)) for command in commands]
    done = subprocess.run(
        [sys.executable, str(CRAFTED), str(model), str(folder), str(step), *args],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    last = done.stderr.strip().splitlines()[-1:]
    assert done.returncode == 0, f"{done.stdout}\nthe last was {last}"


def test_language_models(folder: Path) -> None:
    texts = ["hello , the house", "the home is the house", "hello , is the house ?"]
    kt.LanguageModel.train(texts, order=3).save(folder / "good.lm")
    check(folder, folder / "good.lm", 2, "lm score FOLDER/original --model MODEL --words")


def test_phrase_tables(folder: Path) -> None:
    (folder / "moses.txt").write_text(MOSES)
    read_moses(folder / "moses.txt").save(folder / "good.npz")
    commands = (
        "paraphrase table MODEL -o FOLDER/out.txt",
        "paraphrase explain FOLDER/paraphrase --originals FOLDER/original --table MODEL",
        "score FOLDER/paraphrase -r FOLDER/original -m pivot_f1:table=MODEL",
    )
    check(folder, folder / "good.npz", 13, *commands)


def test_paraphrase_models(folder: Path) -> None:
    bundled = Path(str(resources.files("karat") / "data" / "paraphrase" / "model.npz"))
    commands = (
        "paraphrase generate FOLDER/original --model MODEL",
        "paraphrase score FOLDER/paraphrase --originals FOLDER/original --model MODEL",
        "score FOLDER/paraphrase -r FOLDER/original -m pem:model=MODEL",
    )
    check(folder, bundled, 127, *commands)


@pytest.mark.parametrize(("kind", "step"), [("fergus", 29), ("ordering", 193)])
def test_realisers(folder: Path, kind: str, step: int) -> None:
    treebank = Path(str(resources.files("karat") / "data" / "treebank" / "demo.conllu"))
    sentences = treebank.read_text("utf-8").split("\n\n")
    (folder / "few.conllu").write_text("\n\n".join(sentences[:12]) + "\n\n", "utf-8")
    (folder / "one.conllu").write_text(sentences[0] + "\n\n", "utf-8")
    train_realizer(read_treebank(folder / "few.conllu"), kind).save(folder / "good.npz")
    commands = (
        "realize generate FOLDER/one.conllu --model MODEL --complete punctuation",
        "realize explain FOLDER/one.conllu --model MODEL",
        "realize grammar MODEL",
    )
    check(folder, folder / "good.npz", step, *commands[: 3 if kind == "fergus" else 2])


def test_completion_and_inflection(folder: Path) -> None:
    (folder / "few.conllu").write_text(toy_content(24, seed=1), "utf-8")
    (folder / "one.conllu").write_text(toy_content(1, seed=2), "utf-8")
    bank, more = read_treebank(folder / "few.conllu"), {"complete_from": ("all", "relations")}
    train_realizer(bank, "ordering", inputs="all,lemmas", **more).save(folder / "good.npz")
    slots = "--complete function-words,punctuation"
    commands = (
        f"realize generate FOLDER/one.conllu --model MODEL --inputs lemmas --detokenise {slots}",
        f"realize explain FOLDER/one.conllu --model MODEL --inputs relations {slots}",
    )
    check(folder, folder / "good.npz", 1499, *commands)


@pytest.fixture
def completing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model that completes from relations, with small tables."""
    for module in (ordering_training, labelling, completer):
        monkeypatch.setattr(module, "BITS", 16)
    (folder / "few.conllu").write_text(toy_content(24, seed=1), "utf-8")
    (folder / "one.conllu").write_text(toy_content(1, seed=2), "utf-8")
    bank = read_treebank(folder / "few.conllu")
    model = train_realizer(bank, "ordering", inputs="all", complete_from=("relations",))
    model.save(folder / "good.npz")
    return folder


@pytest.mark.parametrize(
    ("field", "more"),
    [
        ("tagger", ["x", [], None]),
        ("tagger.fillings", [[1, 2], ["x", None], [["x"]], "xy"]),
        ("tagger.kinds", [["xy"], [["x"]], [[1, 2]], [["x", None]], "xy", {"xy": 1}]),
        ("slots.final.fillings", [[[], 1], [[], [1]], [[], [[["x", "y"]]]], [[], [[[1, 2, 3]]]]]),
        ("slots.final.kinds", [["xy"], [["x"]], [[1, 2]], [["x", None]], "xy"]),
    ],
)
def test_wrong_fillings_and_kinds_are_refused(
    completing: Path, field: str, more: list[object]
) -> None:
    about, arrays = read_model(completing / "good.npz")
    words = f"realize generate {completing}/one.conllu --inputs relations --complete punctuation"
    assert run([*words.split(), "--model", f"{completing}/good.npz"])[0] == 0
    *path, name = ["parts", "completion-relations", *field.split(".")]
    holder = about
    for step in path:
        holder = holder[step]
    as_many = [1] * len(holder[name])  # the arrays fit
    for i, wrong in enumerate((as_many, *more, *WRONG_FIELDS)):
        if wrong == []:
            continue  # no kinds: nothing is inserted
        holder[name] = wrong
        write_model(completing / f"{i}.npz", about, arrays)
        code, errors = run([*words.split(), "--model", f"{completing}/{i}.npz"])
        assert is_well(code, errors), (wrong, errors)
        assert code == 2, wrong
