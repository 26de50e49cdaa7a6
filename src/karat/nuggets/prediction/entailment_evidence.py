"""Entailment evidence: whether a nugget's description follows from a response, by a cross-encoder.

The premises are the sentences of the response and its pairs of neighboring ones, as in the metric
`entail`:

    entailed      max over premises p of P(entailment | p, description)
    contradicted  P(contradiction | p, description) of the premise p that is least neutral

With several descriptions, the highest `entailed` and the lowest `contradicted` count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from karat.arrays import Floats, np
from karat.metrics.cross_encoders import CrossEncoder, Entailed, Pair, best_of, load_cross_encoder
from karat.metrics.entailment import premises_of
from karat.nuggets.prediction.pool import Pool
from karat.progress import Progress

ENTAILMENT_COLUMNS: tuple[str, ...] = ("entailed", "contradicted", "entailed-above")
"""The last one is `entailed` minus the mean of the question's nuggets."""
_TOGETHER = 2
"""Most neighboring sentences of a premise."""
_RESPONSES = 32
"""Responses that are judged at once."""


def entailment_evidence(model: str, pool: Pool, progress: Progress) -> Floats:
    """Return cells x `ENTAILMENT_COLUMNS` by the cross-encoder in a folder."""
    encoder = load_cross_encoder(model)
    table = np.zeros((int(pool.cell_starts[-1]), len(ENTAILMENT_COLUMNS)))
    for q, question in enumerate(pool.questions):
        first, last = pool.starts[q : q + 2].tolist()
        descriptions = [nugget.descriptions for nugget in question.nuggets]
        rows: list[Floats] = []
        for start in range(first, last if descriptions else first, _RESPONSES):
            rows += _rows(encoder, pool.texts[start : min(start + _RESPONSES, last)], descriptions)
            progress(first + len(rows), len(pool.texts), "judging entailment")
        if rows:
            table[slice(*pool.cell_starts[q : q + 2].tolist())] = np.concatenate(rows)
    return table


def _rows(
    encoder: CrossEncoder, texts: Sequence[str], descriptions: Sequence[Sequence[str]]
) -> list[Floats]:
    """Return nuggets x `ENTAILMENT_COLUMNS` of each response."""
    premises = {text: premises_of(text, _TOGETHER) for text in texts}
    hypotheses = [[part for part in parts if part.strip()] for parts in descriptions]
    flat = [part for parts in hypotheses for part in parts]
    judgements = encoder.judge([(p, h) for text in premises.values() for p in text for h in flat])
    return [_row(premises[text], hypotheses, judgements) for text in texts]


def _row(
    premises: Sequence[str],
    hypotheses: Sequence[Sequence[str]],
    judgements: Mapping[Pair, Entailed],
) -> Floats:
    rows = np.zeros((len(hypotheses), len(ENTAILMENT_COLUMNS)))
    for row, parts in zip(rows, hypotheses, strict=True):
        judged = [best_of(judgements[p, h] for p in premises) for h in parts]
        if judged:
            row[0] = max(judgement.entailment for judgement in judged)
            row[1] = np.nan_to_num(min(judgement.contradiction for judgement in judged))
    rows[:, 2] = rows[:, 0] - rows[:, 0].mean()
    return rows
