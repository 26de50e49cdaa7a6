"""A store made from its log, and judgements that a set has already."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from judged_store import START, decide, judge_all, make_store, nugget_texts, texts, uuids
from numpy.testing import assert_array_equal
from studio.store_rows import events

import karat as kt
from karat.errors import InputError
from karat.evalset.draws import Draw
from karat.evalset.loading import load_evalset
from karat.nuggets.formats.loading import load_nuggets
from karat.studio.assignment import make_sample, next_assignment
from karat.studio.contents import read_contents
from karat.studio.export.earlier import take_over_judgements
from karat.studio.export.formats import export_studio
from karat.studio.export.log import import_studio
from karat.studio.store.judgements import SentJudgement, judge, undo
from karat.studio.store.people import assessors
from karat.studio.store.projects import import_set, project
from karat.studio.store.settings import ProjectSettings
from karat.studio.store.store import Store

NEW = uuids(7)
ONE = {"ratings": {"scales": ["quality-7"]}}
TASKS = {
    "ratings": {"ratings": {"scales": ["quality-7", "fluency-5"]}},
    "pairs": {"pairs": {}},
    "mqm": {"spans": {}},
    "esa": {"spans": {"scheme": "esa"}},
    "nuggets": {"nuggets": {}},
}


def files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }


def judged(path: Path, name: str) -> Store:
    """A store with drafts, revisions and undone answers among the others."""
    source = nugget_texts() if name == "nuggets" else texts(4, 3)
    store = make_store(path, source, people=2, tasks=TASKS[name])
    judge_all(store, most=6)
    with store.read() as connection:
        rows = connection.execute("SELECT assignment, assessor, uuid, value FROM judgement")
        first, second, third = rows.fetchall()[:3]
    undo(store, first[1], NEW(), first[0])
    value = {**json.loads(second[3]), "comment": "again"}
    judge(store, second[1], SentJudgement(NEW(), second[0], value, 9, second[2]), START)
    draft = {**json.loads(third[3]), "done": False}
    judge(store, third[1], SentJudgement(NEW(), third[0], draft, 9, third[2]), START)
    return store


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("anonymous", [False, True])
def test_export_and_import_and_export_give_the_same_files(
    tmp_path: Path, name: str, anonymous: bool
) -> None:
    with judged(tmp_path / "store", name) as store:
        export_studio(store.path, tmp_path / "first", anonymous=anonymous)
    import_studio(tmp_path / "first", tmp_path / "again")
    with Store.open(tmp_path / "again") as again:
        assert again.check().ok
        assert events(again)[-1].what == "restore"
        export_studio(again.path, tmp_path / "second", anonymous=anonymous)
        assert next_assignment(again, assessors(again)[0].id, START)
    first, second = files(tmp_path / "first"), files(tmp_path / "second")
    log, second_log = first.pop("log.jsonl"), second.pop("log.jsonl")
    assert first == second
    *rows, restored = second_log.splitlines()[1:]
    assert rows == log.splitlines()[1:]
    assert '"restore"' in restored


def test_the_log_has_every_row_and_no_hash_of_a_token(tmp_path: Path) -> None:
    store = judged(tmp_path / "store", "ratings")
    export_studio(store.path, tmp_path / "log", "log")
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    rows = [line["judgement"] for line in lines if "judgement" in line]
    assert len(rows) == 2 * 6 + 3
    assert sum(row["value"] is None for row in rows) == 1
    assert sum(row["supersedes"] is not None for row in rows) == 3
    assert "token_hash" not in (tmp_path / "log").read_text()


def change(old: str, new: str) -> Callable[[str], str]:
    def changed(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return changed


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (change('{"studio": 2', '{"studio": 99'), "the first line of a log"),
        (lambda text: text.partition("\n")[2], "the first line of a log"),
        (lambda text: "", "is empty"),
        (lambda text: text.partition("\n")[0] + "\n", "is not whole: found 0 rows"),
        (lambda text: '{"studio": 2}\n', "has no project"),
        (lambda text: text[: text.rindex('{"event"')], "is not whole"),
        (change("of 0", "of nothing"), "was changed"),
        (change('"fluency": ', '"fluency": 9'), "found fluency="),
        (change('{"dimension": {', '{"dimensions": {'), "expected the name of a table"),
        (change('"grp": ', '"group": '), "in a row of item"),
        (change('"supersedes": null', '"supersedes": 9999'), "not a row of judgement"),
        (change('"taken": 1', '"taken": 2'), "places taken is wrong"),
        (
            change('"name": "ann"', '"name": 5'),
            "log, line 23: name of assessor: found 5, expected a text$",
        ),
        (
            change('"ord": 1', '"ord": true'),
            "log, line 3: ord of item: found True, expected a whole number$",
        ),
        (
            change('"predicted": null', '"predicted": "high"'),
            "log, line 6: predicted of output: found 'high', expected a number or null$",
        ),
        (
            change('"refs": ["reference 0"]', '"refs": "reference 0"'),
            "log, line 3: refs of item: found 'reference 0', expected a list of texts$",
        ),
        (
            change('"outputs": [3]', '"outputs": ["3"]'),
            "line 17: outputs of unit: found .*, expected a list of one or more whole numbers$",
        ),
        (
            change('"assessor": 1, "task": "ratings"', '"assessor": 1, "task": "rating"'),
            "line 25: task of assignment: found 'rating', expected one of ratings, pairs, ",
        ),
        (
            change('"lease": "2026-01-31T', '"lease": "31.1.2026 '),
            "line 25: lease of assignment: found .*, expected a time such as .* or null$",
        ),
    ],
)
def test_a_log_that_was_changed_is_refused_and_no_store_is_left(
    tmp_path: Path, edit: Callable[[str], str], message: str
) -> None:
    with make_store(tmp_path / "store", texts(3, 2), people=1) as store:
        judge_all(store)
        export_studio(store.path, tmp_path / "log", "log")
    log = tmp_path / "log"
    log.write_text(edit(log.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        import_studio(log, tmp_path / "again")
    assert not [
        path
        for path in tmp_path.iterdir()
        if path.name.startswith("again") and not path.name.endswith(".lock")
    ]


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no log of a store"):
        import_studio(tmp_path, tmp_path / "again")


# ------------------------------------------------------------------------ earlier judgements


def test_judging_goes_on_where_an_exported_set_stopped(tmp_path: Path) -> None:
    with make_store(tmp_path / "store", people=2) as store:
        judge_all(store, most=20)
        with store.read() as connection:
            (output,) = connection.execute("SELECT min(id) FROM output").fetchone()
        decide(store, "ratings", output, "quality", 4, NEW())
        export_studio(store.path, tmp_path / "set", "set")
    source = load_evalset(tmp_path / "set")
    with Store.create(tmp_path / "next") as store:
        import_set(store, source, ProjectSettings(tasks=TASKS["ratings"], overlap=2))
        tokens = take_over_judgements(store, source)
        assert {*tokens} == {"ann", "bob", "adjudicated"}
        assert store.check().ok
        export_studio(store.path, tmp_path / "same", "set")
        again = load_evalset(tmp_path / "same")
        for dimension in ("quality", "fluency"):
            assert_array_equal(again.human(dimension), source.human(dimension))
        ann = next(person for person in assessors(store) if person.name == "ann")
        assert ann.judged == 20
        before = {row[:3] for row in source.judgements if row.judge == "ann"}
        view = next_assignment(store, ann.id, START)
        assert view
        with store.read() as connection:
            place = connection.execute(
                "SELECT system, segment FROM output JOIN item ON item.id = item "
                "WHERE output.id = ?",
                (view.outputs[0].id,),
            ).fetchone()
        assert (*place, "ann") not in before


def test_items_that_were_not_drawn_at_random_stay_so(tmp_path: Path) -> None:
    source = kt.make_evalset(
        "picked",
        {"a": ["x", "y", "z", "w"]},
        judgements=[("a", str(k), "eve", "quality", 3.0) for k in (1, 2, 3)],
        dimensions=["quality"],
        draws=[Draw("1", None, "looked odd"), Draw("2", 0.25, "random")],
    )
    expected = {
        "1": (None, "not random: looked odd"),
        "2": (0.25, "random"),
        "3": (None, "not random"),
    }
    for name in ("first", "second"):  # and what was exported is taken as it is
        with make_store(tmp_path / name, source, people=0, tasks=ONE) as store:
            take_over_judgements(store, source)
            assert store.check().ok
            with store.read() as connection:
                sample = make_sample(connection, project(store).settings)
            assert sample.is_labelled.tolist() == [[False, True, False, False]]
            assert sample.present.tolist() == [[False, True, False, True]]
            export_studio(store.path, tmp_path / f"{name}-set", "set")
        source = load_evalset(tmp_path / f"{name}-set")
        assert source.draws
        assert {draw.unit: (draw.probability, draw.reason) for draw in source.draws} == expected


def test_labels_without_draws_are_assumed_to_be_random(tmp_path: Path) -> None:
    rows = [("a", "1", "eve", "quality", 3.0)]
    source = kt.make_evalset("one", {"a": ["x", "y"]}, judgements=rows, dimensions=["quality"])
    with make_store(tmp_path / "store", source, people=0, tasks=ONE) as store:
        take_over_judgements(store, source)
        (draw,) = read_contents(store).draws
    assert (draw.probability, draw.reason) == (0.5, "assumed random")


def test_earlier_labels_of_nuggets_are_taken(tmp_path: Path) -> None:
    with make_store(tmp_path / "store", nugget_texts(), people=2, tasks=TASKS["nuggets"]) as store:
        judge_all(store)
        export_studio(store.path, tmp_path / "judged.jsonl", "nuggets")
    source = load_nuggets(tmp_path / "judged.jsonl")
    with make_store(tmp_path / "next", source, people=0, tasks=TASKS["nuggets"]) as store:
        take_over_judgements(store, source)
        assert store.check().ok
        export_studio(store.path, tmp_path / "again.jsonl", "nuggets")
    assert load_nuggets(tmp_path / "again.jsonl").judgements.values == source.judgements.values


def test_a_set_without_fitting_judgements_and_a_value_off_the_scale_are_refused(
    tmp_path: Path,
) -> None:
    bare = kt.make_evalset("bare", {"a": ["x"]})
    with (
        make_store(tmp_path / "one", bare, people=0) as store,
        pytest.raises(InputError, match="has no judgements by people"),
    ):
        take_over_judgements(store, bare)
    rows = [("a", "1", "eve", "quality", 9.0)]
    wrong = kt.make_evalset("wrong", {"a": ["x"]}, judgements=rows, dimensions=["quality"])
    with (
        make_store(tmp_path / "two", wrong, people=0) as store,
        pytest.raises(InputError, match="judge eve: found quality=9"),
    ):
        take_over_judgements(store, wrong)
