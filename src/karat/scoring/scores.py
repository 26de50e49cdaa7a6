"""`score`: any number of systems by any number of metrics in one pass over the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.evalset.sets import EvalSet
from karat.metrics.base import Metric, check_form
from karat.progress import Progress, silent
from karat.scoring.inputs import Systems, as_inputs
from karat.scoring.intervals import Drawn, scored
from karat.scoring.one_pass import Wanted, collect
from karat.scoring.score_rows import Scoring
from karat.settings import renamed
from karat.stats.resampling import SEED
from karat.text.references import GivenReferences, References
from karat.text.segments import Segments
from karat.trials import check_trials

if TYPE_CHECKING:
    from karat.ranked_segments import TextLookup


@renamed(bootstrap="resamples")
def score(
    systems: Systems | EvalSet | str,
    references: GivenReferences | None = None,
    metrics: Sequence[str | Metric] | str | Metric = ("bleu",),
    *,
    resamples: int = 0,
    seed: int = SEED,
    buckets: int | None = None,
    segments: bool = False,
    threads: int | None = None,
    progress: Progress = silent,
    signature: str = "karat",
) -> Scoring:
    """Score systems; with `resamples` above 0 also a 95% bootstrap interval for each.

    An evaluation set, or its name, brings its own references: `score("demo", metrics=["bleu"])`.
    `buckets` groups segments for resampling (default: 4,096 above two million segments of all
    systems, else none). `signature="sacrebleu"` signs BLEU, chrF and TER in sacreBLEU's form.
    """
    given = as_inputs(systems, references, metrics, threads, progress)
    check_trials("resamples", resamples, 0)
    check_form(signature)
    drawn = Drawn.of(resamples, seed, given.outputs, buckets)
    want = Wanted(rows=resamples > 0, values=segments, buckets=drawn.buckets)
    found = collect(given, want, threads, progress, drawn.fields)
    made = scored(found, given.references.number, drawn, signature, progress)
    if not segments:
        return made
    ids = next(iter(given.systems.values())).ids
    return replace(made, texts=_texts(given.systems, given.references), ids=ids)


def _texts(systems: Mapping[str, Segments], references: References) -> TextLookup:
    from karat.ranked_segments import texts_of

    return texts_of(systems, references)
