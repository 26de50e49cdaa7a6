"""bert-score's functions, computed by Karat's metric `bertscore` on the CPU.

    from karat.compat import bert_score

    P, R, F = bert_score.score(candidates, references, model_type="models/all-MiniLM-L6-v2")

Arrays are numpy's (64-bit floats); a program that has imported torch gets its tensors (32 bits), as
bert-score returns them. `model_type` is a folder, since nothing is downloaded, and baselines come
from `baseline_path`. docs/reference/compat.md lists what differs.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from karat.arrays import Floats, np
from karat.errors import InputError, quoted
from karat.metrics.bertscore import OF_REFERENCES, BERTScore, TokenWeights, idf_weights

__all__ = ["BERTScorer", "score"]

Scores = tuple[Any, Any, Any]
"""P, R and F of each candidate: arrays, or tensors if torch is imported."""


def score(
    cands: Sequence[str],
    refs: Sequence[str] | Sequence[Sequence[str]],
    model_type: str | None = None,
    num_layers: int | None = None,
    verbose: bool = False,
    idf: bool | Mapping[int, float] = False,
    device: str | None = None,
    batch_size: int = 64,
    nthreads: int = 4,
    all_layers: bool = False,
    lang: str | None = None,
    return_hash: bool = False,
    rescale_with_baseline: bool = False,
    baseline_path: str | None = None,
    use_fast_tokenizer: bool = False,
) -> Scores | tuple[Scores, str]:
    """Return P, R and F of each candidate; of several references, the best of each.

    Args:
        cands, refs: candidates, and one reference or a list of references for each.
        model_type: folder of the encoder.
        num_layers: layer whose vectors count; by default the last.
        idf: True for idf weights by the references, or weights by token number.
        nthreads: most threads.
        lang: accepted, and not needed.
        return_hash: return ((P, R, F), signature), with Karat's signature.
        rescale_with_baseline, baseline_path: rescale scores by a file of baselines.
        device, batch_size, verbose, use_fast_tokenizer: accepted, without effect.
        all_layers: refused; score one layer at a time.
    """
    scorer = BERTScorer(
        model_type,
        num_layers,
        nthreads=nthreads,
        all_layers=all_layers,
        idf=bool(idf),
        device=device,
        lang=lang,
        rescale_with_baseline=rescale_with_baseline,
        baseline_path=baseline_path,
    )
    if isinstance(idf, Mapping):
        scorer.set_weights(idf)
    elif idf:
        scorer.compute_idf([text for group in _groups(refs) for text in group])
    return scorer.score(cands, refs, return_hash=return_hash)


class BERTScorer:
    """A scorer that keeps its model; arguments are those of `score`."""

    def __init__(
        self,
        model_type: str | None = None,
        num_layers: int | None = None,
        batch_size: int = 64,
        nthreads: int = 4,
        all_layers: bool = False,
        idf: bool = False,
        idf_sents: Sequence[str] | None = None,
        device: str | None = None,
        lang: str | None = None,
        rescale_with_baseline: bool = False,
        baseline_path: str | None = None,
        use_fast_tokenizer: bool = False,
    ) -> None:
        if model_type is None:
            advice = "give the folder of an encoder on this machine"
            raise InputError(
                f"bert_score: model_type is missing, and nothing is downloaded: {advice}"
            )
        if all_layers:
            raise InputError("bert_score: all_layers=True is not supported: give num_layers")
        if rescale_with_baseline and baseline_path is None:
            advice = "give baseline_path, a file of baselines by layer"
            raise InputError(f"bert_score: Karat has no baselines of its own: {advice}")
        self._metric = BERTScore(
            model=str(model_type),
            layer=num_layers,
            idf=OF_REFERENCES if idf else None,
            baseline=str(baseline_path) if rescale_with_baseline else None,
        )
        self._threads, self._prepared = nthreads, self._metric
        if idf_sents is not None:
            self.compute_idf(idf_sents)

    @property
    def hash(self) -> str:
        """Karat's signature."""
        return self._metric.signature("unknown")

    def compute_idf(self, sents: Sequence[str]) -> None:
        """Use idf weights in these texts from now on."""
        weights = idf_weights(self._metric.vectors.encoder, sents)
        self._prepared = self._metric.with_weights(weights)

    def set_weights(self, weights: Mapping[int, float]) -> None:
        """Use these weights by token number from now on; other tokens weigh nothing."""
        self._prepared = self._metric.with_weights(TokenWeights(weights, 0.0))

    def score(
        self,
        cands: Sequence[str],
        refs: Sequence[str] | Sequence[Sequence[str]],
        verbose: bool = False,
        batch_size: int = 64,
        return_hash: bool = False,
    ) -> Scores | tuple[Scores, str]:
        """Return P, R and F of each candidate; of several references, the best of each."""
        if self._metric.idf and self._prepared.reference_weights is None:
            raise InputError("bert_score: idf weights are missing: call compute_idf(texts) first")
        groups = _groups(refs)
        if len(cands) != len(groups):
            numbers = f"{len(cands):,} candidates and {len(groups):,} references"
            raise InputError(f"bert_score: {numbers}: give one or a list for each candidate")
        rows = self._stats(list(cands), groups)
        scores = tuple(map(_as_tensor, rows[:, :3].T))
        return (scores, self.hash) if return_hash else scores

    def _stats(self, cands: list[str], groups: list[list[str]]) -> Floats:
        if not cands:
            return np.zeros((0, 3))
        return self._prepared.stats(cands, groups, threads=self._threads)


def _groups(refs: Sequence[str] | Sequence[Sequence[str]]) -> list[list[str]]:
    """Return a list of references for each candidate."""
    if isinstance(refs, str):
        raise InputError(f"bert_score: refs is one text, {quoted(refs)}: give a list of texts")
    return [[group] if isinstance(group, str) else list(group) for group in refs]


def _as_tensor(values: Floats) -> Any:
    torch = sys.modules.get("torch")
    if torch is None:
        return np.ascontiguousarray(values)
    return torch.from_numpy(np.ascontiguousarray(values, np.float32))
