"""gtm as a metric: names, numbers, several segments, certificates, explanations."""

from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import matching_rules as rules
from oracles.strategies import Corpus, corpora, easy_text, float_settings

import karat as kt

FIGURE_1 = ("C B A I C D E", "A B C D E F I C A B")
FIGURE_2 = ("G H I J L M C D E K", ("A B C D E", "F G H I J", "K L M N P"))


def test_figure_1_of_the_paper() -> None:
    candidate, reference = FIGURE_1
    for search in ("greedy", "exact"):
        plain = kt.GTM(search=search).corpus([candidate], [reference])
        assert plain.parts["size"] == 7
        assert plain.parts["precision"] == 1
        assert plain.parts["recall"] == pytest.approx(0.7)
        assert plain.value == pytest.approx(0.8235, abs=5e-5)
        squared = kt.GTM(e=2, search=search).corpus([candidate], [reference])
        assert squared.parts["size"] == pytest.approx(3.6056, abs=5e-5)
        assert squared.parts["precision"] == pytest.approx(0.5151, abs=5e-5)
        assert squared.parts["recall"] == pytest.approx(0.3606, abs=5e-5)
        assert squared.value == pytest.approx(0.4242, abs=5e-5)


def test_the_order_of_references_is_arbitrary() -> None:
    """Section 2.3, step 1: a maximum matching has the same size in every order."""
    candidate, references = FIGURE_2
    metric = kt.metric("gtm:preset=paper")
    sizes = {
        metric.corpus([candidate], [list(order)]).parts["size"]
        for order in permutations(references)
    }
    assert sizes == {17**0.5}


@pytest.mark.parametrize(("preset", "size"), [("paper", 13**0.5), ("gtm-1.4", 7)])
def test_the_papers_measure_and_the_tools_default_have_names(preset: str, size: float) -> None:
    metric = kt.metric(f"gtm:preset={preset}")
    score = metric.corpus([FIGURE_1[0]], [FIGURE_1[1]])
    assert score.parts["size"] == pytest.approx(size, abs=1e-12)
    assert kt.metric(score.signature) == metric
    assert preset in {row.values for row in kt.list_metrics("gtm").rows if row.setting == "preset"}


def test_the_paper_has_a_maximum_where_the_tool_is_greedy() -> None:
    pair = ["a b a a"], ["a a a b"]
    assert kt.metric("gtm:preset=paper").corpus(*pair).parts["size"] == pytest.approx(8**0.5)
    assert kt.metric("gtm:preset=gtm-1.4,e=2").corpus(*pair).parts["size"] == pytest.approx(6**0.5)


@pytest.mark.parametrize("search", ["greedy", "exact"])
def test_what_is_left_of_a_run_that_conflicts_still_counts(search: str) -> None:
    """Section 2.2: the C of CDE is in a heavier run, and DE contributes a weight of 4."""
    explanation = kt.GTM(e=2, search=search).explain("Z A B C D E", "Z A B C Q C D E")
    assert explanation.sum == 4**2 + 2**2
    assert [block.length for block in explanation.blocks] == [4, 2]


def test_the_paper_deletes_whole_hits_where_the_tool_counts_a_part() -> None:
    """The cap is 2.5: two hits, or two and a half (GTM 1.4)."""
    pair = "a b c d", ["a b c", "a b"]
    tool, paper = kt.GTM(e=2), kt.GTM(e=2, cap="whole")
    assert (tool.explain(*pair).sum, paper.explain(*pair).sum) == (6.25, 4)
    assert (tool.explain(*pair).cap, paper.explain(*pair).cap) == (2.5, 2)
    ((size, actual, peer, *_),) = kt.metric("gtm:preset=paper").stats([pair[0]], [pair[1]])
    assert (size, actual, peer) == (2, 4, 2.5)
    assert paper.signature(2).count("cap=whole") == 1
    assert "cap" not in tool.signature(2)
    assert kt.metric(paper.signature(2)) == paper


def test_figure_2_of_the_paper() -> None:
    candidate, references = FIGURE_2
    for search in ("greedy", "exact"):
        score = kt.GTM(e=2, search=search).corpus([candidate], [references])
        assert score.parts["size"] == pytest.approx(4.1231, abs=5e-5)
        assert score.parts["precision"] == pytest.approx(0.4123, abs=5e-5)
        assert score.parts["recall"] == pytest.approx(0.8246, abs=5e-5)
        assert score.value == pytest.approx(0.5497, abs=5e-5)


