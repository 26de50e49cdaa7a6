"""Which of several judgements counts: kinds of judges, majorities, ties, and what is kept."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

import karat as kt
from karat.errors import InputError
from karat.nuggets.prediction.pool import make_pool, run_labels
from karat.nuggets.scores.decisions import decide
from karat.nuggets.sets.judgements import JudgedResponse, Judgements, Votes
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run
from karat.nuggets.sets.nugget_set import NuggetSet, remarks

TEXT = "No refunds at all."
QUESTION = Question(
    "q", (Nugget("1", ("refunds within 30 days",)), Nugget("2", ("ask support first",)))
)
RUN = make_run("A", [("q", Response(TEXT))])


def vote(value: float, judge: str = "", kind: str = "", run: str = "A") -> JudgedResponse:
    return JudgedResponse("q", "1", TEXT, value, run, judge, kind=kind)


def voted_set(*rows: JudgedResponse, ties: str = "half") -> NuggetSet:
    return NuggetSet("set", make_key([QUESTION]), {"A": RUN}, Judgements(rows, ties))


def counted_value(*rows: JudgedResponse, ties: str = "half") -> float | None:
    return voted_set(*rows, ties=ties).judgements.values.get(("q", "1", TEXT.casefold()))


# --------------------------------------------------------------------------------- precedence


def test_a_model_does_not_outvote_a_person() -> None:
    rows = vote(1, "gpt-4o", "model"), vote(0, "ann", "person")
    assert counted_value(*rows) == counted_value(*rows[::-1]) == 0
    many = [vote(1, f"model{k}", "model") for k in range(5)]
    assert counted_value(*many, vote(0, "ann")) == 0
    (scored_run,) = kt.score_nuggets(voted_set(*rows), guess=False).scored
    assert (scored_run.official_score.macro.f, scored_run.shares[0].A) == (0, 0)


def test_the_label_of_a_model_alone_is_not_known() -> None:
    nuggets = voted_set(vote(1, "gpt-4o", "model"))
    assert counted_value(*nuggets.judgements.rows) is None
    decisions = decide(QUESTION, RUN.responses("q"), nuggets.judgements)
    assert not decisions.is_judged.any()
    assert np.isnan(decisions.values).all()
    assert np.isnan(run_labels(make_pool(nuggets.key, [RUN]), nuggets.judgements)).all()


def test_what_was_adjudicated_decides() -> None:
    people = [vote(1, name, "person") for name in ("ann", "bob", "cleo")]
    assert counted_value(*people, vote(0, "dora", "adjudicated")) == 0
    judgements = voted_set(*people, vote(0, "dora", "adjudicated", run="")).judgements
    assert judgements.about("q", TEXT.casefold(), run_tag="A") == {
        "1": 0
    }  # in every run, as judged too


@pytest.mark.parametrize(
    ("values", "counts", "tie"),
    [
        ((1, 1, 0), 1, False),
        ((1, 0, 0), 0, False),
        ((1, 0), 0.5, True),
        ((1, 1, 0.5), 1, False),
        ((1, 0.5, 0.5), 0.5, False),
        ((1, 0.5, 0), 0.5, True),
        ((1, 0.5), 0.5, True),
        ((0.5, 0), 0.5, True),
        ((0.5, 0, 0), 0, False),
        ((1, 1, 0, 0), 0.5, True),
    ],
)
def test_the_majority_of_people_counts(values: tuple[float, ...], counts: float, tie: bool) -> None:
    names = "ann", "bob", "cleo", "dora"
    for order in itertools.permutations(values):
        rows = [vote(value, name) for value, name in zip(order, names, strict=False)]
        judgements = voted_set(*rows).judgements
        assert counted_value(*rows) == counts
        assert [dispute.tie for dispute in judgements.disputes] == [tie]


def test_a_tie_may_count_as_the_higher_or_the_lower_value() -> None:
    rows = vote(1, "ann"), vote(0, "bob")
    assert (counted_value(*rows, ties="yes"), counted_value(*rows, ties="no")) == (1, 0)
    assert Votes(1, {"ann": 0.5, "bob": 1}).value("no") == 0.5
    with pytest.raises(InputError, match="ties 'maybe': expected one of half, yes, no"):
        Judgements((), "maybe")


@pytest.mark.parametrize("strict", [False, True])
def test_a_tie_is_half_in_all_scores(strict: bool) -> None:
    nuggets = voted_set(vote(1, "ann"), vote(0, "bob"))
    (tied,) = kt.score_nuggets(nuggets, kt.OfficialSettings(strict=strict), guess=False).scored
    assert tied.official_score.macro.recall == 0.25  # of two vital nuggets
    assert (tied.official_score.questions[0].vital_returned, tied.shares[0].A) == (0.5, 0.25)
    assert tied.shares[0].A_strict == 0.25
    (partial,) = kt.score_nuggets(
        voted_set(vote(0.5, "ann")), kt.OfficialSettings(strict=strict)
    ).scored
    assert partial.official_score.questions[0].vital_returned == (0 if strict else 1)


def test_one_judge_votes_once_and_for_the_most_favourable() -> None:
    """The paper's rule, for identical responses of several runs."""
    for judge in ("", "ann"):
        rows = vote(0, judge, run="A"), vote(1, judge, run="B"), vote(0, judge, run="C")
        assert counted_value(*rows) == 1
        assert voted_set(*rows).judgements.disputes == ()
        assert voted_set(*rows).judgements.about("q", TEXT.casefold(), run_tag="A") == {"1": 0}
    rows = vote(1, "ann", run="A"), vote(1, "ann", run="B"), vote(0, "bob"), vote(0, "cleo")
    assert counted_value(*rows) == 0


