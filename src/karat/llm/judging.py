"""`judge_ratings`, `judge_pairs` and `judge_nuggets`: judgements of a language model as results."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from karat.evalset.loading import SetSource, as_evalset
from karat.llm.interview import Setup
from karat.llm.pairs import pair_task
from karat.llm.ratings import rating_task
from karat.llm.requests import Limits
from karat.llm.supports import ModelSupportTask
from karat.nuggets.formats.loading import as_nuggets
from karat.progress import Progress, silent

if TYPE_CHECKING:
    from karat.evalset.catalogue import GivenPath
    from karat.llm.endpoint import Endpoint
    from karat.llm.results import ModelPairs, ModelRatings, ModelSupports
    from karat.nuggets.sets.nugget_set import NuggetSet


Path = str | PathLike[str]


def judge_ratings(
    evalset: SetSource,
    dimension: str,
    *,
    endpoint: Endpoint,
    cache: Path | None = None,
    limits: Limits | None = None,
    scale: tuple[float, float] | None = None,
    guideline: str = "",
    batch: int = 1,
    prompt: Path | None = None,
    judge: str = "",
    replicates: int = 1,
    sample: int | None = None,
    seed: int = 12345,
    progress: Progress = silent,
) -> ModelRatings:
    """Let a language model rate the outputs of an evaluation set.

    Args:
        evalset: the set, its name or path, the path of a table, or a frame.
        dimension: quality to rate, one of the set or a new one with a `scale`.
        endpoint: server and model.
        cache: file that keeps answers; cached requests are not sent again.
        limits: concurrency, rate, attempts and budget.
        scale: lower and upper end, instead of the scale in the set.
        guideline: question to answer, instead of the one in the set.
        batch: outputs of a segment in one request, in random order.
        prompt: file with another prompt.
        judge: name of the judge in the log; by default the model.
        replicates: answers to each request; their mean counts.
        sample: number of segments to judge, drawn at random.
        seed: seed of the random order and the sample.
        progress: function that is called with the progress.
    """
    rated_set = as_evalset(evalset)
    task = rating_task(rated_set, dimension, scale, guideline, batch, prompt, sample, seed)
    return task.run(Setup(endpoint, cache, limits or Limits(), replicates), judge, progress)


def judge_pairs(
    evalset: SetSource,
    *,
    endpoint: Endpoint,
    baseline: str | None = None,
    dimension: str | None = None,
    guideline: str = "",
    cache: Path | None = None,
    limits: Limits | None = None,
    prompt: Path | None = None,
    judge: str = "",
    replicates: int = 1,
    sample: int | None = None,
    seed: int = 12345,
    progress: Progress = silent,
) -> ModelPairs:
    """Let a language model compare the outputs of systems, two at a time and in both orders.

    Args:
        evalset: the set, its name or path, the path of a table, or a frame.
        endpoint: server and model.
        baseline: system that the others are compared with; by default all pairs are compared.
        dimension: quality to compare; by default the overall quality.
        guideline: question to answer, instead of the one in the set.
        cache, limits, prompt, judge, replicates, sample, seed, progress: as in `judge_ratings`.
    """
    compared_set = as_evalset(evalset)
    task = pair_task(compared_set, baseline, dimension, guideline, prompt, sample, seed)
    return task.run(Setup(endpoint, cache, limits or Limits(), replicates), judge, progress)


def judge_nuggets(
    nuggets: NuggetSet | GivenPath,
    *,
    endpoint: Endpoint,
    batch: int = 10,
    cache: Path | None = None,
    limits: Limits | None = None,
    prompt: Path | None = None,
    judge: str = "",
    replicates: int = 1,
    sample: int | None = None,
    seed: int = 12345,
    progress: Progress = silent,
) -> ModelSupports:
    """Let a language model decide which responses contain which nuggets.

    Args:
        nuggets: the set with its runs, or its name or path.
        endpoint: server and model.
        batch: nuggets in one request.
        replicates: answers to each request; their median counts.
        sample: number of questions to judge, drawn at random.
        cache, limits, prompt, judge, seed, progress: as in `judge_ratings`.
    """
    task = ModelSupportTask(as_nuggets(nuggets, progress), prompt, batch, sample, seed)
    return task.run(Setup(endpoint, cache, limits or Limits(), replicates), judge, progress)
