"""Evaluation: how well realisers restore the sentences of a treebank from its trees.

Each tree is realised without its word order, and the sentence compared with that of the treebank:
the paper's four accuracies, BLEU and GTM's F (e = 2) over the treebank's tokens, the share of exact
matches, and sentences per second of processor time.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

from karat import __version__
from karat.api import compare
from karat.arrays import np
from karat.metrics.names import metric
from karat.progress import Progress, silent
from karat.realize.completion import Fillings, RealizedContent, to_treebank
from karat.realize.content import (
    ContentTrees,
    Filling,
    completed_slots,
    content_trees,
)
from karat.realize.generation import ContentRealizer
from karat.realize.inflection import LemmaRealizer
from karat.realize.input_trees import (
    SPACE,
    SPACES,
    InputTrees,
    Realizer,
    check_labels,
    check_type,
    input_trees,
    parse_input_kinds,
    with_lemmas,
)
from karat.realize.model import INPUT_PHRASES, ORDERED_INPUTS, RealizerModel, RealizerResult
from karat.realize.orthography import plain
from karat.realize.treebank import Treebank, split_into_blocks
from karat.stats.significance import UNDECIDED

if TYPE_CHECKING:
    from karat.realize.inflection import OrderedForms

CLASS_NAMES = {
    "aux": "auxiliaries and copulas",
    "mark": "markers of clauses",
    "case": "adpositions and case markers",
    "cc": "conjunctions",
    "article": "articles",
    "final": "final marks",
    "comma": "commas",
    "other": "other marks",
}
"""Slot -> its name in tables."""


class SlotScores(NamedTuple):
    """Precision, recall and F of one slot; `words` is their number in the treebank."""

    inputs: str
    complete: str
    slot: str
    precision: float
    recall: float
    f: float
    words: int


def slot_scores(
    inputs: str, complete: str, slots: Sequence[str], gold: Fillings, inserted: Fillings
) -> list[SlotScores]:
    """Compare the fillings of slots with those of the treebank.

    A word is right if the treebank has it in the same slot of the same content word.
    """

    def words(filling: Filling) -> Counter[str]:
        return Counter(" ".join(word.word for word in item) for item in filling)

    rows = []
    for slot in slots:
        pairs = zip(gold[slot], inserted[slot], strict=True)
        n_right = sum((words(a) & words(b)).total() for a, b in pairs if a and b)
        n_gold, n_inserted = sum(map(len, gold[slot])), sum(map(len, inserted[slot]))
        precision, recall = n_right / max(n_inserted, 1), n_right / max(n_gold, 1)
        f = 2 * n_right / max(n_inserted + n_gold, 1)
        rows.append(SlotScores(inputs, complete, slot, precision, recall, f, n_gold))
    return rows


METRICS = {
    "simple": "simple_accuracy",
    "generation": "generation_accuracy",
    "simple_tree": "simple_tree_accuracy",
    "generation_tree": "generation_tree_accuracy",
    "bleu": "bleu:tok=none",
    "gtm": "gtm:e=2",
}
"""Column -> its metric."""
NOT_COMPLETED = (
    "Completion is not evaluated: the model has no ordering model for words with tags and "
    "relations, which would order the completed trees."
)
MAX_TRAINING_SHARE = 0.5
"""At or above this share of known sentences, an evaluation counts as one on training data."""


class RealizerScores(NamedTuple):
    """Scores of one realiser; `speed` is in sentences per second of processor time.

    From lemmas, `forms` is the share of words with the right form.
    """

    model: str
    inputs: str
    simple: float
    generation: float
    simple_tree: float
    generation_tree: float
    bleu: float
    gtm: float
    exact: float
    speed: float
    forms: float | None = None


class RealizerOutput(NamedTuple):
    """The sentences of a realizer, and the processor time that it needed."""

    model: str
    inputs: str
    sentences: list[str]
    trees: InputTrees
    """Trees with the reference sentences."""
    seconds: float
    forms: float | None = None
    """From lemmas, the share of words with the right form."""

    def scores(self) -> RealizerScores:
        """Return all scores of the sentences."""
        references, trees = self.trees.references(), self.trees
        values = [
            float(metric(name).corpus(self.sentences, references).value)
            for name in METRICS.values()
        ]
        pairs = zip(self.sentences, trees.reference_sentences(), strict=True)
        exact = sum(written == reference for written, reference in pairs) / len(trees)
        speed = len(trees) / max(self.seconds, 1e-9)
        return RealizerScores._make((self.model, self.inputs, *values, exact, speed, self.forms))


class Lead(NamedTuple):
    """The realizer with the highest BLEU from one kind of input, and the second.

    `verdict` of a paired test is `better`, or `undecided` if they do not differ significantly.
    """

    inputs: str
    first: RealizerScores
    second: RealizerScores
    verdict: str


class TrainingOverlap(NamedTuple):
    """Number of sentences, number of those that the model was trained on, and their share."""

    sentences: int
    n_seen: int
    share: float

    @property
    def note(self) -> str:
        """Sentence on the overlap with the training data."""
        noun = "sentence" if self.sentences == 1 else "sentences"
        many = f"{self.n_seen:,} of {self.sentences:,} {noun} ({self.share:.1%})"
        if self.share >= MAX_TRAINING_SHARE:
            return f"The model was trained on {many}: these figures say nothing about other text."
        if self.n_seen:
            return f"{many} occur in what the model was trained on too."
        return "The model was trained on none of these sentences."


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RealizerEvaluation(RealizerResult):
    """Scores of all realisers of a model on one treebank."""

    rows: tuple[RealizerScores, ...]
    training: TrainingOverlap
    signatures: dict[str, str]
    """Column -> the signature of its metric; `realize` -> that of the sentences."""
    slots: tuple[SlotScores, ...] = ()
    """Scores of inserted words, if the model inserts any."""
    leads: tuple[Lead, ...] = ()
    """The first two realizers by BLEU, for each kind of input with several."""


PAPER = (
    ("LR, random trees", (0.412, 0.562, 0.416, 0.632)),
    ("supertags", (0.589, 0.724, 0.657, 0.762)),
)
"""Table 1 of the paper: 100 sentences of the Wall Street Journal, from words alone."""

REMOVED_CLASSES = {
    "function words and punctuation": ("function-words", "punctuation"),
    "function words": ("function-words",),
    "punctuation": ("punctuation",),
}
"""Name -> classes of words that are removed from trees, for completion to insert."""


EVERY = "every"
"""All inputs that the model was trained for."""
KINDS = ("words", "all", "relations", "lemmas")
"""Inputs that can be evaluated."""
OTHER_DATA = (
    "The paper has no figures from lemmas: it says that morphology is under development. Those of "
    "the Surface Realization tasks (SR'19, track T1: taln.upf.edu/pages/msr2019-ws/SRST.html) are "
    "of other data, and are not given here: another version of the treebank, hints about order in "
    "the input, and another script for BLEU."
)
"""Note on the lack of comparable figures from lemmas."""


def evaluate_realizer(
    model: RealizerModel,
    treebank: Treebank,
    inputs: str = EVERY,
    *,
    realizer: str | None = None,
    progress: Progress = silent,
) -> RealizerEvaluation:
    """Compare the realisers of a model on a treebank.

    Args:
        model, treebank: as `open_realizer` and `read_treebank` return them.
        inputs: comma-separated, `words`, `all` (with UPOS tags and relations), `relations` (words
            and relations, for completion only) or `lemmas`; `every` is all that the model was
            trained for. Completion is evaluated too, if the model completes words of an input.
        realizer: `fergus` (with its baselines) or `ordering`; by default all that the model has.
        progress: function that is called with the progress.
    """
    check_type("model", model, RealizerModel)
    check_type("treebank", treebank, Treebank)
    kinds = _kinds(model, inputs, realizer)
    if kinds != ("words",):  # "all" and "lemmas" need tags, too
        needed = next((kind for kind in ("all", "lemmas") if kind in kinds), "relations")
        check_labels(treebank, needed)
    outputs: list[RealizerOutput] = []
    for kind in (kind for kind in kinds if kind in ORDERED_INPUTS):
        baselines = {output.model for output in outputs if output.model.startswith("LR")}
        realizers = [r for r in model.realizers(kind, realizer) if r.name not in baselines]
        outputs += realize_each(realizers, input_trees(treebank, kind), progress=progress)
    slots: list[SlotScores] = []
    for kind in kinds:
        if kind == "lemmas":
            outputs += realize_lemmas(model.lemma_realizer(), treebank, progress=progress)
        if model.completes(kind) and model.realizers("all", realizer):
            completed, slot_rows = evaluate_completion(
                model, treebank, kind, realizer=realizer, progress=progress
            )
            outputs, slots = outputs + completed, slots + slot_rows
    rows = [output.scores() for output in outputs]
    n_seen = model.count_seen(input_trees(treebank))
    training = TrainingOverlap(len(treebank), n_seen, n_seen / max(len(treebank), 1))
    signatures = {key: metric(name).signature() for key, name in METRICS.items()}
    data = f"model={model.digest},treebank={treebank.digest}"
    signatures["realize"] = f"realize:inputs={'+'.join(kinds)},{data}|karat={__version__}"
    return RealizerEvaluation(
        name=treebank.name,
        rows=tuple(rows),
        settings={"inputs": inputs, **({"realizer": realizer} if realizer else {})},
        notes=(training.note, *_notes(model, inputs, kinds, realizer)),
        signature="\n".join(signatures.values()),
        training=training,
        signatures=signatures,
        slots=tuple(slots),
        leads=tuple(_leads(list(zip(rows, outputs, strict=True)))),
    )


def _notes(
    model: RealizerModel, inputs: str, kinds: Sequence[str], realizer: str | None
) -> Iterator[str]:
    """Yield notes on comparability, and on missing parts of the model."""
    if "lemmas" in kinds:
        yield OTHER_DATA
    candidates = KINDS if inputs == EVERY else kinds
    if any(map(model.completes, candidates)) and not model.realizers("all", realizer):
        yield NOT_COMPLETED
    lacking = [kind for kind in kinds if kind in ORDERED_INPUTS and kind not in model.ordering]
    if realizer is None and len(lacking) == 1:  # with two, the user chose so
        advice = f"karat realize train --inputs {model.training_inputs(lacking[0])}"
        yield f"The model has no ordering model for {INPUT_PHRASES[lacking[0]]}: {advice}."


def _leads(scored: Sequence[tuple[RealizerScores, RealizerOutput]]) -> Iterator[Lead]:
    """Yield the first two realizers of each kind of input, and the verdict of a test on BLEU.

    On ties the later one, usually the better, comes first. Completions are not ranked: they insert
    different words.
    """
    competing = [pair for pair in scored if not pair[0].model.startswith("completion")]
    for inputs in dict.fromkeys(row.inputs for row, _ in competing):
        ranked = sorted(
            (pair for pair in reversed(competing) if pair[0].inputs == inputs),
            key=lambda pair: (pair[0].bleu, pair[0].exact, pair[0].generation),
            reverse=True,
        )
        if len(ranked) > 1:
            (first, its_output), (second, other_output) = ranked[:2]
            texts = {"second": other_output.sentences, "first": its_output.sentences}
            references = its_output.trees.references()
            comparison = compare(texts, references, METRICS["bleu"], baseline="second", threads=1)
            (row,) = [row for row in comparison.rows if row.system == "first"]
            yield Lead(inputs, first, second, row.verdict or UNDECIDED)


def _kinds(model: RealizerModel, inputs: str, realizer: str | None) -> tuple[str, ...]:
    """Return the kinds of input to evaluate; raise if the model was not trained for them."""
    names = parse_input_kinds(inputs, (*KINDS, EVERY))
    if EVERY in names:
        kinds = [kind for kind in ORDERED_INPUTS if model.realizers(kind, realizer)]
        if model.completes("relations") and model.realizers("all", realizer):
            kinds.append("relations")
        if model.inflection is not None and realizer != "fergus":
            kinds.append("lemmas")
        if not {*kinds} - {"relations"}:
            model.best(ORDERED_INPUTS[0], realizer)  # raises: the model lacks the realizer
        return tuple(kinds)
    for name in names:
        if name == "relations":
            model.completer(name)
        model.best("all" if name == "relations" else name, realizer)
    return tuple(kind for kind in KINDS if kind in names)


def evaluate_completion(
    model: RealizerModel,
    treebank: Treebank,
    inputs: str,
    *,
    realizer: str | None = None,
    progress: Progress = silent,
) -> tuple[list[RealizerOutput], list[SlotScores]]:
    """Remove function words, punctuation or both from trees, and insert them again."""
    references = input_trees(treebank).without_spaces()
    bank = with_lemmas(treebank) if inputs == "lemmas" else treebank
    outputs, rows = [], []
    for name, classes in REMOVED_CLASSES.items():
        slots = completed_slots(classes)
        content_realizer = ContentRealizer(model, inputs, slots, realizer)
        blocks = []
        for first, block in split_into_blocks(bank):
            progress(first, len(bank), f"completing, {name}")
            blocks.append(_restore_words(content_realizer, block))
        is_right = [right for block in blocks for right in block.is_right]
        output = RealizerOutput(
            model=f"completion: {name}",
            inputs=f"{inputs}, content words",
            sentences=[text for block in blocks for text in block.texts],
            trees=references,
            seconds=sum(block.seconds for block in blocks),
            forms=sum(is_right) / len(is_right) if is_right else None,
        )
        outputs.append(output)
        gold = {slot: [f for block in blocks for f in block.gold[slot]] for slot in slots}
        inserted = {slot: [f for block in blocks for f in block.inserted[slot]] for slot in slots}
        rows += slot_scores(inputs, name, slots, gold, inserted)
    return outputs, rows


class RestoredWords(NamedTuple):
    """Sentences whose words were removed and inserted again, with the fillings of both."""

    texts: list[str]
    gold: Fillings
    inserted: Fillings
    seconds: float
    is_right: Sequence[bool] = ()
    """From lemmas: whether each given lemma has the right form."""


def _restore_words(realizer: ContentRealizer, treebank: Treebank) -> RestoredWords:
    """Empty the slots of some trees, and let a realizer fill them."""
    content = content_trees(treebank, realizer.completer.final_marks)
    stripped = content.without(realizer.slots)
    if realizer.inputs != "lemmas":
        begin = time.process_time()
        realized = realizer.complete(stripped)
        seconds = time.process_time() - begin
        texts = realized.inserted.trees.without_spaces().sentences(realized.orders)
        return RestoredWords(texts, content.fillings, realized.final_fillings(), seconds)
    lemmas = to_treebank(stripped, treebank)
    begin = time.process_time()
    realized = realizer.realize(lemmas)
    seconds = time.process_time() - begin
    forms = cast("OrderedForms", realized.forms)
    texts = forms.sentences([SPACES.sub(SPACE, form) for form in forms.forms])
    # Sentences from lemmas have plain marks.
    gold = {slot: list(map(_plain_filling, column)) for slot, column in content.fillings.items()}
    fillings = _fillings_of_content(realized, stripped, lemmas)
    sources = enumerate(realized.inserted.sources.tolist())
    is_right = [forms.best[node] == lemmas.words[j] for node, j in sources if j >= 0]
    return RestoredWords(texts, gold, fillings, seconds, is_right)


def _plain_filling(filling: Filling) -> Filling:
    """Return a filling with plain marks."""
    return tuple(tuple(w._replace(word=plain(w.word)) for w in item) for item in filling)


def _fillings_of_content(
    realized: RealizedContent, stripped: ContentTrees, lemmas: Treebank
) -> Fillings:
    """Return the fillings of content words that were given as lemmas.

    A content word of the treebank may be a function word in a tree that lost its daughters; then
    its slots are empty.
    """
    starts = np.repeat(lemmas.offsets[:-1] - stripped.offsets[:-1], np.diff(stripped.offsets))
    places = (np.arange(stripped.nodes) + starts).tolist()  # content words come first
    number = {place: node for node, place in enumerate(realized.content.places.tolist())}
    nodes = [number.get(place) for place in places]
    return {
        slot: [() if node is None else column[node] for node in nodes]
        for slot, column in realized.final_fillings().items()
    }


def realize_lemmas(
    realizer: LemmaRealizer, treebank: Treebank, *, progress: Progress = silent
) -> list[RealizerOutput]:
    """Return sentences from lemmas: unchanged, inflected by the tree, and by neighbours too.

    All have the same word order, and are compared in lower case.
    """
    bank = with_lemmas(treebank)
    trees, references = input_trees(bank, "lemmas"), input_trees(treebank).without_spaces()
    gold_forms = [bank.words[j].lower() for j in (trees.starts + trees.places).tolist()]
    first = trees.select([0])
    realizer.inflection.forms(first, realizer.realize(first))  # see `realize_each`
    begin = time.process_time()
    orders = realizer.realize(trees, 1, progress=progress)
    final = realizer.inflection.forms(trees, orders)
    final.texts()
    seconds = time.process_time() - begin
    nodes, by_tree = final.order.tolist(), realizer.inflected(trees).words
    forms_by_name = {
        "lemmas unchanged": [trees.words[j] for j in nodes],
        "forms by tree": [by_tree[j] for j in nodes],
        "forms in context": final.forms,
    }
    outputs = []
    for name, forms in forms_by_name.items():
        n_right = sum(form == gold_forms[j] for form, j in zip(forms, nodes, strict=True))
        texts = final.sentences([SPACES.sub(SPACE, form) for form in forms])
        output = texts, references, seconds, n_right / len(nodes)
        outputs.append(RealizerOutput(name, "lemmas", *output))
    return outputs


def realize_each(
    realizers: Sequence[Realizer], trees: InputTrees, *, progress: Progress = silent
) -> list[RealizerOutput]:
    """Return the best sentences of every realizer for the same trees."""
    spaceless, outputs = trees.without_spaces(), []
    for realizer in realizers:
        realizer.realize(trees.select([0]))  # one-time setup does not count as speed
        begin = time.process_time()
        orders = realizer.realize(trees, 1, progress=progress)
        seconds = time.process_time() - begin
        texts = spaceless.sentences(orders)
        outputs.append(RealizerOutput(realizer.name, trees.inputs, texts, spaceless, seconds))
    return outputs
