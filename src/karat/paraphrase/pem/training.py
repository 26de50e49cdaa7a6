"""Training of PEM models on parallel texts and judged paraphrases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from karat.errors import InputError
from karat.paraphrase.align.aligner import Aligner
from karat.paraphrase.generate.generator import surface_recipe
from karat.paraphrase.pem.features import (
    MetricFeature,
    MetricNames,
    as_features,
    check_feature_form,
)
from karat.paraphrase.pem.judged_pairs import JudgedPairs
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.pem.stages import (
    Pivot,
    PivotStages,
    sample_lines,
    staged_generator,
    staged_language,
    staged_regression,
)
from karat.paraphrase.table.phrase_table import ENGLISH
from karat.progress import Progress, silent
from karat.storage.arrays import as_memory
from karat.storage.output import FilePath
from karat.storage.stages import Stages, work_folder
from karat.text.tokens import Recipe, check_choice


class TrainingForm(NamedTuple):
    """Settings by which the language model and the links of a form are made."""

    smoothing: str = "kneser-ney"
    running: bool = False
    """True to count a line as often as it stands in a text, False to count it once."""
    aligner: str = "fertility"
    agreement: str | None = None
    """None is that of the aligner."""


COMBINATIONS = ("regression", "mean")
"""Combinations of features: learned from judgements, or a mean on the scale of controls."""

FORM_TRAINING = {"paper": TrainingForm("katz", True, "hmm", "product")}
"""Form -> how it is trained, where it differs: the paper's tools and their defaults.

SRILM's are Good-Turing with Katz's back-off, over running text. The Berkeley aligner is a joint HMM
that multiplies the expectations of both directions.
"""


def train_pem(
    pivots: Mapping[str, Pivot],
    judged: JudgedPairs | None = None,
    *,
    form: str = "unigram",
    features: MetricNames = (),
    combine: str = "regression",
    smoothing: str | None = None,
    aligner: str | None = None,
    agreement: str | None = None,
    recipe: Recipe = ENGLISH,
    generate: bool = True,
    memory: int | None = None,
    work: FilePath | None = None,
    notes: list[str] | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> PEM:
    """Align, extract and count for each pivot language; then the language model and the score.

    The language model is trained on the first sides of all parallel texts, each different line
    once; for the form `paper` on running text. `smoothing` of the language model is `kneser-ney`
    or `katz`, `aligner` is `fertility` or `hmm`, and its `agreement` `min`, `root` or `product`; by
    default those of the form (see `FORM_TRAINING`). `features` are metrics whose scores of each
    paraphrase against its original are features, too. `combine` is `regression`, learned from
    judgements, or `mean`, which needs none (see `ControlMean`). Without either the model has
    parts, but no score. With `generate` it can also write paraphrases: the same links then give
    phrase pairs of words as they are written.

    Beyond `memory` bytes (default: a quarter of this machine's) the work is done in temporary
    files; the model is the same. `work` is a folder that keeps the result of each stage: training
    that was stopped goes on after the last one that is finished, and a stage whose texts and
    settings are as they were is not done again. `notes` gets a line for each of those.
    """
    check_feature_form(form)
    metrics = as_features(features)
    _check_combine(combine, judged, metrics)
    training_form = FORM_TRAINING.get(form, TrainingForm())
    choices: dict[str, Any] = {"smoothing": smoothing, "aligner": aligner, "agreement": agreement}
    training_form = training_form._replace(
        **{name: value for name, value in choices.items() if value is not None}
    )
    limit: dict[str, Any] = {"memory": as_memory(memory), "threads": threads, "progress": progress}
    with work_folder(work) as folder:
        stages = Stages(folder)
        model = _train(
            stages, pivots, judged, form, metrics, training_form, recipe, generate, limit
        )
        if combine == "mean":
            threading = {"threads": threads, "progress": progress}
            texts = [corpus.source for pivot in pivots.values() for corpus in pivot.corpora]
            model = model.train_on_controls(sample_lines(texts), **threading)
    if notes is not None:
        notes += [f"{name}: done already" for name in stages.done_already]
    return model


def _check_combine(
    combine: str, judged: JudgedPairs | None, metrics: tuple[MetricFeature, ...]
) -> None:
    check_choice("combine", combine, COMBINATIONS)
    if combine != "mean":
        return
    if unread := [feature.name for feature in metrics if not feature.metric.reads_texts]:
        raise InputError(
            f"feature {unread[0]} has no scores of controls, on whose scale combine=mean is: give "
            "metrics that score any text"
        )
    if judged is not None:
        raise InputError(
            "combine=mean takes no judgements: leave out --judged, or leave out --combine mean to "
            "learn a regression from them"
        )


def _train(
    stages: Stages,
    pivots: Mapping[str, Pivot],
    judged: JudgedPairs | None,
    form: str,
    metrics: tuple[MetricFeature, ...],
    training_form: TrainingForm,
    recipe: Recipe,
    generate: bool,
    limit: dict[str, Any],
) -> PEM:
    links: dict[str, Any] = {"model": training_form.aligner, "agreement": training_form.agreement}
    aligner, tables, all_pivots = Aligner(**links), {}, []
    for name, pivot_texts in pivots.items():
        pivot = PivotStages(stages, name, pivot_texts, recipe, aligner, limit)
        tables[name] = pivot.table()
        if generate:
            pivot.phrases()  # while its words are at hand
        pivot.forget_words()
        all_pivots.append(pivot)
    texts = [pivot_texts.source for pivot in pivots.values() for pivot_texts in pivot.corpora]
    digests = [source for pivot in all_pivots for source, _ in pivot.inputs["texts"]]
    lm = "language model"
    language = staged_language(
        stages,
        lm,
        texts,
        digests,
        recipe,
        training_form.smoothing,
        running=training_form.running,
        **limit,
    )
    generator = None
    if generate:
        generator = staged_generator(
            stages, all_pivots, texts, digests, surface_recipe(recipe), **limit
        )
    about = {"running": True} if training_form.running else {}
    model = PEM.of(tables, language, form, about, generator, metrics)
    if judged is None:
        return model
    inputs = {
        "tables": {pivot.name: pivot.table_inputs for pivot in all_pivots},
        "language": [digests, str(recipe), training_form.smoothing, training_form.running],
    }
    threading = {"threads": limit["threads"], "progress": limit["progress"]}
    return staged_regression(stages, model, judged, inputs, **threading)
