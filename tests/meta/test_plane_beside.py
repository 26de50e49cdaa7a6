"""Metrics beside the plane, chosen references and groups of segments, against texts and loops."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from subprocess import CompletedProcess
from typing import ClassVar

import numpy as np
import pytest
from oracles import plane_loops
from oracles.pair_loops import pearson
from oracles.small_sets import small_set

import karat as kt
from karat.errors import InputError
from karat.meta.plane import BLEU_CELL
from karat.meta.plane_study import GROUPINGS, Lengths, grouped, parse_grouping
from karat.registry import declared
from karat.stats.resampling import bootstrap_indices

Output = Callable[..., str]
FEW = {"resamples": 12, "permutations": 9}


def corpus_r(
    evalset: kt.EvalSet, metric: kt.Metric, systems: list[int], places: list[int]
) -> float:
    """Pearson's r over drawn systems on drawn segments, every corpus scored from text."""
    human = evalset.human("quality")
    names = list(evalset.systems)
    xs, ys = [], []
    for k in systems:
        mean, texts, references = plane_loops.system_scores(evalset, human, names[k], places)
        if texts:
            xs.append(mean)
            ys.append(metric.sign * metric.corpus(texts, references).value)
    return pearson(xs, ys)


# -------------------------------------------------------------------------- beside the cells


@pytest.mark.parametrize("name", ["bleu", "rouge1", "chrf", "ter", "aev:preset=paper,alpha=0,n=1"])
def test_metrics_beside_the_cells_are_those_of_texts(name: str) -> None:
    evalset, metric = small_set(2), kt.metric(name)
    fit = kt.fit_plane(evalset, "quality", references=[1], compare_with=[name], **FEW)
    sets = {"1": evalset.select(references=[0]), "all": evalset}
    assert [row.references for row in fit.compared] == list(sets)
    shape = len(evalset.systems), len(evalset)
    draws = [
        (s.tolist(), t.tolist())
        for batch in bootstrap_indices(shape, "both", 12, 12345)
        for s, t in zip(*batch, strict=True)
    ]
    for row, used in zip(fit.compared, sets.values(), strict=True):
        expected = corpus_r(used, metric, *(list(range(n)) for n in shape))
        assert (row.metric, row.dimension, row.group) == (str(metric), "quality", "")
        assert row.r == pytest.approx(expected)
        assert row.r2 == pytest.approx(expected**2)
        values = [corpus_r(used, metric, *draw) for draw in draws]
        has_score = sorted(r * r for r in values if not math.isnan(r))
        assert [row.low, row.high] == pytest.approx([has_score[0], has_score[-1]])
        human = np.nanmean(used.human("quality"), axis=1).tolist()
        scores = [
            metric.sign * metric.corpus(*plane_loops.system_scores(used, m, s, range(9))[1:]).value
            for m, s in ((used.human("quality"), s) for s in used.systems)
        ]
        assert row.q2 == pytest.approx(plane_loops.left_out(human, scores))
        assert row.signature == metric.signature(len(used.references[0]))


def test_bleu_without_smoothing_is_the_corner_of_the_plane() -> None:
    """Section 3.1: BLEU is PS(4) with B = 1, no stop list and no stemmer."""
    fit = kt.fit_plane(small_set(4), "quality", compare_with=["bleu:smooth=none"], **FEW)
    (row,) = fit.compared
    cell = fit.row(BLEU_CELL)
    assert (row.references, row.label) == ("all", "bleu:smooth=none")
    for key in ("r", "r2", "low", "high", "q2"):
        assert getattr(row, key) == pytest.approx(getattr(cell, key)), key


def test_references_by_number_are_those_of_a_smaller_set() -> None:
    evalset = small_set(3, references=3)
    fit = kt.fit_plane(evalset, "quality", references=[3, 1], **FEW)
    other = kt.fit_plane(evalset.select(references=[2, 0]), "quality", **FEW)
    assert fit.rows == other.rows
    assert fit.signature == other.signature
    assert "|nrefs=2|" in fit.signature
    study = kt.study_plane(
        evalset, None, ["quality"], references=[3, 1], compare_with=["bleu"], resamples=12, splits=2
    )
    assert study.rows == other.rows
    assert [row.label for row in study.compared] == ["bleu, reference 3, 1", "bleu"]
    assert study.settings["references"] == (3, 1)
    assert study.settings["beside"] == ("bleu, reference 3, 1", "bleu")
    assert study.signature.splitlines() == list(study.signatures.values())
    heads = [line.split(":")[0] for line in study.signature.splitlines()]
    assert heads == ["aev", "bleu", "bleu", "set"]
    assert study.signatures["set"] == evalset.signature  # all references were used beside the plane