def test_the_covered_share_of_the_grid_is_p_times_r() -> None:
    """The paper calls F that share; 13 of 70 cells are covered in its figure."""
    parts = kt.GTM(e=2).corpus(*[[text] for text in FIGURE_1]).parts
    assert parts["precision"] * parts["recall"] == pytest.approx(13 / 70)


exponents = st.sampled_from([1.0, 1.5, 2.0, 3.0])


@given(corpora(easy_text), exponents, float_settings(0, 1))
def test_corpus_and_segments_follow_the_definition(corpus: Corpus, e: float, alpha: float) -> None:
    metric = kt.GTM(e=e, alpha=alpha)
    sizes, actual, peer = [], [], []
    for candidate, group in zip(corpus.candidates, corpus.references, strict=True):
        references = [reference.split() for reference in group]
        sizes.append(rules.greedy_sum(candidate.split(), references, e) ** (1 / e))
        actual.append(len(candidate.split()))
        peer.append(sum(map(len, references)) / len(references))
    segments = metric.segments(corpus.candidates, corpus.references)
    expected = [rules.f_measure(*row, alpha) for row in zip(sizes, actual, peer, strict=True)]
    assert segments == pytest.approx(np.array(expected), rel=1e-9)
    total = metric.corpus(corpus.candidates, corpus.references)
    actual_expected = rules.f_measure(sum(sizes), sum(actual), sum(peer), alpha)
    assert total.value == pytest.approx(actual_expected, rel=1e-9)


@given(corpora(easy_text), exponents)
def test_exact_is_at_least_greedy(corpus: Corpus, e: float) -> None:
    greedy = kt.GTM(e=e).stats(*corpus)
    exact = kt.GTM(e=e, search="exact").stats(*corpus)
    assert (exact[:, 0] >= greedy[:, 0] * (1 - 1e-12)).all()
    assert (exact[:, 1:3] == greedy[:, 1:3]).all()
    if e == 1:
        assert (exact[:, 0] == greedy[:, 0]).all()


@given(easy_text, easy_text, exponents)
def test_precision_and_recall_swap_with_the_texts(a: str, b: str, e: float) -> None:
    metric = kt.GTM(e=e, search="exact")
    score, other = metric.corpus([a], [b]), metric.corpus([b], [a])
    assert score.parts["precision"] == pytest.approx(other.parts["recall"], rel=1e-9)
    assert score.parts["recall"] == pytest.approx(other.parts["precision"], rel=1e-9)


@given(easy_text.filter(str.split), exponents, st.integers(1, 3))
def test_identical_texts_score_1(text: str, e: float, references: int) -> None:
    for search in ("greedy", "exact"):
        score = kt.GTM(e=e, search=search).corpus([text], [[text] * references])
        assert score.value == pytest.approx(1, rel=1e-12)


def test_empty_texts_score_0() -> None:
    for search in ("greedy", "exact"):
        metric = kt.GTM(e=2, search=search)
        assert metric.segments(["", "a", ""], ["", "", "a"]).tolist() == [0, 0, 0]
        assert metric.corpus(["a"], [["", "a"]]).parts["reference_length"] == 0.5


def test_the_name_parses_back() -> None:
    for name in ("gtm", "gtm:e=2", "gtm:e=1.5,search=exact,alpha=0.3,tok=13a,case=lower,budget=9"):
        assert str(kt.metric(name)) == name
        assert kt.metric(str(kt.metric(name))) == kt.metric(name)
    assert kt.metric("GTM:exponent=2") == kt.GTM(e=2)
    full = kt.GTM(e=2, search="exact").signature(2)
    for setting in ("e=2", "search=exact", "tok=none", "case=mixed", "budget=", "nrefs=2"):
        assert setting in full


def test_settings_out_of_range() -> None:
    for name in ("gtm:e=0.5", "gtm:e=nan", "gtm:search=beam", "gtm:budget=0", "gtm:alpha=2"):
        with pytest.raises(kt.MetricError):
            kt.metric(name)


def test_text_settings_count() -> None:
    assert kt.GTM().corpus(["The cats."], ["the cats ."]).value == 0
    assert kt.GTM(tok="13a", case="lower").corpus(["The cats."], ["the cats ."]).value == 1
    assert kt.GTM(stem="porter-nltk").corpus(["running cats"], ["run cat"]).value == 1
    assert kt.GTM(stop="en").corpus(["the cat"], ["a cat"]).value == 1