def test_an_unknown_kind_in_python_is_refused() -> None:
    with pytest.raises(InputError, match="kind 'robot': expected one of person, model, adj"):
        Judgements((vote(1, "ann", "robot"),))


# -------------------------------------------------------------------------------------- notes


def test_ties_are_named_with_their_judges() -> None:
    rows = vote(1, "ann", "person"), vote(0, "bob", "person")._replace(place="b.jsonl, line 7")
    assert remarks(voted_set(*rows)) == [
        "judges contradict each other on 1 pair of response and nugget; the majority counts, and "
        "1 tie counts as half: question q, nugget 1: ann 1 (run A), bob 0 (b.jsonl, line 7)"
    ]


def test_an_unknown_kind_is_a_person_with_a_note() -> None:
    (note,) = [sentence for sentence in remarks(voted_set(vote(1, "ann"))) if "kind" in sentence]
    assert note.startswith("of unknown kind, so counted as a person: judge ann; say which are")
    for rows in ((vote(1),), (vote(1, "ann", "person"),)):
        assert not any("kind" in sentence for sentence in remarks(voted_set(*rows)))


# -------------------------------------------------------------------------------------- files


def row(value: float, **more: str) -> str:
    about = {"question": "q", "nugget": "1", "response": TEXT, "value": value}
    return json.dumps({**about, **more}) + "\n"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    kt.save_nuggets(NuggetSet("set", make_key([QUESTION]), {"A": RUN}), tmp_path / "key.jsonl")
    return tmp_path / "key.jsonl"


def read(key: Path, *lines: str, models: tuple[str, ...] = (), ties: str = "half") -> NuggetSet:
    place = key.parent / "judged.jsonl"
    place.write_text("".join(lines), encoding="utf-8")
    return kt.load_nuggets(key, judgements=[place], model_judges=models, ties=ties)


def kinds(nuggets: NuggetSet) -> list[tuple[str, str]]:
    return [(row.judge, row.kind) for row in nuggets.judgements.rows]


