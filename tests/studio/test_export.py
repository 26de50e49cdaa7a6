"""Exports: read back by Karat's own readers, they are what assessors said."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from judged_store import START, decide, judge_all, make_store, nugget_texts, texts, uuids
from studio.store_rows import current

import karat as kt
from karat.errors import InputError, OutputError
from karat.evalset.loading import load_evalset
from karat.nuggets.formats.loading import load_nuggets
from karat.nuggets.sets.keys_and_runs import normal
from karat.studio.assignment import next_assignment
from karat.studio.contents import read_contents
from karat.studio.export.formats import FORMATS, export_studio, make_labels
from karat.studio.export.sets import pair_labels
from karat.studio.store.judgements import SentJudgement, judge
from karat.studio.store.people import assessors
from karat.studio.store.store import Store
from karat.studio.tasks.pairs import pair_name

NEW = uuids(99)


@pytest.fixture
def rated(tmp_path: Path) -> Store:
    """Twelve segments, three systems, three assessors, two dimensions."""
    store = make_store(tmp_path / "store")
    judge_all(store)
    return store


def output_of(store: Store, system: str, segment: str) -> int:
    with store.read() as connection:
        (id,) = connection.execute(
            "SELECT output.id FROM output JOIN item ON item.id = item "
            "WHERE system = ? AND segment = ?",
            (system, segment),
        ).fetchone()
    return int(id)


def test_ratings_read_back_with_judges_kinds_and_draws(rated: Store, tmp_path: Path) -> None:
    export_studio(rated.path, tmp_path / "set", "set")
    evalset = load_evalset(tmp_path / "set")
    source = texts()
    assert evalset.systems == source.systems
    assert (evalset.segments, evalset.groups, evalset.sources) == (
        *(source.segments, source.groups, source.sources),
    )
    assert evalset.references == source.references
    names = {entry.id: entry.name for entry in assessors(rated)}
    with rated.read() as connection:
        place = {
            id: (system, segment)
            for id, system, segment in connection.execute(
                "SELECT output.id, system, segment FROM output JOIN item ON item.id = item"
            )
        }
    expected_values = {
        (*place[row.outputs[0]], names[row.assessor], dimension, float(value))
        for row in current(rated)
        for dimension, value in row.value["ratings"].items()
    }
    assert {*map(tuple, evalset.judgements)} == expected_values
    assert len(evalset.judgements) == 12 * 3 * 3 * 2
    assert evalset.judgements.judge_kinds == dict.fromkeys(("ann", "bob", "cleo"), "person")
    assert [(entry.unit, entry.probability, entry.reason) for entry in evalset.draws or ()] == [
        (segment, 1.0, "random") for segment in source.segments
    ]
    assert (evalset.dimensions["quality"].low, evalset.dimensions["quality"].high) == (1, 7)


def test_an_adjudicated_rating_counts_instead_of_peoples(rated: Store, tmp_path: Path) -> None:
    output = output_of(rated, "sys1", "4")
    decide(rated, "ratings", output, "quality", 7, NEW())
    decide(rated, "ratings", output, "quality", 2, NEW())
    decide(rated, "ratings", output, "fluency", 5, NEW())
    decide(rated, "ratings", output, "fluency", None, NEW())  # withdrawn
    before = kt.load_evalset(export(rated, tmp_path, "set"))
    at = [*before.systems].index("sys1"), before.segments.index("4")
    assert before.human("quality")[at] == 2
    people = [row.value["ratings"]["fluency"] for row in current(rated) if row.outputs == (output,)]
    assert before.human("fluency")[at] == pytest.approx(sum(people) / 3)
    assert before.judgements.judge_kinds["adjudicated"] == "adjudicated"
    labels = {(*entry[1:4], entry.about): entry for entry in make_labels(read_contents(rated))}
    label = labels["4", "sys1", "", "quality"]
    assert (label.label, label.basis, len(label.votes)) == (2.0, "adjudicated", 3)
    assert labels["4", "sys1", "", "fluency"].basis == "mean"


def export(store: Store, folder: Path, format: str) -> Path:
    target = folder / f"as-{format}"
    export_studio(store.path, target, format)
    return target


def test_the_share_of_an_unfinished_round_is_in_the_probability(tmp_path: Path) -> None:
    store = make_store(tmp_path / "store", people=1)
    judge_all(store, most=9)  # of 36 outputs, all drawn in one round
    evalset = load_evalset(export(store, tmp_path, "set"))
    assert evalset.draws
    assert {draw.probability for draw in evalset.draws} == {0.25}
    assert len({row.segment for row in evalset.judgements}) == len(evalset.draws)


# ------------------------------------------------------------------------------------- pairs


def vote(store: Store, choices: dict[str, list[str]]) -> None:
    """Each assessor says which system is better, or tie, in every pair, in its order."""
    for person in assessors(store):
        while person.role == "assessor" and (view := next_assignment(store, person.id, START)):
            with store.read() as connection:
                systems = [
                    connection.execute("SELECT system FROM output WHERE id = ?", (o.id,)).fetchone()
                    for o in view.outputs
                ]
            better = choices[person.name][0]
            names = [name for (name,) in systems]
            choice = ("first", "second")[names.index(better)] if better in names else "tie"
            judge(
                store,
                person.id,
                SentJudgement(NEW(), view.assignment, {"choice": choice}, 10),
                START,
            )


def test_the_majority_of_a_pair_counts_and_ties_are_named(tmp_path: Path) -> None:
    store = make_store(tmp_path / "store", texts(2, 2), people=2, tasks={"pairs": {}})
    vote(store, {"ann": ["sys0"], "bob": ["sys1"]})
    contents = read_contents(store)
    assert [(entry.share, entry.basis) for entry in pair_labels(contents)] == [(0.5, "tie")] * 2
    lines = (export(store, tmp_path, "ties")).read_text().splitlines()
    assert len(lines) == 3
    assert lines[1].split("\t")[6:8] == ["tie", "tie"]
    item, first, second = pair_labels(contents)[0][:3]
    about = pair_name((second, first))
    decide(store, "pairs", None, about, "second", NEW(), item)
    label = next(entry for entry in pair_labels(read_contents(store)) if entry.item == item)
    assert (label.share, label.basis, sorted(label.votes)) == (0.0, "adjudicated", [0.0, 1.0])
    wins = [row.split("\t") for row in export(store, tmp_path, "wins").read_text().splitlines()]
    winner = contents.outputs[second].system
    row = next(row for row in wins if row[0] == winner)
    assert row[2:] == ["2", "1", "0", "0", "1", "0.75"]


def test_a_decision_about_no_pair_is_refused(tmp_path: Path) -> None:
    store = make_store(tmp_path / "store", texts(2, 3), people=1, tasks={"pairs": {}})
    judge_all(store)
    decide(store, "pairs", None, "choice", "first", NEW(), 1)
    with pytest.raises(InputError, match="expected two outputs of the item"):
        pair_labels(read_contents(store))


def test_comparisons_read_back_as_the_win_shares_of_the_set(tmp_path: Path) -> None:
    store = make_store(tmp_path / "store", texts(5, 3), tasks={"pairs": {}})
    judge_all(store)
    contents = read_contents(store)
    adjudicated_pair = pair_labels(contents)[0]
    about = pair_name(adjudicated_pair[1:3])
    decide(store, "pairs", None, about, {"choice": "first"}, NEW(), adjudicated_pair.item)
    evalset = load_evalset(export(store, tmp_path, "set"))
    bare = tmp_path / "bare"
    kt.save_evalset(texts(5, 3), bare)
    added = load_evalset(bare, judgements=export(store, tmp_path, "pairs"))
    assert {*map(tuple, added.judgements)} == {*map(tuple, evalset.judgements)}
    assert added.judgements.judge_kinds == evalset.judgements.judge_kinds
    # all pairs of the item count beside the adjudicated one
    labels = {entry[:3]: entry.share for entry in pair_labels(read_contents(store))}
    shares = [share for pair, share in labels.items() if pair[1] == adjudicated_pair.first]
    shares += [1 - share for pair, share in labels.items() if pair[2] == adjudicated_pair.first]
    output = contents.outputs[adjudicated_pair.first]
    segment = contents.items[adjudicated_pair.item].segment
    at = [*evalset.systems].index(output.system), evalset.segments.index(segment)
    assert evalset.human("win")[at] == pytest.approx(sum(shares) / 2)


# ------------------------------------------------------------------------------------- spans


@pytest.mark.parametrize("adjudicated", [False, True])
def test_rows_of_mqm_read_back_as_the_penalties_of_the_set(
    tmp_path: Path, adjudicated: bool
) -> None:
    store = make_store(tmp_path / "store", tasks={"spans": {}})
    judge_all(store)
    if adjudicated:
        span = {"start": 0, "end": 2, "severity": "major", "category": "Fluency/Grammar"}
        value = {"spans": [span, {**span, "severity": "critical"}]}
        decide(store, "spans", output_of(store, "sys0", "1"), "spans", value, NEW())
    evalset = load_evalset(export(store, tmp_path, "set"))
    read = load_evalset(export(store, tmp_path, "mqm"), "mqm")
    for system in evalset.systems:
        for segment in evalset.segments:
            at = [*evalset.systems].index(system), evalset.segments.index(segment)
            cell = [*read.systems].index(system), read.segments.index(segment)
            assert evalset.human("mqm")[at] == pytest.approx(read.human("mqm")[cell])
    if adjudicated:
        at = [*evalset.systems].index("sys0"), evalset.segments.index("1")
        assert evalset.human("mqm")[at] == -30


def test_a_text_with_the_marks_of_mqm_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    source = kt.make_evalset("marks", {"a": ["x <v>y</v>"]}, sources=["s"])
    store = make_store(tmp_path / "store", source, people=1, tasks={"spans": {}})
    judge_all(store)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(OutputError, match="holds <v>"):
        export_studio(store.path, tmp_path / "all")
    assert sorted(tmp_path.iterdir()) == before


def test_a_campaign_of_esa_reads_back_as_scores_and_penalties(tmp_path: Path) -> None:
    store = make_store(tmp_path / "store", tasks={"spans": {"scheme": "esa"}})
    judge_all(store)
    value = {"spans": [{"start": 0, "end": 1, "severity": "major"}], "score": 40}
    decide(store, "spans", output_of(store, "sys2", "5"), "spans", value, NEW())
    folder = export(store, tmp_path, "set")
    evalset = load_evalset(folder)
    read = load_evalset(export(store, tmp_path, "appraise"), "appraise", texts=str(folder))
    for dimension in ("score", "penalty"):
        # of the document that was adjudicated in part, the reader leaves people's part out
        positions = [i for i, group in enumerate(evalset.groups or ()) if group != "doc1"]
        assert (evalset.human(dimension)[:, positions] == read.human(dimension)[:, positions]).all()
    at = [*evalset.systems].index("sys2"), evalset.segments.index("5")
    assert (evalset.human("score")[at], evalset.human("penalty")[at]) == (40, -5)


# ----------------------------------------------------------------------------------- nuggets


def test_labels_of_nuggets_read_back_and_ties_stand_apart(tmp_path: Path) -> None:
    source = nugget_texts()
    store = make_store(tmp_path / "store", source, people=2, tasks={"nuggets": {}})
    judge_all(store)
    read = load_nuggets(export(store, tmp_path, "nuggets"))
    assert read.key == source.key
    assert {tag: run.answers for tag, run in read.runs.items()} == {
        tag: run.answers for tag, run in source.runs.items()
    }
    n_labels = sum(len(row.value["nuggets"]) for row in current(store))
    assert len(read.judgements.rows) == n_labels
    assert {row.kind for row in read.judgements.rows} == {"person"}
    trec = export(store, tmp_path, "trec")
    again = load_nuggets(trec)
    known_labels = read.judgements.values
    ties = {words for words in known_labels if read.judgements.tie(*words)}
    assert ties
    assert again.judgements.values == {
        words: value for words, value in known_labels.items() if words not in ties
    }
    rows = [line.split("\t") for line in (trec / "ties.tsv").read_text().splitlines()[1:]]
    text = {
        (question, tag): [normal(response.text) for response in run.answers.get(question, ())]
        for tag, run in source.runs.items()
        for question in source.key.questions
    }
    assert {(row[1], row[5]) for row in rows} == {words[:2] for words in ties}
    assert all(row[6] == "tie" and text[row[1], row[2]] for row in rows)


def test_an_adjudicated_label_settles_a_tie(tmp_path: Path) -> None:
    source = nugget_texts()
    store = make_store(tmp_path / "store", source, people=2, tasks={"nuggets": {}})
    judge_all(store)
    tie = next(entry for entry in make_labels(read_contents(store)) if entry.basis == "tie")
    contents = read_contents(store)
    output = next(
        entry.id
        for entry in contents.outputs.values()
        if entry.system == tie.system
        and contents.items[entry.item].segment == tie.segment
        and any(
            entry.id in row.outputs and tie.about in row.value["nuggets"]
            for row in contents.answers
        )
        and labels_words(contents, entry.id, tie)
    )
    decide(store, "nuggets", output, tie.about, {"label": "none"}, NEW())
    read = load_nuggets(export(store, tmp_path, "nuggets"))
    words = (tie.segment, tie.about, normal(contents.outputs[output].text))
    assert read.judgements.values[words] == 0.0
    assert read.judgements.tie(*words) is None


def labels_words(contents, output: int, tie) -> bool:  # type: ignore[no-untyped-def]
    """Whether the people who judged this very output are those of a label."""
    labelled_words = [
        row.value["nuggets"][tie.about]["label"]
        for row in contents.answers
        if output in row.outputs
    ]
    values = {"support": 1.0, "partial": 0.5, "none": 0.0}
    return sorted(values[name] for name in labelled_words) == sorted(tie.votes)


# --------------------------------------------------------------------------------- all formats


def test_the_table_of_judgements_has_every_value_and_comment(rated: Store, tmp_path: Path) -> None:
    with export(rated, tmp_path, "csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12 * 3 * 3 * 2
    by_uuid = {row.uuid: row for row in current(rated)}
    for row in rows:
        answer = by_uuid[row["uuid"]]
        assert float(row["value"]) == answer.value["ratings"][row["about"]]
        assert (row["comment"], int(row["ms"])) == (answer.value["comment"], answer.ms)


def test_the_table_of_judgements_without_formulas(tmp_path: Path) -> None:
    store = make_store(tmp_path / "store")
    judge_all(store)
    with store.write() as connection:
        connection.execute("UPDATE item SET segment = '=' || segment")
    tables = {}
    for safe in (False, True):
        target = tmp_path / f"{safe}.csv"
        export_studio(store.path, target, "csv", spreadsheet_safe=safe)
        with target.open(newline="", encoding="utf-8") as file:
            tables[safe] = list(csv.DictReader(file))
    assert [row["segment"] for row in tables[True]] == [
        "'" + row["segment"] for row in tables[False]
    ]
    assert [row["value"] for row in tables[True]] == [row["value"] for row in tables[False]]
    with pytest.raises(InputError, match="--spreadsheet-safe is for the format csv"):
        export_studio(store.path, tmp_path / "mqm", "mqm", spreadsheet_safe=True)


def test_pseudonyms_stand_for_names_in_every_file(rated: Store, tmp_path: Path) -> None:
    decide(rated, "ratings", output_of(rated, "sys1", "4"), "quality", 3, NEW())
    export_studio(rated.path, tmp_path / "out", anonymous=True)
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(files) > 8
    for path in files:
        words = path.read_text(encoding="utf-8").replace("\t", " ").replace('"', " ")
        for name in ("ann", "bob", "cleo", "zoe"):
            assert name not in words.replace(",", " ").split(), path
    evalset = load_evalset(tmp_path / "out" / "set")
    assert {*evalset.judgements.judges} == {
        *("assessor-1", "assessor-2", "assessor-3", "adjudicated"),
    }


def test_nothing_is_overwritten(rated: Store, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        export_studio(rated.path, tmp_path / "there")
    assert (tmp_path / "there").read_text() == "mine"


@pytest.mark.parametrize("format", ["mqm", "appraise", "pairs", "wins", "nuggets", "trec"])
def test_a_format_of_another_task_is_refused(rated: Store, tmp_path: Path, format: str) -> None:
    with pytest.raises(InputError, match="expected one of log, csv, labels, ties, set"):
        export_studio(rated.path, tmp_path / "out", format)
    assert not (tmp_path / "out").exists()


def test_the_command_has_every_format() -> None:
    from karat.studio.cli import EXPORT_FORMATS as NAMES

    assert ("all", *FORMATS) == NAMES