def test_one_reference_that_is_all_has_one_row() -> None:
    evalset = small_set(3, references=1)
    fit = kt.fit_plane(evalset, "quality", references=[1], compare_with=["bleu", "rouge1"], **FEW)
    assert [(row.metric, row.references) for row in fit.compared] == [
        ("bleu", "all"),
        ("rouge1", "all"),
    ]


@pytest.mark.parametrize("references", [[3], [0], [-1]])
def test_references_that_are_not_there_are_refused(references: list[int]) -> None:
    message = "has none of the references" if references == [3] else "are numbered from 1"
    for compare_with in ([], ["bleu"]):
        with pytest.raises(InputError, match=message):
            kt.fit_plane(small_set(1), "quality", references=references, compare_with=compare_with)
        with pytest.raises(InputError, match=message):
            kt.study_plane(small_set(1), references=references, compare_with=compare_with)


# --------------------------------------------------------------------------------- groups


def test_the_plane_of_a_group_is_that_of_its_segments() -> None:
    evalset = small_set(7, 6, 18)
    region = kt.predicted("mt", "adequacy")
    options = {"compare_with": ["bleu"], "region": region, "resamples": 12, "splits": 3}
    study = kt.study_plane(evalset, None, ["quality"], by="groups", **options)
    assert [fit.group for fit in study.fits] == ["", "d0", "d1", "d2"]
    assert [fit.name for fit in study.fits][:2] == ["quality", "quality, d0"]
    assert len(study.rows) == 4 * 44
    assert len(study.verdicts) == len(study.halves) == 4
    unsplit = kt.study_plane(evalset, None, ["quality"], **options)
    assert study.rows[:44] == unsplit.rows
    for fit, row in zip(study.fits[1:], study.groups[1:], strict=True):
        expected = [
            s for s, g in zip(evalset.segments, evalset.groups or (), strict=True) if g == fit.group
        ]
        alone = kt.study_plane(evalset.select(segments=expected), None, ["quality"], **options)
        custom = [r._replace(group="") for r in study.rows if r.group == fit.group]
        assert custom == list(alone.rows)
        assert [r._replace(group="") for r in fit.compared] == list(alone.compared)
        at = study.fits.index(fit)
        assert study.verdicts[at] == alone.verdicts[0]
        assert study.halves[at] == alone.halves[0]
        (other,) = alone.fits
        top = other.maximum
        assert top is not None
        assert row == (
            *("quality", fit.group, 6, other.judgements, str(top), other.row(top).r2),
            *(other.row(top).low, other.row(top).high, other.p, str(other.pick), other.picking),
            *(other.row(BLEU_CELL).q2, alone.verdicts[0].words),
        )
    assert unsplit.groups == ()


def test_a_group_without_a_plane_is_left_out_by_name() -> None:
    evalset = small_set(1, 4, 9, missing=0, unjudged=0)
    rows = [
        kt.Judgement(f"s{k}", str(j + 1), "ann", "quality", 3 if j % 3 == 1 else k + j)
        for k in range(4)
        for j in range(9)
    ]
    evalset = kt.make_evalset(
        "small",
        {name: list(texts) for name, texts in evalset.systems.items()},
        references=[list(group) for group in evalset.references],
        groups=list(evalset.groups or ()),
        dimensions=["quality"],
        judgements=rows,
    )
    study = kt.study_plane(evalset, by="groups", resamples=0, splits=0)
    assert [fit.group for fit in study.fits] == ["", "d0", "d2"]
    assert study.remarks == (
        "No plane for quality, d1: all systems have the same human score, and no metric can agree "
        "with that.",
    )
    assert study.remarks[0] in study.notes


def of_lengths(*lengths: float) -> kt.EvalSet:
    return kt.make_evalset(
        "long",
        {"a": ["x"] * len(lengths)},
        references=[[" ".join(["w"] * int(n)), " ".join(["w"] * math.ceil(n))] for n in lengths],
    )


def test_lengths_are_cut_into_parts_of_the_same_size_and_ties_stay_together() -> None:
    result = grouped(of_lengths(5, 1, 4, 2, 3, 6), "lengths:parts=3")
    assert result == {"1 to 2 words": [1, 3], "3 to 4 words": [2, 4], "5 to 6 words": [0, 5]}
    result = grouped(of_lengths(7, 2, 2, 2, 2, 9), "lengths")
    assert result == {"2 to 2 words": [1, 2, 3, 4], "7 to 9 words": [0, 5]}
    assert grouped(of_lengths(1.5, 2, 8, 9), Lengths(2)) == {
        "1.5 to 2 words": [0, 1],
        "8 to 9 words": [2, 3],
    }


