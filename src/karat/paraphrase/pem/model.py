"""PEM (Liu, Dahlmeier and Ng 2010): quality of a paraphrase from 1 to 5, without references.

    PEM(P, R) = SVR(pivot F1, log10 Pr(P) / length(P), target F1)

Adequacy is measured by translations into pivot languages, fluency by a language model, lexical
dissimilarity by shared words. A regression trained on human scores combines them; without human
scores, a mean on the scale of the paper's controls.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from karat import __version__
from karat.arrays import Flags, Floats, np
from karat.errors import InputError, quoted
from karat.lm.model import LanguageModel
from karat.lm.tables import ABOUT as LANGUAGE
from karat.metrics.base import format_signature
from karat.metrics.given import ExternalScores
from karat.metrics.names import metric
from karat.metrics.pairs import Outputs
from karat.paraphrase.align.aligner import Aligner
from karat.paraphrase.generate import CONFIDENCE
from karat.paraphrase.generate.generator import Generator
from karat.paraphrase.pem.combination import (
    BAD,
    COPIES,
    GOOD,
    GRID,
    IGNORE,
    LINE,
    POWER,
    SVR,
    CalibratedMean,
    ControlMean,
    SvrSetting,
    fit_line,
    fit_mean,
    fit_svr,
    judge_copies,
    score_copies,
    search_setting,
)
from karat.paraphrase.pem.features import (
    FORMS,
    FeatureCounter,
    MetricFeature,
    MetricNames,
    PairFeatures,
    check_feature_form,
    identify_features,
    replace_features,
)
from karat.paraphrase.pem.judged_pairs import JudgedPairs, control_sentences
from karat.paraphrase.table.phrase_table import ABOUT as TABLE
from karat.paraphrase.table.phrase_table import PhraseTable
from karat.progress import Progress, silent
from karat.settings import SEED
from karat.stats.resampling import bootstrap_sums, interval
from karat.storage import schema
from karat.storage.digests import text_digest
from karat.storage.store import (
    content_digest,
    damaged,
    read_store,
    with_prefix,
    without_prefix,
    write_store,
)
from karat.text.segments import Texts
from karat.text.tokens import check_choice

if TYPE_CHECKING:
    from karat.paraphrase.generate.paraphraser import Paraphrase

KIND = "paraphrase model"
VERSION = 1
UNSAVED = "the model"  # name in messages of a model without a file
BUNDLED = "bundled"  # name of the small model that comes with Karat
_BUNDLED = {BUNDLED: "model.npz", f"{BUNDLED}-paper": "paper.npz"}
"""Names of the bundled models, and their files; the second has the paper's form."""
_PLAIN = "".join(chr(c) for c in range(33, 127) if chr(c) not in ",|%")
"""ASCII characters that are not escaped in signatures."""
_TRAIN = (
    "train one on your own text and judgements with karat paraphrase train before you rely on a "
    "score."
)
CAUTIONS = {
    "model.npz": (
        "This is the small bundled model, which has learned from no judgements. Shared words, "
        "letters and translations raise its score, and others lower it; a changed number, name or "
        "negation costs no more than another word, and fluency has no part. On 7,159 judged "
        "headlines its PEM agreed with people to some degree (Pearson 0.52; its pivot F1 alone: "
        f"0.49): {_TRAIN}"
    ),
    "paper.npz": (
        "This is the small bundled model of the paper's form, for trying out only. Its regression "
        "learned from invented judges, for whom shared words lower the score. On 7,159 judged "
        "headlines its PEM hardly agreed with people (Pearson 0.04; its pivot F1 alone: 0.40): "
        f"{_TRAIN}"
    ),
}
"""File of a bundled model -> the note in each of its reports."""

