"""Generated paraphrases of Multi30k's test sentences, judged by PEM beside the three controls.

    KARAT_DATA=… python experiments/paraphrase_generate.py [twitter]

The model is trained on the 29,000 training pairs in French and German; its regression on the
bundled judgements with controls or, with `twitter`, on half of the originals of the judged
headlines, with controls. PEM chooses among the candidates, so that its own score of the choice is
circular. The other rows put it in context: the paraphrase with the highest confidence, which PEM
did not choose and `karat paraphrase generate` gives first, and the controls. Originals without a
paraphrase are left out. With `twitter` a second regression, trained on the other half, judges too.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np

import karat as kt
from karat.paraphrase.align.parallel_text import read_parallel
from karat.paraphrase.generate.paraphraser import generate_lines
from karat.paraphrase.pem.judged_pairs import add_controls, control_sentences, judged_rows
from karat.paraphrase.pem.model import PEM, PEMScores
from karat.paraphrase.pem.training import Pivot, train_pem
from karat.stats.resampling import bootstrap_sums
from karat.text.segments import Lines

DATA = Path(os.environ.get("KARAT_DATA", ""))
FOLDER = DATA / "parallel-multi30k"
RESAMPLES, SEED = 1000, 12345
SHOWN = 8


def untrained() -> PEM:
    pairs = {
        name: read_parallel(FOLDER / "train.en.gz", FOLDER / f"train.{name}.gz")
        for name in ("fr", "de")
    }
    return train_pem({name: Pivot([pair]) for name, pair in pairs.items()})


def models(parts: PEM, twitter: bool) -> list[PEM]:
    """The model that chooses, and perhaps one that only judges."""
    if not twitter:
        judged = add_controls(kt.load_evalset("demo-paraphrases"), "overall")
        return [parts.train(judged_rows(judged, "overall"), copies="bad")]
    plain = kt.load_evalset("paraphrase-twitter")
    overall = judged_rows(plain).overall
    return [
        parts.train(judged_rows(add_controls(half, overall)), copies="bad")
        for half in halves(plain)
    ]


def halves(evalset: kt.EvalSet) -> list[kt.EvalSet]:
    """Split by original: even-numbered and odd-numbered ones, in file order."""
    number: dict[str, int] = {}
    sides = [number.setdefault(source, len(number)) % 2 for source in evalset.sources or ()]
    segments = evalset.segments
    return [
        evalset.select(
            segments=[s for s, side in zip(segments, sides, strict=True) if side == half]
        )
        for half in (0, 1)
    ]


def wordings(pem: PEM, sentences: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """The originals that have a paraphrase; name -> a text for each of them, controls last."""
    started = time.process_time()
    generated = [item.paraphrases for item in generate_lines(pem, sentences, 64, rank_by="pem")]
    print(f"generated in {time.process_time() - started:.1f} s of processor time")
    originals = [line for line, items in zip(sentences, generated, strict=True) if items]
    print(f"{len(originals)} of {len(sentences)} originals have a paraphrase")
    nonempty = [items for items in generated if items]
    print(f"paraphrases of each: {np.mean([len(items) for items in nonempty]):.1f} on average")
    best = [items[0].text for items in nonempty]
    surest = [max(items, key=lambda item: item.confidence).text for items in nonempty]
    return originals, {"generated": best, "surest": surest, **control_sentences(originals)}


def table(pem: PEM, originals: list[str], texts: dict[str, list[str]]) -> None:
    print(
        f"{'':18} PEM [95%]                 pivot F1  fluency  target F1   generated is better by"
    )
    scores = {name: pem.score(originals, paraphrases) for name, paraphrases in texts.items()}
    best = scores["generated"].pem
    for name, system_scores in scores.items():
        low, high = interval(system_scores.pem)
        by = "" if name == "generated" else difference(best - system_scores.pem)
        print(
            f"{name:18} {system_scores.pem.mean():.3f} [{low:.3f}, {high:.3f}]   "
            f"{parts(system_scores)}   {by}"
        )


def parts(scores: PEMScores) -> str:
    return (
        f"{scores.pivot_f1.mean():8.3f} {scores.fluency.mean():8.3f} {scores.target_f1.mean():9.3f}"
    )


def interval(values: np.ndarray) -> tuple[float, float]:
    """The middle 95% of the means of resampled originals."""
    means = bootstrap_sums(values[:, None], RESAMPLES, SEED)[:, 0] / len(values)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def difference(values: np.ndarray) -> str:
    low, high = interval(values)
    return f"{values.mean():+.3f} [{low:+.3f}, {high:+.3f}]"


def main() -> None:
    if not FOLDER.exists():
        sys.exit("KARAT_DATA must name the folder that holds parallel-multi30k")
    started = time.process_time()
    lines = Lines(FOLDER / "test_2016_flickr.en.gz")
    originals = lines.strings(range(len(lines)))
    parts_only = untrained()
    print(f"trained in {time.process_time() - started:.0f} s of processor time")
    chooses, *judges = models(parts_only, "twitter" in sys.argv[1:])
    originals, texts = wordings(chooses, originals)
    print("judged by the PEM that chose")
    table(chooses, originals, texts)
    for judge in judges:
        print("judged by a PEM that was trained on other judgements")
        table(judge, originals, texts)
    for original, text in list(zip(originals, texts["generated"], strict=True))[:SHOWN]:
        print(f"  {original}\n    {text}")


if __name__ == "__main__":
    main()
