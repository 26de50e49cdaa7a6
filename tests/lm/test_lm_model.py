"""Models: stored and mapped, the same for any number of threads, and safe to open."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

import karat as kt
from karat.errors import InputError, Interrupted
from karat.lm import training
from karat.lm.tables import SPECIAL
from karat.text.tokens import Recipe

TEXT = ["the cat sat on the mat", "the dog sat", "a cat ran", "The dog ran to the cat"] * 3


@pytest.fixture
def model() -> kt.LanguageModel:
    return kt.LanguageModel.train(TEXT, 3, case="lower")


@pytest.fixture
def stored(model: kt.LanguageModel, tmp_path: Path) -> Path:
    model.save(tmp_path / "model.lm")
    return tmp_path / "model.lm"


def test_a_stored_model_is_the_same(model: kt.LanguageModel, stored: Path) -> None:
    again = kt.LanguageModel.open(stored)
    assert (again.recipe, again.signature) == (model.recipe, model.signature)
    assert (len(again), again.notes) == (len(model), model.notes)
    np.testing.assert_array_equal(again.score(TEXT), model.score(TEXT))
    assert not again.arrays["table_3"].flags.writeable
    again.save(stored.with_name("again.lm"))
    assert stored.with_name("again.lm").read_bytes() == stored.read_bytes()


def test_the_recipe_cannot_be_changed(stored: Path) -> None:
    assert kt.LanguageModel.open(stored, Recipe("13a", "lower")).recipe.case == "lower"
    with pytest.raises(InputError, match="trained with tok=13a, case=lower and stem=none"):
        kt.LanguageModel.open(stored, Recipe("13a", "mixed"))


def test_the_signature_says_what_matters(model: kt.LanguageModel) -> None:
    assert model.signature == (
        "lm:order=3,smoothing=kneser-ney,tok=13a,case=lower,stem=none,vocabulary=all,min_count=1,"
        f"min_counts=1/1/1|model={model.digest}|log=10|karat={kt.__version__}"
    )


@pytest.mark.parametrize("size", range(0, 4000, 397))
def test_any_cut_is_refused(stored: Path, size: int) -> None:
    data = stored.read_bytes()
    assert size < len(data)
    stored.write_bytes(data[:size])
    with pytest.raises(InputError, match=r"model\.lm"):
        kt.LanguageModel.open(stored)


@pytest.mark.parametrize("name", ["p", "backoff", "table_2", "table_3", "words_bytes"])
def test_arrays_of_another_model_are_refused(model: kt.LanguageModel, name: str) -> None:
    arrays = {**model.arrays, name: model.arrays[name][:1].copy()}
    with pytest.raises(InputError, match="damaged"):
        kt.LanguageModel(model.about, arrays)
    del arrays[name]
    with pytest.raises(InputError, match="damaged"):
        kt.LanguageModel(model.about, arrays)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["p", "backoff", "table_2", "table_3"])
def test_what_is_no_number_is_found(model: kt.LanguageModel, name: str, odd: float) -> None:
    assert model.check_finite() is model
    flat = model.arrays[name].copy()
    numbers, used = flat.view(np.float32), np.arange(len(flat))
    if name.startswith("table"):  # cells of a key (all bits set: empty), p and back-off
        cells = np.flatnonzero(flat[::2] != 2**64 - 1)
        used = np.sort(np.concatenate([4 * cells + 2, 4 * cells + 3]))
    for place in (used[0], used[len(used) // 2], used[-1]):
        original_value = numbers[place]
        numbers[place] = odd
        message = (
            "its language model has probabilities" if "table" in name else f"{name} has a value"
        )
        with pytest.raises(InputError, match=rf"x: damaged \({message}"):
            kt.LanguageModel(model.about, {**model.arrays, name: flat}, "x").check_finite("x")
        numbers[place] = original_value
    kt.LanguageModel(model.about, {**model.arrays, name: flat}).check_finite()


def test_full_and_foreign_tables_are_not_read_beyond_their_bounds(model: kt.LanguageModel) -> None:
    arrays = dict(model.arrays)
    rng = np.random.default_rng(3)
    for n in (2, 3):
        size = len(arrays[f"table_{n}"])
        arrays[f"table_{n}"] = rng.integers(0, 2**63, size).astype(np.uint64)
    broken = kt.LanguageModel(model.about, arrays)
    assert len(broken.score(TEXT)) == len(TEXT)
    with pytest.raises(InputError, match="damaged"):
        broken.write_arpa("/dev/null")


def test_no_file_of_this_kind(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        kt.LanguageModel.open(tmp_path / "none")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("x", "y")
    with pytest.raises(InputError, match="expected a language model of Karat"):
        kt.LanguageModel.open(tmp_path / "other.zip")
    with pytest.raises(InputError, match="directory"):
        kt.LanguageModel.open(tmp_path)


def test_words_that_look_like_marks_are_unknown() -> None:
    model = kt.LanguageModel.train(["a <s> b </s>", "a b"], 2, tok="none")
    assert len(model) == len(SPECIAL) + 2
    assert [row.oov for row in model.words("a <s> </s> <unk> b")] == [False, True, True, True] + [
        False
    ] * 2


def test_threads_and_runs_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    text = [f"{line} w{i % 700}" for i, line in enumerate(TEXT * 200)]
    single_threaded = kt.LanguageModel.train(text, 3, threads=1, vocabulary=500)
    expected = single_threaded.score(text, threads=1)
    monkeypatch.setattr(training, "SEGMENTS_PER_BATCH", 256)
    several = kt.LanguageModel.train(text, 3, threads=3, vocabulary=500)
    for name, array in single_threaded.arrays.items():
        np.testing.assert_array_equal(array, several.arrays[name])
    np.testing.assert_array_equal(several.score(text, threads=3), expected)
    total = several.perplexity(text, threads=2)
    assert total.log10_p == pytest.approx(expected.sum(), rel=1e-6)
    assert (total.sentences, total.words) == (len(text), sum(len(line.split()) for line in text))


def test_several_files_are_one_text(tmp_path: Path) -> None:
    for i in (0, 1):
        (tmp_path / f"{i}.txt").write_text("\n".join(TEXT[i::2]))
    both = kt.LanguageModel.train([tmp_path / "0.txt", tmp_path / "1.txt"], 3)
    joined = kt.LanguageModel.train([*TEXT[0::2], *TEXT[1::2]], 3)
    np.testing.assert_array_equal(both.score(TEXT), joined.score(TEXT))


def test_the_vocabulary_is_the_most_frequent_words() -> None:
    model = kt.LanguageModel.train(["c b a a", "b c d"], 2, vocabulary=2)
    assert model.table.words(np.arange(len(model), dtype=np.int32)) == [*SPECIAL, "c", "b"]
    assert len(kt.LanguageModel.train(["c b a a", "b c d"], 2, min_count=3)) == len(SPECIAL)


def test_stems_are_what_is_counted() -> None:
    model = kt.LanguageModel.train(["he walks", "she walked"], 2, stem="english", case="lower")
    assert [row.word for row in model.words("walking")] == ["walk", "</s>"]
    assert not model.words("walking")[0].oov


def test_perplexity_by_hand(model: kt.LanguageModel) -> None:
    rows = model.words("the unheard cat")
    perplexity = model.perplexity(["the unheard cat"])
    assert (perplexity.sentences, perplexity.words, perplexity.oov) == (1, 3, 1)
    logs = [row.log10_p for row in rows]
    assert perplexity.perplexity == pytest.approx(10 ** (-sum(logs) / 4), rel=1e-5)
    known_log10_p = sum(row.log10_p for row in rows if not row.oov)
    assert perplexity.perplexity_known == pytest.approx(10 ** (-known_log10_p / 3), rel=1e-5)


def test_nothing_to_score(model: kt.LanguageModel) -> None:
    assert model.score([]).tolist() == []
    assert model.perplexity([]).perplexity == 1


def test_work_can_be_stopped() -> None:
    def stop(done: int, total: int, step_name: str) -> None:
        raise Interrupted(step_name)

    for work in (kt.LanguageModel.train, kt.LanguageModel.train(TEXT, 2).score):
        for threads in (1, 2):
            with pytest.raises(Interrupted):
                work(TEXT, threads=threads, progress=stop)


def test_progress_ends_with_all() -> None:
    reports: list[tuple[int, int, str]] = []
    kt.LanguageModel.train(TEXT, 2, vocabulary=3, progress=lambda *told: reports.append(told))
    last = {step_name: (done, total) for done, total, step_name in reports}
    assert list(last) == ["words", "counting", "merging", "estimating 2-grams", "writing"]
    assert last["words"] == last["counting"] == (len(TEXT), len(TEXT))
    assert all(done == total for done, total in last.values())


def test_states_are_no_longer_than_the_model_needs() -> None:
    """What follows `x` never depends on the word before it: the n-gram found has two words."""
    model = kt.LanguageModel.train(["a x b", "c x b", "a b"], 4)
    assert model.words("q x b")[2].length == 2


@pytest.mark.parametrize(
    ("ids", "offsets"), [([1, 2], [0, 1]), ([1, 2], [0, 2, 1, 2]), ([], []), ([1], [1, 1])]
)
def test_ragged_arrays_are_checked(
    model: kt.LanguageModel, ids: list[int], offsets: list[int]
) -> None:
    ragged = np.array(ids, np.int32), np.array(offsets, np.int64)
    for work in (model.kernel.score, model.kernel.words):
        with pytest.raises(ValueError, match="offsets"):
            work(*ragged)


def test_ids_outside_are_unknown(model: kt.LanguageModel) -> None:
    offsets = np.array([0, 1])
    scores = [model.kernel.score(np.array([i], np.int32), offsets)[0] for i in (0, -5, 10**6)]
    assert len(set(scores)) == 1
