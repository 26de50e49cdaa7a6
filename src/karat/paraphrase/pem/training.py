"""Training of PEM models on parallel texts and judged paraphrases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from karat.paraphrase.align.aligner import Aligner
from karat.paraphrase.generate.generator import surface
from karat.paraphrase.pem.features import check_feature_form
from karat.paraphrase.pem.judged_pairs import JudgedPairs
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.table.phrase_table import ENGLISH
from karat.paraphrase.train.staged import (
    Pivot,
    PivotStages,
    staged_generator,
    staged_language,
    staged_regression,
)
from karat.progress import Progress, silent
from karat.storage.memory import as_memory
from karat.storage.output import FilePath
from karat.storage.stages import Stages, work_folder
from karat.text.recipe import Recipe


class Trained(NamedTuple):
    """Settings by which the language model and the links of a form are made."""

    smoothing: str = "kneser-ney"
    running: bool = False
    """True to count a line as often as it stands in a text, False to count it once."""
    agreement: str = "root"


TRAINED = {"paper": Trained("katz", True, "product")}
"""Form -> how it is trained, where it differs: the paper's tools and their defaults.

SRILM's are Good-Turing with Katz's back-off, over running text. The Berkeley aligner multiplies the
expectations of both directions.
"""


def train_pem(
    pivots: Mapping[str, Pivot],
    judged: JudgedPairs | None = None,
    *,
    form: str = "unigram",
    smoothing: str | None = None,
    agreement: str | None = None,
    recipe: Recipe = ENGLISH,
    generate: bool = True,
    memory: int | None = None,
    work: FilePath | None = None,
    notes: list[str] | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> PEM:
    """Align, extract and count for each pivot language; then the language model and regression.

    The language model is trained on the first sides of all parallel texts, each different line
    once; for the form `paper` on running text. `smoothing` of the language model is `kneser-ney`
    or `katz`, `agreement` of the aligner `root` or `product`; by default those of the form (see
    `TRAINED`). Without judgements the model has parts, but no score; with `generate` it can also
    write paraphrases: the same links then give phrase pairs of words as they are written.

    Beyond `memory` bytes (default: a quarter of this machine's) the work is done in temporary
    files; the model is the same. `work` is a folder that keeps the result of each stage: training
    that was stopped goes on after the last one that is finished, and a stage whose texts and
    settings are as they were is not done again. `notes` gets a line for each of those.
    """
    check_feature_form(form)
    how = TRAINED.get(form, Trained())
    how = how._replace(smoothing=smoothing or how.smoothing, agreement=agreement or how.agreement)
    limit: dict[str, Any] = {"memory": as_memory(memory), "threads": threads, "progress": progress}
    with work_folder(work) as folder:
        stages = Stages(folder)
        model = _train(stages, pivots, judged, form, how, recipe, generate, limit)
    if notes is not None:
        notes += [f"{name}: done already" for name in stages.done_already]
    return model


def _train(
    stages: Stages,
    pivots: Mapping[str, Pivot],
    judged: JudgedPairs | None,
    form: str,
    how: Trained,
    recipe: Recipe,
    generate: bool,
    limit: dict[str, Any],
) -> PEM:
    aligner, tables, all_pivots = Aligner(agreement=how.agreement), {}, []
    for name, one in pivots.items():
        pivot = PivotStages(stages, name, one, recipe, aligner, limit)
        tables[name] = pivot.table()
        if generate:
            pivot.phrases()  # while its words are at hand
        pivot.forget_words()
        all_pivots.append(pivot)
    texts = [one.source for pivot in pivots.values() for one in pivot.corpora]
    digests = [source for pivot in all_pivots for source, _ in pivot.inputs["texts"]]
    lm = "language model"
    language = staged_language(
        stages, lm, texts, digests, recipe, how.smoothing, running=how.running, **limit
    )
    generator = None
    if generate:
        generator = staged_generator(stages, all_pivots, texts, digests, surface(recipe), **limit)
    about = {"running": True} if how.running else {}
    model = PEM.of(tables, language, form, about, generator)
    if judged is None:
        return model
    inputs = {
        "tables": {pivot.name: pivot.table_inputs for pivot in all_pivots},
        "language": [digests, str(recipe), how.smoothing, how.running],
    }
    rest = {"threads": limit["threads"], "progress": limit["progress"]}
    return staged_regression(stages, model, judged, inputs, **rest)