def test_the_certificate_adds_up() -> None:
    rng = np.random.default_rng(5)
    hard = [" ".join(map(str, rng.integers(0, 5, 60))) for _ in range(2)]
    metric = kt.GTM(e=2, search="exact", budget=2000)
    score = metric.corpus(["a b", hard[0]], ["a b", hard[1]])
    assert score.parts["segments"] == 2
    assert score.parts["proven"] == 1
    assert score.parts["bound"] > score.value
    assert score.notes[0].startswith("1 of 2 segments proven optimal; the maximum is at most")
    done = kt.GTM(e=2, search="exact").corpus(["a b", hard[0]], ["a b", hard[1]])
    assert done.notes == ("2 of 2 segments proven optimal",)
    assert score.value <= done.value <= score.parts["bound"]
    assert done.parts["bound"] == done.value


def test_the_command_line_reports_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from karat.cli.main import main

    files = [tmp_path / name for name in ("c.txt", "r.txt")]
    for file, text in zip(files, ("a b a a\n", "a a a b\n"), strict=True):
        file.write_text(text)
    metrics = ["-m", "gtm:e=2", "-m", "gtm:e=2,search=exact"]
    main(["score", str(files[0]), "-r", str(files[1]), *metrics])
    displayed = capsys.readouterr().out
    for expected in ("0.6124", "0.7071", "1 of 1 segments proven optimal"):
        assert expected in displayed


def test_threads_change_nothing() -> None:
    rng = np.random.default_rng(7)
    candidates, references = (
        [" ".join(map(str, rng.integers(0, 9, 12))) for _ in range(9000)] for _ in range(2)
    )
    for metric in (kt.GTM(e=2), kt.GTM(e=1.5, search="exact")):
        actual_stats, many = (metric.stats(candidates, references, threads=n) for n in (1, 3))
        assert (actual_stats == many).all()
        total = [metric.corpus(candidates, references, threads=n).value for n in (1, 3)]
        assert total[0] == total[1]


# ------------------------------------------------------------------------------- explanations


def test_figure_2_explained() -> None:
    candidate, references = FIGURE_2
    explanation = kt.GTM(e=2, search="exact").explain(candidate, references)
    first, second, *rest = explanation.blocks
    assert (first.row, first.length, first.reference, first.position) == (0, 4, 1, 1)
    assert (second.row, second.length, second.counted) == (6, 3, 1)
    assert [block.counted for block in rest] == [0, 0]
    assert explanation.barriers == (5, 11, 17)
    assert explanation.columns == 18
    assert explanation.cap == 5
    assert explanation.sum == 17
    assert explanation.proven
    assert explanation.bound == explanation.size
    assert len(explanation.pared) == 5
    assert list(explanation.hits()) == [
        *((0, 7), (1, 8), (2, 9), (3, 10), (4, 13), (5, 14), (6, 2), (7, 3), (8, 4), (9, 12))
    ]
    assert len(list(explanation.hits(limit=3))) == 3


def test_a_fractional_cap_cuts_the_last_hit() -> None:
    explanation = kt.GTM(e=2).explain("a b c d", ["a b c", "a b"])
    (block,) = explanation.blocks
    assert (block.length, block.counted) == (3, 2.5)
    assert explanation.pared == ((2, 2, 0.5),)


def test_greedy_is_certain_only_where_no_matching_could_be_larger() -> None:
    below = kt.GTM(e=2).explain("a b a a", "a a a b")
    assert (below.sum, below.proven, below.bound, below.largest) == (6, False, 8**0.5, 8**0.5)
    unknown = kt.GTM(e=2, budget=1).explain("a b a b a", "b a a b b a c")
    assert (unknown.proven, unknown.largest, unknown.bound) == (False, 3, 10**0.5)
    words = kt.GTM(e=1).explain("a b", "b a c")  # the cap is not reached
    assert (words.size, words.proven, words.bound) == (2, True, 2)
    missing = kt.GTM(e=2).explain("a x b", "b y a z")
    assert (missing.proven, missing.size, missing.cap) == (True, 2**0.5, 3)
    explanation = kt.GTM(e=2).explain("a b c d", ["a b c", "a b"])
    assert (explanation.size, explanation.proven, explanation.bound) == (2.5, True, 2.5)
    nothing = kt.GTM(e=2).explain("a", "b")
    assert (nothing.size, nothing.proven, nothing.bound) == (0, True, 0)


@given(easy_text, st.lists(easy_text, min_size=1, max_size=3))
def test_a_greedy_certificate_is_true(candidate: str, references: list[str]) -> None:
    greedy = kt.GTM(e=2).explain(candidate, references)
    exact = kt.GTM(e=2, search="exact").explain(candidate, references)
    assert greedy.proven == (greedy.size == pytest.approx(exact.size, rel=1e-12))
    assert (greedy.largest, greedy.bound) == pytest.approx((exact.size, exact.bound))