_text, _record = schema.text, schema.record
_GENERATOR = _record({"rewrites": TABLE, "lm": LANGUAGE, "casing": schema.mapping_of(_text)})
_COUNTS = {"paraphrases": schema.integer(0), "originals": schema.integer(0)}
_PIVOTS = schema.mapping_of(TABLE, 1)
ABOUT = _record(
    {"form": _text, "pivots": _PIVOTS, "lm": LANGUAGE, "trained": schema.boolean},
    generator=schema.nullable(_GENERATOR),
    judged=_record({"set": _text, "dimension": _text, **_COUNTS}),
    features=schema.list_of(_text),
    metrics=schema.list_of(_record({"name": _text, "identity": _text})),
    mean=_record({"originals": schema.integer(2)}),
    running=schema.boolean,
    copies=_text,
)
"""Schema of a model's description."""


class PEMScores(NamedTuple):
    """Columns with a row for each pair: PEM from 1 to 5, and its three parts."""

    pem: Floats
    pivot_f1: Floats  # adequacy, 0 to 1; the mean over pivot languages
    fluency: Floats  # log10 Pr / length: closer to 0 is more fluent
    target_f1: Floats  # 0 to 1; lower means more different words

    def interval(self, resamples: int, seed: int = SEED) -> tuple[float, float] | None:
        """Return the 95% interval of mean PEM by a bootstrap over pairs.

        Return None without resamples or without PEM scores.
        """
        if not (resamples and len(self.pem)) or np.isnan(self.pem).any():
            return None
        return interval(bootstrap_sums(self.pem[:, None], resamples, seed)[:, 0] / len(self.pem))

    def select(self, rows: Flags) -> PEMScores:
        """Return the scores of some pairs."""
        return PEMScores(*(column[rows] for column in self))


Combination = SVR | ControlMean | CalibratedMean


def default_copies(form: str) -> str:
    """Return what copies are worth in training: bad in the paper's form, good in others."""
    return BAD if form == "paper" else GOOD