@pytest.mark.parametrize("name", ["groups", "lengths", "lengths:parts=7"])
def test_groupings_have_names_that_parse_back(name: str) -> None:
    assert str(parse_grouping(name)) == name
    assert set(GROUPINGS.entries()) == {"groups", "lengths"}


def test_a_program_adds_a_grouping_by_its_name() -> None:
    @dataclass(frozen=True)
    class Alternate(kt.NamedSettings):
        """Every other segment."""

        name: ClassVar[str] = "alternate"

        def places(self, evalset: kt.EvalSet) -> dict[str, list[int]]:
            all_values = range(len(evalset))
            return {"odd": list(all_values[::2]), "even": list(all_values[1::2])}

    try:
        kt.register(Alternate, "groupings")
        assert grouped(of_lengths(1, 1, 1), "alternate") == {"odd": [0, 2], "even": [1]}
    finally:
        declared("groupings").pop("alternate", None)


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("weather", "grouping 'weather': expected one of groups, lengths"),
        ("lengths:parts=1", "parts=1 is out of range: expected at least 2"),
        ("lengths:size=3", "lengths has no setting 'size'"),
        ("groups", "long has no groups of segments"),
        ("lengths", "long: 1 group of segments by lengths: expected 2 to 50"),
    ],
)
def test_bad_groupings_are_refused(by: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        grouped(of_lengths(3, 3, 3), by)


# ----------------------------------------------------------------------- the command and its page


def test_the_command_is_the_function(output: Output) -> None:
    arguments = ("-d", "fluency", "--reference", "1", "--compare-with", "bleu", "--by", "groups")
    text = output(
        "plane", "fit", "demo", *arguments, "--resamples", "9", "--splits", "0", "-f", "json"
    )
    study = kt.study_plane(
        kt.load_evalset("demo"),
        *(None, ["fluency"]),
        **{
            "references": [1],
            "compare_with": ["bleu"],
            "by": "groups",
            "resamples": 9,
            "splits": 0,
        },
    )
    document = json.loads(text)
    assert document["rows"] == study.records()
    assert (
        document["beside"] == study.records("beside") == [row._asdict() for row in study.compared]
    )
    assert document["groups"] == [row._asdict() for row in study.groups]
    assert list(document["signature"]) == ["aev", "bleu, reference 1", "bleu", "set"]
    assert {row["group"] for row in document["rows"]} == {"", "page-1", "page-2", "page-3"}


def test_what_was_not_asked_for_is_not_in_the_report(output: Output) -> None:
    document = json.loads(
        output("plane", "fit", "demo", "-d", "fluency", "--resamples", "0", "-f", "json")
    )
    assert set(document) == {"command", "signature", "summary", "rows", "notes"}
    assert "group" not in document["rows"][0]


def test_pages_and_text_show_groups_and_metrics(output: Output) -> None:
    arguments = ("plane", "fit", "demo", "-d", "fluency", "--resamples", "9", "--splits", "0")
    more = ("--reference", "2", "--compare-with", "rouge1", "--by", "lengths:parts=2")
    text = output(*arguments, *more, "--task", "mt", "--guideline", "fluency")
    for part in ("Other metrics, fluency", "Groups of segments, fluency", " words\n"):
        assert part in text
    assert "The cells use\nreference 2." in text or "The cells use reference 2." in text
    page = output(*arguments, *more, "-f", "html")
    assert page.count("<figure") == 3
    assert "The plane: fluency, " in page


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--reference", "9"), "segment 1 has none of the references that were chosen"),
        (("--reference", "0"), "references are numbered from 1"),
        (("--reference", "1", "--reference", "refA"), "give names or numbers of references"),
        (("--compare-with", "blue"), "blue"),
        (("--by", "weather"), "grouping 'weather': expected one of groups, lengths"),
    ],
)
def test_bad_input_is_one_sentence(
    run_karat: Callable[..., CompletedProcess[str]], args: tuple[str, ...], message: str
) -> None:
    done = run_karat("plane", "fit", "demo", "--resamples", "0", *args)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reference_that_is_named_twice_is_refused() -> None:
    with pytest.raises(InputError, match="references: 1 is named twice"):
        kt.study_plane("demo", references=[1, 1])
