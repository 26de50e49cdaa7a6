"""The three controls: what they say, what they are worth, and where they are not to be had."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from karat.errors import InputError
from karat.evalset.draft import make_evalset
from karat.evalset.judgements import Dimension
from karat.evalset.sets import EvalSet
from karat.paraphrase.pem.evaluation import (
    correlate_judges,
    correlate_with_judges,
    criteria,
    paired_gain,
)
from karat.paraphrase.pem.judged_pairs import (
    CONTROLS,
    add_controls,
    control_sentences,
    from_five,
    judged_rows,
    to_five,
)

SOURCES = ["a cat sat", "a dog ran off", "birds sing", "the sun is out today"]
DIMENSIONS = ("adequacy", "fluency", "dissimilarity", "overall")


def small() -> EvalSet:
    rng = np.random.default_rng(1)
    rows = [
        (system, str(i + 1), judge, name, float(rng.integers(1, 6)))
        for system in ("x", "y", "z")
        for i in range(4)
        for judge in ("ann", "bob")
        for name in DIMENSIONS
    ]
    return make_evalset(
        "small",
        {system: [f"{system} {text}" for text in SOURCES] for system in ("x", "y", "z")},
        sources=SOURCES,
        judgements=rows,
        dimensions=[Dimension(name, low=1, high=5) for name in DIMENSIONS],
    )


def test_what_the_controls_say() -> None:
    controls = control_sentences(SOURCES)
    words = Counter(" ".join(SOURCES).split())
    assert controls["control-identity"] == SOURCES
    for original, other, unigram_sentence in zip(
        SOURCES, controls["control-random"], controls["control-unigram"], strict=True
    ):
        assert other in SOURCES
        assert other != original
        assert len(unigram_sentence.split()) == len(original.split())
        assert set(unigram_sentence.split()) <= set(words)
    assert control_sentences(SOURCES) == controls
    assert control_sentences(SOURCES, seed=1) != controls


def test_their_scores_are_the_papers() -> None:
    evalset = add_controls(small(), "overall")
    assert list(evalset.systems) == ["x", "y", "z", *CONTROLS]
    for k, expected in enumerate(CONTROLS.values()):
        for name in DIMENSIONS:
            assert (evalset.human(name)[3 + k] == expected[name]).all()


def test_scores_are_mapped_to_the_scale_of_the_set() -> None:
    scale = Dimension("similarity", low=0, high=1)
    assert from_five(2, scale) == 0.25
    assert to_five(0.25, scale) == 2
    assert to_five(7.0, Dimension("open")) == 7.0


def test_one_original_in_several_segments_has_one_of_each() -> None:
    rows = [("c", str(i + 1), "r", "similarity", i / 4) for i in range(4)]
    sources = ["one two", "one two", "three", "three"]
    judged_set = make_evalset(
        "twice",
        {"c": ["a", "b", "c", "d"]},
        sources=sources,
        judgements=rows,
        dimensions=[Dimension("similarity", low=0, high=1)],
    )
    evalset = add_controls(judged_set, "similarity")
    assert evalset.systems["control-identity"] == ("one two", None, "three", None)
    assert len(judged_rows(evalset)) == 4 + 6


def test_where_controls_cannot_be_made() -> None:
    with pytest.raises(InputError, match="two different originals"):
        control_sentences(["same", "same"])
    with pytest.raises(InputError, match="already"):
        add_controls(add_controls(small(), "overall"), "overall")
    with pytest.raises(InputError, match="no dimension"):
        add_controls(small(), "beauty")
    bare = make_evalset("bare", {"x": ["a"]}, dimensions=["overall"])
    with pytest.raises(InputError, match="no sources"):
        add_controls(bare, "overall")


# ------------------------------------------------------------------------------- the paper's tables


def test_tables_of_a_perfect_prediction() -> None:
    judged = judged_rows(add_controls(small(), "overall"))
    rows = correlate_with_judges(judged, "PEM", judged.human)
    assert [row.second for row in rows] == [
        "human average",
        "human average, no controls",
        "judge ann",
        "judge bob",
    ]
    assert rows[0].pearson == pytest.approx(1)
    assert rows[0].systems == 6
    assert rows[1].pearson == pytest.approx(1)
    assert rows[1].systems == 3
    assert rows[2].rows == 12


def test_judges_and_criteria_are_those_of_numpy() -> None:
    judged = judged_rows(add_controls(small(), "overall"))
    (pair,) = correlate_judges(judged)
    ann, bob = (small().human("overall", judges=[name]).ravel() for name in ("ann", "bob"))
    assert pair.pearson == pytest.approx(np.corrcoef(ann, bob)[0, 1])
    correlations = criteria(judged)
    assert [row.first for row in correlations][:3] == ["adequacy", "fluency", "dissimilarity"]
    evalset = add_controls(small(), "overall")
    x, y = evalset.human("adequacy").ravel(), evalset.human("overall").ravel()
    assert correlations[0].pearson == pytest.approx(np.corrcoef(x, y)[0, 1])
    good = (x >= 4) & (evalset.human("fluency").ravel() >= 4)
    assert correlations[3].rows == good.sum()


def test_a_set_with_one_judge_and_no_criteria_has_fewer_tables() -> None:
    rows = [("c", str(i + 1), "r", "similarity", i / 4) for i in range(4)]
    evalset = make_evalset(
        "plain",
        {"c": ["a", "b", "c", "d"]},
        sources=SOURCES,
        judgements=rows,
        dimensions=[Dimension("similarity", low=0, high=1)],
    )
    judged = judged_rows(evalset)
    assert correlate_judges(judged) == []
    assert criteria(judged) == []
    assert len(correlate_with_judges(judged, "PEM", judged.human)) == 1


def test_better_resamples_originals() -> None:
    rng = np.random.default_rng(5)
    sources = [f"s{i // 3}" for i in range(150)]
    human = rng.normal(size=150)
    rows = [("c", str(i + 1), "r", "overall", float(human[i])) for i in range(150)]
    evalset = make_evalset(
        "many", {"c": ["t"] * 150}, sources=sources, judgements=rows, dimensions=["overall"]
    )
    judged = judged_rows(evalset)
    good, bad = human + rng.normal(size=150), human + 3 * rng.normal(size=150)
    gain = paired_gain(judged, ("good", good), ("bad", bad))
    assert gain.r_first == pytest.approx(np.corrcoef(good, human)[0, 1])
    assert gain.r_second == pytest.approx(np.corrcoef(bad, human)[0, 1])
    assert 0 < gain.low < gain.difference < gain.high
    assert gain.p < 0.05
    back = paired_gain(judged, ("bad", bad), ("good", good))
    assert back.p == gain.p  # two-sided
    assert (back.low, back.high) == pytest.approx((-gain.high, -gain.low))
    identical = paired_gain(judged, ("good", good), ("again", good))
    assert identical.difference == 0
    assert identical.p == 1
    near = paired_gain(judged, ("good", good), ("near", good + 1e-3 * rng.normal(size=150)))
    assert near.low < 0 < near.high
    assert near.p > 0.05  # agrees with the interval
    flat = paired_gain(judged, ("good", good), ("flat", np.ones(150)))
    assert np.isnan(flat.p)
