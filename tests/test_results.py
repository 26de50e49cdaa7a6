"""Results as data: every result has rows, settings, notes, a signature, and goes anywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import karat as kt
from karat.registry import declared
from karat.report.render.renderers import render
from karat.results import DOCUMENTS, Result

CANDIDATES = {"A": ["the cat sat on a mat", "a dog barked"], "B": ["a cat sat", "the dog barked"]}
REFERENCES = ["the cat sat on the mat", "the dog barked"]


@pytest.fixture(scope="module")
def comparison() -> kt.Comparison:
    return kt.compare(CANDIDATES, REFERENCES, ["bleu", "chrf"], examples=1)


def results() -> dict[str, Result]:
    """One result of each kind that takes no time."""
    texts = CANDIDATES["B"]
    return {
        "Scoring": kt.score(CANDIDATES, REFERENCES, ["bleu", "ter"], intervals=True),
        "segments": kt.score(CANDIDATES, REFERENCES, ["bleu"], segments=True),
        "Comparison": kt.compare(CANDIDATES, REFERENCES, ["bleu"]),
        "SegmentExplanations": kt.explain_segments(texts, REFERENCES, worst=1),
        "MetricCatalogue": kt.list_metrics("aev"),
        "ChallengeResult": kt.meta_challenge(kt.make_challenge("demo"), ["chrf", "wer"]),
        "GainStudy": kt.meta_gains("demo", ["chrf"], kind="translation"),
        "ScoreFit": kt.fit_scores("demo", ["chrf", "wer@substitutions"], ["fluency"]),
    }


RESULTS = results()


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_says_what_it_is(name: str) -> None:
    result = RESULTS[name]
    assert is_dataclass(result)
    assert type(result).__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert result.rows
    assert all(hasattr(row, "_fields") for row in result.rows)
    assert isinstance(result.settings, Mapping)
    assert isinstance(result.notes, tuple)
    assert isinstance(result.signature, str)


@pytest.mark.parametrize("name", RESULTS)
def test_its_repr_is_short(name: str) -> None:
    assert len(repr(RESULTS[name])) < 120
    assert type(RESULTS[name]).__name__ in repr(RESULTS[name])


@pytest.mark.parametrize("name", RESULTS)
def test_frames_have_the_rows_and_columns_of_the_json(name: str) -> None:
    result = RESULTS[name]
    rows = json.loads(render(result.document(), "json"))
    (expected,) = (rows[table.key] for table in result.document().tables[:1])
    assert result.records() == expected
    assert result.to_polars().rows(named=True) == expected
    assert result.to_arrow().to_pylist() == expected
    frame = result.to_pandas()
    assert list(frame.columns) == list(expected[0])
    assert frame.astype(object).where(frame.notna(), None).to_dict("records") == expected


def test_frames_are_those_of_the_packages(comparison: kt.Comparison) -> None:
    assert isinstance(comparison.to_pandas(), pd.DataFrame)
    assert isinstance(comparison.to_polars(), pl.DataFrame)
    assert isinstance(comparison.to_arrow(), pa.Table)
    frame = comparison.to_pandas().set_index(["system", "metric"])
    assert frame.loc[("B", "chrf"), "delta"] == comparison["B", "chrf"].delta


def test_every_table_of_the_json_is_a_frame(comparison: kt.Comparison) -> None:
    members = json.loads(comparison.render("json"))
    assert comparison.records("segments") == members["segments"]
    assert comparison.to_pandas("segments")["segment"].tolist() == [2]
    assert comparison.to_arrow("rows").equals(comparison.to_arrow())
    with pytest.raises(kt.InputError, match="table 'nothing': expected one of rows, segments"):
        comparison.to_polars("nothing")


def test_a_frame_without_rows_has_its_columns() -> None:
    nuggets = kt.load_nuggets("demo-nuggets").select("heron")
    changes = kt.diff_nuggets(nuggets, nuggets, guess=False)
    assert changes.rows == ()
    keys = ["change", "question"]
    assert list(changes.to_pandas().columns)[:2] == keys
    assert changes.to_polars().columns[:2] == changes.to_arrow().column_names[:2] == keys


def test_a_report_is_rendered_and_saved(comparison: kt.Comparison, tmp_path: Path) -> None:
    assert comparison.render().startswith("Comparison")
    assert comparison.render("md").count("|") > 20
    comparison.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8") == comparison.render("html")
    comparison.save(tmp_path / "table.tex")
    assert (tmp_path / "table.tex").read_text("utf-8") == comparison.render("latex")
    with pytest.raises(kt.OutputError, match="no format has that ending"):
        comparison.save(tmp_path / "table.docx")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "table.tex"]


def test_settings_say_whether_segments_were_kept() -> None:
    assert RESULTS["Scoring"].settings["segments"] is False
    assert RESULTS["segments"].settings["segments"] is True
    assert ", 4 segment scores; " in repr(RESULTS["segments"])


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(kt.MissingExtra, match="polars is not installed: pip install polars"):
        RESULTS["Scoring"].to_polars()


def test_a_notebook_shows_the_table_and_its_picture(comparison: kt.Comparison) -> None:
    page = comparison._repr_html_()
    assert page.startswith("<div>")
    assert "<table" in page
    assert '<img src="data:image/svg+xml;base64,' in page
    assert "<script" not in page
    assert "<style" not in page  # a notebook keeps its own style


def test_a_long_table_is_cut_in_a_notebook() -> None:
    many = {"A": [f"word {i}" for i in range(300)]}
    scored = kt.score(many, many["A"], ["bleu"], segments=True)
    page = scored._repr_html_()
    assert page.count("<tr>") < 250
    assert "Rows 1 to 200 of 300" in page


def test_examples_and_notes_are_part_of_a_comparison(comparison: kt.Comparison) -> None:
    by_metric = {example.metric: example for example in comparison.examples}
    assert list(by_metric) == ["bleu:eff=yes", "chrf"]
    for example in comparison.examples:
        assert (example.system, example.reference) == ("B", REFERENCES[example.segment])
    assert comparison.settings["baseline"] == "A"
    assert "by segment and a correction of skewness" in comparison.notes[0]


# -------------------------------------------------------------------------- all of them


def test_every_document_belongs_to_a_result() -> None:
    """What is declared can be loaded, and takes a result and a command."""
    targets = {**DOCUMENTS._entries, **declared("documents")}
    for name in targets:
        assert callable(DOCUMENTS[name]), name


def classes() -> list[type]:
    """All classes of results in the package."""
    package = Path(kt.__file__).parent
    for path in sorted(package.rglob("*.py")):
        if re.search(r"^class .*Result", path.read_text("utf-8"), re.M):
            import_module(".".join(["karat", *path.relative_to(package).with_suffix("").parts]))

    def below(cls: type) -> list[type]:
        return [c for sub in cls.__subclasses__() for c in (sub, *below(sub))]

    result_classes = [cls for cls in below(Result) if not cls.__subclasses__()]
    return [cls for cls in result_classes if cls.__module__.startswith("karat.")]


def test_every_result_has_a_document_and_what_a_result_has() -> None:
    result_classes = classes()
    names = [cls.__name__ for cls in result_classes]
    assert len(set(names)) == len(names)
    assert set(names) <= {*DOCUMENTS._entries, *declared("documents")}
    for cls in result_classes:
        has = {f.name for f in fields(cls)} | {n for c in cls.__mro__[:-1] for n in vars(c)}
        assert {"rows", "settings", "notes", "signature"} <= has, cls