def test_the_kind_comes_from_the_file_or_from_the_option(key: Path) -> None:
    lines = row(1, judge="gpt", kind="model"), row(1, judge="gpt"), row(0, judge="ann")
    assert kinds(read(key, *lines)) == [("gpt", "model"), ("gpt", "model"), ("ann", "")]
    assert kinds(read(key, *lines[1:], models=("gpt",))) == [("gpt", "model"), ("ann", "")]
    dora = row(1, judge="dora", kind="adjudicated"), row(0, judge="dora")
    assert kinds(read(key, *dora)) == [("dora", "adjudicated"), ("dora", "")]
    nuggets = read(key, row(1), row(0, judge="ann"), models=("-",), ties="yes")
    assert (kinds(nuggets), nuggets.judgements.ties) == ([("", "model"), ("ann", "")], "yes")
    nuggets = read(key, row(1, judge="-"), row(0, judge="ann"), models=("-",))
    assert kinds(nuggets) == [("-", "model"), ("ann", "")]
    nuggets = read(key, row(1, kind="person"), row(0), models=("-",))
    assert kinds(nuggets) == [("", "person"), ("", "model")]


@pytest.mark.parametrize(
    ("lines", "models", "problem"),
    [
        ([row(1, judge="a", kind="robot")], (), "line 1: found the kind 'robot', expected one of"),
        ([row(1, judge="ann")], ("gpt",), "no judgement is by a judge 'gpt', named as a model"),
        ([row(1, judge="ann", kind="person")], ("ann",), "judge ann is named as a model, but"),
        ([row(1, kind="person")], ("-",), "judge - is named as a model, but"),
        (
            [row(1, judge="a", kind="person"), row(1, judge="a", kind="model")],
            (),
            "line 2: judge a is of the kind model here and person before",
        ),
    ],
)
def test_kinds_that_cannot_be(
    key: Path, lines: list[str], models: tuple[str, ...], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        read(key, *lines, models=models)


def test_kinds_survive_saving_and_loading(key: Path, tmp_path: Path) -> None:
    lines = row(1, judge="gpt", kind="model"), row(0, judge="ann", kind="person"), row(1)
    nuggets = read(key, *lines, row(0, judge="ann", kind="adjudicated"))
    kt.save_nuggets(nuggets, tmp_path / "all.jsonl")
    assert kinds(kt.load_nuggets(tmp_path / "all.jsonl")) == kinds(nuggets)


@pytest.mark.parametrize("format", ["trec", "rag"])
def test_other_formats_keep_what_people_said(key: Path, tmp_path: Path, format: str) -> None:
    nuggets = read(
        key,
        row(1, judge="gpt", kind="model", run="A"),
        row(0, judge="ann", kind="person", run="A"),
        row(1, judge="gpt", run="A").replace('"nugget": "1"', '"nugget": "2"'),
    )
    kt.save_nuggets(nuggets, tmp_path / "saved", format)
    again = kt.load_nuggets(tmp_path / "saved").judgements.values
    assert again["q", "1", TEXT.casefold()] == 0
    assert again.get(("q", "2", TEXT.casefold())) is None


def test_labels_of_rag_answers_may_have_a_judge(tmp_path: Path) -> None:
    answer = {"qid": "q", "query": "?", "run_id": "A", "answer_text": TEXT}

    def line(label: str, **judge: str) -> str:
        nuggets = [{"text": "refunds", "importance": "vital", "assignment": label}]
        return json.dumps({**answer, "nuggets": nuggets, **judge}) + "\n"

    place = tmp_path / "rag.jsonl"
    gpt, ann = line("support", judge="gpt", kind="model"), line("not_support", judge="ann")
    place.write_text(gpt + ann, encoding="utf-8")
    loaded = kt.load_nuggets(place)
    assert kinds(loaded) == [("gpt", "model"), ("ann", "")]
    assert len(loaded.runs["A"].responses("q")) == 1
    assert set(loaded.judgements.values.values()) == {0}
    place.write_text(gpt + gpt, encoding="utf-8")
    with pytest.raises(InputError, match="line 2: run A answers question q already"):
        kt.load_nuggets(place)
