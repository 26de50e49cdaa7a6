"""Sources of idf: the responses or a corpus; for classifiers and for Pourpre."""

from __future__ import annotations

import math
import os
from pathlib import Path
from threading import Thread

import pytest

import karat as kt
from karat.nuggets.prediction.pool import Pool, make_pool
from karat.nuggets.scores.words import IdfSource, WordRecipe, smoothed_idf
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run

RUN = make_run("r", [("q", Response("Reactors, a reactor!")), ("q", Response("The reactor."))])
WORDS = ["reactor", "the", "unheard"]


def pool() -> Pool:
    return make_pool(make_key([Question("q", (Nugget("1", ("the reacting reactors",)),))]), [RUN])


def test_pooled_is_that_of_the_responses() -> None:
    small_pool, rule = pool(), WordRecipe()
    idf = IdfSource().of_classifier(small_pool, rule)
    assert list(idf(WORDS)) == list(smoothed_idf(small_pool.texts, rule)(WORDS))


@pytest.mark.parametrize("stem", ["none", "english"])
def test_a_corpus_is_counted_as_the_classifier_cuts_it(tmp_path: Path, stem: str) -> None:
    lines = ["the Reactor (new)", "the reactors", "the", ""]
    (tmp_path / "c.txt").write_text("\n".join(lines) + "\n")
    rule = WordRecipe(stem)
    idf = IdfSource(str(tmp_path / "c.txt")).of_classifier(pool(), rule)
    assert list(idf(WORDS)) == list(smoothed_idf(lines, rule)(WORDS))
    reactors = 2 if stem == "english" else 1
    assert idf(["reactor"])[0] == pytest.approx(math.log(5 / (reactors + 0.5)))


def test_settings_that_do_not_matter_are_not_counted_anew() -> None:
    source, small_pool = IdfSource(), pool()
    first = source.of_classifier(small_pool, WordRecipe(stop="en"))
    assert source.of_classifier(small_pool, WordRecipe()) is first
    assert source.of_classifier(small_pool, WordRecipe("english")) is not first


def test_a_pipe_is_read_once_for_all(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("the reactors\nthe\n")
    os.mkfifo(tmp_path / "pipe")
    writer = Thread(target=(tmp_path / "pipe").write_text, args=("the reactors\nthe\n",))
    writer.start()
    weights = []
    for name in ("c.txt", "pipe"):
        source = IdfSource(str(tmp_path / name))
        source.check()
        of_stems = source.of_classifier(pool(), WordRecipe("english"))(["reactor"])
        of_words = source.of_words([RUN], "porter")(["reactor"])
        weights.append((list(of_stems), list(of_words), source.signature.rpartition("@")[2]))
    writer.join()
    assert weights[0] == weights[1]


def test_pourpre_asks_for_words_as_they_stand(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("the reactors\nthe\n")
    corpus = IdfSource(str(tmp_path / "c.txt")).of_words([RUN], "porter")
    assert corpus(["reactor", "the"]).tolist() == pytest.approx([math.log(2), 0])
    pooled = IdfSource().of_words([RUN], "porter")
    assert pooled(["reactors", "the"]).tolist() == pytest.approx([0, math.log(2)])


def test_what_is_no_source(tmp_path: Path) -> None:
    with pytest.raises(kt.InputError, match="No such file"):
        IdfSource(str(tmp_path / "nothing")).check()
    (tmp_path / "empty").write_text("")
    with pytest.raises(kt.InputError, match="is empty: expected one segment a line"):
        IdfSource(str(tmp_path / "empty")).check()
    IdfSource().check()