@given(easy_text, st.lists(easy_text, min_size=1, max_size=3))
def test_runs_are_the_maximal_diagonals_of_hits(candidate: str, references: list[str]) -> None:
    explanation = kt.GTM().explain(candidate, references)
    hits = {tuple(hit) for hit in explanation.hits()}
    assert len(hits) == explanation.hit_count
    expected = []
    for i, j in hits:
        if (i - 1, j - 1) not in hits:
            length = next(k for k in range(1, 99) if (i + k, j + k) not in hits)
            expected.append((i, j, length))
    assert explanation.runs() == sorted(expected)


@given(easy_text, st.lists(easy_text, min_size=1, max_size=3))
def test_edits_are_those_of_the_nearest_reference(candidate: str, references: list[str]) -> None:
    explanation = kt.GTM().explain(candidate, references)
    actual_alignment = [kt.alignment(candidate, reference) for reference in references]
    cheapest = min(item.cost for item in actual_alignment)
    assert explanation.edits() == next(item for item in actual_alignment if item.cost == cheapest)
    assert [explanation.edits(number) for number in range(len(references))] == actual_alignment


def test_edits_see_words_as_the_metric_does() -> None:
    explanation = kt.GTM(case="lower").explain("The cat", "the cat")
    assert explanation.edits().count("keep") == 2
    stems = kt.GTM(stem="porter").explain("cats sat", "cat sat")
    assert stems.edits().count("keep") == 2
    assert stems.edits().candidate == ("cats", "sat")


@given(easy_text, st.lists(easy_text, min_size=1, max_size=3), exponents)
def test_an_explanation_has_the_scores_numbers(
    candidate: str, references: list[str], e: float
) -> None:
    for search in ("greedy", "exact"):
        metric = kt.GTM(e=e, search=search)
        explanation = metric.explain(candidate, references)
        score = metric.corpus([candidate], [references])
        assert explanation.value == score.value
        assert explanation.size == score.parts["size"]
        assert explanation.precision == score.parts["precision"]
        assert explanation.signature == score.signature
        lost = sum(pared.lost for pared in explanation.pared)
        matched = sum(block.length for block in explanation.blocks)
        assert matched - lost == pytest.approx(min(explanation.cap, matched))
        for block in explanation.blocks:
            words = explanation.references[block.reference][block.position :][: block.length]
            assert explanation.candidate[block.row : block.row + block.length] == words


def test_an_explanation_shows_words_as_they_stand() -> None:
    explanation = kt.GTM(stem="porter-nltk", stop="en").explain("the running cats", "a cat runs")
    assert explanation.candidate == ("running", "cats")
    assert explanation.references == (("cat", "runs"),)
    assert explanation.size == 2
    with pytest.raises(kt.InputError, match="at least one"):
        kt.GTM().explain("a", [])


JAVA_SPACE = " \t\n\r\f"
"""Where Java's StringTokenizer cuts, and with it GTM 1.4."""


@pytest.mark.parametrize("space", ["\u3000", "\x0b", "\x1f", "\x1c", "\x85", "\xa0", "\u2028"])
def test_the_original_tool_knows_less_white_space(space: str) -> None:
    candidate, reference = f"a{space}b c d", "a b c d"
    assert kt.GTM(e=1).segments([candidate], [reference])[0] == 1
    # Three words against four, of which c and d are hits: P = 2/3, R = 2/4.
    (row,) = kt.GTM(e=1, tok="gtm").stats([candidate], [reference])
    assert row.tolist() == [2, 3, 4]
    assert kt.GTM(e=1, tok="gtm").segments([candidate], [reference])[0] == pytest.approx(4 / 7)
    # At e=2 the run `c d` has the size sqrt(4) = 2.
    (row,) = kt.GTM(e=2, tok="gtm").stats([candidate], [reference])
    assert row.tolist() == [2, 3, 4]


@given(st.lists(st.text("ab\u3000\x0b\x1f\xa0é \t\n\r\f", max_size=12), min_size=1, max_size=5))
def test_the_original_tools_white_space(texts: list[str]) -> None:
    expected = [re.sub(f"[{JAVA_SPACE}]+", " ", text).strip(" ").split(" ") for text in texts]
    tokens = kt.tokenize(texts, tok="gtm", case="mixed")
    assert [list(row) for row in tokens] == [[w for w in words if w] for words in expected]


def test_a_signature_says_so() -> None:
    actual_metric = kt.metric("gtm:tok=gtm")
    assert actual_metric == kt.GTM(tok="gtm")
    assert "tok=gtm" in actual_metric.corpus(["a"], ["a"]).signature
