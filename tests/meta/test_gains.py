"""Agreement of people with gains: worked values, oracles, built-in data, bad input, commands."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import karat as kt
from karat.cli.main import main
from karat.errors import InputError
from karat.gains import GainCurve, gain_curve, gain_data, gain_rows
from karat.meta.gains import (
    SLOPES,
    SPREADS,
    PairGains,
    built_in_evidence,
    gain_curves,
    log_likelihood,
    preferences,
    slope_distributions,
    slope_quantiles,
    typical_gain,
)
from karat.metrics.names import metric
from karat.report.documents.gains import gain_sentences
from karat.score_settings import TASK_KINDS
from karat.stats.resampling import bootstrap_counts

CURVE = GainCurve("chrf", "translation", 3, 2.0, 6.0, (0.0, 2.0), -1.0, 4.0, True)
TEXTS = {"A": ["the cat sat", "a dog ran"], "B": ["the cat sat on", "a dog runs far"]}
REFERENCES = ["the cat sat on the mat", "a dog runs far away"]


def pairs(agreement: list[float], gain: list[float], systems: int = 3) -> PairGains:
    """Return a collection whose systems are in order, the best first."""
    first, second = np.triu_indices(systems, 1)
    columns = np.array(agreement)[:, None]
    return PairGains(
        "c", "translation", systems, first, second, np.array(gain), columns, ("adequacy",)
    )


# -------------------------------------------------------------------------- curves, worked


def test_agreement_is_the_mean_over_slopes() -> None:
    share, low, high = CURVE.agreement(2.0)
    assert share == pytest.approx((0.5 + 1 / (1 + math.exp(-2))) / 2)
    assert low == pytest.approx(1 / (1 + math.e))
    assert high == pytest.approx(1 / (1 + math.exp(-4)))


def test_agreement_does_not_depend_on_the_sign() -> None:
    assert CURVE.agreement(-2.0) == CURVE.agreement(2.0)


def test_larger_differences_than_those_of_the_data_count_as_the_largest() -> None:
    assert CURVE.agreement(60.0) == CURVE.agreement(6.0) != CURVE.agreement(5.0)


def test_no_difference_is_a_coin_toss() -> None:
    assert CURVE.agreement(0.0) == (0.5, 0.5, 0.5)


# ------------------------------------------------------------------------------- evidence


def test_preferences_of_clear_and_equal_systems() -> None:
    human = np.array([[2.0, 3.0, 4.0], [1.0, 1.0, 2.0], [1.0, 1.0, 2.0], [np.nan] * 3])
    shares = preferences(human, None)
    assert shares[0, 1] == 1
    assert shares[1, 0] == 0
    assert shares[1, 2] == 0.5
    assert np.isnan(shares[3]).all()
    assert np.isnan(shares[:, 3]).all()


def test_preferences_without_human_scores_are_unknown() -> None:
    assert np.isnan(preferences(np.full((2, 3), np.nan), None)).all()


def test_preferences_resample_groups() -> None:
    rng = np.random.default_rng(1)
    human = rng.normal(size=(2, 12))
    groups = [str(k // 2) for k in range(12)]
    wins = 0.0
    for counts in bootstrap_counts(6, 1000):
        for draw in counts:
            weights = np.repeat(draw, 2)
            difference = float(((human[0] - human[1]) * weights).sum())
            wins += (difference > 0) + 0.5 * (difference == 0)
    assert preferences(human, groups)[0, 1] == pytest.approx(wins / 1000)
    assert preferences(human, groups)[0, 1] != preferences(human, None)[0, 1]


def test_few_groups_are_not_resampled() -> None:
    human = np.random.default_rng(2).normal(size=(2, 12))
    groups = [str(k // 4) for k in range(12)]
    assert preferences(human, groups)[0, 1] == preferences(human, None)[0, 1]


def test_the_log_likelihood_is_that_of_bernoulli_pairs_times_a_weight() -> None:
    gains = pairs([0.9, 0.8, 0.3], [3.0, 2.0, 1.0])
    values = log_likelihood(gains, gains.gain)
    slow = np.zeros(len(SLOPES))
    for k, slope in enumerate(SLOPES):
        for y, size in zip([0.9, 0.8, 0.3], [3.0, 2.0, 1.0], strict=True):
            p = 1 / (1 + math.exp(-slope * size))
            slow[k] += y * math.log(p) + (1 - y) * math.log1p(-p) if 0 < p < 1 else 0
    middle = slice(60, 140)
    ratio = values[middle] / slow[middle]
    assert np.allclose(ratio, ratio[0])
    assert ratio[0] <= 2 / 3 + 1e-12  # three systems are two independent comparisons at most


@pytest.mark.parametrize("systems", [4, 8, 16])
def test_pairs_are_worth_less_than_systems(systems: int) -> None:
    rng = np.random.default_rng(systems)
    number = systems * (systems - 1) // 2
    gains = pairs([*rng.uniform(size=number)], [*rng.uniform(0.1, 3, size=number)], systems)
    at_zero = log_likelihood(gains, gains.gain)[int(np.argmin(np.abs(SLOPES)))]
    assert -at_zero / math.log(2) <= systems - 1 + 1e-9


def test_a_single_system_that_decides_weighs_less() -> None:
    """People like the system least whose score is far above all others: resamples differ."""
    score = np.array([4.0, *np.linspace(1, 0, 19)])
    first, second = np.triu_indices(20, 1)
    gain = score[first] - score[second]
    at_zero = int(np.argmin(np.abs(SLOPES)))
    weights = []
    for outlier in (9.0, -9.0):
        quality = np.array([outlier, *score[1:]])
        agreement = (quality[first] > quality[second]).astype(float)
        values = log_likelihood(pairs([*agreement], [*gain], 20), gain)
        weights.append(-values[at_zero] / (len(gain) * math.log(2)))
    assert weights[0] == pytest.approx(2 / 20)
    assert weights[1] < 0.7 * weights[0]


def test_dimensions_are_averaged() -> None:
    both = pairs([0.9, 0.8, 0.3], [3.0, 2.0, 1.0])._replace(
        agreement=np.array([[0.8, 1.0], [0.8, np.nan], [0.2, 0.4]])
    )
    assert np.allclose(both.mean_agreement, [0.9, 0.8, 0.3])


def test_the_typical_gain_is_a_median_over_collections() -> None:
    several = [pairs([1, 1, 1], [x, x, x]) for x in (1.0, 2.0, 9.0)]
    assert typical_gain(several) == pytest.approx(2.0)


# ------------------------------------------------------------------------------- the model


def normal(x: np.ndarray, mean: float, spread: float) -> np.ndarray:
    density = np.exp(-0.5 * ((x - mean) / spread) ** 2)
    return np.asarray(density / density.sum())


def test_slopes_of_a_new_collection_equal_explicit_sums() -> None:
    likelihoods = [
        ("translation", -0.5 * (SLOPES - 2.0) ** 2),
        ("translation", -0.5 * ((SLOPES - 1.0) / 0.5) ** 2),
        ("summary", -0.5 * ((SLOPES + 1.0) / 2.0) ** 2),
    ]
    expected = np.zeros(len(SLOPES))
    priors = np.exp(-0.5 * SPREADS**2) * np.gradient(SPREADS)
    for tau, tau_prior in zip(SPREADS, priors, strict=True):
        within = np.array([normal(SLOPES, mean, tau) for mean in SLOPES])
        of_kind = {"translation": np.ones(len(SLOPES)), "summary": np.ones(len(SLOPES))}
        for kind, values in likelihoods:
            of_kind[kind] = of_kind[kind] * [float((row * np.exp(values)).sum()) for row in within]
        for omega, omega_prior in zip(SPREADS, priors, strict=True):
            between = np.array([normal(SLOPES, mean, omega) for mean in SLOPES])
            hyper = np.exp(-0.5 * (SLOPES / 2) ** 2) * (between @ of_kind["summary"])
            means = (hyper @ between) * of_kind["translation"]
            expected += tau_prior * omega_prior * (means @ within)
    slopes = slope_distributions(likelihoods)["translation"]
    assert np.allclose(slopes, expected / expected.sum(), atol=1e-12)


def test_evidence_moves_its_own_kind_most() -> None:
    likelihoods = [("summary", -0.5 * ((SLOPES - 3.0) / 0.3) ** 2)] * 3
    means = {k: float((p * SLOPES).sum()) for k, p in slope_distributions(likelihoods).items()}
    assert 0.5 < means["answer"] < means["summary"] < 3.0
    assert means["answer"] == pytest.approx(means["translation"])


def test_collections_that_differ_make_the_band_wide() -> None:
    alike = [("summary", -0.5 * ((SLOPES - 2.0) / 0.3) ** 2)] * 4
    apart = [("summary", -0.5 * ((SLOPES - x) / 0.3) ** 2) for x in (0, 1, 3, 4)]
    widths = []
    for likelihoods in (alike, apart):
        slopes = slope_distributions(likelihoods, ["summary"])["summary"]
        low, high = slope_quantiles(slopes, np.array([0.05, 0.95]))
        widths.append(high - low)
    assert widths[1] > 2 * widths[0]


def test_built_in_curves_are_those_of_the_built_in_collections() -> None:
    assert set(gain_data()) == {"bleu", "chrf", "rougeL"}
    for name, values in gain_data().items():
        curves = gain_curves(
            name, built_in_evidence(name), values["typical_gain"], is_reliable=values["is_reliable"]
        )
        for kind in TASK_KINDS:
            stored = gain_curve(name, kind)
            assert stored is not None
            assert curves[kind]._replace(slopes=()) == stored._replace(slopes=())
            assert curves[kind].slopes == pytest.approx(stored.slopes)


def test_built_in_collections_count_once_by_kind() -> None:
    counts = {kind: gain_curve("chrf", kind).collections for kind in TASK_KINDS}  # type: ignore[union-attr]
    assert counts == {"translation": 3, "summary": 2, "answer": 1, "data-to-text": 1}


# ----------------------------------------------------------------------------- sentences


def sentences(kind: str, *deltas: tuple[str, str, float]) -> list[str]:
    rows = gain_rows(((system, metric(name), delta) for system, name, delta in deltas), kind)
    return [*gain_sentences(rows)]


def test_a_percentage_with_its_band_and_the_number_of_collections() -> None:
    (sentence,) = sentences("translation", ("B", "chrf", 4.6))
    share, low, high = gain_curve("chrf", "translation").agreement(4.6)  # type: ignore[union-attr]
    assert sentence == (
        "chrF +4.6: by 3 judged collections of translations, people agree with a gain of this size "
        f"in {share:.0%} of pairs of systems; for a new test set expect {low:.0%} to {high:.0%}."
    )


def test_a_loss_and_the_names_of_several_systems() -> None:
    gain, loss = sentences("translation", ("B", "chrf", 1.0), ("C", "chrf", -1.0))
    assert gain.startswith("B, chrF +1.0: ")
    assert loss.startswith("C, chrF -1.0: ")
    assert "a loss of this size" in loss


def test_no_percentage_is_100() -> None:
    (sentence,) = sentences("translation", ("B", "chrf", 19.0))
    assert "100%" not in sentence
    assert "to over 99%." in sentence


def test_a_difference_beyond_the_collections_counts_as_their_largest() -> None:
    largest = gain_curve("chrf", "translation").largest_gain  # type: ignore[union-attr]
    (at_the_end,) = sentences("translation", ("B", "chrf", -largest))
    (beyond,) = sentences("translation", ("B", "chrf", -62.4))
    assert "a loss of this size" in at_the_end
    assert beyond.startswith(
        "chrF -62.4: larger than all differences in 3 judged collections of translations; people "
        "agree with the largest of them in "
    )
    assert beyond.partition(" in ")[2].partition(" in ")[2] == at_the_end.partition("size in ")[2]


def test_a_difference_that_is_too_small_for_a_band_has_none() -> None:
    (sentence,) = sentences("translation", ("B", "chrf", -0.001))
    assert sentence.endswith(
        "people agree with a difference this small in about 50% of pairs of systems."
    )


@pytest.mark.parametrize("kind", ["summary", "answer", "data-to-text"])
def test_no_percentage_below_three_collections(kind: str) -> None:
    (sentence,) = sentences(kind, ("B", "chrf", 4.6), ("B", "bleu", 4.6))
    count = gain_curve("chrf", kind).collections  # type: ignore[union-attr]
    assert sentence.startswith(f"{count} judged collection")
    assert "too few" in sentence
    assert "%" not in sentence


def test_no_percentage_for_a_metric_that_failed_its_evaluation() -> None:
    (sentence,) = sentences("translation", ("B", "bleu", 4.6))
    assert sentence == (
        "BLEU: in 3 judged collections of translations, how often people agreed with a difference "
        "varied too much for a percentage."
    )


def test_many_differences_are_a_table() -> None:
    systems = {str(n): [text[n:] for text in REFERENCES * 4] for n in range(7)}
    comparison = kt.compare(systems, REFERENCES * 4, ["chrf"], kind="translation")
    assert not any("people agree" in sentence for sentence in comparison.document().answer)
    assert "How often people agree with these differences" in comparison.render("text")


@pytest.mark.parametrize("name", ["ter", "bleu:tok=intl", "chrf:words=2"])
def test_metrics_without_a_curve_have_no_sentence(name: str) -> None:
    assert sentences("translation", ("B", name, 4.6)) == []


@pytest.mark.parametrize("delta", [None, 0.0, math.nan])
def test_no_difference_has_no_row(delta: float | None) -> None:
    assert gain_rows([("B", metric("chrf"), delta)], "translation") == ()


# ---------------------------------------------------------------------- compare and gate


def test_without_a_kind_compare_is_silent() -> None:
    comparison = kt.compare(TEXTS, REFERENCES, ["chrf"])
    assert comparison.kind is None
    assert comparison.gains == ()
    assert "kind" not in comparison.settings


def test_compare_shows_the_sentence_everywhere() -> None:
    comparison = kt.compare(TEXTS, REFERENCES * 1, ["chrf"], kind="translation")
    (row,) = comparison.gains
    assert (row.system, row.kind, row.collections) == ("B", "translation", 3)
    assert row.agreement is not None
    delta = next(r.delta for r in comparison.rows if r.system == "B")
    assert row.delta == delta
    assert json.loads(comparison.render("json"))["gains"][0]["agreement"] == row.agreement


def test_the_sentence_stands_beside_the_difference(tmp_path: Path, capsys: Any) -> None:
    texts = {name: [f"{text} {k}" for k in range(8) for text in TEXTS[name]] for name in TEXTS}
    references = [f"{text} {k}" for k in range(8) for text in REFERENCES]
    for name, lines in {**texts, "ref": references}.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
    a, b, ref = (str(tmp_path / f"{name}.txt") for name in ("A", "B", "ref"))
    common = ["-r", ref, "-m", "chrf"]
    assert main(["compare", a, b, *common, "--kind", "translation"]) == 0
    assert "3 judged collections of translations" in capsys.readouterr().out
    page = tmp_path / "page.html"
    assert main(["compare", a, b, *common, "--kind", "translation", "-o", str(page)]) == 0
    assert "3 judged collections of translations" in page.read_text(encoding="utf-8")
    stored = ["-b", str(tmp_path / "gate.tsv")]
    assert main(["gate", a, *common, *stored, "--update"]) == 0
    assert main(["gate", b, *common, *stored, "--kind", "summary"]) == 0
    assert "2 judged collections of summaries are too few" in capsys.readouterr().out
    assert main(["gate", b, *common, *stored]) == 0
    assert "judged collection" not in capsys.readouterr().out


def test_tables_have_a_kind(tmp_path: Path, capsys: Any) -> None:
    table = tmp_path / "table.csv"
    rows = ["id,system,candidate,reference"]
    for k in range(8):
        rows += [f"{k},{s},{TEXTS[s][k % 2]} {k},{REFERENCES[k % 2]} {k}" for s in TEXTS]
    table.write_text("\n".join(rows), encoding="utf-8")
    columns = ["--by", "system", "--id", "id", "--candidate", "candidate", "-r", "reference"]
    command = ["compare", str(table), *columns, "-m", "chrf", "--kind", "translation"]
    assert main(command) == 0
    assert "3 judged collections of translations" in capsys.readouterr().out
    comparison = kt.compare(
        str(table), metrics=["chrf"], by="system", id="id", candidate="candidate",
        reference="reference", kind="translation",
    )  # fmt: skip
    assert comparison.gains[0].agreement is not None


def test_an_unknown_kind_is_one_sentence(capsys: Any) -> None:
    with pytest.raises(InputError, match=r"^kind 'poem': expected one of translation, summary"):
        kt.compare(TEXTS, REFERENCES, ["chrf"], kind="poem")
    with pytest.raises(InputError, match="poem"):
        kt.gate(TEXTS["A"], REFERENCES, ["chrf"], baseline="none.tsv", kind="poem")
    with pytest.raises(InputError, match="poem"):
        kt.meta_gains("demo", kind="poem")
    assert main(["meta", "gains", "demo", "--kind", "poem"]) == 2
    assert "poem" in capsys.readouterr().err


# ------------------------------------------------------------------------- kinds of sets


def small_set(**options: Any) -> kt.EvalSet:
    judgements = [
        (system, str(k + 1), "ada", "adequacy", value + k)
        for system, value in (("A", 1.0), ("B", 2.0))
        for k in range(2)
    ]
    return kt.make_evalset(
        "small", TEXTS, references=REFERENCES, judgements=judgements, dimensions=["adequacy"],
        **options,
    )  # fmt: skip


def test_the_kind_of_a_set_decides() -> None:
    comparison = kt.compare(small_set(kind="summary"), metrics=["chrf"])
    assert comparison.kind == "summary"
    assert kt.compare(small_set(), metrics=["chrf"]).kind is None
    chosen = kt.compare(small_set(kind="summary"), metrics=["chrf"], kind="translation")
    assert chosen.kind == "translation"


def test_answers_to_questions_are_answers() -> None:
    rows = [
        {"question": f"what is {k}?", "answer": f"it is {k}", "gold": f"it is {k}", "system": s}
        for k in range(3)
        for s in "AB"
    ]
    assert kt.load_evalset(rows).task_kind == "answer"


@pytest.mark.parametrize("format", ["dir", "jsonl"])
def test_the_kind_is_written_and_read(tmp_path: Path, format: str) -> None:
    target = tmp_path / ("set" if format == "dir" else "set.jsonl")
    kt.save_evalset(small_set(kind="data-to-text"), target, format)
    loaded = kt.load_evalset(target)
    assert loaded.kind == "data-to-text"
    assert loaded.select(systems=["A"]).kind == "data-to-text"


def test_an_unknown_kind_of_a_set_is_one_sentence(tmp_path: Path) -> None:
    message = "found the kind of task 'poem', expected one of translation, summary, answer"
    with pytest.raises(InputError, match=message):
        small_set(kind="poem")
    file = tmp_path / "set.jsonl"
    file.write_text('{"evalset": "x", "kind": "poem"}\n{"id": "1", "outputs": {"A": "a"}}\n')
    with pytest.raises(InputError, match=message):
        kt.load_evalset(file)


# ------------------------------------------------------------------------------ meta gains


def test_meta_gains_adds_a_set_to_the_built_in_collections() -> None:
    study = kt.meta_gains(small_set(kind="translation"), ["chrf"])
    translations = [row for row in study.rows if row.kind == "translation"]
    assert {row.collections for row in translations} == {4}
    added = study.collections[-1]
    assert (added.collection, added.source, added.systems, added.pairs) == ("small", "given", 2, 1)
    assert added.agreement == 1.0
    assert study.settings["sets"] == ("small",)
    shares = [row.agreement for row in translations]
    assert shares == sorted(shares)  # type: ignore[type-var]


def test_meta_gains_without_sets_shows_the_built_in_curves() -> None:
    study = kt.meta_gains()
    curve = gain_curve("rougeL", "translation")
    assert curve is not None
    row = next(r for r in study.rows if r.metric == "rougeL" and r.gain == curve.typical_gain)
    assert (row.agreement, row.low, row.high) == pytest.approx(curve.agreement(curve.typical_gain))
    few = [row for row in study.rows if row.collections < 3]
    assert few
    assert all(row.gain is row.agreement is row.low is row.high is None for row in few)
    assert any(note.startswith("bleu: the bands did not pass") for note in study.notes)
    assert not any(note.startswith("chrf") for note in study.notes)


def test_a_set_with_the_name_of_a_collection_replaces_it() -> None:
    from dataclasses import replace

    study = kt.meta_gains(replace(small_set(kind="translation"), name="ted-zhen"), ["chrf"])
    names = [row.collection for row in study.collections]
    assert sorted(names) == sorted(e.collection for e in built_in_evidence("chrf"))
    assert [r.source for r in study.collections if r.collection == "ted-zhen"] == ["given"]


def test_a_collection_counts_once() -> None:
    demo = kt.load_evalset("demo")
    with pytest.raises(
        InputError, match="two sets are called 'demo', and a collection counts once"
    ):
        kt.meta_gains([demo, demo], ["chrf"], kind="translation")


def test_metrics_without_built_in_collections_need_sets() -> None:
    study = kt.meta_gains("demo", ["ter"], kind="translation")
    assert [row.collection for row in study.collections] == ["demo"]
    assert [row.agreement for row in study.rows] == [None]  # one collection is too few
    with pytest.raises(InputError, match=r"^ter: there are no judged collections for it: give"):
        kt.meta_gains((), ["ter"])


def test_sets_that_cannot_be_used_are_one_sentence(capsys: Any) -> None:
    without_scores = kt.make_evalset("bare", TEXTS, references=REFERENCES, kind="summary")
    with pytest.raises(InputError, match=r"^bare has no human scores$"):
        kt.meta_gains(without_scores)
    with pytest.raises(InputError, match=r"^small: found no two systems with human scores"):
        kt.meta_gains(small_set(kind="summary").select(systems=["A"]))
    with pytest.raises(InputError, match=r"^small: the kind of its task is unknown: name it"):
        kt.meta_gains(small_set())
    assert main(["meta", "gains", "demo"]) == 2
    assert capsys.readouterr().err.startswith("karat: demo: the kind of its task is unknown")
    assert main(["meta", "gains", "demo", "demo", "--kind", "answer"]) == 2
    assert "given twice" in capsys.readouterr().err


def test_the_command_prints_the_tables(capsys: Any) -> None:
    assert main(["meta", "gains", "demo", "-m", "chrf", "--kind", "answer"]) == 0
    printed = capsys.readouterr().out
    assert "How often people agree with gains" in printed
    assert "demo                 answer        given" in printed


# ------------------------------------------------------------------------------- real data


def test_known_collections_have_their_kinds(karat_data: Path) -> None:
    for name, kind in (
        ("ted-zhen", "translation"),
        ("believability", "translation"),
        ("summeval", "summary"),
        ("realsumm", "summary"),
        ("e2e", "data-to-text"),
        ("rag24", "answer"),
    ):
        assert kt.load_evalset(name).kind == kind


def test_built_in_evidence_comes_from_the_collections(karat_data: Path) -> None:
    """Two of the seven collections again, from their texts and human scores."""
    for name in ("believability", "ted-zhen"):
        study = kt.meta_gains(name, ["chrf"])
        stored = next(e for e in built_in_evidence("chrf") if e.collection == name)
        fitted = next(row for row in study.collections if row.collection == name)
        assert fitted.source == "given"
        assert (fitted.systems, fitted.pairs) == (stored.systems, stored.pairs)
        assert fitted.agreement == pytest.approx(stored.agreement, abs=1e-9)
        curve = next(c for c in study.curves if c.kind == "translation")
        built_in = gain_curve("chrf", "translation")
        assert built_in is not None
        assert curve.slopes == pytest.approx(built_in.slopes, abs=1e-3)