@dataclass(frozen=True, eq=False)
class PEM:
    """Phrase tables, a language model and a combination of features; `train` or `open` one."""

    pivots: Mapping[str, PhraseTable]
    language: LanguageModel
    form: str
    combination: Combination | None  # None: the model has parts, but no score
    about: Mapping[str, Any]
    generator: Generator | None = None  # None: the model only scores
    name: str = UNSAVED  # name of the model in messages
    metrics: tuple[MetricFeature, ...] = ()  # metrics whose scores are also features
    stored_digest: str = ""  # digest of the file that holds this model; empty if no file does
    copies: str = BAD  # what a copy of the original is worth, one of `COPIES`

    @classmethod
    def of(
        cls,
        pivots: Mapping[str, PhraseTable],
        language: LanguageModel,
        form: str = "paper",
        about: Mapping[str, Any] | None = None,
        generator: Generator | None = None,
        metrics: tuple[MetricFeature, ...] = (),
    ) -> PEM:
        """Return a model that computes the parts only; training adds the score."""
        check_feature_form(form)
        if not pivots:
            raise InputError("PEM needs at least one pivot language")
        recipes = {table.recipe for table in pivots.values()} | {language.recipe}
        if len(recipes) > 1:
            raise InputError(
                "the phrase tables and the language model tokenise text in different ways "
                f"({'; '.join(sorted(map(str, recipes)))}): train them with the same settings"
            )
        description = dict(about or {})
        return cls(dict(pivots), language, form, None, description, generator, metrics=metrics)

    def __repr__(self) -> str:
        pairs = ", ".join(
            f"{name} ({table.pairs:,} phrase pairs)" for name, table in self.pivots.items()
        )
        metrics = f"; {', '.join(feature.name for feature in self.metrics)}" if self.metrics else ""
        learned = "untrained"
        mean, judged = self.about.get("mean"), self.about.get("judged")
        if mean:
            learned = f"mean on the scale of controls of {mean['originals']:,} sentences"
        if judged:
            number = judged.get("controls")
            controls = "controls not recorded" if number is None else f"{number:,} controls"
            line = f"{learned}, " if mean else ""
            learned = f"{line}learned from {judged['paraphrases']:,} judged, {controls}"
        copies = f"; copies {self.copies}" if self.combination else ""
        return f"<PEM {self.form}: {pairs}{metrics}; {learned}{copies}>"

    def features(
        self, originals: Texts, paraphrases: Texts, outputs: Outputs | None = None, **work: Any
    ) -> PairFeatures:
        """Return the features of all pairs.

        `outputs` has the system and segment of each pair, which some metrics need.
        """
        return self.feature_counter.features(originals, paraphrases, outputs, **work)

    @property
    def feature_counter(self) -> FeatureCounter:
        """A new counter of the features."""
        return FeatureCounter(self.pivots, self.language, self.form, self.metrics)

    def with_metrics(self, metrics: MetricNames) -> PEM:
        """Return the model with the same metrics as features, whose files were moved."""
        return replace(self, metrics=replace_features(self.metrics, metrics))

    def train(
        self,
        judged: JudgedPairs,
        grid: Sequence[SvrSetting] = GRID,
        *,
        copies: str | None = None,
        **work: Any,
    ) -> PEM:
        """Return the model with a regression trained on judged paraphrases.

        The setting of the regression is chosen from `grid` by cross-validation. `copies` is what
        copies of the original are worth, one of `COPIES`; by default `bad` in the paper's form,
        else `good`.
        """
        features, used, learned = self._learn_from(judged, copies, **work)
        n_folds = min(3, learned["judged"]["originals"])
        setting = search_setting(features.matrix, used.human, used.originals, grid, n_folds)
        regression = fit_svr(features.matrix, used.human, setting)
        return self.with_combination(regression, learned)

    def calibrate(self, judged: JudgedPairs, *, copies: str | None = None, **work: Any) -> PEM:
        """Return a model of a mean whose scores are on the scale of judged paraphrases.

        `copies` is what copies of the original are worth; by default as in the model.
        """
        if not isinstance(self.combination, ControlMean):
            raise InputError(f"{self.name} has no mean to calibrate: train it on controls first")
        features, used, learned = self._learn_from(judged, copies or self.copies, **work)
        mean = self.combination.with_copies(learned["copies"])
        line = fit_line(mean, mean.inputs(features)[1], used.human)
        return self.with_combination(line, {**learned, "mean": self.about["mean"]})

    def _learn_from(
        self, judged: JudgedPairs, copies: str | None, **work: Any
    ) -> tuple[PairFeatures, JudgedPairs, dict[str, Any]]:
        """Return features and judged pairs to learn from, and a description of both."""
        copies = copies or default_copies(self.form)
        check_choice("copies", copies, COPIES)
        features = self.features(judged.originals, judged.paraphrases, judged.outputs, **work)
        is_used, human = judge_copies(judged.human, features.is_copy, copies)
        used = replace(judged, human=human).select(is_used)
        n_originals = len(set(used.originals))
        if n_originals < 2:
            problem = "no original" if n_originals == 0 else "one original"
            raise InputError(f"{judged.evalset.name}: {problem} is too few to learn from")
        learned = {
            "set": judged.evalset.name,
            "dimension": judged.overall,
            "paraphrases": int(used.real.sum()),
            "controls": int((~used.real).sum()),
            "originals": n_originals,
        }
        about = {"judged": learned, "features": list(features.names), "copies": copies}
        return features.select(is_used), used, about

    def train_on_controls(
        self, originals: Sequence[str], *, copies: str | None = None, **work: Any
    ) -> PEM:
        """Return the model with a mean of its features, scaled by controls of the originals.

        `copies` is what copies of the original are worth, as for `train`.
        """
        adequacy = {
            name: self.features(originals, sentences, Outputs((name,)), **work).adequacy
            for name, sentences in control_sentences(originals).items()
        }
        copied, *unrelated = adequacy.values()
        names = "pivot F1", *(feature.name for feature in self.metrics)
        copies = copies or default_copies(self.form)
        mean = fit_mean(names, copied, np.concatenate(unrelated), copies)
        about = {"mean": {"originals": len(originals)}, "copies": copies}
        return self.with_combination(mean, about)

    def with_combination(self, combination: Combination, learned: Mapping[str, Any]) -> PEM:
        """Return the model with another combination.

        `learned` describes its training data, and what copies are worth.
        """
        replaced = ("judged", "features", "mean", "copies")
        about = {k: v for k, v in self.about.items() if k not in replaced} | dict(learned)
        copies = about.get("copies", BAD)
        if copies == BAD:  # as in models of earlier versions, which lack the field
            about.pop("copies", None)
        return replace(
            self,
            combination=combination,
            about=about,
            metrics=identify_features(self.metrics),
            name=UNSAVED,
            stored_digest="",
            copies=copies,
        )

    def with_copies(self, copies: str | None) -> PEM:
        """Return the model with another choice of what copies are worth; None: the same.

        Only a mean takes any choice; what has learned from judgements can ignore copies. The choice
        is part of the signature, but not of the stored model.
        """
        if copies is None or copies == self.copies:
            return self
        check_choice("copies", copies, COPIES)
        combination = self.combination
        if isinstance(combination, ControlMean):
            combination = combination.with_copies(copies)
        elif combination is not None and copies != IGNORE:
            name = self.label if self.bundled else self.name
            raise InputError(
                f"copies={copies}: {name} learned from judgements with copies={self.copies}: "
                f"train one with --copies {copies}, or ignore copies"
            )
        return replace(self, combination=combination, copies=copies)

    @property
    def for_rewriting(self) -> PEM:
        """The model for ranking its own paraphrases: a mean must not reward near copies."""
        return self.with_copies(BAD) if isinstance(self.combination, ControlMean) else self

    def score(
        self, originals: Texts, paraphrases: Texts, outputs: Outputs | None = None, **work: Any
    ) -> PEMScores:
        """Return PEM, from 1 to 5, and its parts for every pair; PEM is NaN if untrained.

        `outputs` has the system and segment of each pair, which some metrics need. `work` is
        `threads` and `progress`.
        """
        return self.scores(self.features(originals, paraphrases, outputs, **work))

    def scores(self, features: PairFeatures) -> PEMScores:
        """Return the scores of pairs from their features."""
        return PEMScores(self.combine(features), *features.parts)

    def combine(self, features: PairFeatures) -> Floats:
        """Return the PEM of every pair."""
        if (combination := self.combination) is None:
            return np.full(len(features.matrix), np.nan)
        _, inputs = combination.inputs(features)
        if (n_features := inputs.shape[1]) != (width := combination.width):
            raise damaged(self.name, f"its score is of {width} features, not {n_features}")
        return score_copies(combination.predict(inputs), features.is_copy, self.copies)

    def generate(
        self,
        originals: Texts,
        n: int = 5,
        *,
        confidence: float = CONFIDENCE,
        lang: str = "en",
        threads: int | None = None,
        progress: Progress = silent,
    ) -> list[list[Paraphrase]]:
        """Return the `n` best paraphrases of each original that reach a confidence of 0 to 1.

        They keep the numbers, names and negations, by the rules of the language `lang`.
        """
        from karat.paraphrase.generate.paraphraser import generate_lines

        generated = generate_lines(
            self,
            originals,
            n,
            confidence=confidence,
            lang=lang,
            threads=threads,
            progress=progress,
        )
        return [result.paraphrases for result in generated]

    @property
    def bundled(self) -> bool:
        """True if this is a small model that comes with Karat."""
        return self.name in map(bundled_model_path, _BUNDLED)

    @property
    def cautions(self) -> tuple[str, ...]:
        """Notes for every report of a bundled model; none for other models."""
        return (CAUTIONS[os.path.basename(self.name)],) if self.bundled else ()

    @property
    def label(self) -> str:
        """Name of the model in signatures: its file, or `bundled`."""
        if self.bundled:
            return next(name for name in _BUNDLED if bundled_model_path(name) == self.name)
        return "unsaved" if self.name == UNSAVED else quote(self.name, safe=_PLAIN)

    @cached_property
    def digest(self) -> str:
        """Digest of the model, and of the score files that its features read.

        The content of other files of features is part of the model. Score files belong to the
        texts, so they are not part of a feature's identity.
        """
        metrics = [feature.metric for feature in self.metrics]
        score_digests = [
            metric.scores_by_system.digest
            for metric in metrics
            if isinstance(metric, ExternalScores)
        ]
        if not score_digests:
            return self.own_digest
        return text_digest("\n".join([self.own_digest, *score_digests]))

    @cached_property
    def own_digest(self) -> str:
        """Digest of the model alone."""
        return self.stored_digest or content_digest(KIND, VERSION, *self._stored())

    @property
    def signature(self) -> str:
        """Signature of the scores, the same as that of the metric `pem` with this model."""
        return self.signature_of_scores()

    def signature_of_scores(self, resampling: Mapping[str, object] = MappingProxyType({})) -> str:
        """Return the signature of the scores; `resampling` has the settings of intervals."""
        name = f"pem:model={self.label}@{self.digest},copies={self.copies}"
        return format_signature(name, 1, resampling)

    def signature_with(self, combination: str, resampling: Mapping[str, object]) -> str:
        """Return the signature of an evaluation with another combination of the features."""
        fields = {"model": self.digest, "karat": __version__, **resampling}
        suffix = "".join(f"|{name}={value}" for name, value in fields.items())
        return f"pem:{self._describe(combination)}{suffix}"

    @property
    def description(self) -> str:
        """Settings of the model in one line."""
        mean, learned = self.about.get("mean"), self.about.get("judged", {})
        controls = f",controls={learned.get('controls', 'unrecorded')}" if learned else ""
        combination = f"learned={learned.get('set', 'nothing')}{controls}"
        if mean:
            calibrated = f",{combination}" if learned else ""
            copy = f",copy=target F1^{POWER}" if self.copies == BAD else ""
            combination = f"combine=mean{copy},controls={mean['originals']}{calibrated}"
        copies = f",copies={self.copies}" if self.combination else ""
        return self._describe(f"{combination}{copies}")

    def _describe(self, combination: str) -> str:
        """Return the settings of the model in one line, with the given combination."""
        settings = FORMS[self.form]
        recipe = self.language.recipe
        pivots = "+".join(self.pivots)
        running = ",running text" if self.about.get("running") else ""
        identities = [feature.identity or feature.metric.identity() for feature in self.metrics]
        # Name the aligner, unless links were given or it is the one of version 0.2.
        agreement = "product" if self.form == "paper" else "root"
        default_aligners = ("", str(Aligner(model="hmm", agreement=agreement)))
        tables = self.pivots.values()
        aligners = dict.fromkeys(str(table.about.get("aligner", "")) for table in tables)
        changed = [aligner for aligner in aligners if aligner not in default_aligners]
        aligned = f"|aligner={'+'.join(changed)}" if changed else ""
        metrics = f"|features={'+'.join(identities)}" if identities else ""
        return (
            f"form={self.form},pivots={pivots},order={settings.order},edge={settings.edge:g},"
            f"ngram={settings.ngram:g},renormalise={str(settings.renormalise).lower()},"
            f"tok={recipe.tok},case={recipe.case},stem={recipe.stem}{aligned}|"
            f"fluency=log10/words,end counted|lm={self.language.order}-gram,"
            f"{self.language.about.get('smoothing')}{running}|{combination}{metrics}"
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file (atomic)."""
        write_store(path, KIND, VERSION, *self._stored())

    def _stored(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the description and the arrays of the model's file."""
        arrays = with_prefix("lm.", self.language.arrays)
        for k, table in enumerate(self.pivots.values()):
            arrays |= with_prefix(f"pivot{k}.", table.arrays)
        if self.combination is not None:
            arrays |= self.combination.arrays()
        generator = None
        if self.generator is not None:
            generator, generator_arrays = self.generator.parts()
            arrays |= with_prefix("generate.", generator_arrays)
        about = {
            **self.about,
            "form": self.form,
            "pivots": {name: dict(table.about) for name, table in self.pivots.items()},
            "lm": self.language.about,
            "trained": isinstance(self.combination, SVR),
            "generator": generator,
        }
        if self.metrics:
            metrics = identify_features(self.metrics)
            about["metrics"] = [{"name": m.name, "identity": str(m.identity)} for m in metrics]
        return about, arrays

    @classmethod
    def open(cls, path: str | os.PathLike[str] = BUNDLED) -> PEM:
        """Map a stored model; `bundled` is the small model that comes with Karat.

        `bundled-paper` has the paper's form and is only for trying it out: it agrees less with
        people than its own pivot F1.
        """
        store = read_store(model_path(path), KIND, VERSION)
        about = store.description
        try:
            schema.check_fields(about, ABOUT)
            form, tables = about.pop("form"), about.pop("pivots")
            arrays = partial(without_prefix, arrays=store.arrays)
            pivots = {}
            for k, (name, table) in enumerate(tables.items()):
                table_name, parts = f"{store.name} ({name})", arrays(f"pivot{k}.")
                pivots[name] = PhraseTable.of_arrays(table_name, table, parts)
            language = LanguageModel(about.pop("lm"), arrays("lm."), store.name)
            combination: Combination | None = None
            copies = about.get("copies", BAD)
            if copies not in COPIES:
                raise ValueError(f"its copies are {quoted(copies)}")
            if about.pop("trained"):
                combination = SVR.from_arrays(store.arrays)
            elif LINE in store.arrays:
                combination = CalibratedMean.from_arrays(store.arrays, copies)
            elif "mean" in about:
                combination = ControlMean.from_arrays(store.arrays, copies)
            generator = None
            if written := about.pop("generator", None):
                generator = Generator.of_arrays(store.name, written, arrays("generate."))
            metrics = about.pop("metrics", [])
            model = cls.of(pivots, language, form, about, generator)
        except (ValueError, KeyError, TypeError) as error:
            raise damaged(store.name, str(error)) from error
        try:
            features = tuple(MetricFeature(metric(m["name"]), m["identity"]) for m in metrics)
        except InputError as error:
            problem = "a feature of this model is not known here"
            raise type(error)(f"{store.name}: {problem}: {error}") from error
        model = replace(model, combination=combination, metrics=features, copies=copies)
        return replace(model, name=store.name, stored_digest=store.digest)


def as_pem(model: PEM | str | os.PathLike[str], form: str | None = None) -> PEM:
    """Return a model, opened if it is a file name.

    With `form`, `bundled` selects the bundled model of that form, if there is one. A model of
    another form is returned unchanged.
    """
    if form is not None:
        check_feature_form(form)
        if model == BUNDLED and f"{BUNDLED}-{form}" in _BUNDLED:
            model = f"{BUNDLED}-{form}"
    return model if isinstance(model, PEM) else PEM.open(model)


def model_path(name: str | os.PathLike[str]) -> str:
    """Return the path of a model's file; `bundled` and `bundled-paper` come with Karat."""
    return bundled_model_path(str(name)) if name in _BUNDLED else os.fspath(name)


def bundled_model_path(name: str = BUNDLED) -> str:
    """Return the path of a bundled model."""
    return str(resources.files("karat") / "data" / "paraphrase" / _BUNDLED[name])
